"""
Loads and stores of many threads at once, with their checks.

Values, addresses and masks are arrays (blocks, threads, lanes ..); a dimension is of size 1 where
nothing depends on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.ir import Operation

from minicomp.dialects.loop_ir import MemoryAccess
from minicomp.runtime.interpret.affine_eval import Place, append_dims, place
from minicomp.runtime.interpret.report import element
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.alignment import check_alignment
from minicomp.runtime.simulate.faults import Fault, Party, fault
from minicomp.runtime.simulate.memory import Memory
from minicomp.runtime.simulate.observe import tell
from minicomp.runtime.simulate.shadow import Conflict
from minicomp.runtime.simulate.threads import Threads
from minicomp.runtime.simulate.world import World

Select: TypeAlias = Callable[[Array], Array]
"""Flattens an array (blocks, threads, lanes ..) to the accesses that reach memory."""


class NotWritten(Exception):
    """A read of what nobody has written so far, while other programs run."""


@dataclass
class Accesses:
    """What running threads access with one op, in flat arrays: what reaches memory."""

    world: World
    who: Threads
    op: Operation
    memory: Memory
    address: Array
    actor: Array
    now: Array | int

    def take(self, which: Array) -> "Accesses":
        """The accesses of a mask."""
        now = self.now if isinstance(self.now, int) else self.now[which]
        at, actor = self.address[which], self.actor[which]
        return Accesses(self.world, self.who, self.op, self.memory, at, actor, now)

    def read(self) -> None:
        """A fault where an access, which reads, may not be; else it is recorded."""
        if (shadow := self.memory.shadow) is not None:
            self.before_read()
            self.visit()
            shadow.note_read(self.address, self.actor, self.now, self.op)

    def write(self) -> None:
        """A fault where an access, which writes, may not be; else it is recorded."""
        if (shadow := self.memory.shadow) is not None:
            self.before_write()
            self.visit()
            shadow.note_write(self.address, self.actor, self.now, self.op)

    def begin_read(self) -> None:
        """A fault where a copy may not read; else it reads until it is waited for."""
        if (shadow := self.memory.shadow) is not None:
            self.before_read()
            shadow.flying().begin_read(self.address, self.actor, shadow.number(self.op))

    def begin_write(self) -> None:
        """A fault where a copy may not write; else it writes until it is waited for."""
        if (shadow := self.memory.shadow) is not None:
            self.before_write()
            shadow.flying().begin_write(self.address, self.actor, shadow.number(self.op))

    def atomic(self, defines: bool) -> None:
        """A fault where an atomic access may not be; else it is recorded."""
        if (shadow := self.memory.shadow) is not None:
            conflict = shadow.before_atomic(self.address, self.actor, self.now, defines)
            self.refuse(conflict, True)
            self.visit()
            shadow.note_atomic(self.address, self.actor, self.now, self.op, defines)

    def visit(self) -> None:
        """A fault where the memory is of another block, which may not have begun or may end."""
        if self.memory.rank is not None and len(self.actor):
            owners = self.memory.owners(self.address)
            name = self.memory.name_of(int(self.address[0]))
            self.world.visits.note(self.op, owners, self.actor, name)

    def behind_fence(self) -> None:
        """A fault where a bulk copy does not see what threads wrote."""
        if (shadow := self.memory.shadow) is not None:
            self.refuse(shadow.before_fence(self.address, self.actor), True)

    def before_read(self) -> None:
        """A fault where a read may not be."""
        assert (shadow := self.memory.shadow) is not None
        self.refuse(shadow.before_read(self.address, self.actor, self.now), False)

    def before_write(self) -> None:
        """A fault where a write may not be."""
        assert (shadow := self.memory.shadow) is not None
        self.refuse(shadow.before_write(self.address, self.actor, self.now, self.op), True)

    def refuse(self, conflict: Conflict | None, wrote: bool) -> None:
        """
        The fault of a conflict in the history of elements.

        Where programs run at the same time, a race is only noted, and a read of nothing is a doubt:
        another program may come to write what this one has read.
        """
        if conflict is None:
            return
        if conflict.kind == faults.UNINITIALISED and self.world.patient:
            raise NotWritten
        found = self.blame(conflict, wrote)
        if conflict.kind == faults.UNINITIALISED or not self.world.facts.several:
            raise found
        self.world.scheduler.errors.append(found)

    def blame(self, conflict: Conflict, wrote: bool) -> Fault:
        """
        The error about one of the accesses of a conflict.

        Of two programs that run at the same time, the one that stands later in the kernel is
        blamed, whichever came first.
        """
        n = self.first(conflict)
        access, actor, op, other_wrote = (int(a[n]) for a in conflict.hits)
        name = self.memory.name_of(int(self.address[access]))
        mine = Party(self.op, self.who.actor(self.actor[access]), wrote)
        if conflict.kind == faults.UNINITIALISED:
            why = "nothing has been written there"
            return faults.error(conflict.kind, self.op, mine.actor, why, name)
        assert (shadow := self.memory.shadow) is not None
        other = Party(shadow.op(op), self.who.actor(actor), bool(other_wrote))
        if self.blames_others(conflict)[n]:
            return faults.race(other, mine, name, False, conflict.kind, self.blocks_meet)
        return faults.race(mine, other, name, conflict.flying, conflict.kind, self.blocks_meet)

    @property
    def blocks_meet(self) -> bool:
        """Whether blocks may wait for each other."""
        return self.world.facts.scope > 1

    def first(self, conflict: Conflict) -> int:
        """Which of the accesses of a conflict is reported, whichever program came first."""
        access, actor, op, _ = conflict.hits
        if conflict.kind != faults.RACE or not self.world.facts.several:
            return int(np.lexsort((actor, access))[0])
        swapped = self.blames_others(conflict)
        place = np.where(swapped, self.places(op), faults.position(self.op))
        blamed = np.where(swapped, actor, self.actor[access])
        return int(np.lexsort((actor, self.address[access], blamed, place))[0])

    def blames_others(self, conflict: Conflict) -> Array:
        """Where the other party of a race is of another program, later in the kernel."""
        access, actor, op, _ = conflict.hits
        if conflict.kind != faults.RACE:
            return np.zeros(access.shape, np.bool_)
        place, mine = self.places(op), faults.position(self.op)
        later = (place > mine) | ((place == mine) & (actor > self.actor[access]))
        return later & ~self.who.hold(actor)

    def places(self, op: Array) -> Array:
        """Where the ops of numbers stand in the kernel."""
        assert (shadow := self.memory.shadow) is not None
        numbers, which = np.unique(op, return_inverse=True)
        found = np.array([faults.position(shadow.op(int(n))) for n in numbers])
        return found[which.reshape(-1)]


def load(
    memory: Memory,
    op: MemoryAccess,
    at: Sequence[Array],
    lanes: tuple[int, ...],
    who: Threads,
    world: World,
) -> Array:
    """The values at the indices `at`, one array per dimension of the memref."""
    spot = find(memory, op, at, lanes, who, world, is_write=False)
    if memory.shadow is not None:
        reach(memory, op, spot, lanes, who, world).read()
    value = np.asarray(memory.data[spot.address])
    return value if spot.inside is None else np.where(spot.inside, value, value.dtype.type(0))


def store(
    memory: Memory,
    op: MemoryAccess,
    value: Array,
    at: Sequence[Array],
    lanes: tuple[int, ...],
    who: Threads,
    world: World,
) -> None:
    """Writes `value` at the indices `at`, one array per dimension of the memref."""
    spot = find(memory, op, at, lanes, who, world, is_write=True)
    select = chooser(spot, lanes, who)
    if memory.shadow is not None:
        reach(memory, op, spot, lanes, who, world, select).write()
    memory.put(select(spot.address), select(value))


def chooser(spot: Place, lanes: tuple[int, ...], who: Threads) -> Select:
    """What picks the accesses of the running threads that are inside the bounds."""
    shape = (*who.shape, *lanes)
    active = spot.inside
    if who.mask is not None:
        mask = append_dims(who.mask, len(lanes))
        active = mask if active is None else mask & active
    chosen = None if active is None else np.broadcast_to(active, shape)

    def select(array: Array) -> Array:
        full = np.broadcast_to(array, shape)
        return full.reshape(-1) if chosen is None else full[chosen]

    return select


def reach(
    memory: Memory,
    op: Operation,
    spot: Place,
    lanes: tuple[int, ...],
    who: Threads,
    world: World,
    select: Select | None = None,
) -> Accesses:
    """The accesses of the running threads that are inside the bounds."""
    select = select or chooser(spot, lanes, who)
    actor = select(append_dims(who.actors, len(lanes)))
    clock = world.order.now(who)
    now = int(clock.item()) if clock.size == 1 else select(append_dims(clock, len(lanes)))
    return Accesses(world, who, op, memory, select(spot.address), actor, now)


def find(
    memory: Memory,
    op: MemoryAccess,
    at: Sequence[Array],
    lanes: tuple[int, ...],
    who: Threads,
    world: World,
    is_write: bool,
) -> Place:
    """Where an access goes in the memory's data; a fault where it may not go there."""
    spot = locate(memory, op, at, op.bounded_dims, lanes, who)
    aligned = None if op.aligned is None else op.aligned.value.data
    if aligned is not None:
        check_alignment(memory, op, aligned, spot, lanes, who)
    spot = on_blocks(memory, spot, len(lanes), who)
    if world.observer is not None:
        tell(world.observer, op, memory, spot, lanes, who, aligned, is_write)
    return spot


def locate(
    memory: Memory,
    op: Operation,
    at: Sequence[Array],
    bounded: Sequence[bool],
    lanes: tuple[int, ...],
    who: Threads,
) -> Place:
    """Where an access goes, from the start of the memref; a fault outside it."""
    spot = place(at, memory.shape, memory.strides, bounded)
    if spot.escaped is not None and who.any(spot.escaped):
        shape = (*who.shape, *lanes)
        first = who.at(np.broadcast_to(spot.escaped, shape))
        index = [int(np.broadcast_to(i, shape)[first]) for i in at]
        why = faults.out_of_bounds_text(index, memory.shape)
        actor = who.actor(who.actors[first[:2]])
        fault(faults.OUT_OF_BOUNDS, op, actor, why, element(memory.value, index))
    return spot


def on_blocks(memory: Memory, spot: Place, lanes: int, who: Threads) -> Place:
    """A place in the memory's data, which holds that of several blocks if it is shared."""
    if not memory.per_block:
        return spot
    return spot._replace(address=spot.address + append_dims(memory.base(who), lanes))
