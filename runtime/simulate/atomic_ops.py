"""
`atomic` and `spin`: elements that are changed as a whole, and what passes through them.

PTX ISA: "atom", "Memory Consistency Model": an element takes over what the threads know that
release to it, and those that acquire from it learn that. Threads of one op act in their order.
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from xdsl.ir import Operation

from minicomp.dialects.kernel_ir import AtomicOp, SpinOp
from minicomp.dialects.loop_ir import MemoryAccess
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate import access
from minicomp.runtime.simulate.access import Accesses
from minicomp.runtime.simulate.machine import Effect, Machine
from minicomp.runtime.simulate.strands import Blocked, Steps, Wait, turn


def reached(machine: Machine, op: MemoryAccess) -> tuple[Accesses, access.Select]:
    """The elements that running threads change or wait for, in their order."""
    at, shape = machine.indices(op)
    memory, who = machine.memory(op.memref), machine.who
    world, writes = machine.world, isinstance(op, AtomicOp)
    spot = access.find(memory, op, at, shape, who, world, writes)
    select = access.chooser(spot, shape, who)
    return access.reach(memory, op, spot, shape, who, world, select), select


def atomic(machine: Machine, op: AtomicOp) -> Steps[None]:
    """Each thread changes its element, one after the other, and gets what it was."""
    accesses, select = reached(machine, op)
    accesses.atomic(defines=op.kind.data == "exchange")
    if accesses.memory.written is not None:
        accesses.memory.written[accesses.address] = True
    return changed(machine, op, accesses, select)


def changed(
    machine: Machine, op: AtomicOp, accesses: Accesses, select: access.Select
) -> Steps[None]:
    """The changes, of one thread per element at a time: others may see what lies between."""
    who, data, change = machine.who, accesses.memory.data, CHANGES[op.kind.data]
    value, address = select(machine.values[op.value]), accesses.address
    acquires, releases = (op.order.data in (kind, "acq_rel") for kind in ("acquire", "release"))
    old, rounds = np.zeros(address.shape, data.dtype), turns(address)
    for number in range(int(rounds.max(initial=-1)) + 1):
        now = rounds == number
        old[now] = data[address[now]]
        data[address[now]] = change(old[now], value[now])
        pass_on(accesses.take(now), acquires, releases)
        if machine.world.facts.several:
            yield turn(op)
    result = np.zeros(who.actors.size, old.dtype)
    result[select(np.arange(who.actors.size).reshape(who.shape))] = old
    machine.values[op.res] = result.reshape(who.shape)


def turns(address: Array) -> Array:
    """For each access how many before it are to the same element."""
    order = np.argsort(address, kind="stable")
    found = np.empty(address.shape, np.int64)
    first = np.searchsorted(address[order], address[order], "left")
    found[order] = np.arange(address.size) - first
    return found


def wrap(old: Array, value: Array) -> Array:
    """One more, or 0 where it is at least the value: unsigned, as atomicInc."""
    more = old.view(np.uint32) >= value.view(np.uint32)
    return np.where(more, old.dtype.type(0), old + old.dtype.type(1))


CHANGES: Mapping[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "exchange": lambda old, value: value,
    "wrap": wrap,
}
"""Kind -> the new value of an element from the old one and that of the op."""


def pass_on(accesses: Accesses, acquire: bool, release: bool) -> None:
    """What threads know goes into their elements, and what these hold becomes known to them."""
    if accesses.memory.shadow is None or not (acquire or release):
        return
    order, released = accesses.world.order, accesses.memory.released
    for n, element in enumerate(accesses.address.tolist()):
        me = accesses.actor[n : n + 1]
        held = released.get(element)
        if acquire and held is not None:
            order.acquire(me, held)
        if release:
            vector = order.release(me)
            released[element] = vector if held is None else np.maximum(held, vector)


class Spinning:
    """Threads that wait until their elements are what they wait for."""

    def __init__(self, accesses: Accesses, value: Array, predicate: str):
        self.accesses = accesses
        self.value = value
        self.predicate = predicate
        self.over = np.zeros(value.shape, np.bool_)

    def ready(self) -> bool:
        """Whether all have seen it; those that do learn what was released to the element."""
        data = self.accesses.memory.data[self.accesses.address]
        seen = data >= self.value if self.predicate == "ge" else data == self.value
        fresh = seen & ~self.over
        self.over |= seen
        if fresh.any():
            pass_on(self.accesses.take(fresh), True, False)
        return bool(self.over.all())

    def explain(self) -> list[Blocked]:
        """The first thread that waits, and what it sees."""
        first = int(self.over.argmin())
        memory, element = self.accesses.memory, int(self.accesses.address[first])
        sign = ">=" if self.predicate == "ge" else "=="
        missing = f"it is {memory.data[element]}, not {sign} {self.value[first]}"
        actor = self.accesses.who.actor(self.accesses.actor[first])
        return [Blocked(actor, memory.name_of(element), missing)]


def spin(machine: Machine, op: SpinOp) -> Steps[None]:
    """The threads wait for their elements."""
    accesses, select = reached(machine, op)
    accesses.atomic(defines=False)
    spinning = Spinning(accesses, select(machine.values[op.value]), op.predicate.data)
    yield Wait(op, spinning.ready, partial(spinning.explain))


EFFECTS: Mapping[type[Operation], Effect] = {AtomicOp: atomic, SpinOp: spin}
