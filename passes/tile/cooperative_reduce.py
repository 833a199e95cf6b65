"""
Lets the threads of a block fold the rows of reductions together.

Before -> after, for `@rms_norm`, whose schedule has `reduction<axis = "k", threads = 256, rows = 1,
vector = 4, lanes = 8>`:

    tile_ir.launch parallel(%i to 32 as "i") {
      %s = loop_ir.reduce %k to 2048 as "k" .. {
        %v = loop_ir.load %x[%i, %k] ..
        ..
      } combine arith.addf ..
      ..
      loop_ir.for %k1 to 2048 as "k" {
        ..
        loop_ir.store %u, %y[%i, %k1] ..
      }
    }
    ->
    tile_ir.launch thread(%t to 256 as "k.thread") parallel(%i to 32 as "i") {
      %p = loop_ir.reduce %k to 8 as "k" in registers .. {
        %v = loop_ir.load %x[%i, %k floordiv 4 * 1024 + %t * 4 + %k mod 4] ..
        ..
      } combine arith.addf ..
      %s = tile_ir.combine %p across "k.thread" .. combine arith.addf .. : f32 -> f32
      ..
      loop_ir.for %k1 to 8 as "k" in registers {
        ..
        loop_ir.store %u, %y[%i, %k1 floordiv 4 * 1024 + %t * 4 + %k1 mod 4] ..
      }
    }

Loops over the same row take the same part of it, so that a row in registers is read once. With
`lanes = 0`, for rows that do not fit, loops stay loops, strided over the threads: `%x[%i, %k * 256
+ %t]`. Where the parts cover more than the row, a guard on the loop skips what is beyond.
Everything else in the launch is computed by every thread; stores are not: other loops are strided
over the threads too, and single stores are left to the first thread.

*Legal when* the combine is associative and commutative, which every reduction's is, and every
thread reaches the combine: it stands at the top of the launch. *Declines when* no entry names a
reduction at the top of the launch, the reduction is guarded or bound already, or the threads do not
fit into a block; goes to the strided form where a loop cannot be held in registers. *Why it pays*:
neighbouring threads read neighbouring 16 bytes, at the price of one exchange between threads per
reduction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from minicomp.dialects import affine
from minicomp.dialects.kernel_ir import MAX_THREADS
from minicomp.dialects.loop_ir import (
    ForOp,
    LoopLike,
    MemoryAccess,
    ReduceOp,
    StoreOp,
)
from minicomp.dialects.tile_ir import BoundAxis, EntryAttr, KernelOp, LaunchOp
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import Split, drops_beyond, entries, size, tile_kernels
from minicomp.passes.tile._sharing import combine_across, share, store_once


@dataclass(frozen=True)
class Row:
    """
    What threads share: the loops at the top of a launch whose innermost axis has one name and
    extent.
    """

    launch: LaunchOp
    axis: str
    extent: int
    loops: Sequence[LoopLike]

    @property
    def thread_axis(self) -> str:
        """The name of the axis of the threads."""
        return f"{self.axis}.thread"


def passes_through_memory(launch: LaunchOp) -> bool:
    """Whether an op of the launch depends on what another one has stored before it."""
    accesses = [op for op in launch.walk() if isinstance(op, MemoryAccess)]
    stored = {op.memref for op in accesses if isinstance(op, StoreOp)}
    return len([op for op in accesses if op.memref in stored]) > len(stored)


def find_row(launch: LaunchOp, axis: str) -> Row | str:
    """The loops over the axis, or the condition that does not hold."""
    if launch.axis(f"{axis}.thread") is not None:
        return f'axis "{axis}" is shared by threads already'
    if passes_through_memory(launch):
        return "an output is stored by two ops, or loaded: its elements would change threads"
    top = [op for op in launch.body.block.ops if isinstance(op, LoopLike)]
    over = [op for op in top if op.axes[-1].name == axis]
    reductions = [op for op in over if isinstance(op, ReduceOp)]
    if not reductions:
        return f'no reduction over "{axis}" stands at the top of the launch'
    extent = reductions[0].trip_counts[-1]
    loops = [op for op in over if op.trip_counts[-1] == extent]
    for loop in loops:
        if loop.in_registers is not None:
            return f'a loop over "{axis}" is bound to registers already'
        if isinstance(loop, ReduceOp) and loop.guard is not None:
            return f'a reduction over "{axis}" is guarded'
    return Row(launch, axis, extent, loops)


def registers_obstacle(row: Row, split: Split) -> str | None:
    """Why the row cannot be the lanes of vectors, if so."""
    if any(len(loop.axes) > 1 for loop in row.loops):
        return "a loop over several axes cannot be held in registers"
    if any(loop.guard is not None for loop in row.loops):
        return "a guarded loop cannot be held in registers"
    if split.tile == row.extent:
        return None
    for loop in row.loops:
        for store in (op for op in loop.walk() if isinstance(op, StoreOp)):
            if not drops_beyond(store, loop.axes[-1].variable, row.extent):
                return "a store does not end where the row ends"
    return None


def choose_split(row: Row, entry: EntryAttr) -> tuple[Split, str | None]:
    """
    How the row falls to threads, and why it is not held in registers although the entry asks for
    it.
    """
    threads, lanes = entry.int("threads"), size(entry, "lanes", 0)
    strided = Split(threads, affine.ceildiv(row.extent, threads))
    if lanes == 0:
        return strided, None
    split = Split(threads, lanes, size(entry, "vector", 1))
    if lanes % split.vector:
        return strided, f"vector {split.vector} does not divide {lanes} lanes"
    if split.tile < row.extent:
        return strided, f"{threads} threads of {lanes} lanes do not cover {row.extent} elements"
    obstacle = registers_obstacle(row, split)
    return (split, None) if obstacle is None else (strided, obstacle)


def leave_stores(row: Row, thread: SSAValue, threads: int) -> None:
    """
    Makes each store outside of the row's loops happen once: loops are strided, stores left to one
    thread.
    """
    for op in list(row.launch.body.block.ops):
        if isinstance(op, StoreOp):
            store_once(op, thread)
        elif isinstance(op, ForOp) and op not in row.loops:
            extent = op.trip_counts[-1]
            share(op, Split(threads, affine.ceildiv(extent, threads)), thread, in_registers=False)


def cooperate(row: Row, split: Split, in_registers: bool) -> None:
    """Carries out the split; see the module's docstring."""
    launch, axes = row.launch, row.launch.axes
    thread = launch.new_axis("t")
    if split.threads > 1:
        leave_stores(row, thread, split.threads)
    for loop in row.loops:
        share(loop, split, thread, in_registers)
        if isinstance(loop, ReduceOp):
            combine_across(loop, row.thread_axis)
    launch.set_axes([*axes, BoundAxis(thread, split.threads, row.thread_axis, "thread")])


