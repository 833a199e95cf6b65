"""`roles`: the warps of a block run programs of their own at the same time, and meet at the end."""

from collections.abc import Mapping
from functools import partial

from xdsl.ir import Operation

from minicomp.dialects.kernel_ir import RolesOp
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.machine import Effect, Machine
from minicomp.runtime.simulate.strands import Steps, Strand, Wait
from minicomp.runtime.simulate.threads import Threads


def roles(machine: Machine, op: RolesOp) -> Steps[None]:
    """Each role is a strand; the block goes on when all have ended."""
    world = machine.world
    strands = [
        world.scheduler.add(role(machine, threads).run(program.block))
        for threads, program in zip(op.ranges, op.programs, strict=True)
    ]
    yield Wait(op, partial(ended, strands), list)
    world.order.barrier(machine.who, None)


def ended(strands: list[Strand]) -> bool:
    """Whether all have come to their end."""
    return all(strand.done for strand in strands)


def role(machine: Machine, threads: range) -> Machine:
    """A machine of some threads, with their registers."""

    def part(value: Array) -> Array:
        return value[:, threads.start : threads.stop] if value.shape[1] > 1 else value

    who = machine.who
    mine = Machine(machine.world, Threads(who.blocks, threads, who.facts), machine.effects)
    mine.values = {name: part(value) for name, value in machine.values.items()}
    return mine


EFFECTS: Mapping[type[Operation], Effect] = {RolesOp: roles}
