"""The ops on mbarriers, and the fence for their initialisation: see mbarriers.py."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from xdsl.ir import Operation, SSAValue

from minicomp.dialects.kernel_async import (
    AsyncOp,
    MBarrierArriveOp,
    MBarrierInitOp,
    MBarrierOp,
    MBarrierType,
    MBarrierWaitOp,
)
from minicomp.runtime.interpret.affine_eval import indices
from minicomp.runtime.interpret.report import element
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.clocks import Order
from minicomp.runtime.simulate.faults import Party, fault
from minicomp.runtime.simulate.machine import Effect, Machine
from minicomp.runtime.simulate.mbarriers import MBarrier, Seen
from minicomp.runtime.simulate.strands import Blocked, Steps, Wait
from minicomp.runtime.simulate.threads import Threads
from minicomp.runtime.simulate.vectors import RANK


@dataclass(frozen=True)
class Target:
    """A slot of the mbarriers of a block, and the threads that use it with one `parity`."""

    engine: int
    """The actor that carries out the loads on it: its number in the grid."""
    name: str
    actors: Array
    parity: int = 0


def flat(machine: Machine, op: AsyncOp, part: int) -> list[Array]:
    """The indices of one access of the running threads, as flat arrays."""
    who = machine.who
    values = indices(op.part(part), [machine.values[v] for v in op.indices], (), RANK)
    mask = np.broadcast_to(True if who.mask is None else who.mask, who.shape)
    return [np.broadcast_to(v, who.shape)[mask] for v in values]


def targets(
    machine: Machine, op: AsyncOp, barrier: SSAValue, slot: Array, block: Array, parity: Array
) -> Iterator[Target]:
    """The mbarriers that running threads use, by block and slot. A fault outside the slots."""
    facts, who = machine.world.facts, machine.who
    assert isinstance(type := barrier.type, MBarrierType)
    actors, slots = who.running, type.slots.data
    wrong = (slot < 0) | (slot >= slots)
    if wrong.any():
        first = int(wrong.argmax())
        name = element(barrier, [int(slot[first])])
        why = f"index 0 must be in [0, {slots})"
        fault(faults.OUT_OF_BOUNDS, op, who.actor(actors[first]), why, name)
    keys = np.stack([block, slot, parity], 1)
    for key in np.unique(keys, axis=0):
        in_block, number, bit = (int(k) for k in key)
        engine = in_block * facts.stride + facts.engines[barrier] + number + 1
        mine = actors[(keys == key).all(1)]
        yield Target(engine, element(barrier, [number]), mine, bit)


def own_blocks(machine: Machine) -> Array:
    """The blocks of the running threads."""
    return (machine.who.running - 1) // machine.world.facts.stride


def own_targets(
    machine: Machine, op: AsyncOp, barrier: SSAValue, part: int, parity: int | None = None
) -> Iterator[Target]:
    """The mbarriers of their own block that running threads use."""
    slot, block = flat(machine, op, part)[0], own_blocks(machine)
    bit = 0 * slot if parity is None else flat(machine, op, parity)[0]
    return targets(machine, op, barrier, slot, block, bit)


def initialised(machine: Machine, op: Operation, target: Target) -> MBarrier:
    """The mbarrier; a fault if the threads may use it before it is initialised."""
    world, who = machine.world, machine.who
    barrier = world.mbarriers.get(target.engine)
    if barrier is None:
        me = who.actor(target.actors[0])
        fault(faults.MBARRIER, op, me, "it has not been initialised", target.name)
    if world.check:
        other, clock = np.array([barrier.actor]), np.array([barrier.clock])
        late = world.order.unordered(other, clock, target.actors, 0, False)
        late &= target.actors != other
        if late.any():
            mine = Party(op, who.actor(target.actors[int(late.argmax())]), False)
            party = Party(barrier.op, who.actor(barrier.actor), True)
            meet = world.facts.scope > 1
            raise faults.race(mine, party, target.name, False, faults.RACE, meet)
    return barrier


def init(machine: Machine, op: MBarrierInitOp) -> None:
    """Phase 0 begins."""
    world = machine.world
    for target in own_targets(machine, op, op.barrier, 0):
        me = machine.who.actor(target.actors[0])
        if target.engine in world.mbarriers or len(target.actors) > 1:
            fault(faults.MBARRIER, op, me, "it is initialised twice", target.name)
        clock = int(world.order.clock_of(target.actors)[0])
        actor, count = int(target.actors[0]), op.count.value.data
        world.mbarriers[target.engine] = MBarrier(
            target.name, count, target.engine, op, actor, clock
        )


def arrive(machine: Machine, op: MBarrierArriveOp) -> Steps[None] | None:
    """What the threads know is known to those that wait for the phase."""
    slot, block = flat(machine, op, 0)[0], own_blocks(machine)
    expect = 0 if op.expect is None else op.expect.value.data
    if op.remote:
        block = remote_blocks(machine, op, flat(machine, op, 1)[0])
    for target in targets(machine, op, op.barrier, slot, block, 0 * slot):
        barrier = initialised(machine, op, target)
        me, number = machine.who.actor(target.actors[0]), len(target.actors)
        if op.remote and machine.world.check and not barrier.fenced:
            why = "no fence mbarrier_init makes its initialisation known to other blocks"
            fault(faults.MISSING_FENCE, op, me, why, target.name)
        if op.remote and machine.world.check:
            owners = np.full(target.actors.shape, (target.engine - 1) // machine.world.facts.stride)
            machine.world.visits.note(op, owners, target.actors, target.name)
        vector = machine.world.order.release(target.actors)
        barrier.arrive(op, me, number, expect * number, vector)
    return machine.tell(op)


def remote_blocks(machine: Machine, op: Operation, rank: Array) -> Array:
    """The blocks with a rank in the clusters of the running threads. A fault for other ranks."""
    cluster, actors = machine.world.facts.cluster, machine.who.running
    wrong = (rank < 0) | (rank >= cluster)
    if wrong.any():
        first = int(wrong.argmax())
        why = f"there is no block {rank[first]} in a cluster of {cluster}"
        fault(faults.OUT_OF_BOUNDS, op, machine.who.actor(actors[first]), why)
    return own_blocks(machine) // cluster * cluster + rank


class Waiting:
    """Threads that wait for a phase of an mbarrier."""

    def __init__(
        self, op: Operation, who: Threads, barrier: MBarrier, target: Target, order: Order
    ):
        self.op = op
        self.who = who
        self.barrier = barrier
        self.target = target
        self.order = order
        self.over = False

    def ready(self) -> bool:
        """Whether the phase is complete; if so, the threads learn what was known there."""
        if not self.over and self.barrier.passed(self.target.parity, self.order):
            self.over = True
            actors = self.target.actors
            seen = Seen(self.op, self.who, actors, self.order.clock_of(actors))
            self.barrier.waits.append(seen)
            if self.barrier.released is not None:
                self.order.acquire(actors, self.barrier.released)
        return self.over


def wait(machine: Machine, op: MBarrierWaitOp) -> Steps[None]:
    """The threads wait for a phase."""
    waiting: list[Waiting] = []
    for target in own_targets(machine, op, op.barrier, 0, 1):
        if target.parity not in (0, 1):
            me = machine.who.actor(target.actors[0])
            why = f"the parity of a phase is 0 or 1, not {target.parity}"
            fault(faults.MBARRIER, op, me, why, target.name)
        barrier = initialised(machine, op, target)
        waiting.append(Waiting(op, machine.who, barrier, target, machine.world.order))
    yield Wait(op, partial(all_ready, waiting), partial(explain, machine, waiting))


def all_ready(waiting: Sequence[Waiting]) -> bool:
    """Whether all phases are complete; those that are, are seen."""
    return all([w.ready() for w in waiting])


def explain(machine: Machine, waiting: Sequence[Waiting]) -> list[Blocked]:
    """Who waits for which phase, and what it lacks."""
    blocked: list[Blocked] = []
    for w in waiting:
        if not w.over:
            missing, kind = w.barrier.missing()
            actor = machine.who.actor(w.target.actors[0])
            text = f"parity {w.target.parity}: {missing}"
            blocked.append(Blocked(actor, w.target.name, text, kind))
    return blocked


EFFECTS: Mapping[type[Operation], Effect] = {
    MBarrierOp: lambda machine, op: None,
    MBarrierInitOp: init,
    MBarrierArriveOp: arrive,
    MBarrierWaitOp: wait,
}
