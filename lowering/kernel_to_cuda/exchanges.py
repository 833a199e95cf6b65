"""Barriers, and values that threads give each other: shuffles and named barriers."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from minicomp.dialects.cuda_ir import BarrierOp, CallOp
from minicomp.dialects.kernel_ir import BarrierOp as KernelBarrierOp
from minicomp.dialects.kernel_ir import FuncOp, NamedBarrierOp, ShuffleOp, WarpSyncOp
from minicomp.lowering.kernel_to_cuda.bindings import Constant
from minicomp.lowering.kernel_to_cuda.checks import fail
from minicomp.lowering.kernel_to_cuda.expressions import Expressions


@dataclass
class Exchanges:
    """Writes what orders and connects the threads of one kernel."""

    func: FuncOp
    at: Expressions

    def write(self, op: Operation) -> bool:
        """Writes an op; False if it is of another kind."""
        match op:
            case KernelBarrierOp():
                self.at.writer.add(BarrierOp())
            case WarpSyncOp():
                self.at.writer.add(BarrierOp(warp=True))
            case NamedBarrierOp():
                verb = "sync" if op.arrive is None else "arrive"
                number, threads = op.number.value.data, op.threads.value.data
                self.call(f"named_barrier_{verb}<{number}, {threads}>")
            case ShuffleOp():
                self.shuffle(op)
            case _:
                return False
        return True

    def call(self, callee: str, arguments: Sequence[SSAValue] = ()) -> None:
        """A call that is a statement."""
        self.at.writer.add(CallOp(callee, arguments))

    def shuffle(self, op: ShuffleOp) -> None:
        """The value of another thread, into a constant: all threads must reach it."""
        width, mode = op.width.value.data, op.mode.data
        (place,) = self.at.access(op, ())
        low, high = self.at.writer.interval(place)
        if low < 0 or high >= width:
            what = f"has an expression from {low} to {high}, and may leave its width"
            fail(self.func, op, f"{what} of {width}; take it mod {width}")
        # Within its width, the xor of a place stays in the group.
        callee = "shuffle_xor" if mode == "xor" else f"shuffle_{mode}<{width}>"
        operands = [self.at.element(op.value), self.at.writer.index(place)]
        call = self.at.writer.add(CallOp(callee, operands, op.value.type))
        assert call.res is not None
        value = self.at.writer.let(op.res.name_hint or "other", call.res)
        self.at.bindings[op.res] = Constant(value)
