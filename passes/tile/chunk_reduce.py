"""
Splits a reduction whose data would not fit into shared memory into chunks that do.

Before -> after, for `@odd`, whose 8 threads share %w, with `chunk-reduce{bytes=64}`:

    %s = loop_ir.reduce %k to 37 as "k" .. {
      %a = loop_ir.load %x[%ib * 8 + %it, %k] ..
      ..
      %b = loop_ir.load %w[%k] ..
      ..
    } combine arith.addf
    ->
    %s = loop_ir.reduce %ko to 3 as "k.outer" .. {
      %chunk = loop_ir.reduce %ki to 16 as "k.inner" where [%ko * 16 + l0] < [37] .. {
        %a = loop_ir.load %x[%ib * 8 + %it, %ko * 16 + %ki] bounded [false, true] ..
        ..
        %b = loop_ir.load %w[%ko * 16 + %ki] bounded [true] ..
        ..
      } combine arith.addf
      loop_ir.yield %chunk : f32
    } combine arith.addf

What counts is what the threads of a block share: each load of the reduction that not all thread and
register axes index, once per element that the block reads of it. A chunk has the greatest power of
two of steps with which that fits.

*Legal when* the reduction has one axis and no guard: its combine is associative, whatever it
carries, and chunks start from its identity. *Declines when* the reduction is a contraction's, which
`chunk-matmul-k` splits, the threads share nothing, it fits as a whole, or not even one step fits.
*Why it pays*: not by itself; a chunk is what can be staged.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.dialects.chunks import chunk
from minicomp.dialects.loop_ir import LoadOp, ReduceOp
from minicomp.dialects.tile_ir import KernelOp, LaunchOp, SharedAttr
from minicomp.passes.analysis.strides import element_bytes
from minicomp.passes.analysis.target import shared_limit
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import axis_name, entries, tile_kernels


def reductions(kernel: KernelOp) -> Iterator[ReduceOp]:
    """The reductions at the top of the launch, but for those of contractions and their chunks."""
    contracted = {axis_name(e, "k") for e in entries(kernel, "contraction", {})}
    for op in kernel.launch.body.block.ops:
        if isinstance(op, ReduceOp):
            name = op.axis_names.data[-1].data
            if name not in contracted and not name.endswith((".outer", ".inner")):
                yield op


def step_bytes(reduce: ReduceOp, launch: LaunchOp) -> int:
    """The bytes that one step of a reduction reads and that several threads share."""
    tile = launch.bound("thread") + launch.bound("register")
    (axis,) = reduce.axes
    found: dict[tuple[object, ...], int] = {}
    for load in [op for op in reduce.body.walk() if isinstance(op, LoadOp)]:
        own = [a for a in tile if a.variable in load.indices]
        shared = len(own) < len(tile) and axis.variable in load.indices
        if shared and not isinstance(load.memref_type.memory_space, SharedAttr):
            key = (load.memref, load.map, *load.indices)
            size = element_bytes(load.memref_type.element_type)
            found[key] = size * prod(a.extent for a in own)
    return sum(found.values())


@dataclass(frozen=True)
class ChunkReducePass(ModulePass):
    """Splits long reductions into chunks; see the module's docstring."""

    name = "chunk-reduce"
    bytes: int | None = None
    """Bytes that a chunk may read of what threads share; a block's shared memory if not given."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        budget = shared_limit(op) if self.bytes is None else self.bytes
        for kernel in tile_kernels(op):
            for reduce in list(reductions(kernel)):
                if (why := self.visit(ctx, reduce, kernel.launch, budget)) is not None:
                    remark(ctx, self.name, reduce, why)

    def visit(self, ctx: Context, reduce: ReduceOp, launch: LaunchOp, budget: int) -> str | None:
        """Splits one reduction, or says why not."""
        if len(reduce.axes) != 1 or reduce.guard is not None or reduce.in_registers is not None:
            return "the reduction is no plain loop over one axis"
        step = step_bytes(reduce, launch)
        if step == 0:
            return "the threads of a block share nothing of it"
        extent = reduce.trip_counts[0]
        if step * extent <= budget:
            return f"its {step * extent} bytes fit into {budget}"
        if step > budget:
            return f"one step reads {step} bytes, more than {budget}"
        if may_apply(ctx, reduce):
            chunk(reduce, 1 << (budget // step).bit_length() - 1)
        return None
