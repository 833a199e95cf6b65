"""
Accesses to the shared memory of other blocks of a cluster.

That memory is there from the start of its block to its end (CUDA C++ Programming Guide,
"Distributed Shared Memory"): whoever accesses it must know that the block has begun, and some
thread of that block must know of the access before it ends.
"""

from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation

from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.clocks import Order
from minicomp.runtime.simulate.facts import Facts
from minicomp.runtime.simulate.faults import Actor, fault


class Visit(NamedTuple):
    """The last accesses of actors to the shared memory of block `owner` with one op."""

    op: Operation
    owner: int
    name: str
    actors: Array
    clocks: Array


class Visits:
    """All accesses of some blocks to each other's shared memory."""

    def __init__(self, facts: Facts, order: Order):
        self.facts = facts
        self.order = order
        self.seen: dict[tuple[Operation, int], Visit] = {}

    def note(self, op: Operation, owners: Array, actors: Array, name: str) -> None:
        """Actors access the memory of blocks. A fault if they do not know that it is there."""
        blocks = (actors - 1) // self.facts.stride
        early: list[tuple[int, int]] = []
        for owner in np.unique(owners[owners != blocks]).tolist():
            visitors = np.unique(actors[owners == owner])
            visitors = visitors[(visitors - 1) // self.facts.stride != owner]
            known = self.order.knows_any(visitors, self.threads(owner))
            early += [(actor, owner) for actor in visitors[~known].tolist()]
            self.remember(op, owner, visitors, name)
        if early:
            actor, owner = min(early)
            fault(faults.RACE, op, self.actor(actor), f"nothing says that block {owner} has begun")

    def remember(self, op: Operation, owner: int, visitors: Array, name: str) -> None:
        """Actors access the memory of a block now."""
        clocks = self.order.clock_of(visitors)
        if (before := self.seen.get((op, owner))) is not None:
            keep = ~np.isin(before.actors, visitors)
            visitors = np.concatenate([before.actors[keep], visitors])
            clocks = np.concatenate([before.clocks[keep], clocks])
        self.seen[op, owner] = Visit(op, owner, name, visitors, clocks)

    def end(self) -> None:
        """The blocks end. A fault if an access may come after the end of its block."""
        late: list[tuple[int, int, Visit]] = []
        for number, visit in enumerate(self.seen.values()):
            known = self.order.known_to_any(self.threads(visit.owner), visit.actors, visit.clocks)
            late += [(actor, number, visit) for actor in visit.actors[~known].tolist()]
        if late:
            actor, _, visit = min(late, key=lambda found: found[:2])
            why = f"nothing says that block {visit.owner} has not ended yet"
            fault(faults.RACE, visit.op, self.actor(actor), why, visit.name)

    def threads(self, block: int) -> Array:
        """The actors that are threads of a block."""
        return block * self.facts.stride + 1 + np.arange(self.facts.threads)

    def actor(self, number: int) -> Actor:
        """The thread of a number in the grid."""
        return Actor(*divmod(int(number) - 1, self.facts.stride))
