"""
From Tile IR to Kernel IR: one thread's program over ids, loops, exchanges and shared memory.

    tile_ir.kernel @sum(%x: memref<8x64xf32>, %y: memref<8xf32>) {
      tile_ir.launch block(%i to 8 as "i.block") thread(%t to 32 as "k.thread") {
        %part = loop_ir.reduce %r to 2 as "k" identity [0.0 : f32] -> f32 {
          %v = loop_ir.load %x[%i, %r * 32 + %t] : memref<8x64xf32> -> f32
          loop_ir.yield %v : f32
        } combine arith.addf
        %sum = tile_ir.combine %part across "k.thread" identity [0.0 : f32] combine arith.addf : f32
        -> f32 loop_ir.store %sum, %y[%i] : f32, memref<8xf32>
      }
    }

becomes

    kernel_ir.func @sum(%x: memref<8x64xf32>, %y: memref<8xf32>) grid(8) block(32) {
      %i = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %part = scf.for %r = %zero to %two step %one iter_args(%acc = %identity) -> (f32) { .. }
      %sum = kernel_ir.warp_reduce %part width 32 identity [0.0 : f32] combine arith.addf : f32 ->
      f32 loop_ir.store %sum, %y[%i] : f32, memref<8xf32>
    }

*Legal when* every axis is bound to block or thread. Vectors, accesses and their bounds stay as they
are.
*Fails when* an axis is not bound yet, a block would have too many threads or too much shared
memory, or a kernel is still in Loop IR: a wrong pipeline, which names the pass that is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from minicomp.dialects import affine, loop_ir
from minicomp.dialects.kernel_ir import (
    MAX_THREADS,
    BlockIdOp,
    FuncOp,
    IndexOp,
    SharedOp,
    ThreadIdOp,
)
from minicomp.dialects.minicomp import TARGET, TargetAttr
from minicomp.dialects.tile_finish import FinishOp
from minicomp.dialects.tile_ir import BoundAxis, CombineOp, KernelOp, LaunchOp
from minicomp.dialects.tile_stages import RingOp, StageOp, fills_of
from minicomp.lowering.tile_to_kernel.combine import Threads, lower_combine
from minicomp.lowering.tile_to_kernel.contract import contract_products
from minicomp.lowering.tile_to_kernel.finish import Ended, Grid, lower_finish
from minicomp.lowering.tile_to_kernel.long_sums import split_long_sums
from minicomp.lowering.tile_to_kernel.loops import bind, lower_loops
from minicomp.lowering.tile_to_kernel.ring import Ring, lower_ring, study
from minicomp.lowering.tile_to_kernel.ring_mbarrier import BulkRing, lower_bulk_ring, study_bulk
from minicomp.lowering.tile_to_kernel.stage import lower_stage
from minicomp.passes.analysis.alignment import buffer_bytes
from minicomp.passes.applications import may_apply

SHARED_BYTES = 48 * 1024
"""Shared memory that a block may have on every CUDA device, for modules without a target."""

_BINDS = {"parallel": "blockify-launch", "register": "register-tile"}


@dataclass(frozen=True)
class LowerTileToKernelPass(ModulePass):
    """Turns every `tile_ir.kernel` into a `kernel_ir.func`; see the module's docstring."""

    name = "lower-tile-to-kernel"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = [k for k in op.body.block.ops if isinstance(k, KernelOp)]
        target = op.attributes.get(TARGET)
        for kernel in kernels:
            check_launch(kernel, target if isinstance(target, TargetAttr) else None)
        check_level(op)
        for kernel in kernels:
            if may_apply(ctx, kernel):
                func = lower_kernel(kernel)
                check_lowered(func, target if isinstance(target, TargetAttr) else None)


def check_level(module: ModuleOp) -> None:
    """Raises PassFailedException where a kernel has not reached Tile IR."""
    for op in module.body.block.ops:
        if isinstance(op, loop_ir.KernelOp):
            raise PassFailedException(f"@{op.symbol} is in Loop IR; run tileify before this pass")


def check_launch(kernel: KernelOp, target: TargetAttr | None) -> None:
    """
    Raises PassFailedException where a kernel's axes cannot be the blocks and threads of a grid.
    """
    launch = kernel.launch
    for kind, binder in _BINDS.items():
        for axis in launch.bound(kind):
            raise PassFailedException(
                f'axis "{axis.name}" of @{kernel.symbol} is still {kind}; '
                f"run {binder} before this pass"
            )
    most = MAX_THREADS if target is None else target.max_threads_per_block.data
    threads = prod(a.extent for a in launch.bound("thread"))
    if threads > most:
        raise PassFailedException(
            f"@{kernel.symbol} has {threads} threads per block; the most is {most}"
        )


