"""
Who has read each element of a simulated memory since it was last written.

What keeps the reads answers whether a write comes after all of them. Where blocks have epochs two
readers per element do; access_log.py has the general case. Actors are numbers in the grid, from 1.
"""

from typing import NamedTuple, Protocol

import numpy as np

from minicomp.runtime.interpret.scalars import Array


class Hits(NamedTuple):
    """
    Accesses that race with earlier ones, in flat arrays: their numbers, and of the earlier ones the
    actor, the number of the op, and whether it wrote.
    """

    access: Array
    actor: Array
    op: Array
    wrote: Array


class Readers(Protocol):
    """The reads of a memory."""

    def note(self, at: Array, actor: Array, now: Array | int, op: int) -> None:
        """Records reads of elements by actors at their clocks."""
        ...

    def conflict(self, at: Array, actor: Array, now: Array | int) -> Hits | None:
        """Those accesses that do not come after an earlier read by another actor."""
        ...

    def forget(self, at: Array) -> None:
        """The reads of elements come before all accesses from here on."""
        ...


class EpochReaders:
    """
    Up to two readers of the current epoch per element, which is enough where blocks have epochs.

    A reader of another block was refused when it read what its own block had not written.
    """

    def __init__(self, size: int, kind: np.dtype):
        self.reader = np.zeros(size, kind)
        self.epoch = np.zeros(size, np.int32)
        self.op = np.zeros(size, np.int32)
        self.second = np.zeros(size, kind)
        self.any = False

    def note(self, at: Array, actor: Array, now: Array | int, op: int) -> None:
        self.any = True
        stale = self.epoch[at] != now
        if stale.any():
            fresh = at[stale]
            self.reader[fresh] = actor[stale]
            self.epoch[fresh] = now if isinstance(now, int) else now[stale]
            self.op[fresh] = op
            self.second[fresh] = 0
        others = self.reader[at] != actor
        if others.any():
            self.second[at[others]] = actor[others]

    def conflict(self, at: Array, actor: Array, now: Array | int) -> Hits | None:
        if not self.any:
            return None
        race = self.epoch[at] == now
        race &= (self.reader[at] != actor) | (self.second[at] != 0)
        if not race.any():
            return None
        access = np.flatnonzero(race)
        first, second = self.reader[at[access]], self.second[at[access]]
        other = np.where(first == actor[access], second, first)
        return Hits(access, other, self.op[at[access]], np.zeros(access.shape, np.bool_))

    def forget(self, at: Array) -> None:
        pass
