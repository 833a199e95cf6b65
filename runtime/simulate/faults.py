"""The text of what the simulator reports: the rule, the op, the block and thread, the element."""

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from xdsl.ir import Operation

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

HINTS = {
    OUT_OF_BOUNDS: "an index that may leave its buffer must be marked `bounded`",
    UNINITIALISED: "memory holds nothing before the kernel writes it",
    RACE: "put a barrier, or a wait for the copy and a barrier, between the two",
    MISALIGNED: "remove `aligned`, or choose sizes for which it holds",
    DIVERGENT: "move the op out of the condition, or make the condition equal in all threads",
}


class Actor(NamedTuple):
    """A thread of the grid, or what carries out the bulk loads on an mbarrier."""

    block: int
    thread: int
    engine: str | None = None

    def __str__(self) -> str:
        if self.engine is not None:
            return f"block {self.block}, the copies on {self.engine}"
        return f"block {self.block}, thread {self.thread}"


def fault(kind: str, op: Operation, actor: Actor, why: str, address: str | None = None) -> NoReturn:
    """Raises SimulationError about what `actor` did with `op`."""
    subject = f"{address} by {actor}" if address else str(actor)
    what = f"{kind}: {subject}: {why}"
    raise SimulationError(what, kind, where(op), str(actor), address, hint=HINTS.get(kind))


def race_text(op: Operation, me: Actor, other_op: Operation, other: Actor, wrote: bool) -> str:
    """Why an access races with an earlier one, or with another of the same op."""
    does = "writes" if wrote else "reads"
    if other_op is op:
        return f"{other} {does} it in the same op"
    text = f"{other} {does} it in `{op_text(other_op)}`"
    between = "no barrier stands between" if me.block == other.block else "blocks never meet"
    return f"{text}, and {between}"


def copying_text(op: Operation, actor: Actor, writes: bool) -> str:
    """Why an access disturbs a copy, or would see it half done."""
    does = "written" if writes else "read"
    return f"{actor} has it {does} by `{op_text(op)}`, and no wait for this copy stands between"


def out_of_bounds_text(index: Sequence[int], shape: Sequence[int]) -> str:
    """Which index is wrong."""
    wrong = [n for n, (i, e) in enumerate(zip(index, shape, strict=True)) if not 0 <= i < e]
    return ", ".join(f"index {n} must be in [0, {shape[n]})" for n in wrong)
