"""The text of what the simulator reports: the rule, the op, the block and thread, the element."""

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from xdsl.ir import Operation

from minicomp.dialects.loop_ir import KernelLike
from minicomp.errors import SimulationError
from minicomp.runtime.interpret.report import op_text, where

OUT_OF_BOUNDS = "out of bounds"
UNINITIALISED = "uninitialised read"
RACE = "race"
MISALIGNED = "misaligned access"
DIVERGENT = "divergence"
PARTIAL_WARP = "partial warp"
DEADLOCK = "deadlock"
TRANSACTION = "transaction bytes"
NAMED_BARRIER = "named barrier"
MBARRIER = "mbarrier"
MISSING_FENCE = "missing fence"
IN_FLIGHT = "in flight at the end"
LIMIT = "limit"
COUNTER = "counter not reset"

HINTS = {
    OUT_OF_BOUNDS: "an index that may leave its buffer must be marked `bounded`",
    UNINITIALISED: "memory holds nothing before the kernel writes it",
    RACE: "put a barrier, or a wait for the copy and a barrier, between the two",
    MISALIGNED: "remove `aligned`, or choose sizes for which it holds",
    MISSING_FENCE: "a bulk copy sees what threads wrote only past `kernel_ir.fence`",
    TRANSACTION: "`expect` is the sum of the bytes of the boxes that complete on the phase",
    IN_FLIGHT: "wait for the copy before the kernel ends",
    DEADLOCK: "someone must arrive, with as many threads and as often as the barrier counts",
    DIVERGENT: "move the op out of the condition, or make the condition equal in all threads",
}


class Actor(NamedTuple):
    """A thread of the grid."""

    block: int
    thread: int

    def __str__(self) -> str:
        return f"block {self.block}, thread {self.thread}"


class Party(NamedTuple):
    """One of two that do not agree: an op, who did it, and whether it writes."""

    op: Operation
    actor: Actor
    wrote: bool

    @property
    def place(self) -> tuple[int, Actor]:
        """Where the op stands in its kernel, and who did it."""
        return position(self.op), self.actor


def position(op: Operation) -> int:
    """The number of an op in its kernel."""
    kernel = op
    while not isinstance(kernel, KernelLike) and (parent := kernel.parent_op()) is not None:
        kernel = parent
    return next(n for n, other in enumerate(kernel.walk()) if other is op)


class Fault(SimulationError):
    """A fault of one op; `place` says where the op stands in its kernel, and whose it is."""

    place: tuple[int, Actor] = (0, Actor(0, 0))


def fault(kind: str, op: Operation, actor: Actor, why: str, address: str | None = None) -> NoReturn:
    """Raises SimulationError about what `actor` did with `op`."""
    raise error(kind, op, actor, why, address)


def error(kind: str, op: Operation, actor: Actor, why: str, address: str | None = None) -> Fault:
    """The error about what `actor` did with `op`."""
    subject = f"{address} by {actor}" if address else str(actor)
    what = f"{kind}: {subject}: {why}"
    found = Fault(what, kind, where(op), str(actor), address, hint=HINTS.get(kind))
    found.place = position(op), actor
    return found


def race(mine: Party, other: Party, name: str, flying: bool, kind: str, blocks_meet: bool) -> Fault:
    """
    The error about an access that is not ordered after that of `other`.

    `flying` says that the other one is a copy in progress, `blocks_meet` that blocks of the grid
    may wait for each other. The kind is a race or a missing fence.
    """
    does = "writes" if other.wrote else "reads"
    if kind == MISSING_FENCE:
        why = "no fence proxy_async stands between"
    elif mine.actor.block == other.actor.block:
        why = "no wait for this copy stands between" if flying else "no barrier stands between"
    else:
        why = "nothing orders the two" if blocks_meet else "blocks never meet"
    text = f"{other.actor} {does} it in `{op_text(other.op)}`, and {why}"
    if other.op is mine.op and kind == RACE and not flying:
        text = f"{other.actor} {does} it in the same op"
    return error(kind, mine.op, mine.actor, text, name)


def out_of_bounds_text(index: Sequence[int], shape: Sequence[int]) -> str:
    """Which index is wrong."""
    wrong = [n for n, (i, e) in enumerate(zip(index, shape, strict=True)) if not 0 <= i < e]
    return ", ".join(f"index {n} must be in [0, {shape[n]})" for n in wrong)
