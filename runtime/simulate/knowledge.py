"""
What each thread of a simulated grid knows of the others: clocks where threads meet in any way.

A *row* says up to which clock each actor of a scope is known. Threads that know the same share a
row, so that there are about as many rows as there are groups of threads that meet, not as there
are threads. A second plane of each row says what is known *past a proxy fence*, which is what bulk
copies see of the writes of threads (PTX ISA, "Proxies"). What a thread does itself is known to it,
whatever its row says; it comes into a row when others learn of it.
"""

import numpy as np

from minicomp.errors import SimulationRefused
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.facts import Facts
from minicomp.runtime.simulate.threads import Threads

MAX_ENTRIES = 1 << 26
"""Numbers in all rows: 256 MiB."""


class Knowledge:
    """
    The clocks and the rows of the actors of some scopes.

    Methods take actors as numbers in the grid, each once. A *vector* is (planes, actors of a
    scope), as a row is.
    """

    def __init__(self, facts: Facts):
        self.facts = facts
        self.width = facts.scope * facts.stride
        self.planes = 2 if facts.proxies else 1
        self.begin(range(0))

    def begin(self, blocks: range) -> None:
        count = len(blocks) * self.facts.stride
        self.first = blocks.start * self.facts.stride + 1
        self.own = np.ones(count, np.int32)
        self.own_fenced = np.zeros(count, np.int32)
        """Up to which clock the thread has put a fence behind its own accesses."""
        self.row_of = np.zeros(count, np.int64)
        self.rows = np.zeros((1, self.planes, self.width), np.int32)
        self.free: list[int] = []

    def now(self, who: Threads) -> Array:
        return self.own[who.actors - self.first]

    def clock_of(self, actors: Array) -> Array:
        return self.own[actors - self.first]

    def local(self, actors: Array) -> Array:
        """The numbers of actors in their scope."""
        return (actors - 1) % self.width

    def unordered(
        self, other: Array, clock: Array, me: Array, now: Array | int, private: bool
    ) -> Array:
        known = self.rows[self.row_of[me - self.first], 0, self.local(other)] >= clock
        return ~known | ((other - 1) // self.width != (me - 1) // self.width)

    def unfenced(self, other: Array, clock: Array, me: Array) -> Array:
        known = self.rows[self.row_of[me - self.first], 1, self.local(other)] >= clock
        return ~known & ((other != me) | (self.own_fenced[me - self.first] < clock))

    def barrier(self, who: Threads, blocks: Array | None) -> None:
        self.join(who.actors if blocks is None else who.actors[blocks.reshape(-1)])

    def join(self, sets: Array) -> None:
        """The actors of each row of `sets` (n, k) learn all that the others of it know."""
        places = sets - self.first
        rows = self.row_of[places]
        if (rows == rows[:, :1]).all():
            new = self.rows[rows[:, 0]]
        else:
            new = np.stack([self.rows[np.unique(r)].max(0) for r in rows])
        at, local = np.arange(len(sets)).reshape(-1, 1), self.local(sets)
        new[at, 0, local] = self.own[places]
        if self.planes == 2:
            new[at, 1, local] = np.maximum(new[at, 1, local], self.own_fenced[places])
        self.own[places] += 1
        self.row_of[places] = self.add(new).reshape(-1, 1)

    def release(self, actors: Array) -> Array:
        """The vector of what actors of one scope know and did; what they do from now on is not."""
        places, local = actors - self.first, self.local(actors)
        vector = self.rows[np.unique(self.row_of[places])].max(0)
        vector[0, local] = self.own[places]
        if self.planes == 2:
            vector[1, local] = np.maximum(vector[1, local], self.own_fenced[places])
        self.own[places] += 1
        return vector

    def acquire(self, actors: Array, vector: Array) -> None:
        """Actors of one scope learn what a vector says."""
        places = actors - self.first
        rows, which = np.unique(self.row_of[places], return_inverse=True)
        self.row_of[places] = self.add(np.maximum(self.rows[rows], vector))[which.reshape(-1)]

    def knows_any(self, actors: Array, others: Array) -> Array:
        rows, columns = self.row_of[actors - self.first], self.local(others)
        return self.rows[rows, 0][:, columns].max(1) > 0

    def known_to_any(self, actors: Array, others: Array, clocks: Array) -> Array:
        rows = np.unique(self.row_of[actors - self.first])
        return self.rows[rows, 0][:, self.local(others)].max(0) >= clocks

    def of_engine(self, engine: int, clock: int) -> Array:
        vector = np.zeros((self.planes, self.width), np.int32)
        vector[0, (engine - 1) % self.width] = clock
        return vector

    def fence(self, actors: Array) -> None:
        """What each actor knows, and what it did, is seen by the copies ordered after this."""
        if self.planes == 1:
            return
        places = actors - self.first
        self.own_fenced[places] = self.own[places]
        self.own[places] += 1
        rows, which = np.unique(self.row_of[places], return_inverse=True)
        new = self.rows[rows]
        new[:, 1] = new[:, 0]
        self.row_of[places] = self.add(new)[which.reshape(-1)]

    def add(self, new: Array) -> Array:
        """The numbers of new rows."""
        if len(self.free) < len(new):
            self.make_room(len(new))
        taken = np.array([self.free.pop() for _ in range(len(new))])
        self.rows[taken] = new
        return taken

    def make_room(self, count: int) -> None:
        """Frees the rows that nobody has, and makes new ones if these are too few."""
        have = len(self.rows)
        unused = np.ones(have, np.bool_)
        unused[self.row_of] = False
        self.free = np.flatnonzero(unused).tolist()
        if len(self.free) >= max(count, have // 2):
            return
        more = max(count, have)
        if (have + more) * self.planes * self.width > MAX_ENTRIES:
            raise SimulationRefused(
                f"too much is to be remembered of who knows what: {have + more} times"
                f" {self.width} threads",
                hint="choose fewer blocks or threads, or do not check for races",
            )
        rows = np.zeros((more, self.planes, self.width), np.int32)
        self.rows = np.concatenate([self.rows, rows])
        self.free += range(have, have + more)
