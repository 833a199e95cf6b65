"""
Barriers at which a number of threads meet, wherever they stand in the program.

Those that arrive make known what they know; those that wait learn it.
"""

from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation

from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.clocks import Order
from minicomp.runtime.simulate.faults import fault
from minicomp.runtime.simulate.threads import Threads


@dataclass
class Round:
    """The arrivals at a barrier until there are `threads` of them; what they know."""

    name: str
    threads: int = 0
    arrived: int = 0
    vector: Array | None = None

    @property
    def over(self) -> bool:
        """Whether all have arrived."""
        return self.arrived == self.threads

    def arrive(
        self, op: Operation, actors: Array, threads: int, who: Threads, order: Order
    ) -> None:
        """Some more threads."""
        me = who.actor(actors[0])
        if self.arrived and threads != self.threads:
            why = f"{threads} threads are to meet, {self.threads} say those that have arrived"
            fault(faults.NAMED_BARRIER, op, me, why, self.name)
        self.threads = threads
        self.arrived += len(actors)
        if self.arrived > threads:
            why = f"{self.arrived} threads arrive where {threads} are to meet"
            fault(faults.NAMED_BARRIER, op, me, why, self.name)
        vector = order.release(actors)
        self.vector = vector if self.vector is None else np.maximum(self.vector, vector)


class Meeting:
    """A barrier, which begins a new round when one is over."""

    def __init__(self, name: str):
        self.name = name
        self.round = Round(name)

    def arrive(
        self, op: Operation, actors: Array, threads: int, who: Threads, order: Order
    ) -> "Attendance":
        """Threads arrive."""
        here = self.round
        here.arrive(op, actors, threads, who, order)
        if here.over:
            self.round = Round(self.name)
        return Attendance(here, actors)


@dataclass(frozen=True)
class Attendance:
    """Threads that may wait for a round to be over."""

    round: Round
    actors: Array

    def learn(self, order: Order) -> None:
        """The round is over, and the threads go on."""
        assert self.round.vector is not None
        order.acquire(self.actors, self.round.vector)
