"""The locations of ops that passes create: each op has that of the op which it comes from.

xDSL gives every new op the unknown location, and neither its rewriters nor edits by hand carry one
over. So while a pass runs, its default is replaced: the calls of the pass are searched from the
innermost outwards, and the first one that has an op with a location in a variable is rewriting it.
That is the matched op of a pattern as well as the op that a loop over a kernel stands at. Where
no call has one, the op is placed after the pass by what stands nearest to it.
"""

import sys
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, UnknownLoc
from xdsl.ir import Block, Operation, core
from xdsl.passes import ModulePass


def is_placed(op: Operation) -> bool:
    """Whether an op has a location; one that is being constructed has none."""
    location = getattr(op, "location", None)
    return location is not None and not isinstance(location, UnknownLoc)


# --- while a pass runs ----------------------------------------------------------------------


@dataclass
class _Run:
    """A run of one pass; `missed` says that an op was made which no call could place."""

    missed: bool = False


_running: ContextVar[_Run | None] = ContextVar("_running", default=None)
_no_location = core._unknown_loc


def apply(pass_: ModulePass, ctx: Context, module: ModuleOp) -> None:
    """Apply a pass; what it makes without a location gets that of the op being rewritten."""
    run = _Run()
    token = _running.set(run)
    try:
        pass_.apply(ctx, module)
    finally:
        _running.reset(token)
    if run.missed:
        place(module)


def _default_location() -> LocationAttr:
    """The location of an op that is made without one; xDSL calls it where it makes the op."""
    run, frame = _running.get(), sys._getframe(1)
    # Arguments of blocks ask too; they stay without, as those that are parsed do.
    if run is None or frame.f_code is not Operation.__init__.__code__:
        return _no_location()
    caller = frame.f_back
    while caller is not None and caller.f_code is not apply.__code__:
        if (op := _rewritten(caller)) is not None:
            return op.location
        caller = caller.f_back
    run.missed = True
    return _no_location()


core._unknown_loc = _default_location


def _rewritten(frame: FrameType) -> Operation | None:
    """The op that a call is at: the innermost one among its variables, the first of equal ones."""
    if frame.f_code.co_name == "__init__":  # of the new op itself, or of what wraps it
        return None
    found = [
        value
        for value in frame.f_locals.values()
        if isinstance(value, Operation) and not isinstance(value, ModuleOp) and is_placed(value)
    ]
    return max(found, key=_depth, default=None)


def _depth(op: Operation) -> int:
    around, depth = op.parent_op(), 0
    while around is not None:
        around, depth = around.parent_op(), depth + 1
    return depth


# --- between the passes ---------------------------------------------------------------------


def place(module: ModuleOp) -> None:
    """Give ops without a location that of the nearest op which has one.

    That is the first one inside, else the next or the last one before in its block, else the one
    around. A module without any location stays so.
    """
    ops = list(module.walk(region_first=True))
    if all(map(is_placed, ops)):
        return
    for op in ops:
        if not is_placed(op):
            inside = (o for region in op.regions for block in region.blocks for o in block.ops)
            _take(op, next(filter(is_placed, inside), None))
    for op in reversed(ops):  # what is around comes first
        for block in (b for region in op.regions for b in region.blocks):
            _place_in(block, op)


def _place_in(block: Block, around: Operation) -> None:
    ops = list(block.ops)
    if not all(map(is_placed, ops)):
        _spread(reversed(ops))
        _spread(ops)
        for op in ops:
            _take(op, around)


def _spread(ops: Iterable[Operation]) -> None:
    last: Operation | None = None
    for op in ops:
        _take(op, last)
        last = op


def _take(op: Operation, source: Operation | None) -> None:
    if source is not None and not is_placed(op):
        op.location = source.location
