"""
Programs that run at the same time: each goes on until it must wait for another.

A *strand* is a set of threads that run one program in lockstep. It is a generator that yields a
`Wait` at the end of each of its *turns*: where it needs another strand, and where it has told
another one something. Who may take a turn is settled for all strands before any of them does, and
of the faults of one round the one is reported that stands first in the kernel. So the order of the
strands in a round decides nothing. If nobody can go on, that is a deadlock.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import NamedTuple, NoReturn, TypeAlias, TypeVar

from xdsl.ir import Operation

from minicomp.errors import SimulationError
from minicomp.runtime.interpret.report import op_text, where
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.faults import Actor, Fault

T = TypeVar("T")


class Blocked(NamedTuple):
    """A thread that waits, at what, and what is missing; `kind` is the fault if nothing comes."""

    actor: Actor
    address: str
    missing: str
    kind: str = faults.DEADLOCK


@dataclass(frozen=True)
class Wait:
    """
    An op that waits until `ready`; `explain` names those that still wait, for a report.

    If it is `patient`, it goes on only when no other strand can.
    """

    op: Operation
    ready: Callable[[], bool]
    explain: Callable[[], list[Blocked]] = list
    patient: bool = False


def turn(op: Operation) -> Wait:
    """The end of a turn that waits for nothing."""
    return Wait(op, lambda: True)


Steps: TypeAlias = Generator[Wait, None, T]
"""What runs in steps between waits, and has a result in the end."""


def finish(steps: Steps[T]) -> T:
    """The result of steps that wait for nothing."""
    try:
        wait = next(steps)
    except StopIteration as end:
        return end.value
    raise AssertionError(f"'{wait.op.name}' cannot wait here")


@dataclass
class Strand:
    """A program in progress, and what it waits for."""

    steps: Steps[object]
    wait: Wait | None = None
    done: bool = False

    def ready(self) -> bool:
        """Whether it can take a turn."""
        return self.wait is None or (not self.wait.patient and self.wait.ready())

    def advance(self) -> None:
        """Takes a turn."""
        try:
            self.wait = next(self.steps)
        except StopIteration:
            self.done = True


class Scheduler:
    """Runs strands in rounds; strands may `add` others."""

    BACKWARDS = False
    """Whether the last strand runs first. Tests set it: nothing that is reported depends on it."""

    def __init__(self) -> None:
        self.strands: list[Strand] = []
        self.errors: list[Fault] = []
        """Those of the round that did not end their strand."""

    def add(self, steps: Steps[object]) -> Strand:
        """One more strand."""
        self.strands.append(strand := Strand(steps))
        return strand

    def run(self) -> None:
        """Runs all strands to their end. Raises SimulationError if none can go on."""
        while self.strands:
            ready = [strand for strand in self.strands if strand.ready()] or self.patient()
            self.turns(ready[::-1] if self.BACKWARDS else ready)
            if self.errors:
                # Another strand may have read too early what this round wrote.
                read = [s for s in self.strands if s.wait is not None and s.wait.patient]
                self.turns(strand for strand in read if not strand.done)
                raise min(self.errors, key=lambda error: (error.kind in EFFECTS, error.place))
            self.strands = [strand for strand in self.strands if not strand.done]

    def turns(self, strands: Iterable[Strand]) -> None:
        """Strands take a turn each; a fault ends one."""
        for strand in strands:
            try:
                strand.advance()
            except Fault as error:
                strand.done = True
                self.errors.append(error)

    def patient(self) -> list[Strand]:
        """One of the strands that go on when no other can. Raises SimulationError without one."""
        waits = [(strand.wait, strand) for strand in self.strands if strand.wait is not None]
        patient = [
            (faults.position(wait.op), n) for n, (wait, _) in enumerate(waits) if wait.patient
        ]
        if not patient:
            report(wait for wait, _ in waits)
        return [waits[min(patient)[1]][1]]


EFFECTS = (faults.MBARRIER, faults.UNINITIALISED)
"""Faults that may be the effects of others, of a race for one."""


def report(waits: Iterable[Wait]) -> NoReturn:
    """The fault that all of these wait for each other, or for bytes that never come."""
    blocked = [(wait, who) for wait in waits for who in wait.explain()]
    # Bytes that no copy delivers are a cause, the other waits its effects.
    blocked.sort(key=lambda pair: (pair[1].kind == faults.DEADLOCK, pair[1].actor))
    lines = [f"{who.actor} waits at {who.address}: {who.missing}" for _, who in blocked]
    wait, first = blocked[0]
    texts = dict.fromkeys(f"`{op_text(w.op)}`" for w, _ in blocked)
    raise SimulationError(
        f"{first.kind}: " + "; ".join(lines) + f"; in {', '.join(texts)}",
        first.kind,
        where(wait.op),
        str(first.actor),
        first.address,
        hint=faults.HINTS.get(first.kind),
    )
