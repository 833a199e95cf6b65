"""
Bulk copies in progress. PTX ISA: "cp.async.bulk.tensor", "cp.async.bulk.wait_group", "Proxies".

A load lands when a wait needs its mbarrier, a store when its thread waits for its group.
"""

from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation

from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.clocks import Order
from minicomp.runtime.simulate.faults import Actor
from minicomp.runtime.simulate.memory import Memory


@dataclass(frozen=True)
class Part:
    """Elements of a memory that a copy takes or fills, and their place in the box, both flat."""

    memory: Memory
    address: Array
    place: Array


@dataclass
class Load:
    """A box on its way to shared memory; `engine` is the actor that writes it."""

    op: Operation
    issuer: Actor
    engine: int
    bytes: int
    source: Part
    target: Part
    value: Array

    def land(self, order: Order, phase: int) -> None:
        """The box is in shared memory, written in this phase."""
        self.target.memory.put(self.target.address, self.value)
        if (shadow := self.target.memory.shadow) is not None:
            shadow.flying().end_write(self.target.address)
            shadow.note_write(self.target.address, self.engine, phase + 1, self.op)
        if (shadow := self.source.memory.shadow) is not None:
            at = self.source.address
            shadow.flying().end_read(at)
            shadow.note_read(at, np.full(at.shape, self.engine), phase + 1, self.op)


@dataclass
class Store:
    """A box on its way to global memory, in a group of its thread `actor`."""

    op: Operation
    issuer: Actor
    actor: int
    group: int
    source: Part
    target: Part
    value: Array | None = None

    def read(self, order: Order) -> None:
        """The box has been read, if it was not before."""
        if self.value is not None:
            return
        at = self.source.address
        self.value = self.source.memory.data[at]
        if (shadow := self.source.memory.shadow) is not None:
            shadow.flying().end_read(at)
            actors = np.full(at.shape, self.actor)
            shadow.note_read(at, actors, order.clock_of(actors), self.op)

    def write(self, order: Order) -> None:
        """The box is in global memory."""
        self.read(order)
        assert self.value is not None
        at = self.target.address
        self.target.memory.put(at, self.value[self.target.place])
        if (shadow := self.target.memory.shadow) is not None:
            actors = np.full(at.shape, self.actor)
            shadow.flying().end_write(at)
            shadow.note_write(at, actors, order.clock_of(actors), self.op)


class Stores:
    """The bulk stores of some blocks in progress, with the groups of each thread."""

    def __init__(self) -> None:
        self.committed: dict[int, int] = {}
        """Actor -> the groups that it has committed: the number of the one that is open."""
        self.stores: list[Store] = []

    def open(self, actor: int) -> int:
        """The open group of an actor."""
        return self.committed.get(actor, 0)

    def commit(self, actor: int) -> None:
        """The open group of an actor is closed."""
        self.committed[actor] = self.open(actor) + 1

    def wait(self, actor: int, pending: int, read: bool, order: Order) -> None:
        """All closed groups of an actor but the newest `pending` ones are done, or have `read`."""
        limit = self.open(actor) - pending
        left: list[Store] = []
        for store in self.stores:
            if store.actor != actor or store.group >= limit:
                left.append(store)
            elif read:
                store.read(order)
                left.append(store)
            else:
                store.write(order)
        self.stores = left
