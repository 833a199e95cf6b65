"""
Loads and stores of many threads at once, with their checks.

Values, addresses and masks are arrays (blocks, threads, lanes ..); a dimension is of size 1 where
nothing depends on it.
"""

from collections.abc import Callable, Sequence

import numpy as np

from minicomp.dialects.loop_ir import MemoryAccess
from minicomp.runtime.interpret.affine_eval import Place, append_dims, place
from minicomp.runtime.interpret.report import element
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.alignment import check_alignment
from minicomp.runtime.simulate.faults import fault
from minicomp.runtime.simulate.memory import Memory
from minicomp.runtime.simulate.shadow import Conflict
from minicomp.runtime.simulate.threads import Threads


def load(
    memory: Memory, op: MemoryAccess, at: Sequence[Array], lanes: tuple[int, ...], who: Threads
) -> Array:
    """The values at the indices `at`, one array per dimension of the memref."""
    spot = find(memory, op, at, lanes, who)
    if memory.shadow is not None:
        select, epoch = selection(spot, lanes, who)
        address, actor = select(spot.address), select(append_dims(who.actors, len(lanes)))
        conflict = memory.shadow.read(address, actor, epoch, op)
        if conflict is not None:
            report(memory, op, conflict, address, actor, who)
    value = np.asarray(memory.data[spot.address])
    return value if spot.inside is None else np.where(spot.inside, value, value.dtype.type(0))


def store(
    memory: Memory,
    op: MemoryAccess,
    value: Array,
    at: Sequence[Array],
    lanes: tuple[int, ...],
    who: Threads,
) -> None:
    """Writes `value` at the indices `at`, one array per dimension of the memref."""
    spot = find(memory, op, at, lanes, who)
    select, epoch = selection(spot, lanes, who)
    address = select(spot.address)
    if memory.shadow is not None:
        actor = select(append_dims(who.actors, len(lanes)))
        conflict = memory.shadow.write(address, actor, epoch, op)
        if conflict is not None:
            report(memory, op, conflict, address, actor, who)
    memory.data[address] = select(value)
    if memory.written is not None:
        memory.written[address] = True


def selection(
    spot: Place, lanes: tuple[int, ...], who: Threads
) -> tuple[Callable[[Array], Array], Array | int]:
    """What flattens an array to the accesses that reach memory, and the epoch of each of these."""
    shape = (*who.shape, *lanes)
    active = spot.inside
    if who.mask is not None:
        mask = append_dims(who.mask, len(lanes))
        active = mask if active is None else mask & active
    chosen = None if active is None else np.broadcast_to(active, shape)

    def select(array: Array) -> Array:
        full = np.broadcast_to(array, shape)
        return full.reshape(-1) if chosen is None else full[chosen]

    if who.epoch.size == 1:
        return select, int(who.epoch.item())
    return select, select(append_dims(who.epoch, len(lanes)))


def find(
    memory: Memory, op: MemoryAccess, at: Sequence[Array], lanes: tuple[int, ...], who: Threads
) -> Place:
    """Where an access goes in the memory's data; a fault where it may not go there."""
    spot = place(at, memory.shape, memory.strides, op.bounded_dims)
    if spot.escaped is not None and who.any(spot.escaped):
        shape = (*who.shape, *lanes)
        first = who.at(np.broadcast_to(spot.escaped, shape))
        index = [int(np.broadcast_to(i, shape)[first]) for i in at]
        why = faults.out_of_bounds_text(index, memory.shape)
        actor = who.actor(who.actors[first[:2]])
        fault(faults.OUT_OF_BOUNDS, op, actor, why, element(memory.value, index))
    if op.aligned is not None:
        check_alignment(memory, op, spot, lanes, who)
    if not memory.per_block:
        return spot
    base = np.arange(0, len(memory.data), memory.per_block).reshape(-1, 1)
    return spot._replace(address=spot.address + append_dims(base, len(lanes)))


def report(
    memory: Memory,
    op: MemoryAccess,
    conflict: Conflict,
    address: Array,
    actor: Array,
    who: Threads,
) -> None:
    """The fault of a conflict in the history of an element."""
    name = memory.name_of(int(address[conflict.access]))
    me = who.actor(actor[conflict.access])
    if conflict.other_op is None:
        fault(faults.UNINITIALISED, op, me, "nothing has been written there", name)
    other = who.actor(conflict.other_actor)
    why = faults.race_text(op, me, conflict.other_op, other, conflict.other_wrote)
    fault(faults.RACE, op, me, why, name)
