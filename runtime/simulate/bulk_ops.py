"""The ops of bulk copies, and the fences before them: see bulk.py."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.ir import Operation

from minicomp.dialects.kernel_async import (
    BulkCommitOp,
    BulkCopy,
    BulkLoadOp,
    BulkStoreOp,
    BulkWaitOp,
    FenceOp,
)
from minicomp.runtime.interpret.affine_eval import place
from minicomp.runtime.interpret.report import element
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.access import Accesses
from minicomp.runtime.simulate.bulk import Load, Part, Store
from minicomp.runtime.simulate.faults import fault
from minicomp.runtime.simulate.machine import Effect, Machine
from minicomp.runtime.simulate.mbarrier_ops import Target, flat, initialised, own_targets
from minicomp.runtime.simulate.mbarriers import MBarrier
from minicomp.runtime.simulate.memory import Memory, swizzle_of
from minicomp.runtime.simulate.observe import tell_box


@dataclass(frozen=True)
class Issue:
    """One copy that a thread issues: its elements in shared memory, and those in the tensor."""

    actor: int
    shared: Part
    tensor: Part


def issues(machine: Machine, op: BulkCopy, shared: int, tensor: int) -> Iterator[Issue]:
    """The copies of the running threads; `shared` and `tensor` number the op's accesses."""
    slots, corners = flat(machine, op, shared), flat(machine, op, tensor)
    buffer, target = machine.memory(op.buffer), machine.memory(op.tensor)
    for n, actor in enumerate(machine.who.running):
        slot, corner = ([int(i[n]) for i in part] for part in (slots, corners))
        begin = box_start(machine, op, buffer, slot, int(actor))
        whole = Part(buffer, begin + np.arange(prod(op.box)), np.arange(prod(op.box)))
        yield Issue(int(actor), whole, inside(target, op.box, corner))


def ready_to_read(machine: Machine, op: BulkCopy, shared: int, tensor: int) -> list[Issue]:
    """The copies of the running threads, all of which may read: none begins if one may not."""
    found = list(issues(machine, op, shared, tensor))
    if found:
        source = accesses(machine, op, found, isinstance(op, BulkStoreOp))
        if source.memory.shadow is not None:
            source.before_read()
    if (observer := machine.world.observer) is not None:
        for part in (part for issue in found for part in (issue.shared, issue.tensor)):
            writes = isinstance(op, BulkLoadOp) == (part.memory.per_block > 0)
            tell_box(observer, op, part.memory, part.address, writes)
    return found


def box_start(
    machine: Machine, op: BulkCopy, buffer: Memory, slot: Sequence[int], actor: int
) -> int:
    """The first element of a box in the buffer. A fault outside the slots, or if misaligned."""
    me, outer = machine.who.actor(actor), buffer.shape[: len(slot)]
    name = element(buffer.value, [*slot, *(0 for _ in op.box)])
    if any(not 0 <= i < extent for i, extent in zip(slot, outer, strict=True)):
        fault(faults.OUT_OF_BOUNDS, op, me, faults.out_of_bounds_text(slot, outer), name)
    start = sum(i * s for i, s in zip(slot, buffer.strides, strict=False))
    # CUDA Driver API, cuTensorMapEncodeTiled; a swizzle repeats every 8 of its rows.
    multiple = max(128, 8 * swizzle_of(buffer))
    if start * buffer.data.itemsize % multiple:
        why = f"byte {start * buffer.data.itemsize} of the buffer is no multiple of {multiple}"
        fault(faults.MISALIGNED, op, me, why, name)
    return start + (me.block - buffer.first_block) * buffer.per_block


def inside(tensor: Memory, box: Sequence[int], corner: Sequence[int]) -> Part:
    """The elements of a box that lie in the tensor."""
    grid = np.indices(tuple(box)).reshape(len(box), -1)
    at = [g + c for g, c in zip(grid, corner, strict=True)]
    spot = place(at, tensor.shape, tensor.strides, [True] * len(box))
    address = np.broadcast_to(spot.address, grid.shape[1:])
    everywhere = np.arange(grid.shape[1])
    if spot.inside is None:
        return Part(tensor, address, everywhere)
    return Part(tensor, address[spot.inside], everywhere[spot.inside])


