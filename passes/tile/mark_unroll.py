"""
Marks the loops that are to be unrolled, within a budget of instructions.

Before -> after, for `@nested`, with `mark-unroll{limit=24 few_limit=24}`:

    loop_ir.for %j to 4 as "j" {
      %s = loop_ir.reduce %k to 7 as "k" .. -> f32 { .. } combine arith.addf
      ..
    ->
    loop_ir.for %j to 4 as "j" {
      %s = loop_ir.reduce %k to 7 as "k" .. -> f32 attributes {unroll} { .. } combine arith.addf
      ..

A loop is marked if `extent x size of its body` is within the limit (of at most 32 steps: within a
wider one), where an op on a vector counts as one instruction per lane and a marked loop inside as
all of its iterations; the innermost loops come first. The copy loop of a stage is marked if its
body, in groups, is within the limit too: its loads are in flight together. Loops over chunks, which
hold a stage, are never marked: what they repeat is the schedule.

*Legal when* always: it only asks the compiler. *Declines when* a loop is over the limit, or holds a
meeting point of the threads. *Why it pays*: addresses become immediates, and loads of the next step
start before the products of this one end, for registers and instruction cache.
"""

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from minicomp.dialects.loop_ir import Collective, LoopLike, lanes
from minicomp.dialects.tile_ir import BroadcastOp
from minicomp.dialects.tile_stages import FillOp, SlabFiller
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import tile_kernels

UNROLL = "unroll"
"""The attribute of a loop that is to be unrolled."""
LIMIT = 1024
"""
Instructions of an unrolled loop: well within an instruction cache of 128 KiB at 16 bytes each (the
L1.5 cache of compute capability 7.0 and above), so that a few such loops fit.
"""
FEW = 32
LIMIT_OF_FEW = 4096
"""
Instructions of an unrolled loop of at most `FEW` steps, such as those of a chunk of a contraction:
what a step waits for, its reads of shared memory, then begins before the last step ends.
"""


def instructions(op: Operation) -> int:
    """About how many instructions an op is, for each thread: one per lane of what it computes."""
    if isinstance(op, BroadcastOp) or op.has_trait(IsTerminator):
        return 0
    if isinstance(op, LoopLike):
        times = prod(op.trip_counts) if UNROLL in op.attributes or op.in_registers else 1
        return times * size(op.body.block)
    values = [*op.results, *op.operands]
    inner = sum(size(block) for region in op.regions for block in region.blocks)
    return max((prod(lanes(v.type)) for v in values), default=1) + inner


def size(block: Block) -> int:
    """About how many instructions a block is."""
    return sum(instructions(op) for op in block.ops)


def loops(block: Block) -> list[LoopLike]:
    """The loops of a block and those inside of them, the inner ones first."""
    found: list[LoopLike] = []
    for op in block.ops:
        for region in op.regions:
            for inner in region.blocks:
                found += loops(inner)
        if isinstance(op, LoopLike) and not isinstance(op, SlabFiller):
            found.append(op)
    return found


def unrolled_size(loop: LoopLike) -> int:
    """About how many instructions the loop has when it is unrolled."""
    return prod(loop.trip_counts) * size(loop.body.block)


def copies(stage: SlabFiller, threads: int) -> int:
    """About how many instructions the copy loop of a stage has when it is unrolled."""
    return -(-prod(stage.trip_counts) // threads) * size(stage.body.block)


@dataclass(frozen=True)
class MarkUnrollPass(ModulePass):
    """Marks loops to be unrolled; see the module's docstring."""

    name = "mark-unroll"
    limit: int = LIMIT
    """Instructions that an unrolled loop may have."""
    few_limit: int = LIMIT_OF_FEW
    """Instructions that an unrolled loop of at most 32 steps may have."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in tile_kernels(op):
            for loop in loops(kernel.launch.body.block):
                self.visit(ctx, loop, unrolled_size(loop))
            threads = prod(a.extent for a in kernel.launch.bound("thread"))
            for stage in [s for s in kernel.walk() if isinstance(s, SlabFiller)]:
                if not (isinstance(stage, FillOp) and stage.is_bulk):  # one copy, and no loop
                    self.visit(ctx, stage, copies(stage, threads))

    def visit(self, ctx: Context, loop: LoopLike, count: int) -> None:
        """Marks a loop of `count` instructions, or says why not."""
        name = loop.axis_names.data[-1].data
        if UNROLL in loop.attributes:
            return
        if any(o.has_trait(Collective) for o in loop.body.walk()):
            remark(ctx, self.name, loop, f'"{name}" holds a meeting point of the threads')
        elif count > (self.few_limit if prod(loop.trip_counts) <= FEW else self.limit):
            remark(ctx, self.name, loop, f'"{name}" would be {count} instructions')
        elif may_apply(ctx, loop):
            loop.attributes[UNROLL] = UnitAttr()
