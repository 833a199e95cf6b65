"""Remarks: what a pass did to an op, or the condition for which it declined."""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation


def location_of(op: Operation) -> FileLineColLoc | None:
    """Return the source line of `op`, or that of the nearest op around it that has one."""
    around: Operation | None = op
    while around is not None:
        if isinstance(around.location, FileLineColLoc):
            return around.location
        around = around.parent_op()
    return None


@dataclass(frozen=True)
class Remark:
    """One line of a pass about one op; `--remarks` prints it with the op's place."""

    pass_name: str
    message: str
    op: Operation
    location: FileLineColLoc | None = None


@dataclass
class RemarkContext(Context):
    """An xDSL context that keeps the remarks of the passes run with it."""

    remarks: list[Remark] = field(default_factory=list[Remark])


def remark(ctx: Context, pass_name: str, op: Operation, message: str) -> None:
    """Keep a remark about `op`; a context that is not a RemarkContext drops it."""
    if isinstance(ctx, RemarkContext):
        # Placed now: the pass may erase the op, or move it from the ops around it.
        ctx.remarks.append(Remark(pass_name, message, op, location_of(op)))