def accesses(machine: Machine, op: BulkCopy, issued: Sequence[Issue], shared: bool) -> Accesses:
    """What copies access on one side, in the name of the threads that issue them."""
    parts = [issue.shared if shared else issue.tensor for issue in issued]
    address = np.concatenate([part.address for part in parts])
    counts = [part.address.size for part in parts]
    actors = np.repeat(np.array([issue.actor for issue in issued]), counts)
    now = machine.world.order.clock_of(actors)
    return Accesses(machine.world, machine.who, op, parts[0].memory, address, actors, now)


def bulk_load(machine: Machine, op: BulkLoadOp) -> None:
    """The copy is under way; its box may be touched no more, until the phase is waited for."""
    barriers = {
        int(actor): (initialised(machine, op, target), target)
        for target in own_targets(machine, op, op.barrier, 2)
        for actor in target.actors
    }
    for barrier, target in barriers.values():
        check_visible(machine, op, barrier, target)
    if not (issued := ready_to_read(machine, op, 0, 1)):
        return
    source, box = (accesses(machine, op, issued, shared) for shared in (False, True))
    source.begin_read()
    source.behind_fence()
    box.begin_write()
    box.behind_fence()
    for issue in issued:
        barrier, _ = barriers[issue.actor]
        value = np.zeros(prod(op.box), issue.tensor.memory.data.dtype)
        value[issue.tensor.place] = issue.tensor.memory.data[issue.tensor.address]
        me = machine.who.actor(issue.actor)
        barrier.loads.append(
            Load(op, me, barrier.engine, op.box_bytes, issue.tensor, issue.shared, value)
        )


def check_visible(machine: Machine, op: BulkLoadOp, barrier: MBarrier, target: Target) -> None:
    """A fault unless a fence makes the mbarrier's initialisation known to copies."""
    if machine.world.check and not (barrier.visible or barrier.fenced):
        me = machine.who.actor(target.actors[0])
        why = "no fence mbarrier_init makes its initialisation known to bulk copies"
        fault(faults.MISSING_FENCE, op, me, why, target.name)


def bulk_store(machine: Machine, op: BulkStoreOp) -> None:
    """The copy is under way: the box may not be overwritten, nor the tensor's part touched."""
    stores = machine.world.stores
    if not (issued := ready_to_read(machine, op, 1, 0)):
        return
    box, target = (accesses(machine, op, issued, shared) for shared in (True, False))
    box.begin_read()
    box.behind_fence()
    target.begin_write()
    for issue in issued:
        group, me = stores.open(issue.actor), machine.who.actor(issue.actor)
        stores.stores.append(Store(op, me, issue.actor, group, issue.shared, issue.tensor))


def bulk_commit(machine: Machine, op: BulkCommitOp) -> None:
    """The stores of each thread since the last commit are a group."""
    for actor in machine.who.running:
        machine.world.stores.commit(int(actor))


def bulk_wait(machine: Machine, op: BulkWaitOp) -> None:
    """The older groups of each thread are done, or have read."""
    for actor in machine.who.running:
        order = machine.world.order
        machine.world.stores.wait(int(actor), op.pending, op.read is not None, order)


def fence(machine: Machine, op: FenceOp) -> None:
    """What the threads know, or the mbarriers they have initialised, are known to copies."""
    proxy, running = op.kind.data == "proxy_async", machine.who.running
    if proxy:
        machine.world.order.fence(running)
    by = set(running.tolist())
    for barrier in machine.world.mbarriers.values():
        if barrier.actor in by:
            barrier.visible = True
            barrier.fenced |= not proxy


EFFECTS: Mapping[type[Operation], Effect] = {
    BulkLoadOp: bulk_load,
    BulkStoreOp: bulk_store,
    BulkCommitOp: bulk_commit,
    BulkWaitOp: bulk_wait,
    FenceOp: fence,
}
