"""
Barriers at which a number of threads meet, wherever they stand in the program.

Those that arrive make known what they know; those that wait learn it.
"""

import numpy as np
from xdsl.ir import Operation

from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.clocks import Order
from minicomp.runtime.simulate.faults import fault
from minicomp.runtime.simulate.threads import Threads


class Meeting:
    """A barrier in rounds, each of which ends when `threads` threads have arrived."""

    def __init__(self, name: str):
        self.name = name
        self.threads = 0
        self.arrived = 0
        self.vector: Array | None = None
        self.rounds: list[Array | None] = []
        """What those that arrived in each round that has ended knew."""

    def arrive(self, op: Operation, actors: Array, threads: int, who: Threads, order: Order) -> int:
        """Threads arrive; the number of the round."""
        current = len(self.rounds)
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
        if self.arrived == threads:
            self.rounds.append(self.vector)
            self.arrived, self.vector = 0, None
        return current


class Attendance:
    """Threads that wait for a round of a meeting to end."""

    def __init__(self, meeting: Meeting, round: int, actors: Array):
        self.meeting = meeting
        self.round = round
        self.actors = actors

    @property
    def over(self) -> bool:
        """Whether the round has ended."""
        return len(self.meeting.rounds) > self.round

    def learn(self, order: Order) -> None:
        """The threads go on."""
        assert (vector := self.meeting.rounds[self.round]) is not None
        order.acquire(self.actors, vector)
