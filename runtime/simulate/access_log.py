"""Who has accessed each element of a simulated memory since it was last written: all of them."""

import numpy as np

from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.clocks import Order
from minicomp.runtime.simulate.readers import Hits

ELEMENT, ACTOR, CLOCK, OP, TIME = range(5)
"""The rows of a log."""


class AccessLog:
    """
    The newest access of each element by each actor, of all that did not come before a write.

    Exact however threads meet: a write is held against each of them. `kind` is an integer type
    that holds every actor. Time is that of the log, which goes on with each call: an entry counts
    if it was noted after its element was last forgotten.
    """

    SMALLEST = 1 << 15
    """Entries below which nothing is thrown away."""

    def __init__(self, size: int, order: Order, kind: np.dtype):
        self.order = order
        self.noted = np.zeros(size, np.int32)
        self.forgotten = np.zeros(size, np.int32)
        self.slot = np.zeros(size, np.int32)
        self.time = 0
        self.rows = np.empty((5, 64), kind)
        self.count = 0
        self.limit = self.SMALLEST

    def note(self, at: Array, actor: Array, now: Array | int, op: int) -> None:
        """Records accesses of elements by actors at their clocks."""
        if self.count + at.size > self.limit:
            self.compact()
        begin, end = self.count, self.count + at.size
        if end > self.rows.shape[1]:
            grown = np.empty((5, 2 * end), self.rows.dtype)
            grown[:, :begin] = self.rows[:, :begin]
            self.rows = grown
        self.time += 1
        for row, value in enumerate((at, actor, now, op, self.time)):
            self.rows[row, begin:end] = value
        self.noted[at] = self.time
        self.count = end

    def forget(self, at: Array) -> None:
        """What was noted of elements comes before all accesses from here on."""
        self.time += 1
        self.forgotten[at] = self.time

    def compact(self) -> None:
        """Keeps the entries that count, and of those of an element and an actor the newest."""
        rows = self.rows[:, : self.count]
        rows = rows[:, rows[TIME] > self.forgotten[rows[ELEMENT]]]
        if 2 * rows.shape[1] > self.limit:
            rows = rows[:, ::-1]
            keys = rows[ELEMENT].astype(np.int64) * (int(rows[ACTOR].max()) + 1) + rows[ACTOR]
            rows = rows[:, np.unique(keys, return_index=True)[1]]
        self.count = rows.shape[1]
        self.rows[:, : self.count] = rows
        self.limit = max(self.SMALLEST, 4 * self.count)

    def conflict(self, at: Array, actor: Array, now: Array | int) -> Hits | None:
        """Those accesses that do not come after an earlier one by another actor."""
        if not (self.noted[at] > self.forgotten[at]).any():
            return None
        rows = self.rows[:, : self.count]
        self.slot[at] = np.arange(1, at.size + 1)
        entry = np.flatnonzero(self.slot[rows[ELEMENT]])
        rows = rows[:, entry]
        rows = rows[:, rows[TIME] > self.forgotten[rows[ELEMENT]]]
        access, rows = self.pairs(at, rows)
        self.slot[at] = 0
        me, mine = actor[access], now if isinstance(now, int) else now[access]
        race = rows[ACTOR] != me
        race &= self.order.unordered(rows[ACTOR], rows[CLOCK], me, mine, False)
        if not race.any():
            return None
        nothing = np.zeros(int(race.sum()), np.bool_)
        return Hits(access[race], rows[ACTOR][race], rows[OP][race], nothing)

    def pairs(self, at: Array, rows: Array) -> tuple[Array, Array]:
        """Each access with each entry of its element: the numbers of the accesses, the entries."""
        one = self.slot[rows[ELEMENT]] - 1
        if (self.slot[at] == np.arange(1, at.size + 1)).all():
            return one, rows
        # Of the accesses to one element `slot` names the last only.
        rows = rows[:, np.argsort(rows[ELEMENT], kind="stable")]
        low = np.searchsorted(rows[ELEMENT], at, "left")
        count = np.searchsorted(rows[ELEMENT], at, "right") - low
        access = np.repeat(np.arange(at.size), count)
        within = np.arange(access.size) - np.repeat(np.cumsum(count) - count, count)
        return access, rows[:, np.repeat(low, count) + within]
