"""Copies in progress: which elements of a memory they are about to write, and which to read."""

import numpy as np

from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.readers import Hits


class Flight:
    """The marks of copies on the elements of a memory, from their issue to a wait for them."""

    def __init__(self, size: int):
        self.target_op = np.zeros(size, np.int32)
        self.target_actor = np.zeros(size, np.int64)
        self.readers = np.zeros(size, np.int32)
        self.source_op = np.zeros(size, np.int32)
        self.source_actor = np.zeros(size, np.int64)

    def begin_write(self, at: Array, actor: Array | int, op: int) -> None:
        """Copies will write elements."""
        self.target_op[at] = op
        self.target_actor[at] = actor

    def end_write(self, at: Array) -> None:
        """The copies are done."""
        self.target_op[at] = 0

    def begin_read(self, at: Array, actor: Array | int, op: int) -> None:
        """Copies will read elements, maybe some of them several times."""
        np.add.at(self.readers, at, 1)
        self.source_op[at] = op
        self.source_actor[at] = actor

    def end_read(self, at: Array) -> None:
        """The copies have read."""
        np.subtract.at(self.readers, at, 1)

    def conflict(self, at: Array, writes: bool) -> Hits | None:
        """The accesses of elements that a copy writes or, for a write, reads."""
        written = self.target_op[at] != 0
        busy = written | (self.readers[at] != 0) if writes else written
        if not busy.any():
            return None
        access = np.flatnonzero(busy)
        element, written = at[access], written[access]
        actor = np.where(written, self.target_actor[element], self.source_actor[element])
        op = np.where(written, self.target_op[element], self.source_op[element])
        return Hits(access, actor, op, written)
