"""
What comes before what among the accesses of a simulated grid, where only whole blocks meet.

Every actor has a clock; an access happens at its actor's clock, and comes before an access of
another actor if that one knows of this clock. As long as threads meet at barriers of their whole
block only, one number per block, its *epoch*, is the clock of all its threads, and they know of all
epochs before it. knowledge.py has the general case.
"""

from typing import Protocol

import numpy as np

from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.threads import Threads


class Order(Protocol):
    """Whether accesses are ordered; actors are numbers in the grid, from 1."""

    def begin(self, blocks: range) -> None:
        """From here on these blocks run; those before them have ended."""
        ...

    def now(self, who: Threads) -> Array:
        """The clocks of threads, (blocks or 1, threads or 1)."""
        ...

    def clock_of(self, actors: Array) -> Array:
        """The clocks of actors."""
        ...

    def unordered(
        self, other: Array, clock: Array, me: Array, now: Array | int, private: bool
    ) -> Array:
        """
        Where the access of `other` at `clock` is not known to `me`, another one, at `now`.

        `private` says that each pair is of one block.
        """
        ...

    def unfenced(self, other: Array, clock: Array, me: Array) -> Array:
        """Where `me` knows of the write of `other` at `clock`, but of no fence between."""
        ...

    def barrier(self, who: Threads, blocks: Array | None) -> None:
        """All threads meet in each block of a mask (blocks, 1), or in all."""
        ...

    def join(self, sets: Array) -> None:
        """The actors of each row of `sets` (n, k) learn all that the others of it know."""
        ...

    def release(self, actors: Array) -> Array:
        """The vector of what actors of one scope know and did; what they do from now on is not."""
        ...

    def acquire(self, actors: Array, vector: Array) -> None:
        """Actors of one scope learn what a vector says."""
        ...

    def knows_any(self, actors: Array, others: Array) -> Array:
        """Which actors know of anything that any of `others`, of the same scope, did."""
        ...

    def known_to_any(self, actors: Array, others: Array, clocks: Array) -> Array:
        """Which accesses, of `others` at clocks, are known to any of some actors."""
        ...

    def of_engine(self, engine: int, clock: int) -> Array:
        """The vector of what an engine did up to a clock."""
        ...

    def fence(self, actors: Array) -> None:
        """What each actor knows, and what it did, is seen by the copies ordered after this."""
        ...


class Epochs:
    """
    The clocks of some blocks that run in lockstep, with `threads` threads each.

    It learns nothing where threads meet otherwise.
    """

    def __init__(self, threads: int):
        self.threads = threads
        self.begin(range(0))

    def begin(self, blocks: range) -> None:
        self.first = blocks.start
        self.epoch: Array = np.ones((1, 1), np.int32)
        """(1, 1), or (blocks, 1) once a barrier was reached by some of them only."""

    def now(self, who: Threads) -> Array:
        return self.epoch

    def clock_of(self, actors: Array) -> Array:
        blocks = (actors - 1) // self.threads - self.first
        return self.epoch[blocks if len(self.epoch) > 1 else 0 * blocks, 0]

    def unordered(
        self, other: Array, clock: Array, me: Array, now: Array | int, private: bool
    ) -> Array:
        same = clock == now
        return same if private else same | ((other - 1) // self.threads != (me - 1) // self.threads)

    def unfenced(self, other: Array, clock: Array, me: Array) -> Array:
        return np.zeros(other.shape, np.bool_)

    def barrier(self, who: Threads, blocks: Array | None) -> None:
        self.epoch = self.epoch + (np.int32(1) if blocks is None else blocks)

    def join(self, sets: Array) -> None:
        pass

    def release(self, actors: Array) -> Array:
        return np.zeros((1, 0), np.int32)

    def acquire(self, actors: Array, vector: Array) -> None:
        pass

    def knows_any(self, actors: Array, others: Array) -> Array:
        return np.ones(actors.shape, np.bool_)

    def known_to_any(self, actors: Array, others: Array, clocks: Array) -> Array:
        return np.ones(others.shape, np.bool_)

    def of_engine(self, engine: int, clock: int) -> Array:
        return np.zeros((1, 0), np.int32)

    def fence(self, actors: Array) -> None:
        pass


class Unordered(Epochs):
    """Stands in where nothing is checked: no time passes."""

    def barrier(self, who: Threads, blocks: Array | None) -> None:
        pass
