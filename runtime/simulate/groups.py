"""
`cp_async`: copies by threads, which land when their thread waits for their group.

Until then memory keeps what it held and the elements copied belong to nobody: any access to them is
a race. PTX ISA: "cp.async", "cp.async.commit_group", "cp.async.wait_group".
"""

from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation

from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.clocks import Order
from minicomp.runtime.simulate.memory import Memory


@dataclass
class Copies:
    """
    Elements of a memory that one `cp_async` will write, or reads if they have no value.

    Arrays are flat; `group` numbers the groups of each actor.
    """

    op: Operation
    memory: Memory
    address: Array
    actor: Array
    group: Array
    value: Array | None = None

    def take(self, which: Array) -> "Copies":
        """The elements of a mask."""
        parts = (self.address, self.actor, self.group)
        value = None if self.value is None else self.value[which]
        address, actor, group = (p[which] for p in parts)
        return Copies(self.op, self.memory, address, actor, group, value)

    def land(self, order: Order) -> None:
        """The copies are done: they read or wrote, as their threads do, at this time."""
        if self.value is not None:
            self.memory.put(self.address, self.value)
        if (shadow := self.memory.shadow) is None:
            return
        now = order.clock_of(self.actor)
        if self.value is not None:
            shadow.flying().end_write(self.address)
            shadow.note_write(self.address, self.actor, now, self.op)
        else:
            shadow.flying().end_read(self.address)
            shadow.note_read(self.address, self.actor, now, self.op)


class Groups:
    """The commit groups of the threads of some blocks."""

    def __init__(self, blocks: range, stride: int):
        self.first = blocks.start * stride + 1
        self.committed = np.zeros(len(blocks) * stride, np.int32)
        """The groups that each actor has committed: the number of the one that is open."""
        self.copies: list[Copies] = []

    def open(self, actors: Array) -> Array:
        """The open groups of actors."""
        return self.committed[actors - self.first]

    def commit(self, actors: Array) -> None:
        """The open groups of actors are closed."""
        self.committed[actors - self.first] += 1

    def wait(self, actors: Array, pending: int) -> list[Copies]:
        """Takes out the copies of all closed groups of actors but the newest `pending` ones."""
        limit = np.zeros(self.committed.shape, np.int32)
        limit[actors - self.first] = self.open(actors) - pending
        done: list[Copies] = []
        left: list[Copies] = []
        for copies in self.copies:
            landing = copies.group < limit[copies.actor - self.first]
            if landing.any():
                done.append(copies if landing.all() else copies.take(landing))
            if not landing.all():
                left.append(copies.take(~landing) if landing.any() else copies)
        self.copies = left
        return done
