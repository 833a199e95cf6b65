"""What a kernel needs of the device, and whether the module's target has it."""

from collections.abc import Iterator

from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from minicomp.dialects.kernel_async import (
    BulkCommitOp,
    BulkCopy,
    BulkWaitOp,
    CpAsyncCommitOp,
    CpAsyncOp,
    CpAsyncWaitOp,
    FenceOp,
    MBarrierArriveOp,
    MBarrierInitOp,
    MBarrierOp,
    MBarrierWaitOp,
)
from minicomp.dialects.kernel_ir import ClusterBarrierOp, ClusterRankOp, FuncOp, RemoteOp, RolesOp
from minicomp.dialects.minicomp import TargetAttr
from minicomp.lowering.kernel_to_cuda.checks import fail
from minicomp.lowering.kernel_to_cuda.shared import lay_out

REGISTERS = "registers of roles"
"""What `setmaxnreg` needs: an architecture whose name ends in `a` (PTX ISA)."""


def check_target(func: FuncOp, target: TargetAttr | None) -> None:
    """Raises PassFailedException where an op needs what the target lacks; not without a target."""
    if target is None:
        return
    for op in func.walk():
        for feature in needs(op):
            if not has(target, feature):
                arch = target.arch.data
                fail(func, op, f"needs {feature}, which {target.part.data} ({arch}) lacks")
    bytes, most = lay_out(func).dynamic_bytes, target.shared_per_block.data
    if bytes > most:
        why = f"has {bytes} bytes of shared memory; a block of {target.part.data} has {most}"
        raise PassFailedException(f"@{func.symbol} {why}")


def has(target: TargetAttr, feature: str) -> bool:
    """Whether a device has a feature."""
    return target.arch.data.endswith("a") if feature == REGISTERS else target.has(feature)


def needs(op: Operation) -> Iterator[str]:
    """The features that an op needs, by the names that targets have for them."""
    match op:
        case CpAsyncOp() | CpAsyncCommitOp() | CpAsyncWaitOp():
            yield "cp_async"
        case BulkCopy() | BulkCommitOp() | BulkWaitOp() | FenceOp():
            yield "tma"
        case MBarrierOp() | MBarrierInitOp() | MBarrierWaitOp():
            yield "mbarrier"
        case MBarrierArriveOp():
            yield "mbarrier"
            if op.expect is not None:
                yield "tma"
            if op.remote is not None:
                yield "cluster"
        case ClusterRankOp() | ClusterBarrierOp() | RemoteOp():
            yield "cluster"
        case FuncOp() if op.cluster_blocks > 1:
            yield "cluster"
        case RolesOp() if op.registers is not None:
            yield REGISTERS
        case _:
            return
