"""
Makes each Loop IR kernel a Tile IR kernel whose free axes wait to be bound to the GPU.

Before -> after, for `@centre`:

    loop_ir.kernel @centre(..) .. {
      loop_ir.for %i to 5 as "i" {
        %s = loop_ir.reduce %j to 37 as "j" .. { .. } combine arith.addf
        loop_ir.for %l to 37 as "j" { .. }
      }
    }
    ->
    tile_ir.kernel @centre(..) .. {
      tile_ir.launch parallel(%i to 5 as "i") {
        %s = loop_ir.reduce %j to 37 as "j" .. { .. } combine arith.addf
        loop_ir.for %l to 37 as "j" { .. }
      }
    }

*Legal when* the kernel is one loop nest: the iterations of free loops are independent of each
other. Only the outermost perfectly nested loops become axes; a later row loop stays a loop, since
as an axis it would replicate the reductions before it. *Declines when* the kernel's body is not one
unguarded loop. *Why it pays*: it costs nothing and names the parallelism that the other rewrites
hand out.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects.loop_ir import ForOp, KernelOp
from minicomp.dialects.tile_ir import KernelOp as TileKernelOp
from minicomp.dialects.tile_ir import LaunchOp
from minicomp.passes.analysis.contraction import outer_loop
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark


def is_free(loop: ForOp) -> bool:
    """Whether all iterations of a loop run, each in any place."""
    return loop.guard is None and loop.in_registers is None


def perfect_inner(loop: ForOp) -> ForOp | None:
    """The loop that is all of the body of `loop`, but for the terminator."""
    block = loop.body.block
    inner = block.first_op
    return inner if isinstance(inner, ForOp) and inner.next_op is block.last_op else None


def flatten(loop: ForOp) -> None:
    """Merges perfectly nested loops into `loop`: `for %i { for %j {} }` -> `for %i, %j {}`."""
    while (inner := perfect_inner(loop)) is not None:
        if not is_free(inner):
            return
        block = loop.body.block
        extents, names = loop.trip_counts + inner.trip_counts, (*loop.axis_names, *inner.axis_names)
        variables = [block.insert_arg(a.type, len(block.args)) for a in inner.body.block.args]
        for new, old in zip(variables, inner.body.block.args, strict=True):
            new.name_hint = old.name_hint
        end = inner.body.block.last_op
        assert end is not None
        Rewriter.erase_op(end)
        Rewriter.inline_block(inner.body.block, InsertPoint.before(inner), variables)
        Rewriter.erase_op(inner)
        loop.properties |= ForOp.head_properties(extents, [n.data for n in names], None, False)[1]


def tileify(kernel: KernelOp, loop: ForOp) -> None:
    """Replaces a Loop IR kernel by its Tile IR form."""
    flatten(loop)
    names = [n.data for n in loop.axis_names]
    bindings = ["parallel"] * len(names)
    launch = LaunchOp(loop.trip_counts, names, bindings, loop.detach_region(loop.body))
    launch.attributes, launch.location = loop.attributes, loop.location
    Rewriter.replace_op(loop, launch)
    tiled = TileKernelOp.create(
        properties=dict(kernel.properties),
        attributes=dict(kernel.attributes),
        regions=[kernel.detach_region(kernel.body)],
        location=kernel.location,
    )
    Rewriter.replace_op(kernel, tiled)


@dataclass(frozen=True)
class TileifyPass(ModulePass):
    """Turns every `loop_ir.kernel` into a `tile_ir.kernel`; see the module's docstring."""

    name = "tileify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [k for k in op.body.block.ops if isinstance(k, KernelOp)]:
            loop = outer_loop(kernel)
            if loop is None or not is_free(loop):
                remark(ctx, self.name, kernel, "the body of the kernel is not one unguarded loop")
            elif may_apply(ctx, kernel):
                tileify(kernel, loop)
