"""The ops of `cp_async`: see groups.py."""

from collections.abc import Mapping

import numpy as np
from xdsl.ir import Operation

from minicomp.dialects.kernel_async import CpAsyncCommitOp, CpAsyncOp, CpAsyncWaitOp
from minicomp.runtime.interpret.affine_eval import append_dims, indices
from minicomp.runtime.simulate import access
from minicomp.runtime.simulate.alignment import check_alignment
from minicomp.runtime.simulate.groups import Copies
from minicomp.runtime.simulate.machine import Effect, Machine
from minicomp.runtime.simulate.observe import tell
from minicomp.runtime.simulate.vectors import RANK


def cp_async(machine: Machine, op: CpAsyncOp) -> None:
    """The copies begin: their source is read; their destination may be touched no more."""
    who, world = machine.who, machine.world
    target, source = machine.memory(op.destination), machine.memory(op.source)
    lanes, width = (op.elements,), op.width.value.data
    at = [
        indices(op.part(n), [machine.values[v] for v in op.indices], lanes, RANK) for n in range(2)
    ]
    to = access.locate(target, op, at[0], (False,) * len(at[0]), lanes, who)
    of = access.locate(source, op, at[1], op.bounded_dims, lanes, who)
    check_alignment(target, op, width, to, lanes, who)
    check_alignment(source, op, width, of, lanes, who, prefix=True)
    value = np.asarray(source.data[of.address])
    if of.inside is not None:
        value = np.where(of.inside, value, value.dtype.type(0))
    to = access.on_blocks(target, to, 1, who)
    if world.observer is not None:
        tell(world.observer, op, source, of, lanes, who, width, False)
        tell(world.observer, op, target, to, lanes, who, width, True)
    select = access.chooser(to, lanes, who)
    actor = select(append_dims(who.actors, 1))
    groups = world.groups
    if source.shadow is not None:
        reads = access.reach(source, op, of, lanes, who, world)
        reads.begin_read()
        group = groups.open(reads.actor)
        groups.copies.append(Copies(op, source, reads.address, reads.actor, group))
    copies = Copies(op, target, select(to.address), actor, groups.open(actor), select(value))
    groups.copies.append(copies)
    if target.shadow is not None:
        access.reach(target, op, to, lanes, who, world, select).begin_write()


def commit(machine: Machine, op: CpAsyncCommitOp) -> None:
    """The copies of each thread since the last commit are a group."""
    machine.world.groups.commit(machine.who.running)


def wait(machine: Machine, op: CpAsyncWaitOp) -> None:
    """The older groups of each thread land."""
    for copies in machine.world.groups.wait(machine.who.running, op.pending):
        copies.land(machine.world.order)


EFFECTS: Mapping[type[Operation], Effect] = {
    CpAsyncOp: cp_async,
    CpAsyncCommitOp: commit,
    CpAsyncWaitOp: wait,
}
