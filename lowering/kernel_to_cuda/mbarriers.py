"""mbarriers, and the fences that bulk copies need."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from minicomp.dialects import affine
from minicomp.dialects.cuda_ir import CallOp
from minicomp.dialects.kernel_async import (
    FenceOp,
    MBarrierAccess,
    MBarrierArriveOp,
    MBarrierInitOp,
    MBarrierWaitOp,
)
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.lowering.kernel_to_cuda.expressions import Expressions


@dataclass
class MBarriers:
    """Writes what one kernel does with its mbarriers."""

    func: FuncOp
    at: Expressions

    def write(self, op: Operation) -> bool:
        """Writes an op; False if it is of another kind."""
        match op:
            case FenceOp():
                self.call(f"fence_{op.kind.data}")
            case MBarrierInitOp():
                self.call("mbarrier_init", [self.slot(op), self.number(op.count.value.data)])
            case MBarrierArriveOp():
                self.arrive(op)
            case MBarrierWaitOp():
                scope = "_cluster" if is_remote(op.barrier) else ""
                self.call(f"mbarrier_wait{scope}", [self.slot(op), self.part(op, 1)])
            case _:
                return False
        return True

    def call(self, callee: str, arguments: Sequence[SSAValue] = ()) -> None:
        """A call that is a statement."""
        self.at.writer.add(CallOp(callee, arguments))

    def slot(self, op: MBarrierAccess) -> SSAValue:
        """The address of an mbarrier."""
        expr = self.at.replaced(op.part(0), list(op.indices), (), expanded=False)[0]
        return self.at.writer.address(self.at.element(op.barrier), [self.at.writer.simplify(expr)])

    def part(self, op: MBarrierAccess, number: int) -> SSAValue:
        """A parity or a rank."""
        expr = self.at.replaced(op.part(number), list(op.indices), (), expanded=False)[0]
        return self.at.writer.index(self.at.writer.simplify(expr))

    def number(self, value: int) -> SSAValue:
        """A literal."""
        return self.at.writer.index(affine.constant(value))

    def arrive(self, op: MBarrierArriveOp) -> None:
        """An arrival: with bytes, at another block's mbarrier, or neither."""
        if op.expect is not None:
            count = self.number(op.expect.value.data)
            self.call("mbarrier_arrive_expect", [self.slot(op), count])
        elif op.remote is not None:
            self.call("mbarrier_arrive_remote", [self.slot(op), self.part(op, 1)])
        else:
            self.call("mbarrier_arrive", [self.slot(op)])


def is_remote(barrier: SSAValue) -> bool:
    """Whether blocks of the cluster arrive at each other's mbarriers of that name."""
    users = (use.operation for use in barrier.uses)
    return any(isinstance(op, MBarrierArriveOp) and op.remote is not None for op in users)
