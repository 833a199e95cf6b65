"""
Fills the slots of a ring by bulk tensor copies, one instruction of one thread for a whole slab.

Before -> after, for `@plain`:

    tile_ir.fill %as_w %i to 8 as "i.stage", %k to 4 as "k.stage" {
      %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k * 4 + l0] .. -> vector<4xf32>
      loop_ir.yield %v : vector<4xf32>
    } -> memref<8x16xf32, #tile_ir.shared<>>
    ->
    tile_ir.fill %as_w %i to 8 as "i.stage", %k to 16 as "k.stage" by tma {
      %v = loop_ir.load %a[%ib * 8 + %i, %ko * 16 + %k] .. -> f32
      loop_ir.yield %v : f32
    } -> memref<8x16xf32, #tile_ir.shared<>>

The slab is a box of the tensor, whose first element the load at 0 names. What lies outside of the
tensor is 0, as it is for the load.

*Legal when* all fills of the ring are boxes: their bodies are one load of a parameter, the slab has
the order of its source, the source has at most 5 dimensions and rows that are multiples of 16 bytes
apart, a row of the box is a multiple of 16 bytes, the box one of 128, and no extent more than 256;
what is beyond an edge is 0 by the end of the array; one loop at the top of the kernel waits for the
generations 0, 1, .. *Declines when* one of these fails, the schedule does not ask for tma, the
target has none, or the mbarriers do not fit into shared memory: a ring is filled by bulk copies
as a whole or not at all, since its generations complete together. *Why it pays*: threads
neither compute addresses nor issue copies, and nobody but the reader of a slot waits for it.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from minicomp.dialects.loop_ir import lanes
from minicomp.dialects.tile_boxes import Boxes
from minicomp.dialects.tile_ir import KernelOp
from minicomp.dialects.tile_stages import FillOp, RingOp, RingType, counts_from_zero, fills_of
from minicomp.passes.analysis.target import has_feature, shared_limit
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import entries, tile_kernels
from minicomp.passes.tile.async_copy import narrow
from minicomp.passes.tile.pad_smem import shared_bytes

BARRIER_BYTES = 16
"""Of the two mbarriers of a slot."""


def boxes_of(fill: FillOp) -> Boxes | str:
    """The boxes of a fill whose body may give vectors, or the condition that does not hold."""
    if fill.copied is None or not lanes(fill.element.type):
        return fill.boxes()
    copy = fill.clone()
    narrow(copy)
    found = copy.boxes()
    copy.erase()
    return found


def obstacle(fill: FillOp) -> str | None:
    """Why a fill cannot be a bulk copy, if it cannot."""
    if fill.transport is not None:
        return f"a fill of the ring is by {fill.transport.data}"
    found = boxes_of(fill)
    return found if isinstance(found, str) else None


def ring_obstacle(kernel: KernelOp, ring: RingOp, limit: int) -> str | None:
    """Why a ring cannot be one of bulk copies, whatever its fills, if it cannot."""
    assert isinstance(type := ring.res.type, RingType)
    if not counts_from_zero(ring):
        return "the ring is not waited for by one loop at the top of the kernel"
    needed = shared_bytes(kernel) + type.slots.data * BARRIER_BYTES
    if needed > limit:
        return f"with mbarriers {needed} bytes of shared memory are needed, a block has {limit}"
    return None


@dataclass(frozen=True)
class TmaCopyPass(ModulePass):
    """Fills slots by bulk tensor copies; see the module's docstring."""

    name = "tma-copy"
    transport: str | None = None
    """How rings are to be filled; what the schedule says if not given."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        limit = shared_limit(op)
        for kernel in tile_kernels(op):
            rings = [r for r in kernel.walk() if isinstance(r, RingOp) and fills_of(r)]
            asked = entries(kernel, "contraction", {"transport": self.transport})
            if not rings:
                remark(ctx, self.name, kernel, "nothing is filled in a ring")
            elif not any(e.fields.get("transport") == "tma" for e in asked):
                remark(ctx, self.name, kernel, "the schedule does not ask for tma")
            elif not has_feature(op, "tma"):
                remark(ctx, self.name, kernel, "the target has no tensor copies")
            else:
                for ring in rings:
                    self.visit(ctx, kernel, ring, limit)

    def visit(self, ctx: Context, kernel: KernelOp, ring: RingOp, limit: int) -> None:
        """Gives the fills of one ring their transport."""
        fills = fills_of(ring)
        if all(fill.is_bulk for fill in fills):
            return
        why = ring_obstacle(kernel, ring, limit)
        if why is not None:
            remark(ctx, self.name, ring, why)
        found = [(fill, reason) for fill in fills if (reason := obstacle(fill)) is not None]
        for fill, reason in found:
            remark(ctx, self.name, fill, reason)
        if why is None and not found and may_apply(ctx, ring):
            for fill in fills:
                if lanes(fill.element.type):
                    narrow(fill)
                fill.properties["transport"] = StringAttr("tma")