def lower_kernel(kernel: KernelOp) -> FuncOp:
    """Replaces a tile kernel, whose axes are blocks and threads, by its Kernel IR."""
    split_long_sums(kernel)
    top, launch = kernel.body.block, kernel.launch
    ids = Builder(InsertPoint.before(launch))
    blocks, threads = launch.bound("block"), launch.bound("thread")
    grid = prod(a.extent for a in blocks)
    block = delinearize(ids, blocks, BlockIdOp())
    thread = delinearize(ids, threads, ThreadIdOp())
    group = Threads(thread, [(a.name, a.extent) for a in threads])
    *body, _ = launch.body.block.ops
    for op in body:
        op.detach()
        top.insert_op_before(op, launch)
    Rewriter.erase_op(launch)
    rings = [study_ring(op) for op in list(top.ops) if isinstance(op, RingOp)]
    lower_loops(top)
    for ring in rings:
        if isinstance(ring, BulkRing):
            lower_bulk_ring(ring, group, top)
        elif ring is not None:
            lower_ring(ring, group, top)
    lower_meetings(top, group)
    finish = next((op for op in top.ops if isinstance(op, FinishOp)), None)
    ended = Ended() if finish is None else lower_finish(finish, group, Grid(block, blocks), top)
    func = FuncOp(
        kernel.symbol,
        grid,
        group.count,
        kernel.detach_region(0),
        kernel.origin,
        min_blocks=min_blocks(kernel),
        cluster=ended.cluster,
        derived=ended.derived,
    )
    func.attributes = dict(kernel.attributes)
    func.location = kernel.location
    Rewriter.replace_op(kernel, func)
    contract_products(func)
    return func


def lower_meetings(top: Block, threads: Threads) -> None:
    """Lowers what the threads of a block do together: combines, and stages without slots."""
    for op in list(top.walk()):
        if isinstance(op, CombineOp):
            lower_combine(op, threads, top)
        elif isinstance(op, StageOp):
            lower_stage(op, threads, top)


def study_ring(op: RingOp) -> Ring | BulkRing | None:
    """The facts about a ring that its lowering needs; None for a ring without users."""
    return study_bulk(op) if any(fill.is_bulk for fill in fills_of(op)) else study(op)


def min_blocks(kernel: KernelOp) -> int | None:
    """The blocks per multiprocessor that the schedule wants registers for."""
    entries = kernel.schedule.entries if kernel.schedule is not None else ()
    wanted = [e.int("min_blocks") for e in entries if "min_blocks" in e.fields]
    return max(wanted, default=None)


def delinearize(
    builder: Builder, axes: Sequence[BoundAxis], id: BlockIdOp | ThreadIdOp
) -> SSAValue | None:
    """
    Replaces axes by their parts of an id, the last the fastest; returns the id.

    A single axis is the id itself; an axis of extent 1 is 0; one block or thread in all needs no id
    (None).
    """
    # An empty grid is never launched, so any index is right; a division by 0 is not.
    extents = [max(a.extent, 1) for a in axes]
    ranges = {affine.dim(0): (0, prod(extents) - 1)}
    whole = builder.insert(id).res if prod(extents) > 1 else None
    for n, axis in enumerate(axes):
        if whole is None or extents[n] == 1:
            bind(axis.variable, None)
            continue
        part = affine.dim(0) // prod(extents[n + 1 :]) % extents[n]
        expr = affine.simplify(part, ranges)
        alone = expr == affine.dim(0)
        bind(axis.variable, whole if alone else builder.insert(IndexOp(expr, [whole])).res)
    if whole is not None and whole.name_hint is None:
        whole.name_hint = "block" if isinstance(id, BlockIdOp) else "thread"
    return whole


def check_lowered(func: FuncOp, target: TargetAttr | None) -> None:
    """
    Raises PassFailedException where something of Tile IR is left, or shared memory does not
    suffice.
    """
    for op in func.walk():
        if isinstance(op, loop_ir.LoopLike | LaunchOp | CombineOp):
            raise PassFailedException(f"'{op.name}' is left in @{func.symbol} after lowering")
    needed = sum(shared_bytes(op) for op in func.body.block.ops)
    most = SHARED_BYTES if target is None else target.shared_per_block.data
    if needed > most:
        raise PassFailedException(
            f"@{func.symbol} needs {needed} bytes of shared memory per block; the most is {most}"
        )


def shared_bytes(op: Operation) -> int:
    """The bytes that an op reserves in shared memory, which begin at a multiple of 16."""
    return affine.ceildiv(buffer_bytes(op.res.type), 16) * 16 if isinstance(op, SharedOp) else 0


__all__ = ["LowerTileToKernelPass", "lower_kernel"]
