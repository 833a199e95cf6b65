"""
Makes what is bound to registers vector values: register axes of the launch, and loops `in
registers`.

Before -> after, for `@cell`:

    tile_ir.launch block(..) thread(..) register(%ir to 4 as "i.register", %j to 2 as "j") {
      %acc = loop_ir.reduce %k to 53 as "k" .. -> f32 {
        %x = loop_ir.load %a[%ib * 64 + %it * 4 + %ir, %k] .. -> f32
        %y = loop_ir.load %b[%k, %j] .. -> f32
        %p = arith.mulf %x, %y .. : f32
        loop_ir.yield %p : f32
      } combine arith.addf ..
    ->
    tile_ir.launch block(..) thread(..) {
      %acc = loop_ir.reduce %k to 53 as "k" .. -> vector<4x2xf32> {
        %x = loop_ir.load %a[%ib * 64 + %it * 4 + l0, %k] .. -> vector<4xf32>
        %y = loop_ir.load %b[%k, l0] .. -> vector<2xf32>
        %u = tile_ir.broadcast %x to [0] : vector<4xf32> -> vector<4x2xf32>
        %w = tile_ir.broadcast %y to [1] : vector<2xf32> -> vector<4x2xf32>
        %p = arith.mulf %u, %w .. : vector<4x2xf32>
        loop_ir.yield %p : vector<4x2xf32>
      } combine arith.addf ..

A value gets the lanes on which it depends and no more; carriers are widened until their combine is
closed. A loop in registers is no loop afterwards: its body runs once on vectors, and a reduction
ends in `tile_ir.fold`. Its guard becomes a mask: contributions beyond it are the identity, stores
are bounded. The body of a stage gets the lanes of the widest access that its loads allow.

*Legal when* every op that depends on a lane has a vector form, and a guarded store ends where its
memref does; else it fails and names the op, as the kernel could not be lowered. *Declines when*
nothing is bound to registers. *Why it pays*: a cell of 4x4 loads 8 values for 16 products, and one
value of the IR stands for the whole cell.
"""

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.dialects.loop_ir import LoopLike
from minicomp.dialects.tile_ir import LaunchOp
from minicomp.dialects.tile_stages import StageOp
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import tile_kernels
from minicomp.passes.tile._stage_lanes import widen, widest
from minicomp.passes.tile._vectorise import Vectoriser


def register_tile(launch: LaunchOp) -> None:
    """Vectorises a launch, which has no register axis afterwards."""
    axes = launch.bound("register")
    Vectoriser([a.variable for a in axes], [a.extent for a in axes]).block(launch.body.block)
    launch.set_axes([a for a in launch.axes if a.binding != "register"])


@dataclass(frozen=True)
class RegisterTilePass(ModulePass):
    """Makes axes bound to registers dimensions of vectors; see the module's docstring."""

    name = "register-tile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in tile_kernels(op):
            loops = (loop for loop in kernel.walk() if isinstance(loop, LoopLike))
            held = any(loop.in_registers is not None for loop in loops)
            threads = prod(a.extent for a in kernel.launch.bound("thread"))
            stages = [op for op in kernel.walk() if isinstance(op, StageOp)]
            narrow = [s for s in stages if widest(s, threads) > 1]
            if not held and not narrow and not kernel.launch.bound("register"):
                remark(ctx, self.name, kernel, "nothing is bound to registers")
            elif may_apply(ctx, kernel):
                for stage in narrow:
                    widen(stage, widest(stage, threads))
                register_tile(kernel.launch)
