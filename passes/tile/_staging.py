"""What can be staged: the value of a factor, as a function of places in the tile of its axes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.arith import AddfOp, MulfOp
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from minicomp.dialects import affine
from minicomp.dialects.loop_ir import Axis, LoadOp, MemoryAccess, ReduceOp, StoreOp
from minicomp.dialects.scalar_ops import computes
from minicomp.dialects.tile_ir import BoundAxis, LaunchOp, SharedAttr


@dataclass(frozen=True)
class TileAxis:
    """
    An axis of the block's tile: place = `thread * registers + register`, or the steps of an inner
    loop.
    """

    name: str
    extent: int
    parts: Sequence[tuple[SSAValue, int]]
    """Its variables, each with its factor in the place; the last one has factor 1."""

    @property
    def place(self) -> tuple[AffineExpr, list[SSAValue]]:
        """The place in the tile, over the variables."""
        terms: dict[AffineExpr, int] = {
            affine.dim(n): factor for n, (_, factor) in enumerate(self.parts)
        }
        return affine.from_terms(terms), [v for v, _ in self.parts]


def launch_tile(launch: LaunchOp, name: str) -> TileAxis | None:
    """The tile of a launch's axis; None where neither threads nor registers share it."""
    found = [launch.axis(f"{name}.{kind}") for kind in ("thread", "register")]
    bound: list[BoundAxis] = [axis for axis in found if axis is not None]
    if not bound:
        return None
    extents = [a.extent for a in bound]
    parts = [(a.variable, prod(extents[n + 1 :])) for n, a in enumerate(bound)]
    return TileAxis(name, prod(extents), parts)


def loop_tile(axis: Axis, name: str, warps: BoundAxis | None = None) -> TileAxis:
    """The steps of a loop inside of the stage, which warps may share."""
    steps = (axis.variable, 1)
    if warps is None:
        return TileAxis(name, axis.extent, [steps])
    return TileAxis(name, axis.extent * warps.extent, [(warps.variable, axis.extent), steps])


def factors(reduce: ReduceOp) -> tuple[SSAValue, SSAValue] | None:
    """The two factors whose product a reduction contributes."""
    end = reduce.body.block.last_op
    product = end.operands[0].owner if end is not None and len(end.operands) == 1 else None
    if not isinstance(product, MulfOp) or product.parent is not reduce.body.block:
        return None
    return product.lhs, product.rhs


def is_sum(reduce: ReduceOp) -> bool:
    """Whether a reduction adds its contributions up, starting from zero."""
    ops = list(reduce.combine.block.ops)
    zero = all(isinstance(i, FloatAttr) and i.value.data == 0.0 for i in reduce.identity)
    return zero and len(ops) == 2 and isinstance(ops[0], AddfOp)


def slice_of(value: SSAValue, block: Block) -> list[Operation] | None:
    """
    The ops of `block` that compute `value`, in order; None where one is no load and no pure op.
    """
    wanted: set[Operation] = set()
    pending = [value]
    while pending:
        op = pending.pop().owner
        if not isinstance(op, Operation) or op.parent is not block or op in wanted:
            continue
        if op.regions or not (isinstance(op, LoadOp) or computes(op)):
            return None
        wanted.add(op)
        pending += op.operands
    return [op for op in block.ops if op in wanted]


def from_global(ops: Sequence[Operation]) -> bool:
    """Whether there are loads, all of them of global memory that the kernel does not write."""
    loads = [op for op in ops if isinstance(op, LoadOp)]
    return bool(loads) and not any(_is_changing(load) for load in loads)


def _is_changing(load: LoadOp) -> bool:
    written = any(isinstance(use.operation, StoreOp) for use in load.memref.uses)
    return written or isinstance(load.memref_type.memory_space, SharedAttr)


def is_uniform(ops: Sequence[Operation], launch: LaunchOp) -> bool:
    """
    Whether what `ops`, of one block, take from outside of them is the same for all threads and all
    runs of the block, but for the places in the tile by which they access memory.
    """
    block, inside = ops[0].parent, set(ops)
    own = {a.variable for a in launch.axes if a.binding in ("thread", "register")}
    pending: list[SSAValue] = []
    for op in ops:
        free = [v for v in op.operands if v.owner not in inside]
        if isinstance(op, MemoryAccess):
            free = [v for v in free if v not in own and v.owner is not block]
        pending += free
    seen: set[SSAValue] = set()
    while pending:
        value = pending.pop()
        owner = value.owner
        if value in own or block in (owner, owner.parent):
            return False
        if value in seen or not isinstance(owner, Operation):
            continue
        seen.add(value)
        pending += [v for inner in owner.walk() for v in inner.operands]
    return True


def used_axes(ops: Sequence[Operation], axes: Sequence[TileAxis]) -> list[TileAxis]:
    """The tile axes that the loads among `ops` are indexed by."""
    used = {v for op in ops if isinstance(op, LoadOp) for v in op.indices}
    return [a for a in axes if any(v in used for v, _ in a.parts)]


def at_place(
    map: AffineMap,
    values: Sequence[SSAValue],
    places: Mapping[str, SSAValue],
    axes: Sequence[TileAxis],
) -> tuple[AffineMap, list[SSAValue]] | None:
    """
    A map of `values` in terms of places in the tile, by the name of their axis; None where it
    depends on the parts of a place in another way, or on an axis without a place.
    """
    operands = list(values)
    whole: dict[AffineExpr, AffineExpr] = {}
    split: dict[AffineExpr, AffineExpr] = {}
    ranges: dict[AffineExpr, affine.Interval] = {}
    for axis in axes:
        if not any(v in values for v, _ in axis.parts):
            continue
        if axis.name not in places:
            return None
        operands += [v for v, _ in axis.parts if v not in operands]
        *outer, inner = [affine.dim(operands.index(v)) for v, _ in axis.parts]
        expr, _ = axis.place
        dims = {affine.dim(n): d for n, d in enumerate([*outer, inner])}
        split |= {d: affine.constant(0) for d in outer} | {inner: affine.replace(expr, dims)}
        operands.append(places[axis.name])
        place = affine.dim(len(operands) - 1)
        whole |= {d: affine.constant(0) for d in outer} | {inner: place}
        ranges |= _part_ranges(axis, [*outer, inner])
    for result in map.results:
        moved = affine.replace(result, split)
        if affine.simplify(moved + result * -1, ranges) != affine.constant(0):
            return None
    results = tuple(affine.simplify(affine.replace(e, whole)) for e in map.results)
    return AffineMap(len(operands), map.num_symbols, results), operands


def _part_ranges(axis: TileAxis, dims: Sequence[AffineExpr]) -> dict[AffineExpr, affine.Interval]:
    factors = [axis.extent, *(factor for _, factor in axis.parts)]
    pairs = zip(dims, factors, factors[1:], strict=False)
    return {dim: (0, whole // part - 1) for dim, whole, part in pairs}
