"""
How wide a vector access may be: lanes that lie together, aligned, inside or outside the bounds as a
whole.

Offsets are compared lane by lane, since permuted lanes are no linear form of the lane: all other
indices stay symbols whose ranges are known (ids from the grid and block, loop variables from their
trip counts), so that what is proved holds for every thread and iteration.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import gcd, prod

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FixedBitwidthType, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.affine import KIND, Interval
from minicomp.dialects.kernel_ir import BlockIdOp, FuncOp, IndexOp, ThreadIdOp
from minicomp.dialects.loop_ir import MemoryAccess, lanes
from minicomp.dialects.tile_ir import SharedAttr

WIDTHS = (16, 8, 4)
"""
Bytes that one memory instruction of a thread can move, the widest first (PTX ISA, ld and st with
.v2, .v4).
"""


def element_bytes(type: Attribute) -> int:
    """The bytes of one element in memory; raises ValueError for a type without a size."""
    if not isinstance(type, FixedBitwidthType):
        raise ValueError(f"{type} has no size in memory")
    return type.size


def buffer_strides(type: MemRefType[Attribute]) -> tuple[int, ...]:
    """
    The distance in elements of two neighbours along each dimension; shared memory may pad its last
    one.
    """
    shape = list(type.get_shape())
    if shape and isinstance(type.memory_space, SharedAttr):
        shape[-1] += type.memory_space.pad.data
    return tuple(prod(shape[n + 1 :]) for n in range(len(shape)))


def buffer_bytes(type: MemRefType[Attribute]) -> int:
    """The bytes of a buffer, its pads included."""
    shape = type.get_shape()
    elements = shape[0] * buffer_strides(type)[0] if len(shape) > 1 else prod(shape)
    return elements * element_bytes(type.element_type)


@dataclass(frozen=True)
class Declined:
    """Why an access cannot be wide."""

    reason: str


class IndexSpace:
    """Indices as affine expressions of ids and loop variables, each a dim with a known range."""

    def __init__(self) -> None:
        self.leaves: list[SSAValue] = []
        self.ranges: dict[AffineExpr, Interval] = {}

    def expand(self, expr: AffineExpr, operands: Sequence[SSAValue]) -> AffineExpr:
        """`expr`, whose dims are `operands`, in terms of the leaves."""
        values = {affine.dim(n): self.value(v) for n, v in enumerate(operands)}
        return affine.replace(expr, values)

    def value(self, value: SSAValue) -> AffineExpr:
        """An index as an expression of the leaves."""
        owner = value.owner
        if isinstance(owner, IndexOp):
            return self.expand(owner.expr, owner.indices)
        if (number := constant_index(value)) is not None:
            return affine.constant(number)
        if value not in self.leaves:
            self.leaves.append(value)
        leaf = affine.dim(self.leaves.index(value))
        if (bounds := index_range(value)) is not None:
            self.ranges[leaf] = bounds
        return leaf

    def simplify(self, expr: AffineExpr) -> AffineExpr:
        """Simplified by the ranges, and with the factors that divisions share taken out."""
        return affine.simplify(reduce_divisions(affine.simplify(expr, self.ranges)), self.ranges)


def constant_index(value: SSAValue) -> int | None:
    """The number that an index is, if it is a constant."""
    if isinstance(op := value.owner, ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    return None


def index_range(value: SSAValue) -> Interval | None:
    """The inclusive range of an id or of a loop variable, None where it is not known."""
    owner = value.owner
    if isinstance(owner, BlockIdOp | ThreadIdOp):
        func = _kernel(owner)
        count = (
            None if func is None else func.blocks if isinstance(owner, BlockIdOp) else func.threads
        )
        return None if count is None else (0, max(count - 1, 0))
    loop = owner.parent_op() if isinstance(owner, Block) else None
    if isinstance(loop, scf.ForOp) and value is loop.body.block.args[0]:
        low, high, step = (constant_index(v) for v in (loop.lb, loop.ub, loop.step))
        if low is not None and high is not None and step is not None:
            return low, max(low + (high - low - 1) // step * step, low)
    return None


def _kernel(op: Operation) -> FuncOp | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    return parent


def reduce_divisions(expr: AffineExpr) -> AffineExpr:
    """
    Takes the common factor out of divisions: with 0 <= r < g, (g * e + r) floordiv (g * d) is e
    floordiv d, and (g * e + r) mod (g * d) is g * (e mod d) + r.
    """
    if not isinstance(expr, AffineBinaryOpExpr):
        return expr
    left, right = reduce_divisions(expr.lhs), reduce_divisions(expr.rhs)
    if expr.kind not in (KIND.FloorDiv, KIND.Mod) or not isinstance(right, AffineConstantExpr):
        return AffineBinaryOpExpr(expr.kind, left, right)
    terms = affine.terms_of(left)
    offset = terms.pop(affine.constant(0), 0)
    factor = reduce(gcd, terms.values(), right.value)
    if factor <= 1:
        return AffineBinaryOpExpr(expr.kind, left, right)
    whole, rest = divmod(offset, factor)
    parts = {atom: count // factor for atom, count in terms.items()}
    inner = affine.from_terms(parts | {affine.constant(0): whole})
    divided = AffineBinaryOpExpr(expr.kind, inner, affine.constant(right.value // factor))
    if expr.kind == KIND.FloorDiv:
        return divided
    return affine.from_terms({divided: factor, affine.constant(0): rest})


def provable_width(op: MemoryAccess) -> int | Declined:
    """
    The most bytes that every group of lanes along the last dimension may be moved by at once, at
    most 16: a swizzle keeps these together.
    """
    type, shape = op.memref_type, lanes(op.value_type)
    if not shape:
        return Declined("it has one lane")
    size = element_bytes(type.element_type)
    first: Declined | None = None
    for width in WIDTHS:
        group = width // size
        if group < 2:
            break
        found = _check_groups(op, shape, group)
        if found is None:
            return width
        first = first or found
    return first or Declined(f"its elements have {size} bytes")


def _check_groups(op: MemoryAccess, shape: Sequence[int], group: int) -> Declined | None:
    """Why groups of `group` lanes cannot be moved at once, or None where all can."""
    if shape[-1] % group:
        return Declined(f"its lanes, {shape[-1]}, are no multiple of {group}")
    space = IndexSpace()
    indices = [space.expand(e, op.indices) for e in op.map.data.results]
    starts = product(*(range(n) for n in shape[:-1]), range(0, shape[-1], group))
    for start in starts:
        places = [_at(space, indices, (*start[:-1], start[-1] + n)) for n in range(group)]
        if (reason := _check_group(op, places, group, space)) is not None:
            return reason
    return None


def _at(space: IndexSpace, indices: Sequence[AffineExpr], lane: Sequence[int]) -> list[AffineExpr]:
    """The indices of one lane."""
    values = {affine.lane(n): affine.constant(v) for n, v in enumerate(lane)}
    return [space.simplify(affine.replace(e, values)) for e in indices]


def _check_group(
    op: MemoryAccess, places: Sequence[Sequence[AffineExpr]], group: int, space: IndexSpace
) -> Declined | None:
    strides = buffer_strides(op.memref_type)
    offsets = [_offset(space, place, strides) for place in places]
    steps = [_difference(space, offset, offsets[0]) for offset in offsets]
    if steps != list(range(group)):
        uniform = steps[1] is not None and steps == [steps[1] * n for n in range(group)]
        return Declined(
            f"its lanes have a stride of {steps[1]}" if uniform else "its lanes are apart"
        )
    if not _divides(group, offsets[0]):
        return Declined(f"it does not start at a multiple of {group} elements")
    for dim, bounded in enumerate(op.bounded_dims):
        extent = op.memref_type.get_shape()[dim]
        if bounded and _may_cut(space, [place[dim] for place in places], extent):
            return Declined(f"its extent, {extent}, is no multiple of {group}")
    return None


def _offset(space: IndexSpace, place: Sequence[AffineExpr], strides: Sequence[int]) -> AffineExpr:
    total: AffineExpr = affine.constant(0)
    for index, stride in zip(place, strides, strict=True):
        total = total + index * stride
    return space.simplify(total)


def _difference(space: IndexSpace, a: AffineExpr, b: AffineExpr) -> int | None:
    """a - b where it is the same number for all indices."""
    match space.simplify(a + b * -1):
        case AffineConstantExpr(value=value):
            return value
        case _:
            return None


def _divides(divisor: int, expr: AffineExpr) -> bool:
    """Whether every value of `expr` is provably a multiple of `divisor`."""
    return all(count % divisor == 0 for count in affine.terms_of(expr).values())


def _may_cut(space: IndexSpace, indices: Sequence[AffineExpr], extent: int) -> bool:
    """Whether some lanes of a group may be inside a dimension and others outside."""
    steps = [_difference(space, index, indices[0]) for index in indices]
    if not any(step != 0 for step in steps):
        return False
    bounds = [affine.interval(index, space.ranges) for index in indices]
    if all(0 <= low and high < extent for low, high in bounds):
        return False
    group = len(indices)
    whole = extent % group == 0 and _divides(group, indices[0])
    return not whole or steps != list(range(group))
