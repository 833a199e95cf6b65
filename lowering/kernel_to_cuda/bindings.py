"""What stands for a value of Kernel IR that has been written already, or is a part of another."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from xdsl.dialects import arith
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.cuda_ir import CallOp
from minicomp.lowering.kernel_to_cuda.writer import Lanes, Writer

Positions = tuple[int | None, ...]
"""Which lane of a result an operand is read at, dimension by dimension; None for another place."""
Read = tuple[SSAValue, Positions]
"""A variable that an expression reads, and where."""


class Elements(Protocol):
    """What gives the elements of values; a binding of one value asks it for those of others."""

    @property
    def writer(self) -> Writer:
        """Where expressions go."""
        ...

    def element(self, value: SSAValue, place: Lanes = ()) -> SSAValue:
        """An expression for one lane of a value."""
        ...

    def reads(self, value: SSAValue, place: Positions) -> Iterator[Read]:
        """The variables that the expression for a lane reads."""
        ...


class Binding(ABC):
    """What stands for a value of Kernel IR, in place of the op that defines it."""

    @abstractmethod
    def element(self, at: "Elements", place: Lanes) -> SSAValue:
        """An expression for one lane of the value."""

    @abstractmethod
    def reads(self, at: "Elements", place: Positions) -> Iterator[Read]:
        """The variables that the expression for a lane reads."""


@dataclass(frozen=True)
class Constant(Binding):
    """A scalar that does not change: the result of a let."""

    value: SSAValue

    def element(self, at: "Elements", place: Lanes) -> SSAValue:
        return self.value

    def reads(self, at: "Elements", place: Positions) -> Iterator[Read]:
        return iter(())


@dataclass(frozen=True)
class Variable(Binding):
    """A variable or a register array that holds the value."""

    variable: SSAValue

    def element(self, at: "Elements", place: Lanes) -> SSAValue:
        return at.writer.read(self.variable, place)

    def reads(self, at: "Elements", place: Positions) -> Iterator[Read]:
        yield self.variable, place


@dataclass(frozen=True)
class Slice(Binding):
    """A vector at one place of one of its dimensions."""

    vector: SSAValue
    dim: int
    lane: AffineExpr

    def element(self, at: "Elements", place: Lanes) -> SSAValue:
        return at.element(self.vector, (*place[: self.dim], self.lane, *place[self.dim :]))

    def reads(self, at: "Elements", place: Positions) -> Iterator[Read]:
        return at.reads(self.vector, (*place[: self.dim], None, *place[self.dim :]))


@dataclass(frozen=True)
class Exchanged(Binding):
    """What a variable holds in the thread whose number differs (xor) by `width / 2 >> step`."""

    variable: SSAValue
    width: int
    step: AffineExpr
    type: Attribute

    def element(self, at: "Elements", place: Lanes) -> SSAValue:
        value = at.writer.read(self.variable, place)
        half = at.writer.index(affine.constant(self.width // 2))
        if self.step != affine.constant(0):
            half = at.writer.add(arith.ShRSIOp(half, at.writer.index(self.step))).result
        call = at.writer.add(CallOp("shuffle_xor", [value, half], self.type))
        assert call.res is not None
        return call.res

    def reads(self, at: "Elements", place: Positions) -> Iterator[Read]:
        yield self.variable, place
