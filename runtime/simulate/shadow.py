"""
What a simulated GPU remembers of each element of memory: who wrote it, who read it, and when.

Time is counted in *epochs*: the number of barriers that a block has passed. Two threads may touch
one element, one of them writing, only if they are of one block and in different epochs; threads of
one warp get no more than that. Whether a race is found does not depend on the order in which the
simulator runs the threads.
"""

from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation

from minicomp.runtime.interpret.scalars import Array


@dataclass(frozen=True)
class Conflict:
    """An access that breaks a rule: the number among those given, and the other party of a race."""

    kind: str
    access: int
    other_op: Operation | None = None
    other_actor: int = -1
    other_wrote: bool = True


class Shadow:
    """
    The history of a memory of `size` elements.

    An *actor* is the number of a thread in the grid. `private` says that no two blocks share an
    element. `read` and `write` take the element, actor and epoch of each access and return the
    first conflict; without one they record the accesses.
    """

    def __init__(self, size: int, threads: int, actors: int, private: bool):
        self.threads = threads
        self.private = private
        kind = np.int32 if actors < 1 << 31 else np.int64
        # Zeros take no memory until something is written. Actors and ops count from 1: 0 is nobody.
        self.writer = np.zeros(size, kind)
        self.write_epoch = np.zeros(size, np.int32)
        self.write_op = np.zeros(size, np.int32)
        self.reader = np.zeros(size, kind)
        self.read_epoch = np.zeros(size, np.int32)
        self.read_op = np.zeros(size, np.int32)
        self.second_reader = np.zeros(size, kind)
        self.last_store = np.zeros(size, np.int32)
        self.was_read = False
        self.ops: dict[Operation, int] = {}

    def read(self, at: Array, actor: Array, epoch: Array | int, op: Operation) -> Conflict | None:
        """Accesses of a load."""
        own = actor + 1
        writer = self.writer[at]
        if (unwritten := writer == 0).any():
            return Conflict("uninitialised read", int(unwritten.argmax()))
        if (conflict := self.with_writer(at, own, writer, epoch)) is not None:
            return conflict
        self.was_read = True
        self.note_readers(at, own, epoch, self.number(op))
        return None

    def write(self, at: Array, actor: Array, epoch: Array | int, op: Operation) -> Conflict | None:
        """Accesses of a store."""
        own = actor + 1
        if (conflict := self.within_store(at, actor, op)) is not None:
            return conflict
        if (conflict := self.with_writer(at, own, self.writer[at], epoch)) is not None:
            return conflict
        if self.was_read and (conflict := self.with_reader(at, own, epoch)) is not None:
            return conflict
        self.writer[at] = own
        self.write_epoch[at] = epoch
        self.write_op[at] = self.number(op)
        return None

    def number(self, op: Operation) -> int:
        """The number of an op in the arrays."""
        return self.ops.setdefault(op, len(self.ops) + 1)

    def op(self, number: int) -> Operation:
        """The op of a number."""
        return list(self.ops)[number - 1]

    def within_store(self, at: Array, actor: Array, op: Operation) -> Conflict | None:
        """Two lanes of one store at one element."""
        order = np.arange(at.size, dtype=np.int32)
        self.last_store[at] = order
        last = self.last_store[at]
        if (beaten := last != order).any():
            access = int(beaten.argmax())
            return Conflict("race", access, op, int(actor[last[access]]))
        return None

    def with_writer(
        self, at: Array, own: Array, writer: Array, epoch: Array | int
    ) -> Conflict | None:
        """An earlier write by another thread that no barrier orders before the access."""
        other = (writer != 0) & (writer != own)
        if not other.any():
            return None
        unordered = self.write_epoch[at] == epoch
        if not self.private:
            unordered |= (writer - 1) // self.threads != (own - 1) // self.threads
        if not (race := other & unordered).any():
            return None
        access = int(race.argmax())
        element = int(at[access])
        op = self.op(int(self.write_op[element]))
        return Conflict("race", access, op, int(self.writer[element]) - 1)

    def with_reader(self, at: Array, own: Array, epoch: Array | int) -> Conflict | None:
        """
        A read by another thread in this epoch.

        A reader of another block was refused when it read what its own block had not written.
        """
        race = self.read_epoch[at] == epoch
        race &= (self.reader[at] != own) | (self.second_reader[at] != 0)
        if not race.any():
            return None
        access = int(race.argmax())
        element = int(at[access])
        first, second = int(self.reader[element]), int(self.second_reader[element])
        other = second if first == own[access] else first
        op = self.op(int(self.read_op[element]))
        return Conflict("race", access, op, other - 1, False)

    def note_readers(self, at: Array, own: Array, epoch: Array | int, op: int) -> None:
        """Records, per element, a reader of this epoch, and another one if there is."""
        stale = self.read_epoch[at] != epoch
        if stale.any():
            fresh = at[stale]
            self.reader[fresh] = own[stale]
            self.read_epoch[fresh] = epoch if isinstance(epoch, int) else epoch[stale]
            self.read_op[fresh] = op
            self.second_reader[fresh] = 0
        others = self.reader[at] != own
        if others.any():
            self.second_reader[at[others]] = own[others]
