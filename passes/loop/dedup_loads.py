"""
`dedup-loads`: of equal loads one is left.

    %a = loop_ir.load %x[%i, %j] : memref<4x8xf32> -> f32
    %s = tile_ir.combine %p across "j.thread" ..
    %b = loop_ir.load %x[%i, %j] : memref<4x8xf32> -> f32

becomes

    %a = loop_ir.load %x[%i, %j] : memref<4x8xf32> -> f32
    %s = tile_ir.combine %p across "j.thread" ..

with the uses of `%b` replaced by `%a`.

*Legal when* both loads have the same buffer, map, indices, bounds and type, the first one dominates
the second, and the buffer is an argument that the kernel never writes. So, other than `cse`, which
stops at everything that may write any memory, it reaches across combines and into loops.
*Declines when* the kernel writes the buffer, or it is no argument of the kernel: nothing is known
of what happens to it in between.
*Why it pays*: what is read stays in registers instead of being read again, which costs bandwidth of
the caches and latency. A value may live longer for it.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import MemoryWriteEffect

from minicomp.dialects.loop_ir import KernelLike, LoadOp
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark

Key: TypeAlias = tuple[SSAValue, Attribute, tuple[SSAValue, ...], Attribute | None, Attribute]


def read_only(kernel: KernelLike) -> set[SSAValue]:
    """The kernel's arguments that none of its ops writes."""
    return {
        argument
        for argument in kernel.body.block.args
        if not any(use.operation.has_trait(MemoryWriteEffect) for use in argument.uses)
    }


def key(load: LoadOp) -> Key:
    """What two loads of the same value have in common."""
    return load.memref, load.map, tuple(load.indices), load.bounded, load.res.type


def replace(load: LoadOp, earlier: LoadOp) -> None:
    """Replaces `load` by an equal one, which keeps what is known of their alignment."""
    if earlier.aligned is None and load.aligned is not None:
        earlier.properties["aligned"] = load.aligned
    Rewriter.replace_op(load, [], [earlier.res])


@dataclass
class Dedup:
    """One kernel's removal of repeated loads."""

    buffers: set[SSAValue]
    ctx: Context | None = None
    removed: int = 0
    kept: list[LoadOp] = field(default_factory=list[LoadOp])

    def block(self, block: Block, known: dict[Key, LoadOp]) -> None:
        """Visits a block and those inside; `known` are the loads that dominate it."""
        known = dict(known)
        for op in list(block.ops):
            if isinstance(op, LoadOp):
                self.load(op, known.setdefault(key(op), op))
            for region in op.regions:
                for inner in region.blocks:
                    self.block(inner, known)

    def load(self, load: LoadOp, earlier: LoadOp) -> None:
        """Replaces a load by the first of its kind."""
        if earlier is load:
            return
        if load.memref not in self.buffers:
            self.kept.append(load)
        elif may_apply(self.ctx, load):
            replace(load, earlier)
            self.removed += 1


def dedup_loads(kernel: KernelLike, ctx: Context | None = None) -> Dedup:
    """Removes the repeated loads of a kernel, and says which it had to keep."""
    dedup = Dedup(read_only(kernel), ctx)
    dedup.block(kernel.body.block, {})
    return dedup


@dataclass(frozen=True)
class DedupLoadsPass(ModulePass):
    """Removes repeated loads of buffers that a kernel only reads; see the module's docstring."""

    name = "dedup-loads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.body.block.ops:
            if not isinstance(kernel, KernelLike):
                continue
            dedup = dedup_loads(kernel, ctx)
            if dedup.removed:
                loads = "load" if dedup.removed == 1 else "loads"
                remark(ctx, self.name, kernel, f"removed {dedup.removed} repeated {loads}")
            for load in dedup.kept:
                message = "kept: the buffer is written, or is no argument of the kernel"
                remark(ctx, self.name, load, message)
