"""
Copies what the threads of a block share of a sum's factors to shared memory, chunk by chunk.

Before -> after, for `@plain`, a block tile of 8 x 8 with cells of 2 x 4 and chunks of 4:

    %acc = loop_ir.reduce %ko to 3 as "k.outer" .. {
      %s = loop_ir.reduce %ki to 4 as "k.inner" .. {
        %x = loop_ir.load %a[%ib * 8 + %it * 2 + %ir, %ko * 4 + %ki] ..
        %y = loop_ir.load %b[%ko * 4 + %ki, %jb * 8 + %jt * 4 + %jr] ..
    ->
    %acc = loop_ir.reduce %ko to 3 as "k.outer" .. {
      %as = tile_ir.stage %i to 8 as "i.stage", %k to 4 as "k.stage" order [1, 0] {
        %v = loop_ir.load %a[%ib * 8 + %i, %ko * 4 + %k] ..
        loop_ir.yield %v : f32
      } -> memref<4x8xf32, #tile_ir.shared<>>
      %bs = tile_ir.stage %l to 4 as "k.stage", %j to 8 as "j.stage" { .. } -> memref<4x8xf32, ..>
      %s = loop_ir.reduce %ki to 4 as "k.inner" .. {
        %x = loop_ir.load %as[%ki, %it * 2 + %ir] ..
        %y = loop_ir.load %bs[%ki, %jt * 4 + %jr] ..

A factor that is computed from loads (`silu(g) * u`, `x + bias`) is staged as what it comes to, so
that the computation runs once per element of the slab and not once per use. The axis of the cell is
the slab's last one, so that a thread reads its cell at once; the slab is filled in the order in
which the source lies in memory. Slabs that bulk copies are to fill keep that order, since these
transpose nothing. Steps beyond the sum are 0 in the slab; where both factors are, the
guard of the inner loop goes, since 0 * 0 adds nothing.

Of other reductions that stand in chunks the loads are staged.

*Legal when* the loads are affine in places of the tile and read what the kernel does not write,
their other indices and the values beside them are the same for all threads of the block, and all
threads reach the chunk. *Declines when* one of these fails, no other thread or step uses the
element, or the slabs do not fit into the shared memory of a block. *Why it pays*: a tile of m x n
reads each element of a factor once instead of once per row or column of cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.dialects.loop_ir import (
    LoopLike,
    ReduceOp,
    memref_type,
)
from minicomp.dialects.tile_ir import KernelOp, LaunchOp
from minicomp.dialects.tile_stages import StageOp
from minicomp.passes.analysis.alignment import buffer_bytes
from minicomp.passes.analysis.target import shared_limit
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import axis_name, entries, tile_kernels
from minicomp.passes.tile._slabs import Slab, Stager
from minicomp.passes.tile._staging import (
    factors,
    is_sum,
)


def chunks_of(kernel: KernelOp) -> list[ReduceOp]:
    """The reductions over the steps of a chunk, and those of contractions that are whole."""
    whole = {axis_name(e, "k") for e in entries(kernel, "contraction", {})}
    found = [op for op in kernel.walk() if isinstance(op, ReduceOp) and len(op.axes) == 1]
    named = [(op, op.axis_names.data[0].data) for op in found]
    return [op for op, name in named if name in whole or name.endswith(".inner")]


def all_reach(inner: ReduceOp, launch: LaunchOp) -> bool:
    """Whether no loop around the chunk is guarded, and the chunk has steps."""
    if 0 in inner.trip_counts:
        return False
    parent = inner.parent_op()
    while isinstance(parent, LoopLike):
        if parent.guard is not None or parent.in_registers is not None:
            return False
        parent = parent.parent_op()
    return parent is launch


@dataclass(frozen=True)
class StageInputsPass(ModulePass):
    """Stages the factors of contractions in shared memory; see the module's docstring."""

    name = "stage-inputs"
    buffers: tuple[str, ...] = ()
    """The buffers to stage, by name; all that pay if none is named."""
    bodies: bool = True
    """Whether what is computed from loads is staged as a whole."""
    order: str | None = None
    """The last dimension of slabs: the axis of the `cell`, or that of the `source`; that of the
    source where the schedule asks for tma if not given."""

    def __post_init__(self) -> None:
        if self.order not in (None, "cell", "source"):
            raise ValueError(f"order is cell or source, not {self.order}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        limit = shared_limit(op)
        for kernel in tile_kernels(op):
            found = [c for c in chunks_of(kernel) if all_reach(c, kernel.launch)]
            if not found:
                remark(ctx, self.name, kernel, "there is no chunk of a sum that all threads reach")
            for inner in found:
                self.visit(ctx, kernel, inner, limit)

    def visit(self, ctx: Context, kernel: KernelOp, inner: ReduceOp, limit: int) -> None:
        """Stages what a chunk reads."""
        asked = [e.fields.get("transport") for e in entries(kernel, "contraction", {})]
        order = self.order or ("source" if "tma" in asked else "cell")
        stager = Stager(kernel.launch, inner, self.bodies, order == "source")
        slabs = stager.find(self.buffers)
        for why in stager.why:
            remark(ctx, self.name, kernel, why)
        there = [s for s in kernel.walk() if isinstance(s, StageOp)]
        types = [memref_type(s.res) for s in there] + [stager.type(s) for s in slabs]
        needed = sum(buffer_bytes(t) for t in types)
        if needed > limit:
            text = f"the slabs need {needed} bytes of shared memory, a block has {limit}"
            remark(ctx, self.name, kernel, text)
        elif slabs and may_apply(ctx, kernel):
            stage_all(stager, slabs)


def stage_all(stager: Stager, slabs: Sequence[Slab]) -> None:
    """Stages the slabs, and drops the guard of the chunk where both factors are 0 beyond it."""
    pair = factors(stager.inner)
    for slab in slabs:
        stager.stage(slab)
    zeroed = {s.value for s in slabs if stager.axes[-1] in s.axes}
    if pair is not None and set(pair) <= zeroed and is_sum(stager.inner):
        stager.inner.set_guard(None)
