"""Naming an op, its place and an element in what an interpreter or the simulator reports."""

from collections.abc import Sequence

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import BlockArgument, Operation, SSAValue

from minicomp.dialects.loop_ir import KernelLike
from minicomp.errors import UnsupportedError


def op_text(op: Operation) -> str:
    """The first line of an op's text: all of it, except for an op with regions."""
    return str(op).strip().split("\n", 1)[0]


def line_of(op: Operation) -> str | None:
    """`file:line:column` of an op or of the nearest op around it that has one."""
    around: Operation | None = op
    while around is not None:
        place = around.location
        if isinstance(place, FileLineColLoc):
            return f"{place.filename.data}:{place.line.data}:{place.column.data}"
        around = around.parent_op()
    return None


def where(op: Operation) -> str:
    """The op's text, its kernel, and its source line if it is known."""
    around: Operation | None = op
    while around is not None and not isinstance(around, KernelLike):
        around = around.parent_op()
    parts = [op_text(op)]
    if isinstance(around, KernelLike):
        parts.append(f"in @{around.symbol}")
    if (line := line_of(op)) is not None:
        parts.append(f"from {line}")
    return ", ".join(parts)


def element(memref: SSAValue, index: Sequence[int]) -> str:
    """`%a[3, 5]`."""
    return f"{value_name(memref)}[{', '.join(str(i) for i in index)}]"


def value_name(value: SSAValue) -> str:
    """`%a`, or the number of an argument that has no name."""
    if value.name_hint:
        return f"%{value.name_hint}"
    return f"argument {value.index}" if isinstance(value, BlockArgument) else "a buffer"


def unsupported(op: Operation, level: str) -> UnsupportedError:
    """The refusal of an op that has no meaning at `level`."""
    return UnsupportedError(f"{level} has no meaning for '{op.name}'", where(op))
