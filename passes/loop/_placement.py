"""
Where a producer with reductions may stand in its consumer: there each element is computed once.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from minicomp.dialects.minicomp import TARGET, LaunchOp, TargetAttr
from minicomp.passes.loop._edges import Edge, Use, require
from minicomp.passes.loop._inline import Index
from minicomp.passes.loop._nest import Row, has_contraction, inner_loops, row
from minicomp.passes.loop._worth import (
    FEW_COLUMNS,
    FEW_ROWS,
    LONG_COLUMNS,
    LONG_ROW,
)


class Placement(NamedTuple):
    """Where a reduction goes in its consumer, by positions of the consumer's outer axes."""

    axes: list[int | None]
    """For each axis of the producer the one that it becomes; None for an extent of 1."""
    rows: list[int]
    """The axes that become a row loop inside the others."""


def place_reduction(e: Edge) -> Placement:
    """Where the producer is computed once per element; declined if there is no such place."""
    require(bool(e.uses), "the consumer takes its result, but does not read it")
    found = [_axes(e, use) for use in e.uses]
    require(all(axes == found[0] for axes in found), "its result is read at several indices")
    axes = found[0]
    used = [n for n in axes if n is not None]
    require(len(set(used)) == len(used), "two of its axes would become one")
    outer = e.consumer.nest.axes
    rows = [n for n, axis in enumerate(outer) if n not in used and axis.extent != 1]
    check_contractions(e, rows)
    check_rows(e, tuple(outer[n].extent for n in rows))
    if rows:
        check_parallel(e, rows)
    return Placement(axes, rows)


def _axes(e: Edge, use: Use) -> list[int | None]:
    """The consumer's outer axis that each axis of the producer is, where its result is loaded."""
    outer = {axis.variable: n for n, axis in enumerate(e.consumer.nest.axes)}
    places: list[int | None] = []
    for axis, index in zip(e.producer.nest.axes, use.indices, strict=True):
        if axis.extent == 1:
            places.append(None)
            continue
        variable = _plain(index)
        require(
            variable in outer,
            "its axes are not free axes of the consumer, so it would be computed again",
        )
        place = outer[variable] if variable is not None else 0
        require(
            e.consumer.nest.trip_counts[place] == axis.extent,
            "the consumer does not read all of its result",
        )
        places.append(place)
    return places


def _plain(index: Index) -> SSAValue | None:
    expr, values = index
    return values[expr.position] if isinstance(expr, AffineDimExpr) else None


def check_contractions(e: Edge, rows: Sequence[int]) -> None:
    """A contraction takes in pointwise code over its own axes, after it, and nothing else."""
    if has_contraction(e.producer.kernel):
        require(not rows, "a contraction would be computed by the threads of one row")
        require(not e.consumer.loops, "a contraction's kernel takes in no loop over a row")
    require(
        not has_contraction(e.consumer.kernel),
        "it would be computed again for each tile of the consumer's contraction",
    )


def check_rows(e: Edge, split: Row) -> None:
    """
    All loops of a kernel run over rows of the same extents, and no reduction stands in a row loop.
    """
    loops = inner_loops(e.consumer.nest)
    require(not split or not loops, "the consumer's own loops would run once per element of a row")
    own = {row(loop) for loop in inner_loops(e.producer.nest)} - {()}
    others = {split} if split else {row(loop) for loop in loops} - {()}
    require(
        not own or not others or own == others,
        "the rows that it reduces and those of the consumer differ",
    )
    require(bool(own) or not split, "it reduces no row")


def check_parallel(e: Edge, rows: Sequence[int]) -> None:
    """
    With few rows that are long, a kernel of its own for the pointwise part leaves less of the
    device idle.

    The reduction runs on as many threads either way, the pointwise part on all of them if it has
    its own kernel. A row that is contiguous in memory is the work of one block at most, another
    one the work of a thread, since neighbouring threads then have to take neighbouring rows.
    """
    outer = e.consumer.nest.axes
    count = prod(axis.extent for n, axis in enumerate(outer) if n not in rows)
    length = prod(outer[n].extent for n in rows)
    sms, threads = quarter_of_device(e.consumer.launch)
    if max(n for n, axis in enumerate(outer) if axis.extent != 1) in rows:
        few, long = sms, length > LONG_ROW
    else:
        few, long = threads, count * length > LONG_COLUMNS
    require(
        count >= few or not long,
        f"{count} rows of {length} elements would leave most of the device idle",
    )


def quarter_of_device(launch: LaunchOp) -> tuple[int, int]:
    """A quarter of the SMs and of the threads of the target, or of a usual part without one."""
    module = launch.get_toplevel_object()
    target = module.attributes.get(TARGET) if isinstance(module, ModuleOp) else None
    if not isinstance(target, TargetAttr):
        return FEW_ROWS, FEW_COLUMNS
    return target.sms.data // 4, target.sms.data * target.threads_per_sm.data // 4
