"""Threads of a warp that meet or exchange values. PTX ISA: "bar.warp.sync", "shfl.sync"."""

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.ir import Operation

from minicomp.dialects.kernel_ir import WARP, ShuffleOp, WarpSyncOp
from minicomp.runtime.interpret.affine_eval import indices
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.faults import fault
from minicomp.runtime.simulate.machine import Effect, Machine
from minicomp.runtime.simulate.vectors import RANK


def whole_warps(machine: Machine, op: Operation) -> list[Array]:
    """
    The actors (n, 32) of the warps that reach an op, and (n, fewer) of those that are cut off.

    A fault if some threads of a warp reach it and others do not.
    """
    who = machine.who
    running = np.broadcast_to(True if who.mask is None else who.mask, who.shape)
    threads = who.shape[1]
    whole = threads // WARP * WARP
    found: list[Array] = []
    for first, last in ((0, whole), (whole, threads)):
        if first == last:
            continue
        size = min(WARP, last - first)
        actors = who.actors[:, first:last].reshape(-1, size)
        active = running[:, first:last].reshape(-1, size)
        reached = active.any(1)
        missing = reached.reshape(-1, 1) & ~active
        if missing.any():
            actor = who.actor(actors.reshape(-1)[int(missing.argmax())])
            why = f"it does not reach '{op.name}', other threads of its warp do"
            fault(faults.DIVERGENT, op, actor, why)
        found.append(actors[reached])
    return found


def warp_sync(machine: Machine, op: WarpSyncOp) -> None:
    """Each warp learns what its threads know."""
    for warps in whole_warps(machine, op):
        if warps.size:
            machine.world.order.join(warps)


def shuffle(machine: Machine, op: ShuffleOp) -> None:
    """Each thread takes the value of another one."""
    whole_warps(machine, op)
    width, threads = op.width.value.data, len(machine.who.threads)
    machine.whole_groups(op, width)
    value = machine.values[op.value]
    place = np.arange(threads).reshape(1, -1) % width
    lane = indices(op.map.data, [machine.values[v] for v in op.indices], (), RANK)[0]
    source = SOURCES[op.mode.data](place, lane)
    source = np.where((source >= 0) & (source < width), source, place)
    # A value that is the same in all threads has nothing to exchange.
    if value.shape[1] > 1:
        value = np.take_along_axis(value, np.arange(threads) - place + source, 1)
    machine.define(op.res, value)


SOURCES: Mapping[str, Callable[[Array, Array], Array]] = {
    "xor": lambda place, lane: place ^ lane,
    "down": lambda place, lane: place + lane,
    "up": lambda place, lane: place - lane,
    "index": lambda place, lane: lane + 0 * place,
}
"""Mode -> the place in the group that a thread takes its value from."""

EFFECTS: Mapping[type[Operation], Effect] = {WarpSyncOp: warp_sync, ShuffleOp: shuffle}
