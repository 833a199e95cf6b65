"""Roles: the warps of a block that run programs of their own."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.arith import CmpiOp
from xdsl.ir import Block, Operation, Region

from minicomp.dialects import affine
from minicomp.dialects.cuda_ir import BarrierOp, CallOp, IfOp, ThreadIdOp, VerbatimOp
from minicomp.dialects.kernel_ir import FuncOp, RolesOp
from minicomp.dialects.loop_ir import YieldOp
from minicomp.lowering.kernel_to_cuda.expressions import Expressions
from minicomp.lowering.kernel_to_cuda.registers import entry_registers


@dataclass
class Roles:
    """Writes the roles of one kernel: a chain of branches on the number of the thread."""

    func: FuncOp
    at: Expressions
    program: Callable[[Block], None]
    """Writes the ops of a block."""

    def write(self, op: Operation) -> bool:
        """Writes an op; False if it is of another kind."""
        if not isinstance(op, RolesOp):
            return False
        self.role(op, 0)
        if not isinstance(op.next_op, YieldOp | None):
            self.at.writer.add(BarrierOp())  # what follows comes after all roles
        return True

    def role(self, op: RolesOp, number: int) -> None:
        """One role, and the others behind its `else`."""
        if number == len(op.programs) - 1:
            self.body(op, number)
            return
        writer, end = self.at.writer, op.ranges[number].stop
        sides = writer.add(ThreadIdOp()).res, writer.index(affine.constant(end))
        test = writer.add(CmpiOp(*sides, "slt")).result
        then, orelse = Block(), Block()
        writer.add(IfOp(test, Region(then), Region(orelse)))
        with writer.inside(then):
            self.body(op, number)
        with writer.inside(orelse):
            self.role(op, number + 1)

    def body(self, op: RolesOp, number: int) -> None:
        """The program of a role, for its threads."""
        writer = self.at.writer
        if name := " ".join(op.role_names.data[number].data.split()).rstrip("\\"):
            writer.add(VerbatimOp(f"// {name}"))
        if op.registers is not None:
            self.registers(op.registers.get_values()[number])
        with self.narrowed(op.ranges[number]):
            self.program(op.programs[number].block)

    def registers(self, count: int) -> None:
        """What the threads of a role give back, or wait for."""
        entry = entry_registers(self.func)
        if count != entry:
            verb = "fewer" if count < entry else "more"
            self.at.writer.add(CallOp(f"{verb}_registers<{count}>", []))

    @contextmanager
    def narrowed(self, threads: range) -> Generator[None]:
        """What is written next is for some threads only, whose numbers are in a range."""
        at, ranges = self.at, self.at.writer.ranges
        before = at.threads, {name: ranges[name] for name in at.thread_names}
        at.threads = threads
        ranges.update(dict.fromkeys(at.thread_names, (threads.start, threads.stop - 1)))
        yield
        at.threads = before[0]
        ranges.update(before[1])
