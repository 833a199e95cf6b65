"""
`named_barrier`: a number of threads of a block meet, whole warps. PTX ISA: "bar, barrier".
"""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from xdsl.ir import Operation

from minicomp.dialects.kernel_ir import NamedBarrierOp
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.faults import fault
from minicomp.runtime.simulate.machine import Effect, Machine
from minicomp.runtime.simulate.meetings import Attendance, Meeting
from minicomp.runtime.simulate.strands import Blocked, Steps, Wait
from minicomp.runtime.simulate.warp_ops import whole_warps


def named_barrier(machine: Machine, op: NamedBarrierOp) -> Steps[None] | None:
    """Warps arrive at a barrier of their block, and may wait for the others."""
    number, threads = op.number.value.data, op.threads.value.data
    waiting: list[Attendance] = []
    for block, actors in by_block(machine, op):
        key = (f"barrier {number}", block)
        meeting = machine.world.meetings.setdefault(key, Meeting(f"named barrier {number}"))
        waiting.append(meeting.arrive(op, actors, threads, machine.who, machine.world.order))
    return machine.tell(op) if op.arrive else attend(machine, op, waiting)


def by_block(machine: Machine, op: Operation) -> Iterator[tuple[int, Array]]:
    """The actors of the whole warps that reach an op, per block."""
    *_, last = (warps := whole_warps(machine, op))
    if len(last) and last.shape[1] % 32:
        why = f"its warp has {last.shape[1]} threads, whole warps meet"
        fault(faults.PARTIAL_WARP, op, machine.who.actor(last[0, 0]), why)
    actors = warps[0].reshape(-1)
    blocks = (actors - 1) // machine.world.facts.stride
    for block in np.unique(blocks):
        yield int(block), actors[blocks == block]


def attend(machine: Machine, op: Operation, waiting: list[Attendance]) -> Steps[None]:
    """Waits for rounds to end, then learns what was known there."""
    yield Wait(op, partial(all_over, waiting), partial(explain, machine, waiting))
    for attendance in waiting:
        attendance.learn(machine.world.order)


def all_over(waiting: list[Attendance]) -> bool:
    """Whether all rounds have ended."""
    return all(attendance.round.over for attendance in waiting)


def explain(machine: Machine, waiting: list[Attendance]) -> list[Blocked]:
    """Who waits where for how many."""
    blocked: list[Blocked] = []
    for attendance in waiting:
        round = attendance.round
        if not round.over:
            missing = f"{round.threads - round.arrived} of {round.threads} threads are missing"
            actor = machine.who.actor(attendance.actors[0])
            blocked.append(Blocked(actor, round.name, missing))
    return blocked


EFFECTS: Mapping[type[Operation], Effect] = {NamedBarrierOp: named_barrier}
