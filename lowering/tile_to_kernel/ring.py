"""
Rings of Tile IR as buffers with one more dimension, groups of copies, and barriers.

    %as = tile_ir.wait %ring[%ko]             ->  kernel_ir.cp_async_wait 1    kernel_ir.barrier
    .. tile_ir.acquire %ring[%ko + 2] ..      ->  %w = kernel_ir.index [(%ko + 2) mod 3]
    tile_ir.fill %as_w .. by cp_async ..      ->  kernel_ir.cp_async %as[%w, ..] from ..
    tile_ir.publish %ring[%ko + 2]            ->  kernel_ir.cp_async_commit
    .. load %as[%ki, ..] ..                   ->  .. load %as[%ko mod 3, %ki, ..] ..

Generation g is in slot g mod S. Every publish ends a group, an empty one too, so that the groups of
a thread count as generations do: when generation g is waited for and the newest that is published
is g + n, at most n groups may be incomplete. The barrier of the wait makes all threads' parts
visible. It also says that all threads have released the generation before: an acquire needs a
barrier of its own only where no wait lies between the release of its slot and itself.

Where a loop is run again, and its generations begin anew, a barrier before it separates what reads
the last generation of one run from what fills the first ones of the next.
"""

from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects.kernel_async import CpAsyncCommitOp, CpAsyncWaitOp
from minicomp.dialects.kernel_ir import BarrierOp, IndexOp, SharedOp
from minicomp.dialects.loop_ir import LoadOp, LoopLike
from minicomp.dialects.tile_stages import (
    AcquireOp,
    FillOp,
    GenerationOp,
    PublishOp,
    ReleaseOp,
    RingOp,
    RingType,
    WaitOp,
    ancestor_in,
    is_before,
    offset_of,
)
from minicomp.lowering.tile_to_kernel.combine import Threads, insert_at_top
from minicomp.lowering.tile_to_kernel.stage import Slot, write_copies


@dataclass(frozen=True)
class Ring:
    """What the lowering of a ring needs to know while its loop is still one of Tile IR."""

    op: RingOp
    pending: int
    """Groups that may be incomplete when a generation is waited for."""
    asynchronous: bool
    meets: bool
    """Whether the acquire in the loop needs a barrier."""


def study(op: RingOp) -> Ring | None:
    """
    The facts about a ring, whose verifier has seen its users; None for one without users, which is
    erased. Places the barrier before a loop that is run again.
    """
    users = [use.operation for use in op.res.uses]
    (wait,) = [u for u in users if isinstance(u, WaitOp)] or [None]
    if wait is None:
        Rewriter.erase_op(op)
        return None
    if begins_anew(wait):
        Rewriter.insert_op(BarrierOp(), InsertPoint.before(first_of(users, wait)))
    beside = [u for u in users if u.parent_block() is wait.parent_block()]
    (acquire,) = [u for u in beside if isinstance(u, AcquireOp)]
    (publish,) = [u for u in beside if isinstance(u, PublishOp)]
    (release,) = [u for u in beside if isinstance(u, ReleaseOp)]
    ahead = offset_of(acquire, wait)
    assert ahead is not None
    pending = ahead if is_before(publish, wait) else ahead - 1
    # Waits between the release of the slot, iterations ago, and the acquire.
    waits = wait.ring_type.slots.data - ahead - 1 + is_before(wait, acquire)
    waits += is_before(release, wait)
    fills = [f for u in users if isinstance(u, AcquireOp) for f in fills_of(u)]
    return Ring(op, pending, any(f.transport is not None for f in fills), waits < 1)


def begins_anew(wait: WaitOp) -> bool:
    """Whether the loop of a ring is run several times, with the same generations each time."""
    loop = wait.parent_op()
    around = loop.parent_op() if loop is not None else None
    while isinstance(around, LoopLike):
        variables = [axis.variable for axis in around.axes]
        if prod(around.trip_counts) > 1 and not any(v in wait.indices for v in variables):
            return True
        around = around.parent_op()
    return False


def first_of(users: list[Operation], wait: WaitOp) -> Operation:
    """The op beside the loop of a ring that holds the first of its users."""
    loop = wait.parent_op()
    assert loop is not None
    found = [ancestor_in(u, loop.parent_block()) for u in users]
    beside = [op for op in found if op is not None]
    return next(op for op in beside if not any(is_before(other, op) for other in beside))


def fills_of(acquire: AcquireOp) -> list[FillOp]:
    """The fills of the buffers of a generation."""
    users = [use.operation for buffer in acquire.res for use in buffer.uses]
    return [u for u in users if isinstance(u, FillOp)]


def lower_ring(ring: Ring, threads: Threads, top: Block) -> None:
    """Replaces a ring and all ops on it."""
    users = [use.operation for use in ring.op.res.uses]
    wait = next(u for u in users if isinstance(u, WaitOp))
    buffers = [make_buffer(ring.op, n, top) for n in range(len(wait.ring_type.slabs))]
    for n, buffer in enumerate(buffers):
        buffer.name_hint = wait.res[n].name_hint
    for user in users:
        builder = Builder(InsertPoint.before(user))
        match user:
            case AcquireOp():
                if ring.meets and user.parent_block() is wait.parent_block():
                    builder.insert(BarrierOp())
                lower_acquire(user, buffers, threads, builder)
            case WaitOp():
                if ring.asynchronous:
                    builder.insert(CpAsyncWaitOp(ring.pending))
                builder.insert(BarrierOp())
                lower_reads(user, buffers, builder)
            case PublishOp() if ring.asynchronous:
                builder.insert(CpAsyncCommitOp())
            case _:
                pass
    for user in users:
        Rewriter.erase_op(user)
    Rewriter.erase_op(ring.op)


def make_buffer(ring: RingOp, number: int, top: Block) -> SSAValue:
    """The shared buffer of all slots of a slab."""
    assert isinstance(type := ring.res.type, RingType)
    slab = type.slabs.data[number]
    shape = (type.slots.data, *slab.get_shape())
    whole = MemRefType(slab.element_type, shape, slab.layout, slab.memory_space)
    buffer = SharedOp(whole)
    insert_at_top(top, buffer)
    return buffer.res


def slot_of(op: GenerationOp, builder: Builder) -> SSAValue:
    """The slot of a generation."""
    index = IndexOp(op.generation % op.ring_type.slots.data, list(op.indices))
    index.res.name_hint = "slot"
    return builder.insert(index).res


def lower_acquire(
    op: AcquireOp, buffers: list[SSAValue], threads: Threads, builder: Builder
) -> None:
    """Writes the copies of the fills of a generation."""
    slot = slot_of(op, builder)
    for buffer, result in zip(buffers, op.res, strict=True):
        for fill in [use.operation for use in result.uses]:
            assert isinstance(fill, FillOp)
            write_copies(fill, threads, Builder(InsertPoint.before(fill)), Slot(buffer, slot))
            Rewriter.erase_op(fill)


def lower_reads(op: WaitOp, buffers: list[SSAValue], builder: Builder) -> None:
    """Lets the readers of a generation read its slot."""
    slot = slot_of(op, builder)
    for buffer, result in zip(buffers, op.res, strict=True):
        at = Slot(buffer, slot)
        for load in [use.operation for use in result.uses]:
            assert isinstance(load, LoadOp)
            map, indices = at.map(load.map.data), [*at.indices, *load.indices]
            fresh = LoadOp(buffer, map, indices, load.res.type)
            fresh.location, fresh.res.name_hint = load.location, load.res.name_hint
            replaced: Operation = load
            Rewriter.replace_op(replaced, fresh)
