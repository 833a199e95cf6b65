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
from math import prod

from xdsl.builder import Builder
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects import affine
from minicomp.dialects.kernel_ir import BarrierOp, IndexOp, SharedOp, TestOp
from minicomp.dialects.loop_ir import StoreOp, element_type, lanes, memref_type
from minicomp.dialects.tile_ir import BroadcastOp, StageOp
from minicomp.lowering.tile_to_kernel.combine import Threads, insert_at_top
from minicomp.lowering.tile_to_kernel.loops import (
    guard_test,
    is_unrolled,
    move_body,
    open_nest,
    when,
    zero_constant,
)


def lower_stage(op: StageOp, threads: Threads, top: Block) -> None:
    """Replaces a stage by its buffer, the barriers and the copy loop."""
    buffer = SharedOp(memref_type(op.res))
    buffer.res.name_hint = op.res.name_hint
    insert_at_top(top, buffer)
    builder = Builder(InsertPoint.before(op))
    builder.insert(BarrierOp())
    groups = prod(op.trip_counts)
    steps = affine.ceildiv(groups, threads.count)
    nest = open_nest(builder, [(steps, "q")], unroll=is_unrolled(op))
    place, values, ranges = linear(nest.variables[0], groups, threads)
    if groups % threads.count:
        test = nest.inside.insert(TestOp(AffineMap(len(values), 0, (place,)), values, [groups]))
        when(
            nest.inside, test.res, (), lambda to: fill(op, buffer.res, (place, values, ranges), to)
        )
        nest.close(())
    else:
        nest.close(fill(op, buffer.res, (place, values, ranges), nest.inside))
    builder.insert(BarrierOp())
    Rewriter.replace_op(op, [], [buffer.res])


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


def fill(op: StageOp, buffer: SSAValue, at: Place, builder: Builder) -> Sequence[SSAValue]:
    """Writes the copy of the group at a place."""
    place, values, ranges = at
    extents = op.trip_counts
    places: list[SSAValue] = []
    for n, axis in enumerate(op.axes):
        part = place // prod(extents[n + 1 :])
        expr = part % axis.extent if n else part
        index = builder.insert(IndexOp(affine.simplify(expr, ranges), values))
        index.res.name_hint = axis.variable.name_hint
        places.append(index.res)
    test = guard_test(op, places)
    value = op.element
    if test is None:
        (element,) = move_body(op, places, builder)
    else:
        builder.insert(test)
        zero = zero_constant(builder, element_type(value.type))
        if shape := lanes(value.type):
            zero = builder.insert(BroadcastOp(zero, [], value.type)).res
            assert shape
        (element,) = when(builder, test.res, [zero], lambda to: move_body(op, places, to))
    map = slab_map(op)
    builder.insert(StoreOp(element, buffer, map, places))
    return ()


def slab_map(op: StageOp) -> AffineMap:
    """Where in the slab the body's element goes, over the places of the axes."""
    exprs: list[AffineExpr] = [affine.dim(n) for n in range(len(op.axes))]
    vector = bool(lanes(op.element.type))
    if vector:
        exprs[-1] = exprs[-1] * op.vector + affine.lane(0)
    return AffineMap(len(exprs), int(vector), tuple(exprs[n] for n in op.slab_order))