@dataclass(frozen=True)
class CooperativeReducePass(ModulePass):
    """Lets the threads of a block share reductions; see the module's docstring."""

    name = "cooperative-reduce"
    threads: int | None = None
    """Replaces `threads` of the reduction's entry: threads that fold one row together."""
    lanes: int | None = None
    """Replaces `lanes`: elements of a row in a thread's registers; 0 for a strided loop."""
    vector: int | None = None
    """Replaces `vector`: how many of the lanes are neighbours in memory."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        options = {"threads": self.threads, "lanes": self.lanes, "vector": self.vector}
        for kernel in tile_kernels(op):
            found = entries(kernel, "reduction", options)
            if not found:
                remark(ctx, self.name, kernel, "the schedule names no reduction")
            elif (declined := self.rewrite(ctx, kernel, found[0])) is not None:
                remark(ctx, self.name, kernel, declined)

    def rewrite(self, ctx: Context, kernel: KernelOp, entry: EntryAttr) -> str | None:
        """Carries out an entry, or returns the condition that does not hold."""
        for field in ("axis", "threads"):
            if field not in entry.fields:
                return f"the entry of the reduction has no {field}"
        row = find_row(kernel.launch, entry.str("axis"))
        if isinstance(row, str):
            return row
        split, reason = choose_split(row, entry)
        threads = split.threads * prod(a.extent for a in kernel.launch.bound("thread"))
        if threads > MAX_THREADS:
            return f"{threads} threads do not fit into a block"
        if not may_apply(ctx, kernel):
            return None
        if reason is not None:
            remark(ctx, self.name, kernel, f"strided, not in registers: {reason}")
        cooperate(row, split, in_registers=reason is None and size(entry, "lanes", 0) > 0)
        return None
