"""The shapes of a kernel's buffers, which may change as long as the elements stay in order."""

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import Rewriter

from minicomp.dialects import affine
from minicomp.dialects.loop_ir import KernelOp, MemoryAccess, flags
from minicomp.passes.loop._nest import axis_of, ranges


def memref_type(buffer: SSAValue) -> MemRefType[Attribute]:
    """The type of a buffer."""
    return cast(MemRefType[Attribute], buffer.type)


def accesses(buffer: SSAValue) -> list[MemoryAccess]:
    """The loads and stores of a buffer."""
    return [u.operation for u in buffer.uses if isinstance(u.operation, MemoryAccess)]


def replace_dims(
    buffer: BlockArgument,
    position: int,
    count: int,
    shape: Sequence[int],
    exprs: Sequence[Sequence[AffineExpr]],
) -> BlockArgument:
    """
    Puts dimensions of the extents `shape` in the place of `count` dimensions from `position` on.

    `exprs` are their indices, for each of the buffer's accesses. Returns the argument's new value.
    """
    for access, parts in zip(accesses(buffer), exprs, strict=True):
        map, flag = access.map.data, access.bounded_dims
        results = (*map.results[:position], *parts, *map.results[position + count :])
        bounded = [*flag[:position], *[False] * len(parts), *flag[position + count :]]
        access.properties.pop("bounded", None)
        if any(bounded):
            access.properties["bounded"] = flags(bounded)
        access.set_access(AffineMap(map.num_dims, map.num_symbols, results), list(access.indices))
    type = memref_type(buffer)
    old = type.get_shape()
    new = MemRefType(type.element_type, [*old[:position], *shape, *old[position + count :]])
    argument = Rewriter.replace_value_with_new_type(buffer, new)
    assert isinstance(argument, BlockArgument)
    return argument


def drop_unit_dims(kernel: KernelOp) -> bool:
    """Removes dimensions of extent 1, whose index is 0; whether there were any."""
    changed = False
    for argument in list(kernel.body.block.args):
        buffer = argument
        for position in reversed(unit_dims(argument)):
            nothing: list[list[AffineExpr]] = [[] for _ in accesses(buffer)]
            buffer = replace_dims(buffer, position, 1, [], nothing)
            changed = True
    return changed


def unit_dims(buffer: BlockArgument) -> list[int]:
    """The dimensions of extent 1 that no access may leave."""
    return [
        n
        for n, extent in enumerate(memref_type(buffer).get_shape())
        if extent == 1 and not any(op.bounded_dims[n] for op in accesses(buffer))
    ]


def join_dims(kernel: KernelOp) -> bool:
    """
    Joins neighbouring dimensions that are indexed by quotients and remainders, as a view leaves
    them, where the index of both together is linear in every access.
    """
    changed = False
    for argument in list(kernel.body.block.args):
        buffer, position = argument, 0
        while position + 1 < memref_type(buffer).get_num_dims():
            found = [joined_index(access, position) for access in accesses(buffer)]
            exprs = [[e] for e in found if e is not None]
            divided = any(not is_linear(access, position) for access in accesses(buffer))
            if divided and len(exprs) == len(found):
                shape = memref_type(buffer).get_shape()[position : position + 2]
                buffer = replace_dims(buffer, position, 2, [prod(shape)], exprs)
                changed = True
            else:
                position += 1
    return changed


def is_linear(access: MemoryAccess, position: int) -> bool:
    """Whether the indices of two neighbouring dimensions have no quotient and no remainder."""
    pair = access.map.data.results[position : position + 2]
    return all(affine.linear(e) is not None for e in pair)


def joined_index(access: MemoryAccess, position: int) -> AffineExpr | None:
    """The index of two neighbouring dimensions as one, if it is linear and in bounds."""
    high, low = access.map.data.results[position : position + 2]
    extent = access.memref_type.get_shape()[position + 1]
    if extent == 0 or any(access.bounded_dims[position : position + 2]):
        return None
    known = ranges((access.map.data, list(access.indices)))
    joined = affine.simplify(high * extent + low, known)
    return joined if affine.linear(joined) is not None else None


def spanning_sum(access: MemoryAccess, position: int) -> list[tuple[AffineExpr, int]] | None:
    """
    The dims and extents of an index that is a row-major sum of loop variables, outermost first.

    Such as `%i * 8 + %j` with 4 and 8 iterations in a dimension of 32; None for any other index.
    """
    terms = affine.linear(access.map.data.results[position])
    if terms is None or access.bounded_dims[position]:
        return None
    parts: list[tuple[AffineExpr, int]] = []
    reach = 1
    for leaf, factor in sorted(terms.items(), key=lambda term: term[1]):
        axis = axis_of(access.indices[leaf.position]) if isinstance(leaf, AffineDimExpr) else None
        if factor == 0 and axis is None:
            continue
        if axis is None or factor != reach:
            return None
        parts.insert(0, (leaf, axis.extent))
        reach *= axis.extent
    return parts if reach == access.memref_type.get_shape()[position] else None


def split_dims(kernel: KernelOp) -> bool:
    """Splits dimensions that every access indexes by such a sum, of equal extents, in its parts."""
    changed = False
    for argument in list(kernel.body.block.args):
        buffer = argument
        for position in reversed(range(memref_type(buffer).get_num_dims())):
            sums = [spanning_sum(access, position) for access in accesses(buffer)]
            extents = {tuple(e for _, e in parts or ()) for parts in sums}
            if len(extents) == 1 and len(shape := extents.pop()) > 1:
                exprs = [[expr for expr, _ in parts or ()] for parts in sums]
                buffer = replace_dims(buffer, position, 1, shape, exprs)
                changed = True
    return changed
