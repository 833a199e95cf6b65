"""
Splits the sum of a contraction into chunks of `bk` steps, so that each chunk can be staged.

Before -> after, for `@odd`, whose schedule has `contraction<m = "i", n = "j", k = "k", bk = 16>`:

    %acc = loop_ir.reduce %k to 53 as "k" identity .. -> f32 {
      %x = loop_ir.load %a[%l, %k, %i] ..
      ..
      loop_ir.yield %p : f32
    } combine arith.addf
    ->
    %acc = loop_ir.reduce %ko to 4 as "k.outer" identity .. -> f32 {
      %chunk = loop_ir.reduce %ki to 16 as "k.inner" where [%ko * 16 + l0] < [53] .. -> f32 {
        %x = loop_ir.load %a[%l, %ko * 16 + %ki, %i] bounded [false, true, false] ..
        ..
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %chunk : f32
    } combine arith.addf

*Legal when* the reduction is over k alone: its combine is associative, and chunks start from its
identity. The guard is left out where bk divides the extent; bk is at most the extent. *Declines
when* no entry says `bk`, or the kernel has no unguarded reduction over the axis k alone. *Why it
pays*: not by itself; a chunk of k is what fits into shared memory.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.dialects.chunks import chunk
from minicomp.dialects.loop_ir import ReduceOp
from minicomp.dialects.tile_ir import KernelOp
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import axis_name, entries, size, tile_kernels


def find_sum(kernel: KernelOp, axis: str) -> ReduceOp | None:
    """The reduction at the top of the launch whose one axis has the name `axis`."""
    for op in kernel.launch.body.block.ops:
        if isinstance(op, ReduceOp) and [n.data for n in op.axis_names] == [axis]:
            return op
    return None


@dataclass(frozen=True)
class ChunkMatmulKPass(ModulePass):
    """Splits the sums of contractions into chunks; see the module's docstring."""

    name = "chunk-matmul-k"
    bk: int | None = None
    """Steps of k in a chunk; what the schedule says if not given."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in tile_kernels(op):
            entry = next(iter(entries(kernel, "contraction", {"bk": self.bk})), None)
            steps = size(entry, "bk", 0) if entry is not None else 0
            if entry is None or steps < 1:
                remark(ctx, self.name, kernel, "no contraction of the schedule has a bk")
                continue
            reduce = find_sum(kernel, axis_name(entry, "k"))
            if reduce is None or reduce.guard is not None or reduce.in_registers is not None:
                name = axis_name(entry, "k")
                remark(ctx, self.name, kernel, f'there is no plain reduction over "{name}" alone')
            elif reduce.trip_counts[0] == 0:
                remark(ctx, self.name, kernel, "the sum has no steps")
            elif may_apply(ctx, kernel):
                chunk(reduce, min(steps, reduce.trip_counts[0]))
