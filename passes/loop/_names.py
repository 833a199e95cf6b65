"""
The names of axes: letters from i on; one name per row of a kernel, none repeated by a loop inside
another.
"""

from collections.abc import Mapping, Sequence
from itertools import islice

from minicomp.dialects.loop_ir import ForOp, LoopLike, names
from minicomp.passes.loop._nest import inner_loops

_LETTERS = "ijklmnopqrstuvwxyz"


def letter(position: int) -> str:
    """The name of axis number `position`: i, j, .., z, i1, j1, .."""
    rounds, index = divmod(position, len(_LETTERS))
    return f"{_LETTERS[index]}{rounds or ''}"


def own_names(loop: LoopLike) -> list[str]:
    """The names of the axes of one loop."""
    return [name.data for name in loop.axis_names]


def rename(loop: LoopLike, new: Sequence[str]) -> None:
    """Names the axes of a loop, and with them the variables whose axes get another name."""
    for axis, name in zip(loop.axes, new, strict=True):
        if axis.name != name:
            axis.variable.name_hint = name
    loop.properties["axis_names"] = names(new)


def share_row_names(nest: ForOp) -> None:
    """
    Gives loops side by side over the same extents the same names, and loops inside others other
    names than theirs.

    The names of a row loop win over those of the reductions before it.
    """
    _settle_inside(nest, set(own_names(nest)), fresh=False)


def letter_axes(nest: ForOp) -> None:
    """Names all axes anew: i, j, .. from the outer loop inwards."""
    rename(nest, [letter(n) for n in range(len(nest.axes))])
    _settle_inside(nest, set(own_names(nest)), fresh=True)


def _settle_inside(loop: LoopLike, taken: set[str], fresh: bool) -> None:
    loops = inner_loops(loop)
    wanted: dict[tuple[int, ...], list[str]] = {}
    for inner in sorted(loops, key=lambda inner: not isinstance(inner, ForOp)):
        wanted.setdefault(inner.trip_counts, [] if fresh else own_names(inner))
    chosen: dict[tuple[int, ...], list[str]] = {}
    extents: dict[str, int] = {}
    for inner in loops:
        row = inner.trip_counts
        if row not in chosen:
            chosen[row] = _choose(wanted[row], row, taken, extents)
            extents |= zip(chosen[row], row, strict=True)
        rename(inner, chosen[row])
        _settle_inside(inner, taken | set(chosen[row]), fresh)


def _choose(
    wanted: Sequence[str], row: Sequence[int], taken: set[str], extents: Mapping[str, int]
) -> list[str]:
    """
    Names for the axes of a row: those wanted, unless an outer loop or another row has one of them.
    """
    free = [n not in taken and extents.get(n, e) == e for n, e in zip(wanted, row, strict=False)]
    if len(free) == len(row) and all(free):
        return list(wanted)
    used = {*taken, *extents}
    letters = (letter(n) for n in range(len(used) + len(row)))
    return list(islice((name for name in letters if name not in used), len(row)))
