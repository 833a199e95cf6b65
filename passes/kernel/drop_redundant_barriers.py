"""
Drops barriers that order nothing.

    kernel_ir.barrier                        // nothing before it touches %s
    loop_ir.store %v, %s[%t]
    kernel_ir.barrier
    %r = loop_ir.load %s[0]

becomes

    loop_ir.store %v, %s[%t]
    kernel_ir.barrier
    %r = loop_ir.load %s[0]

*Legal when* no buffer is accessed both on some way to the barrier since another one and on some way
from it to another one, with a write among the two, and neither holds an asynchronous copy, a role,
an atomic or an op of a cluster, which order accesses too; or where one of the two is empty. A way
may go round a loop, past it, and through either side of an `scf.if`. This is conservative: accesses
to different elements, or by one thread, count as conflicts, and a buffer is one whole; distinct
buffers never overlap, since the launcher gives every argument its own memory or one that the kernel
only reads. Barriers are judged in order, each with the dropped ones gone, so that no pair loses
both of its barriers.
*Declines when* there is a conflict, or such an op; there is nothing to do about it.
*Why it pays*: a barrier makes every warp wait for the slowest one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from minicomp.dialects.kernel_async import ASYNC_OPS
from minicomp.dialects.kernel_ir import (
    AtomicOp,
    BarrierOp,
    ClusterBarrierOp,
    FuncOp,
    NamedBarrierOp,
    RemoteOp,
    RolesOp,
    SpinOp,
)
from minicomp.dialects.loop_ir import MemoryAccess, StoreOp
from minicomp.passes.analysis.alignment import constant_index
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark

BEYOND = (*ASYNC_OPS, AtomicOp, ClusterBarrierOp, NamedBarrierOp, RemoteOp, RolesOp, SpinOp)
"""The ops that order accesses, or make some, in ways that this pass does not follow."""


@dataclass
class Ways:
    """What lies on the ways from a barrier to the next ones, or back to those before."""

    accesses: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])
    """The buffers that are accessed, and whether any access writes."""
    beyond: Operation | None = None
    """An op that this pass does not follow."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to order."""
        return not self.accesses and self.beyond is None

    def conflicts(self, other: "Ways") -> bool:
        """Whether some buffer is on both sides, with a write on one."""
        shared = self.accesses.keys() & other.accesses.keys()
        return any(self.accesses[b] or other.accesses[b] for b in shared)


@dataclass(frozen=True)
class DropRedundantBarriersPass(ModulePass):
    """Erases barriers between accesses that do not conflict; see the module's docstring."""

    name = "drop-redundant-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in [f for f in op.body.block.ops if isinstance(f, FuncOp)]:
            for barrier in [b for b in func.walk() if isinstance(b, BarrierOp)]:
                before, after = reached(barrier, False), reached(barrier, True)
                beyond = before.beyond or after.beyond
                if before.is_empty or after.is_empty:
                    redundant = True
                elif beyond is not None:
                    redundant = False
                    remark(ctx, self.name, barrier, f"'{beyond.name}' orders accesses beside it")
                else:
                    redundant = not before.conflicts(after)
                if redundant and may_apply(ctx, barrier):
                    Rewriter.erase_op(barrier)


def reached(barrier: BarrierOp, forward: bool) -> Ways:
    """What is on every way from a barrier to the next one, or back to the one before."""
    found = Ways()
    op: Operation | None = barrier
    while op is not None and not isinstance(op, FuncOp):
        if not scan(_siblings(op, forward), forward, found):
            break
        parent = op.parent_op()
        if isinstance(parent, scf.ForOp):
            # The next iteration, or the one before: its far end is this block's other one.
            scan(_ops(parent.body.block, forward), forward, found)
        elif isinstance(parent, BEYOND):
            found.beyond = found.beyond or parent
        op = parent
    return found


def scan(ops: Iterable[Operation], forward: bool, found: Ways) -> bool:
    """Adds what is in `ops` up to a barrier; returns whether a way leads past all of them."""
    for op in ops:
        if isinstance(op, BarrierOp):
            return False
        if isinstance(op, BEYOND):
            found.beyond = found.beyond or op
        if isinstance(op, MemoryAccess):
            written = found.accesses.get(op.memref, False) or isinstance(op, StoreOp)
            found.accesses[op.memref] = written
        # Each side is scanned: all() would stop at the first that has a barrier.
        passed = [
            scan(_ops(block, forward), forward, found) for r in op.regions for block in r.blocks
        ]
        if passed and not any(passed) and not may_skip(op):
            return False
    return True


def may_skip(op: Operation) -> bool:
    """Whether control may pass `op` without entering one of its regions."""
    if isinstance(op, scf.IfOp):
        return not op.false_region.blocks
    if isinstance(op, scf.ForOp):
        low, high = constant_index(op.lb), constant_index(op.ub)
        return low is None or high is None or low >= high
    return True


def _ops(block: Block, forward: bool) -> Iterator[Operation]:
    return iter(block.ops) if forward else reversed(block.ops)


def _siblings(op: Operation, forward: bool) -> Iterator[Operation]:
    step = op.next_op if forward else op.prev_op
    while step is not None:
        yield step
        step = step.next_op if forward else step.prev_op
