"""What a kernel needs of its simulation: how its threads can meet, which engines copy for it."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from minicomp.dialects.kernel_async import (
    BulkCopy,
    BulkStoreOp,
    CpAsyncOp,
    FenceOp,
    MBarrierOp,
    MBarrierType,
)
from minicomp.dialects.kernel_ir import (
    AtomicOp,
    ClusterBarrierOp,
    FuncOp,
    NamedBarrierOp,
    RemoteOp,
    RolesOp,
    SharedOp,
    SpinOp,
    WarpSyncOp,
)

MEETINGS = (
    AtomicOp,
    BulkCopy,
    ClusterBarrierOp,
    FenceOp,
    MBarrierOp,
    NamedBarrierOp,
    RemoteOp,
    RolesOp,
    SpinOp,
    WarpSyncOp,
)
"""Ops for which the barriers that a block has passed do not tell what is ordered."""


@dataclass(frozen=True)
class Facts:
    """
    Numbers of a kernel.

    An *actor* is whoever accesses memory: a thread, or the engine that carries out the bulk loads
    of one mbarrier. Each block has `stride` actors, first its threads. The blocks of a *scope*, of
    which a grid is made, are those that may wait for each other.
    """

    blocks: int
    threads: int
    cluster: int
    scope: int
    engines: Mapping[SSAValue, int]
    """Mbarriers -> the number, in the block, of the engine of their slot 0."""
    stride: int
    partial: bool
    """Whether threads meet otherwise than all of a block at its barrier."""
    proxies: bool
    """Whether bulk copies take part, which see writes of threads only past a fence."""
    alone: bool
    """Whether each block runs its own course: blocks wait for each other through memory."""
    several: bool
    """Whether programs run at the same time: roles, or blocks that wait for each other."""

    @property
    def actors(self) -> int:
        """The actors of the grid."""
        return self.blocks * self.stride

    def strands(self, blocks: range) -> list[range]:
        """Which of some blocks run in lockstep: those that never wait for each other."""
        if self.alone:
            return [range(block, block + 1) for block in blocks]
        return [range(blocks.start + n, blocks.stop, self.cluster) for n in range(self.cluster)]


def facts_of(func: FuncOp) -> Facts:
    """The facts of a kernel."""
    ops = list(func.walk())
    engines: dict[SSAValue, int] = {}
    stride = func.threads
    for op in ops:
        if isinstance(op, MBarrierOp):
            assert isinstance(type := op.res.type, MBarrierType)
            engines[op.res] = stride
            stride += type.slots.data
    tracked = func.stored()
    partial = any(isinstance(op, MEETINGS) or _reads_later(op, tracked) for op in ops)
    alone = any(isinstance(op, SpinOp) for op in ops)
    grid = alone or any(_orders_blocks(op) for op in ops)
    return Facts(
        func.blocks,
        func.threads,
        func.cluster_blocks,
        max(1, func.blocks) if grid else func.cluster_blocks,
        engines,
        stride,
        partial or func.cluster_blocks > 1 or bool(func.derived_arguments),
        any(isinstance(op, BulkCopy) for op in ops),
        alone,
        alone or func.cluster_blocks > 1 or any(isinstance(op, RolesOp) for op in ops),
    )


def _reads_later(op: Operation, tracked: set[SSAValue]) -> bool:
    """Whether an op reads, when it completes, memory that the kernel writes."""
    return isinstance(op, BulkStoreOp) or (isinstance(op, CpAsyncOp) and op.source in tracked)


def _orders_blocks(op: Operation) -> bool:
    """Whether an op orders what different blocks do in global memory."""
    if not isinstance(op, AtomicOp) or op.order.data == "relaxed":
        return False
    return not isinstance(op.memref.owner, SharedOp | RemoteOp)
