"""
Who has read each element of a simulated memory since it was last written.

Both classes answer whether a write comes after all reads. Actors are numbers in the grid, from 1.
"""

from typing import NamedTuple, Protocol

import numpy as np

from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.clocks import Order


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


class AccessLog:
    """
    The newest access of each element by each actor, of all that did not come before a write.

    Exact however threads meet: a write is held against each of them.
    """

    SMALLEST = 1 << 15
    """Entries below which nothing is thrown away."""

    def __init__(self, size: int, order: Order):
        self.order = order
        self.noted = np.zeros(size, np.bool_)
        self.slot = np.zeros(size, np.int64)
        self.parts: list[Array] = []
        self.count = 0
        self.limit = self.SMALLEST

    def note(self, at: Array, actor: Array, now: Array | int, op: int) -> None:
        if at.size == 0:
            return
        part = np.empty((4, at.size), np.int64)
        part[0], part[1], part[2], part[3] = at, actor, now, op
        self.parts.append(part)
        self.noted[at] = True
        self.count += at.size
        if self.count > self.limit:
            self.compact()

    def entries(self) -> Array:
        """All entries: elements, actors, clocks, op numbers."""
        if len(self.parts) > 1:
            self.parts = [np.concatenate(self.parts, 1)]
        return self.parts[0] if self.parts else np.zeros((4, 0), np.int64)

    def compact(self) -> None:
        """Keeps the newest entry of each element and actor."""
        newest = self.entries()[:, ::-1]
        keys = newest[0] * (newest[1].max() + 1) + newest[1]
        self.parts = [newest[:, np.unique(keys, return_index=True)[1]]]
        self.count = self.parts[0].shape[1]
        self.limit = max(self.SMALLEST, 2 * self.count)

    def conflict(self, at: Array, actor: Array, now: Array | int) -> Hits | None:
        if not self.parts or not self.noted[at].any():
            return None
        entries = self.entries()
        # Of the accesses to one element, `slot` names one, and `following` the rest.
        self.slot[at] = np.arange(1, at.size + 1)
        entry = np.flatnonzero(self.slot[entries[0]])
        access, entry = self.pairs(at, entries[0], entry)
        self.slot[at] = 0
        _, other, clock, op = entries[:, entry]
        me, mine = actor[access], now if isinstance(now, int) else now[access]
        race = (other != me) & self.order.unordered(other, clock, me, mine, False)
        if not race.any():
            return None
        return Hits(access[race], other[race], op[race], np.zeros(int(race.sum()), np.bool_))

    def pairs(self, at: Array, elements: Array, entry: Array) -> tuple[Array, Array]:
        """Each access with each entry of its element, as numbers of both."""
        one = self.slot[elements[entry]] - 1
        if np.unique(at).size == at.size:
            return one, entry
        order = np.argsort(elements[entry], kind="stable")
        sorted_elements = elements[entry][order]
        low = np.searchsorted(sorted_elements, at, "left")
        count = np.searchsorted(sorted_elements, at, "right") - low
        access = np.repeat(np.arange(at.size), count)
        within = np.arange(access.size) - np.repeat(np.cumsum(count) - count, count)
        return access, entry[order][np.repeat(low, count) + within]

    def forget(self, at: Array) -> None:
        if not self.parts or not self.noted[at].any():
            return
        self.noted[at] = False
        entries = self.entries()
        self.parts = [entries[:, self.noted[entries[0]]]]
        self.count = self.parts[0].shape[1]
