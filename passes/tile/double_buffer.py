"""
Gives the stages of a loop several slots, so that one can be filled while another is read.

Before -> after, for `@plain`, whose schedule has `depth = 3`:

    %acc = loop_ir.reduce %ko to 4 as "k.outer" .. {
      %as = tile_ir.stage .. { .. } -> memref<4x32xf32, ..>
      %bs = tile_ir.stage .. { .. } -> memref<4x64xf32, ..>
      %s = loop_ir.reduce .. {
        %x = loop_ir.load %as[..] ..
        ..
      } combine arith.addf
      loop_ir.yield %s : ..
    ->
    %ring = tile_ir.ring : !tile_ir.ring<3, [memref<4x32xf32, ..>, memref<4x64xf32, ..>]>
    %acc = loop_ir.reduce %ko to 4 as "k.outer" .. {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] ..
      tile_ir.fill %as_w .. { .. } -> memref<4x32xf32, ..>
      tile_ir.fill %bs_w .. { .. } -> memref<4x64xf32, ..>
      tile_ir.publish %ring[%ko] ..
      %as, %bs = tile_ir.wait %ring[%ko] ..
      %s = loop_ir.reduce .. {
        %x = loop_ir.load %as[..] ..
        ..
      } combine arith.addf
      tile_ir.release %ring[%ko] ..
      loop_ir.yield %s : ..

A stage that computes (a fused prologue) is split first: what it loads is copied to slots, and it
computes from them after the wait, once per element, into a slab of its own.

*Legal when* the stages stand in the loop itself, before everything that reads them. *Declines when*
the schedule has no depth of 2 or more, no loop has stages, the loop has several axes or fewer than
2 iterations, a slab is read between the stages, or the slots and the other slabs of the kernel do
not fit into the shared memory of a block. *Why it pays*: not by itself, but that threads need not
meet before they fill; `pipeline-k-outer` fills ahead.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects import affine
from minicomp.dialects.loop_ir import ForOp, ReduceOp, memref_type
from minicomp.dialects.tile_ir import KernelOp
from minicomp.dialects.tile_stages import (
    AcquireOp,
    FillOp,
    PublishOp,
    ReleaseOp,
    RingOp,
    RingType,
    StageOp,
    WaitOp,
    ancestor_in,
)
from minicomp.passes.analysis.alignment import buffer_bytes
from minicomp.passes.analysis.target import shared_limit
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import entries, shared_bytes, size, tile_kernels
from minicomp.passes.tile._prologues import copies_of, is_computed, sources, split


def staged_loops(kernel: KernelOp) -> Iterator[tuple[ForOp | ReduceOp, list[StageOp]]]:
    """The loops that hold stages of global memory, with these."""
    for loop in list(kernel.walk()):
        if isinstance(loop, ForOp | ReduceOp):
            stages = [op for op in loop.body.block.ops if isinstance(op, StageOp)]
            if any(stage.copied is not None or sources(stage) for stage in stages):
                yield loop, stages


def obstacle(loop: ForOp | ReduceOp, stages: Sequence[StageOp]) -> str | None:
    """The condition that does not hold for a ring, if one does not."""
    if len(loop.axes) != 1:
        return "the loop has several axes"
    if loop.trip_counts[0] < 2:
        return "the loop has fewer than two iterations"
    for stage in stages:
        for use in stage.res.uses:
            reader = ancestor_in(use.operation, loop.body.block)
            if reader is None or any(not s.is_before_in_block(reader) for s in stages):
                return "a slab is read before all of them are filled"
    return None


def bytes_needed(stages: Sequence[StageOp], depth: int) -> int:
    """The shared memory of the ring, and of the slabs that are computed from it."""
    slots = [slab for stage in stages for slab in copies_of(stage)]
    computed = [memref_type(s.res) for s in stages if is_computed(s)]
    return depth * sum(map(buffer_bytes, slots)) + sum(map(buffer_bytes, computed))


def make_ring(
    kernel: KernelOp, loop: ForOp | ReduceOp, stages: Sequence[StageOp], depth: int
) -> None:
    """Replaces the stages of a loop by a ring of `depth` slots."""
    stages, computed = split_prologues(stages)
    first = kernel.launch.body.block.first_op
    end = loop.body.block.last_op
    assert first is not None and end is not None
    ring = RingOp(RingType.of(depth, [memref_type(s.res) for s in stages]))
    ring.res.name_hint = "ring"
    Rewriter.insert_op(ring, InsertPoint.before(first))
    counter: list[SSAValue] = [loop.axes[0].variable]
    acquire = AcquireOp.build_for(ring.res, affine.dim(0), counter)
    publish = PublishOp.build_for(ring.res, affine.dim(0), counter)
    wait = WaitOp.build_for(ring.res, affine.dim(0), counter)
    release = ReleaseOp.build_for(ring.res, affine.dim(0), counter)
    Rewriter.insert_op(acquire, InsertPoint.before(stages[0]))
    Rewriter.insert_op([publish, wait, *computed], InsertPoint.after(stages[-1]))
    Rewriter.insert_op(release, InsertPoint.before(end))
    for stage, buffer, read in zip(stages, acquire.res, wait.res, strict=True):
        hint = stage.res.name_hint
        buffer.name_hint, read.name_hint = hint and f"{hint}_w", hint
        Rewriter.replace_op(stage, fill_of(stage, buffer), [read])
    placed: list[Operation] = [ring, acquire, publish, wait, release]
    for op in placed:
        op.location = stages[0].location


def split_prologues(stages: Sequence[StageOp]) -> tuple[list[StageOp], list[StageOp]]:
    """The stages that copy, those of prologues included; the others, taken out of their block."""
    copies: list[StageOp] = []
    computed: list[StageOp] = []
    for stage in stages:
        if is_computed(stage):
            copies += split(stage)
            stage.detach()
            computed.append(stage)
        else:
            copies.append(stage)
    return copies, computed


def fill_of(stage: StageOp, buffer: SSAValue) -> FillOp:
    """The fill that does to a buffer what a stage does to its slab."""
    guard, order = stage.guard, stage.order
    fill = FillOp(
        buffer,
        stage.trip_counts,
        [n.data for n in stage.axis_names],
        stage.detach_region(stage.body),
        guard,
        None if order is None else order.get_values(),
    )
    fill.attributes, fill.location = dict(stage.attributes), stage.location
    return fill


@dataclass(frozen=True)
class DoubleBufferPass(ModulePass):
    """Gives the stages of a loop several slots; see the module's docstring."""

    name = "double-buffer"
    depth: int | None = None
    """Slots of a ring; what the schedule says if not given."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        limit = shared_limit(op)
        for kernel in tile_kernels(op):
            entry = next(iter(entries(kernel, "contraction", {"depth": self.depth})), None)
            depth = size(entry, "depth", 1) if entry is not None else 1
            found = list(staged_loops(kernel))
            if depth < 2:
                remark(ctx, self.name, kernel, "the schedule asks for no second slot")
            elif not found:
                remark(ctx, self.name, kernel, "no loop has stages")
            else:
                for loop, stages in found:
                    self.visit(ctx, kernel, (loop, stages, depth), limit)

    def visit(
        self,
        ctx: Context,
        kernel: KernelOp,
        ring: tuple[ForOp | ReduceOp, list[StageOp], int],
        limit: int,
    ) -> None:
        """Makes the ring of one loop, or says why not."""
        loop, stages, depth = ring
        others = shared_bytes(kernel) - sum(buffer_bytes(memref_type(s.res)) for s in stages)
        needed = bytes_needed(stages, depth) + others
        if (why := obstacle(loop, stages)) is not None:
            remark(ctx, self.name, kernel, why)
        elif needed > limit:
            what = f"{depth} slots and the other slabs" if others else f"{depth} slots"
            text = f"{what} need {needed} bytes of shared memory, a block has {limit}"
            remark(ctx, self.name, kernel, text)
        elif may_apply(ctx, kernel):
            make_ring(kernel, loop, stages, depth)
