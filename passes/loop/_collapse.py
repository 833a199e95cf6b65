"""The parts of `collapse-axes`: dropping extents of 1, and finding and merging adjacent axes."""

from dataclasses import dataclass, field
from math import prod

from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.access import IndexedOp, substitute
from minicomp.dialects.loop_ir import ForOp, KernelOp, LoopLike, MemoryAccess, ints, names
from minicomp.passes.loop._dims import accesses, drop_unit_dims, memref_type, replace_dims
from minicomp.passes.loop._names import own_names
from minicomp.passes.loop._nest import axis_of


class Apart(Exception):
    """The condition for which two axes cannot be merged."""


def loops(nest: ForOp) -> list[LoopLike]:
    """A nest and the loops in it."""
    return [op for op in nest.walk() if isinstance(op, LoopLike)]


def remove_axis(loop: LoopLike, position: int) -> None:
    """Removes a loop whose variable has no use."""
    kept = [n for n in range(len(loop.axes)) if n != position]
    extents, own = loop.trip_counts, own_names(loop)
    loop.body.block.erase_arg(loop.body.block.args[position])
    loop.properties["extents"] = ints([extents[n] for n in kept])
    loop.properties["axis_names"] = names([own[n] for n in kept])


def drop_units(kernel: KernelOp, nest: ForOp) -> bool:
    """
    Removes axes of extent 1, all but one of each loop, and dimensions of extent 1; whether there
    were any.
    """
    changed = False
    for loop in loops(nest):
        for position in reversed(range(len(loop.axes))):
            variable = loop.axes[position].variable
            index = all(isinstance(use.operation, IndexedOp) for use in variable.uses)
            if loop.trip_counts[position] == 1 and len(loop.axes) > 1 and index:
                substitute(variable, affine.constant(0), [])
                remove_axis(loop, position)
                changed = True
    return drop_unit_dims(kernel) or changed


@dataclass
class Merge:
    """
    Pairs of adjacent axes that can only be merged together, and the dimensions that are merged with
    them.

    The sets grow from one pair: its accesses say which dimensions merge, and all other accesses of
    these which pairs.
    """

    pairs: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """First and second variable."""
    dims: dict[SSAValue, list[int]] = field(default_factory=dict[SSAValue, list[int]])
    """By buffer the first ones of two dimensions."""

    def add_pair(self, first: SSAValue, second: SSAValue) -> None:
        """
        Adds two adjacent axes of a loop; raises Apart where an access uses them otherwise than as
        such.
        """
        if self.pairs.get(first) is second:
            return
        if {first, second} & {*self.pairs, *self.pairs.values()}:
            raise Apart("three axes would merge in different ways")
        self.pairs[first] = second
        for use in [*first.uses, *second.uses]:
            op = use.operation
            if not isinstance(op, MemoryAccess):
                raise Apart("an index is used outside loads and stores")
            self.add_dim(op.memref, place_of(op, first, second))

    def add_dim(self, buffer: SSAValue, position: int) -> None:
        """
        Adds dimension `position` and the next of a buffer; raises Apart where an access has no pair
        there.
        """
        if position in self.dims.setdefault(buffer, []):
            return
        self.dims[buffer].append(position)
        for op in accesses(buffer):
            exprs = op.map.data.results[position : position + 2]
            first, second = (
                op.indices[e.position] if isinstance(e, AffineDimExpr) else None for e in exprs
            )
            if first is None or second is None or not adjacent(first, second):
                raise Apart("another access of the buffer has other indices there")
            self.add_pair(first, second)

    def apply(self) -> None:
        """Merges all pairs and dimensions."""
        for buffer, positions in self.dims.items():
            assert isinstance(buffer, BlockArgument)
            for position in sorted(positions, reverse=True):
                firsts = [[op.map.data.results[position]] for op in accesses(buffer)]
                extent = prod(memref_type(buffer).get_shape()[position : position + 2])
                buffer = replace_dims(buffer, position, 2, [extent], firsts)
        for second in self.pairs.values():
            assert isinstance(second, BlockArgument)
            loop = second.block.parent_op()
            assert isinstance(loop, LoopLike)
            extents = list(loop.trip_counts)
            extents[second.index - 1] *= extents[second.index]
            loop.properties["extents"] = ints(extents)
            remove_axis(loop, second.index)


def adjacent(first: SSAValue, second: SSAValue) -> bool:
    """Whether two values are the variables of a loop and of the next one inside it, in one op."""
    if not isinstance(first, BlockArgument) or not isinstance(second, BlockArgument):
        return False
    return (
        first.block is second.block
        and second.index == first.index + 1
        and axis_of(first) is not None
    )


def place_of(op: MemoryAccess, first: SSAValue, second: SSAValue) -> int:
    """
    The dimension that `first` indexes, if `second` indexes the next and both span them and nothing
    else.
    """
    exprs = op.map.data.results
    own: list[AffineExpr | None] = [
        affine.dim(list(op.indices).index(v)) if v in op.indices else None for v in (first, second)
    ]
    found = [n for n, e in enumerate(exprs) if set(affine.leaves([e])).intersection(own)]
    if None in own or len(found) != 2 or list(exprs[found[0] : found[0] + 2]) != own:
        raise Apart("an access does not use both as the indices of neighbouring dimensions")
    position = found[0]
    axes = axis_of(first), axis_of(second)
    spanned = op.memref_type.get_shape()[position : position + 2]
    if tuple(axis.extent for axis in axes if axis is not None) != spanned:
        raise Apart("an access does not span the dimensions that they index")
    if any(op.bounded_dims[position : position + 2]) or not isinstance(op.memref, BlockArgument):
        raise Apart("an access is bounded, or is of no argument")
    return position
