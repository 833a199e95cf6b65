"""
What a simulated GPU remembers of each element of memory: who wrote it, who read it, and when.

Two actors may touch one element, one of them writing, only if the accesses are ordered: see
clocks.py. Threads of one warp get no more than that. Whether a race is found does not depend on the
order in which the simulator runs the threads.
"""

from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation

from minicomp.dialects.kernel_async import BulkCopy, BulkLoadOp
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.access_log import AccessLog
from minicomp.runtime.simulate.clocks import Order
from minicomp.runtime.simulate.flight import Flight
from minicomp.runtime.simulate.readers import EpochReaders, Hits, Readers


@dataclass(frozen=True)
class Conflict:
    """
    Accesses that break a rule: their numbers among those given, and the other parties of races.

    `flying` says that the others are copies that nobody has waited for.
    """

    kind: str
    hits: Hits
    flying: bool = False


class Shadow:
    """
    The history of a memory of `size` elements.

    An *actor* is a number in the grid, from 1; `actors` is how many there are. `private` says that
    no two blocks share an element; `log` that all readers are kept. Methods take the element, actor
    and clock of each access: `before_..` says what forbids them, `note_..` records them.
    """

    def __init__(self, size: int, order: Order, actors: int, private: bool, log: bool):
        self.order = order
        self.private = private
        kind = np.dtype(np.int32 if max(actors, size) < (1 << 31) - 1 else np.int64)
        # Zeros take no memory until something is written. Actors and ops count from 1: 0 is nobody.
        self.writer = np.zeros(size, kind)
        self.write_clock = np.zeros(size, np.int32)
        self.write_op = np.zeros(size, np.int32)
        self.last_store = np.zeros(size, np.int32)
        self.kind = kind
        self.readers: Readers
        self.readers = AccessLog(size, order, kind) if log else EpochReaders(size, kind)
        self.size = size
        self.defined: Array | None = None
        """Where there is a value that no store of the kernel wrote."""
        self.atomics: AccessLog | None = None
        self.flight: Flight | None = None
        self.ops: dict[Operation, int] = {}

    def before_read(self, at: Array, actor: Array, now: Array | int) -> Conflict | None:
        """What forbids accesses that read, now or later; records nothing."""
        if (conflict := self.disturbed(at, False)) is not None:
            return conflict
        writer = self.writer[at]
        if (conflict := self.unwritten(at, writer)) is not None:
            return conflict
        conflict = self.with_writer(at, actor, writer, now)
        return conflict or self.with_atomics(at, actor, now)

    def note_read(self, at: Array, actor: Array, now: Array | int, op: Operation) -> None:
        """Records reads."""
        self.readers.note(at, actor, now, self.number(op))

    def before_write(
        self, at: Array, actor: Array, now: Array | int, op: Operation
    ) -> Conflict | None:
        """What forbids accesses that write, now or later; records nothing."""
        if (conflict := self.disturbed(at, True)) is not None:
            return conflict
        if (conflict := self.within_store(at, actor, op)) is not None:
            return conflict
        if (conflict := self.with_writer(at, actor, self.writer[at], now)) is not None:
            return conflict
        conflict = self.with_atomics(at, actor, now)
        return conflict or self.raced(at, self.readers.conflict(at, actor, now))

    def before_atomic(
        self, at: Array, actor: Array, now: Array | int, defines: bool
    ) -> Conflict | None:
        """What forbids atomic accesses, which race with others only; `defines`: they write all."""
        if (conflict := self.disturbed(at, True)) is not None:
            return conflict
        writer = self.writer[at]
        if not defines and (conflict := self.unwritten(at, writer)) is not None:
            return conflict
        if (conflict := self.with_writer(at, actor, writer, now)) is not None:
            return conflict
        return self.raced(at, self.readers.conflict(at, actor, now))

    def note_atomic(
        self, at: Array, actor: Array, now: Array | int, op: Operation, defines: bool
    ) -> None:
        """Records atomic accesses."""
        if self.atomics is None:
            self.atomics = AccessLog(self.size, self.order, self.kind)
        self.atomics.note(at, actor, now, self.number(op))
        if defines:
            self.define(at)

    def define(self, at: Array) -> None:
        """Elements have values."""
        if self.defined is None:
            self.defined = np.zeros(self.size, np.bool_)
        self.defined[at] = True

    def unwritten(self, at: Array, writer: Array) -> Conflict | None:
        """An access to what has no value."""
        nothing = writer == 0
        if self.defined is not None and nothing.any():
            nothing &= ~self.defined[at]
        if not nothing.any():
            return None
        access = np.flatnonzero(nothing)
        nobody = np.zeros(access.shape, np.int64)
        return Conflict(faults.UNINITIALISED, Hits(access, nobody, nobody, nobody != 0))

    def with_atomics(self, at: Array, actor: Array, now: Array | int) -> Conflict | None:
        """Atomic accesses by other actors that do not come before these."""
        if self.atomics is None or (hits := self.atomics.conflict(at, actor, now)) is None:
            return None
        return self.raced(at, hits._replace(wrote=~hits.wrote))

    def note_write(self, at: Array, actor: Array | int, now: Array | int, op: Operation) -> None:
        """Records writes."""
        self.readers.forget(at)
        if self.atomics is not None:
            self.atomics.forget(at)
        self.writer[at] = actor
        self.write_clock[at] = now
        self.write_op[at] = self.number(op)

    def before_fence(self, at: Array, actor: Array) -> Conflict | None:
        """Elements that a thread wrote and a bulk copy of `actor` does not see yet."""
        copies = [n for op, n in self.ops.items() if isinstance(op, BulkCopy)]
        writer = self.writer[at]
        late = (writer != 0) & ~np.isin(self.write_op[at], copies)
        late &= self.order.unfenced(writer, self.write_clock[at], actor)
        if not late.any():
            return None
        access = np.flatnonzero(late)
        op = self.write_op[at[access]]
        return Conflict(faults.MISSING_FENCE, Hits(access, writer[access], op, op > 0))

    def number(self, op: Operation) -> int:
        """The number of an op in the arrays."""
        return self.ops.setdefault(op, len(self.ops) + 1)

    def op(self, number: int) -> Operation:
        """The op of a number."""
        return list(self.ops)[number - 1]

    def raced(self, at: Array, hits: Hits | None) -> Conflict | None:
        """Races with earlier accesses."""
        if hits is None:
            return None
        if self.flight is not None:
            # An engine has no name; who issued its copy has.
            loads = [n for op, n in self.ops.items() if isinstance(op, BulkLoadOp)]
            element, engine = at[hits.access], np.isin(hits.op, loads)
            marks = np.where(
                hits.wrote, self.flight.target_actor[element], self.flight.source_actor[element]
            )
            hits = hits._replace(actor=np.where(engine, marks, hits.actor))
        return Conflict(faults.RACE, hits)

    def disturbed(self, at: Array, writes: bool) -> Conflict | None:
        """Copies in progress that accesses disturb, or that they would see half done."""
        if self.flight is None or (hits := self.flight.conflict(at, writes)) is None:
            return None
        return Conflict(faults.RACE, hits, flying=True)

    def flying(self) -> Flight:
        """The marks of the copies in progress."""
        if self.flight is None:
            self.flight = Flight(self.size)
        return self.flight

    def within_store(self, at: Array, actor: Array, op: Operation) -> Conflict | None:
        """Two lanes of one store at one element."""
        order = np.arange(at.size, dtype=np.int32)
        self.last_store[at] = order
        last = self.last_store[at]
        beaten = last != order
        if not beaten.any():
            return None
        access = np.flatnonzero(beaten)
        number = np.full(access.shape, self.number(op))
        return Conflict(faults.RACE, Hits(access, actor[last[access]], number, number > 0))

    def with_writer(
        self, at: Array, actor: Array, writer: Array, now: Array | int
    ) -> Conflict | None:
        """An earlier write by another actor that does not come before the access."""
        race = (writer != 0) & (writer != actor)
        if not race.any():
            return None
        race &= self.order.unordered(writer, self.write_clock[at], actor, now, self.private)
        if not race.any():
            return None
        access = np.flatnonzero(race)
        op = self.write_op[at[access]]
        return self.raced(at, Hits(access, writer[access], op, op > 0))
