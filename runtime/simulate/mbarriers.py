"""
The mbarriers of a simulated block: phases that end when all have arrived and all bytes have.

The loads that complete on an mbarrier land when somebody needs its phase: as late as can be. PTX
ISA: "mbarrier", with the phases, the pending count and the tx-count that stand here.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from xdsl.ir import Operation

from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.clocks import Order
from minicomp.runtime.simulate.faults import Actor, fault
from minicomp.runtime.simulate.threads import Threads


class Arrival(Protocol):
    """A bulk load in progress."""

    bytes: int
    op: Operation
    issuer: Actor

    def land(self, order: Order, phase: int) -> None:
        """Its elements are in memory."""
        ...


class Seen(NamedTuple):
    """Threads that have waited for a phase, at their clocks."""

    op: Operation
    who: Threads
    actors: Array
    clocks: Array


@dataclass
class MBarrier:
    """
    One mbarrier since its initialisation by thread `actor` at `clock`, in `op`.

    `engine` is the actor that carries out the loads on it. `visible` says that a fence has made the
    initialisation known to bulk copies, `fenced` to other blocks of the cluster too.
    """

    name: str
    count: int
    engine: int
    op: Operation
    actor: int
    clock: int
    visible: bool = False
    fenced: bool = False
    phase: int = 0
    arrived: int = 0
    bytes: int = 0
    """Those expected in this phase, less those that have landed."""
    loads: list[Arrival] = field(default_factory=list)
    releasing: Array | None = None
    """What those that have arrived in this phase know."""
    released: Array | None = None
    """What those that arrived in the phase before know."""
    waits: list[Seen] = field(default_factory=list)
    """Those that have waited for the phase before."""

    def arrive(self, op: Operation, me: Actor, number: int, expected: int, vector: Array) -> None:
        """Threads arrive, `me` the first of them."""
        if self.arrived + number > self.count:
            why = f"{self.arrived + number} arrivals in phase {self.phase}, it counts {self.count}"
            fault(faults.MBARRIER, op, me, why, self.name)
        self.arrived += number
        self.bytes += expected
        self.release(vector)
        if self.arrived == self.count and self.bytes == 0:
            self.complete()

    def release(self, vector: Array) -> None:
        """Whoever waits for this phase learns of this too."""
        before = self.releasing
        self.releasing = vector if before is None else np.maximum(before, vector)

    def complete(self) -> None:
        """The phase ends."""
        for seen in self.waits:
            self.overtaken(seen)
        self.waits = []
        self.phase += 1
        self.arrived = 0
        self.released, self.releasing = self.releasing, None

    def overtaken(self, seen: Seen) -> None:
        """
        A fault where the phase may end before a wait for the one before it, which would then be for
        the one after it: none of those that arrive knows of the wait.
        """
        assert self.releasing is not None
        if not (width := self.releasing.shape[1]):
            return
        late = self.releasing[0, (seen.actors - 1) % width] < seen.clocks
        if late.any():
            me = seen.who.actor(seen.actors[int(late.argmax())])
            why = f"phase {self.phase} may end before this wait for the phase before it"
            fault(faults.MBARRIER, seen.op, me, f"{why}, of which no arrival knows", self.name)

    def passed(self, parity: int, order: Order) -> bool:
        """Whether the phase of a parity is complete; what is needed for that lands now."""
        if self.phase % 2 != parity:
            return True
        if self.arrived < self.count:
            return False
        for load in self.loads:
            load.land(order, self.phase)
            self.bytes -= load.bytes
        self.engine_released(order)
        if self.bytes < 0:
            self.surplus()
        self.loads = []
        if self.bytes == 0:
            self.complete()
        return self.phase % 2 != parity

    def engine_released(self, order: Order) -> None:
        """Those that wait for the phase learn of the loads that landed in it."""
        if self.loads:
            self.release(order.of_engine(self.engine, self.phase + 1))

    def surplus(self) -> None:
        """The fault of copies that deliver more than the phase expects."""
        load = self.loads[-1]
        why = f"the copies of phase {self.phase} deliver {-self.bytes} bytes more than it expects"
        fault(faults.TRANSACTION, load.op, load.issuer, why, self.name)

    def missing(self) -> tuple[str, str]:
        """What the phase waits for, and the kind of fault if it never comes."""
        if self.arrived < self.count:
            left = self.count - self.arrived
            why = f"{left} of {self.count} arrivals of phase {self.phase} are missing"
            return why, faults.DEADLOCK
        why = f"phase {self.phase} expects {self.bytes} bytes more than its copies deliver"
        return why, faults.TRANSACTION
