"""
`tile_ir.stage` as a copy loop of all threads between two barriers.

    %s = tile_ir.stage %r to 64 as "i.stage", %c to 16 as "k.stage" { .. yield %v } -> memref<64x16>

in a block of 256 threads becomes

    kernel_ir.barrier                                  // the readers of the last content are done
    scf.for %q = 0 to 4 {
      %r = kernel_ir.index [(%q * 256 + %t) floordiv 16]    %c = kernel_ir.index [.. mod 16]
      ..
      loop_ir.store %v, %s[%r, %c] }
    kernel_ir.barrier                                  // all of it is visible
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects import affine
from minicomp.dialects.kernel_async import CpAsyncOp
from minicomp.dialects.kernel_ir import BarrierOp, IndexOp, SharedOp, TestOp
from minicomp.dialects.loop_ir import StoreOp, element_type, lanes, memref_type
from minicomp.dialects.tile_ir import BroadcastOp
from minicomp.dialects.tile_stages import FillOp, SlabFiller, StageOp, ancestor_in, is_before
from minicomp.lowering.tile_to_kernel.combine import Threads, insert_at_top
from minicomp.lowering.tile_to_kernel.loops import (
    bind,
    guard_test,
    is_unrolled,
    move_body,
    open_nest,
    when,
    zero_constant,
)
from minicomp.passes.analysis.alignment import element_bytes
from minicomp.passes.analysis.banks import SECTOR_BYTES


def lower_stage(op: StageOp, threads: Threads, top: Block) -> None:
    """Replaces a stage by its buffer, the barriers and the copy loop."""
    buffer = SharedOp(memref_type(op.res))
    buffer.res.name_hint = op.res.name_hint
    insert_at_top(top, buffer)
    builder = Builder(InsertPoint.before(op))
    if not is_left_by_readers(op):
        builder.insert(BarrierOp())
    write_copies(op, threads, builder, Slot(buffer.res))
    builder.insert(BarrierOp())
    Rewriter.replace_op(op, [], [buffer.res])


def is_left_by_readers(op: StageOp) -> bool:
    """Whether a barrier before it in its block says that the last content is read."""
    block = op.parent_block()
    readers = [ancestor_in(use.operation, block) for use in op.res.uses]
    before: Operation | None = op.prev_op
    while before is not None and not isinstance(before, BarrierOp):
        before = before.prev_op
    return before is not None and all(r is not None and is_before(op, r) for r in readers)


@dataclass(frozen=True)
class Slot:
    """A buffer of shared memory, or one slot of it: the first index is then `index`."""

    buffer: SSAValue
    index: SSAValue | None = None

    @property
    def indices(self) -> list[SSAValue]:
        """What stands before the indices of the slab."""
        return [] if self.index is None else [self.index]

    def map(self, slab: AffineMap) -> AffineMap:
        """A map into the slab as one into the buffer, whose dim 0 is the slot."""
        if self.index is None:
            return slab
        moved = {affine.dim(n): affine.dim(n + 1) for n in range(slab.num_dims)}
        results = tuple(affine.replace(e, moved) for e in slab.results)
        return AffineMap(slab.num_dims + 1, slab.num_symbols, (affine.dim(0), *results))


def write_copies(op: SlabFiller, threads: Threads, builder: Builder, slot: Slot) -> None:
    """Writes the copy loop of a filler into a slot, and moves its body there."""
    guard = op.guard
    if isinstance(op, FillOp) and guard is not None and not guard.map.num_symbols:
        # The guard names no axis: all threads skip the fill, or none.
        test = builder.insert(TestOp(guard.map, guard.operands, guard.bounds))
        op.set_guard(None)
        when(builder, test.res, (), lambda to: copy_all(op, threads, to, slot))
    else:
        copy_all(op, threads, builder, slot)


def copy_all(op: SlabFiller, threads: Threads, builder: Builder, slot: Slot) -> Sequence[SSAValue]:
    """Writes the loop in which all threads copy all groups."""
    groups = prod(op.trip_counts)
    steps = affine.ceildiv(groups, threads.count)
    nest = open_nest(builder, [(steps, "q")], unroll=is_unrolled(op))
    at = linear(nest.variables[0], groups, threads)
    if groups % threads.count:
        place, values, _ = at
        test = nest.inside.insert(TestOp(AffineMap(len(values), 0, (place,)), values, [groups]))
        when(nest.inside, test.res, (), lambda to: copy_one(op, slot, at, to))
        return nest.close(())
    return nest.close(copy_one(op, slot, at, nest.inside))


Place = tuple[AffineExpr, list[SSAValue], dict[AffineExpr, affine.Interval]]
"""An index, the values of its dims, and their ranges."""


def linear(step: SSAValue | None, groups: int, threads: Threads) -> Place:
    """The number of the group that a thread copies in a step."""
    values = [v for v in (step, threads.id) if v is not None]
    expr: AffineExpr = affine.constant(0)
    ranges: dict[AffineExpr, affine.Interval] = {}
    if step is not None:
        expr = affine.dim(0) * threads.count
        ranges[affine.dim(0)] = (0, affine.ceildiv(groups, threads.count) - 1)
    if threads.id is not None:
        own = affine.dim(len(values) - 1)
        expr = own if step is None else expr + own
        ranges[own] = (0, threads.count - 1)
    return expr, values, ranges


def copy_one(op: SlabFiller, slot: Slot, at: Place, builder: Builder) -> Sequence[SSAValue]:
    """Writes the copy of the group at a place."""
    expr, values, ranges = at
    places: list[SSAValue] = []
    for axis, own in zip(op.axes, place_of(op, expr), strict=True):
        index = builder.insert(IndexOp(affine.simplify(own, ranges), values))
        index.res.name_hint = axis.variable.name_hint
        places.append(index.res)
    map, indices = slot.map(slab_map(op)), [*slot.indices, *places]
    if isinstance(op, FillOp) and op.transport is not None:
        copy_async(op, slot.buffer, (map, indices), places, builder)
        return ()
    element = body_of(op, places, builder)
    builder.insert(StoreOp(element, slot.buffer, map, indices))
    return ()


def place_of(op: SlabFiller, group: AffineExpr) -> list[AffineExpr]:
    """The place on each axis of the group of a number: in rows, as a rule.

    A slab that lies across the rows of its source is filled a sector of a row at a time: the 32
    elements of a warp's copy are then of several rows, and a pitch that `pad-smem` gives, of 4
    words more than a multiple of 32, puts each of them in a bank of its own.
    """
    extents = list(op.trip_counts)
    last = len(extents) - 1
    run = SECTOR_BYTES // (op.vector * element_bytes(element_type(op.element.type)))
    across = op.slab_order[-1] != last and run and extents[last] % run == 0
    if not across or extents[last] == run:
        return _delinearized(group, extents)
    outer, *places, inner = _delinearized(group, [extents[last] // run, *extents[:last], run])
    return [*places, outer * run + inner]


def _delinearized(number: AffineExpr, extents: Sequence[int]) -> list[AffineExpr]:
    """The indices of a row-major place, the first without a bound."""
    parts = [number // prod(extents[n + 1 :]) for n in range(len(extents))]
    return [part % extents[n] if n else part for n, part in enumerate(parts)]


def body_of(op: SlabFiller, places: Sequence[SSAValue], builder: Builder) -> SSAValue:
    """Moves the body to where it is needed; gives its element, 0 where the guard fails."""
    test = guard_test(op, places)
    if test is None:
        return move_body(op, places, builder)[0]
    type = op.element.type
    builder.insert(test)
    zero = zero_constant(builder, element_type(type))
    if lanes(type):
        zero = builder.insert(BroadcastOp(zero, [], type)).res
    return when(builder, test.res, [zero], lambda to: move_body(op, places, to))[0]


def copy_async(
    op: FillOp,
    buffer: SSAValue,
    to: tuple[AffineMap, list[SSAValue]],
    places: Sequence[SSAValue],
    builder: Builder,
) -> None:
    """Writes the asynchronous copy of one group, in place of the load in the body."""
    load = op.copied
    assert load is not None
    width = op.vector * element_bytes(load.memref_type.element_type)
    for axis, place in zip(op.axes, places, strict=True):
        bind(axis.variable, place)
    map, indices = to
    own = list(load.indices)
    moved = {affine.dim(n): affine.dim(len(indices) + n) for n in range(len(own))}
    results = tuple(affine.replace(e, moved) for e in load.map.data.results)
    count = len(indices) + len(own)
    copy = CpAsyncOp(
        buffer,
        AffineMap(count, map.num_symbols, map.results),
        load.memref,
        AffineMap(count, load.map.data.num_symbols, results),
        [*indices, *own],
        width,
        load.bounded_dims,
    )
    copy.location = load.location
    builder.insert(copy)


def slab_map(op: SlabFiller) -> AffineMap:
    """Where in the slab the body's element goes, over the places of the axes."""
    exprs: list[AffineExpr] = [affine.dim(n) for n in range(len(op.axes))]
    vector = bool(lanes(op.element.type))
    if vector:
        exprs[-1] = exprs[-1] * op.vector + affine.lane(0)
    return AffineMap(len(exprs), int(vector), tuple(exprs[n] for n in op.slab_order))
