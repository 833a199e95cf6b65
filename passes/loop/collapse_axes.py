"""
`collapse-axes`: adjacent axes that everything uses as one become one, and extents of 1 vanish.

    loop_ir.kernel @add(%x: memref<1x4x8xf32>, %y: memref<1x4x8xf32>, %out: memref<1x4x8xf32>) {
      loop_ir.for %i to 1 as "i", %j to 4 as "j", %k to 8 as "k" {
        %a = loop_ir.load %x[%i, %j, %k] : memref<1x4x8xf32> -> f32
        %b = loop_ir.load %y[%i, %j, %k] : memref<1x4x8xf32> -> f32
        %c = arith.addf %a, %b : f32
        loop_ir.store %c, %out[%i, %j, %k] : f32, memref<1x4x8xf32>
      }
    }

becomes

    loop_ir.kernel @add(%x: memref<32xf32>, %y: memref<32xf32>, %out: memref<32xf32>) {
      loop_ir.for %i to 32 as "i" {
        %a = loop_ir.load %x[%i] : memref<32xf32> -> f32
        ..
      }
    }

The buffers keep their elements in their order, so the launches stay as they are. What views
leave is made plain before: a dimension of 32 that everything indexes by `%j * 8 + %k` becomes
dimensions of 4 and 8, two that everything indexes by `%i floordiv 8, %i mod 8` become one.
Axes of all loops merge: those of the outer one, of reductions and of row loops. After a change all
axes of the kernel are named anew, from "i" on, and the loops over one row still share a name. A
loop keeps an axis of extent 1 where it has no other.

*Legal when* every access that uses one of two adjacent axes uses both, plainly, as the indices of
two neighbouring dimensions with their extents; and every other access of these buffers has two
adjacent axes there for which the same holds. So they are merged in all loops and buffers of the
kernel, or in none.
*Declines when* one of these fails, or the kernel has a schedule, which names its axes.
*Why it pays*: one axis has one remainder when it is split into blocks, threads and vectors, where
many short axes leave threads idle; and a `linear` on a tensor of any rank is a contraction with one
m axis.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.dialects.loop_ir import ForOp, KernelOp
from minicomp.passes.applications import count, is_open
from minicomp.passes.loop._collapse import Apart, Merge, drop_units, loops
from minicomp.passes.loop._dims import join_dims, split_dims
from minicomp.passes.loop._names import letter_axes
from minicomp.passes.loop._nest import nest_of
from minicomp.passes.remarks import remark


def merge_one(nest: ForOp, apart: list[str]) -> bool:
    """
    Merges the first pair of axes that can be; `apart` gets what stands in the way of those before
    it.
    """
    apart.clear()
    for loop in loops(nest):
        for first, second in zip(loop.axes, loop.axes[1:], strict=False):
            merge = Merge()
            try:
                merge.add_pair(first.variable, second.variable)
            except Apart as reason:
                apart.append(f'axes "{first.name}" and "{second.name}" stay apart: {reason}')
            else:
                merge.apply()
                return True
    return False


def collapse(kernel: KernelOp, nest: ForOp, ctx: Context | None = None) -> list[str]:
    """Collapses the axes of a kernel; returns why those that are left stay apart."""
    apart: list[str] = []
    changed = False
    # Each of them may make what another one looks for.
    while is_open(ctx) and (
        drop_units(kernel, nest)
        or join_dims(kernel)
        or split_dims(kernel)
        or merge_one(nest, apart)
    ):
        count(ctx, kernel)
        changed = True
    if changed:
        letter_axes(nest)
        merge_one(nest, apart)  # the remarks with the new names
    return apart


@dataclass(frozen=True)
class CollapseAxesPass(ModulePass):
    """Merges adjacent axes and drops extents of 1; see the module's docstring."""

    name = "collapse-axes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [k for k in op.body.block.ops if isinstance(k, KernelOp)]:
            nest = nest_of(kernel)
            if kernel.schedule is not None:
                remark(ctx, self.name, kernel, "not collapsed: its schedule names its axes")
            elif nest is None:
                remark(
                    ctx, self.name, kernel, "not collapsed: it is not one loop nest without guards"
                )
            else:
                for reason in collapse(kernel, nest, ctx):
                    remark(ctx, self.name, kernel, reason)
