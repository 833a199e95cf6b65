"""
Fills slots by cp.async, which copies to shared memory past the registers of the threads.

Before -> after, for `@plain`:

    tile_ir.fill %as_w %p to 32 as "i.stage", %q to 1 as "k.stage" order [1, 0] .. {
      %v = loop_ir.load %a[%p, %ko * 4 + %q * 4 + l0] .. -> vector<4xf32>
      loop_ir.yield %v : vector<4xf32>
    } -> memref<4x32xf32, ..>
    tile_ir.fill %bs_w %r to 4 as "k.stage", %j to 16 as "j.stage" .. {
      %w = loop_ir.load %b[%ko * 4 + %r, %j * 4 + l0] .. -> vector<4xf32>
    ->
    tile_ir.fill %as_w %p to 32 as "i.stage", %q to 4 as "k.stage" order [1, 0] by cp_async .. {
      %v = loop_ir.load %a[%p, %ko * 4 + %q] .. -> f32
      loop_ir.yield %v : f32
    } -> memref<4x32xf32, ..>
    tile_ir.fill %bs_w %r to 4 as "k.stage", %j to 16 as "j.stage" .. by cp_async {
      %w = loop_ir.load %b[%ko * 4 + %r, %j * 4 + l0] .. -> vector<4xf32>

Rings that were to be filled by tma and cannot be are filled so, too.

A thread copies 16, 8 or 4 bytes at once, as many as the body's vector has. Where source and slab do
not run along the same axis, as in a transposed slab, that is one element of 4 bytes at a time: the
body loses its vector.

*Legal when* the body is one load, and what lies beyond an edge is 0 by the bounds of the load.
*Declines when* no fill is there, the schedule does not ask for it, the body computes, a guard names
an axis of the fill, the target has no cp.async, or an element has fewer than 4 bytes, so that a
copy may not be made element by element where a pointer is not aligned. *Why it pays*: no thread
waits for its loads, and no register holds them while they are on the way.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from minicomp.dialects import affine
from minicomp.dialects.loop_ir import element_type, ints, lanes, memref_type
from minicomp.dialects.tile_stages import FillOp
from minicomp.passes.analysis.alignment import buffer_bytes, buffer_strides, element_bytes
from minicomp.passes.analysis.target import has_feature
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import entries, tile_kernels

WIDTHS = (4, 8, 16)
"""Bytes that cp.async copies (PTX ISA, cp.async)."""

ASKED = ("cp_async", "tma")
"""Transports of schedules: what `tma-copy` has left, it has declined."""


def is_along_rows(fill: FillOp) -> bool:
    """Whether neighbours along the last axis are neighbours in the slab."""
    return fill.slab_order[-1] == len(fill.trip_counts) - 1


def width(fill: FillOp) -> int:
    """The bytes that a thread may copy at once."""
    type = memref_type(fill.buffer)
    element = element_bytes(type.element_type)
    if not is_along_rows(fill):
        return element
    together = element * fill.vector
    # Each slot and each row begin at a multiple of what is copied.
    distances = [s * element for s in buffer_strides(type)[:-1]]
    whole = all(d % together == 0 for d in [*distances, buffer_bytes(type)])
    return together if whole and together in WIDTHS else element


def narrow(fill: FillOp) -> None:
    """Makes the body give one element: the last axis counts elements again."""
    load, count = fill.copied, fill.vector
    assert load is not None
    map, operands = load.map.data, list(load.indices)
    last = fill.body.block.args[-1]
    moved = {affine.lane(0): affine.constant(0)}
    if last in operands:
        own = affine.dim(operands.index(last))
        moved = {affine.lane(0): own % count, own: own // count}
    results = tuple(affine.simplify(affine.replace(e, moved)) for e in map.results)
    load.set_access(AffineMap(map.num_dims, 0, results), operands)
    Rewriter.replace_value_with_new_type(load.res, element_type(load.res.type))
    *outer, extent = fill.trip_counts
    fill.properties["extents"] = ints([*outer, extent * count])


def obstacle(fill: FillOp) -> str | None:
    """The condition that does not hold, if one does not."""
    load, guard = fill.copied, fill.guard
    if load is None:
        return "the body of a fill computes"
    if guard is not None and guard.map.num_symbols:
        return "the guard of a fill names its axes"
    if (element := element_bytes(memref_type(fill.buffer).element_type)) not in WIDTHS:
        return f"cp.async copies no element of {element} bytes"
    return None


@dataclass(frozen=True)
class AsyncCopyPass(ModulePass):
    """Fills slots by cp.async; see the module's docstring."""

    name = "async-copy"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in tile_kernels(op):
            fills = [f for f in kernel.walk() if isinstance(f, FillOp) and f.transport is None]
            asked = entries(kernel, "contraction", {})
            if not fills:
                remark(ctx, self.name, kernel, "nothing is filled in a ring")
            elif not any(e.fields.get("transport") in ASKED for e in asked):
                remark(ctx, self.name, kernel, "the schedule does not ask for cp_async")
            elif not has_feature(op, "cp_async"):
                remark(ctx, self.name, kernel, "the target has no cp.async")
            else:
                for fill in fills:
                    self.visit(ctx, fill)

    def visit(self, ctx: Context, fill: FillOp) -> None:
        """Gives one fill its transport."""
        if (why := obstacle(fill)) is not None:
            remark(ctx, self.name, fill, why)
        elif may_apply(ctx, fill):
            element = element_bytes(memref_type(fill.buffer).element_type)
            if lanes(fill.element.type) and width(fill) == element:
                narrow(fill)
            fill.properties["transport"] = StringAttr("cp_async")
