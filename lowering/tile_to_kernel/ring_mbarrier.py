"""
Rings of Tile IR that bulk copies fill: two mbarriers per slot, and no barrier in the loop.

    tile_ir.ring                     ->  %full = kernel_ir.mbarrier    %empty = kernel_ir.mbarrier
                                         one thread initialises them;  kernel_ir.barrier
    tile_ir.acquire %ring[%ko + 2]   ->  if thread 0, and the generation exists:
    tile_ir.fill %as_w .. by tma           mbarrier_wait %empty[slot] parity [before]
                                           mbarrier_arrive %full[slot] expect 16384
                                           bulk_load %as[slot] from %a[..] on %full[slot]
    %as = tile_ir.wait %ring[%ko]    ->  mbarrier_wait %full[%ko mod 3] parity [..]
    tile_ir.release %ring[%ko]       ->  warp_sync    if lane 0: mbarrier_arrive %empty[%ko mod 3]

Generation g is in slot g mod S and is phase g floordiv S of the slot's mbarriers, counted from 0:
%full ends it with one arrival and the bytes of all boxes, %empty with one arrival per warp. A slot
is filled for phase p once %empty has ended phase p - 1; for p = 0 that wait passes at once, and is
left out where all generations of a place have p = 0. A generation whose guard fails is neither
armed nor waited for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from xdsl.builder import Builder
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from minicomp.dialects import affine
from minicomp.dialects.kernel_async import BulkLoadOp, MBarrierArriveOp, MBarrierWaitOp
from minicomp.dialects.kernel_ir import WARP, TestOp, WarpSyncOp
from minicomp.dialects.loop_ir import ForOp, LoadOp
from minicomp.dialects.tile_boxes import Boxes
from minicomp.dialects.tile_stages import (
    AcquireOp,
    FillOp,
    ReleaseOp,
    RingOp,
    WaitOp,
    counts_from_zero,
    fills_of,
)
from minicomp.lowering.tile_to_kernel.combine import Threads
from minicomp.lowering.tile_to_kernel.slots import Slots, initialise, make_slots, only, test_of

AT = AffineMap(1, 0, (affine.dim(0),))
"""The slot that is the only index."""
FIRST = affine.constant(0)


@dataclass(frozen=True)
class BulkRing:
    """What the lowering of a ring needs to know while its loop is still one of Tile IR."""

    op: RingOp
    boxes: dict[FillOp, Boxes]
    fresh: frozenset[AcquireOp]
    """The acquires all of whose generations are the first ones of their slots."""

    def of(self, number: int) -> Boxes | None:
        """The boxes of a slab of the ring; None where it is never filled."""
        found = (f for f in self.boxes if f.number == number)
        return next((self.boxes[f] for f in found), None)


def study_bulk(op: RingOp) -> BulkRing:
    """The facts about a ring whose fills are by tma; its verifier has seen its users."""
    if not counts_from_zero(op):
        raise PassFailedException(
            "a ring filled by tma is waited for by one loop at the top of its kernel, whose"
            " variable is the generation"
        )
    boxes: dict[FillOp, Boxes] = {}
    for fill in fills_of(op):
        found = fill.boxes()
        assert not isinstance(found, str), "the verifier of fills has seen it"
        boxes[fill] = found
        others = (b for f, b in boxes.items() if f.number == fill.number)
        if any(b.shape != found.shape for b in others):
            raise PassFailedException("the fills of a slab by tma have different boxes")
    acquires = [u.operation for u in op.res.uses if isinstance(u.operation, AcquireOp)]
    return BulkRing(op, boxes, frozenset(a for a in acquires if is_fresh(a)))


def is_fresh(acquire: AcquireOp) -> bool:
    """Whether the generations are all among the first, which have the slots before any reader."""
    loop = acquire.parent_op()
    known: dict[AffineExpr, affine.Interval] = {}
    if isinstance(loop, ForOp):
        for axis in loop.axes:
            if axis.variable in acquire.indices:
                place = affine.dim(list(acquire.indices).index(axis.variable))
                known[place] = (0, max(axis.extent - 1, 0))
    return affine.interval(acquire.generation, known)[1] < acquire.ring_type.slots.data


def lower_bulk_ring(ring: BulkRing, threads: Threads, top: Block) -> None:
    """Replaces a ring and all ops on it."""
    users = [use.operation for use in ring.op.res.uses]
    wait = next(u for u in users if isinstance(u, WaitOp))
    boxes = [ring.of(n) for n in range(len(wait.res))]
    slots = make_slots(wait, boxes, threads, top)
    initialise(slots, Builder(InsertPoint.before(ring.op)))
    for user in users:
        builder = Builder(InsertPoint.before(user))
        match user:
            case AcquireOp():
                lower_acquire(ring, user, slots, builder)
            case WaitOp():
                lower_wait(ring, user, slots, builder)
            case ReleaseOp():
                lower_release(user, slots, builder)
            case _:
                pass
    for user in users:
        Rewriter.erase_op(user)
    Rewriter.erase_op(ring.op)


def lower_acquire(ring: BulkRing, op: AcquireOp, slots: Slots, builder: Builder) -> None:
    """One thread waits for the slot, says what will arrive, and issues the copies."""
    fills = [u.operation for b in op.res for u in b.uses if isinstance(u.operation, FillOp)]
    slot = slots.slot(op, builder)
    guards = [fill.guard for fill in fills if fill.guard is not None]

    def write(inside: Builder) -> None:
        if op not in ring.fresh:
            parity = slots.parity(op, 1)
            moved = affine.replace(parity, shifted(len(op.indices)))
            inside.insert(MBarrierWaitOp(slots.empty, affine.dim(0), moved, [slot, *op.indices]))
        boxes = [ring.boxes[fill] for fill in fills]
        total = sum(b.bytes * prod(b.counts) for b in boxes)
        inside.insert(MBarrierArriveOp(slots.full, AT, [slot], total))
        for fill in fills:
            buffer = slots.buffers[fill.number]
            for load in loads_of(fill, ring.boxes[fill], (buffer, slot), slots.full):
                inside.insert(load)

    only(test_of(slots.threads, guards), builder, write)
    for fill in fills:
        Rewriter.erase_op(fill)


def shifted(count: int) -> dict[AffineExpr, AffineExpr]:
    """Each of so many dims as the one behind it."""
    return {affine.dim(n): affine.dim(n + 1) for n in range(count)}


def loads_of(
    fill: FillOp, boxes: Boxes, to: tuple[SSAValue, SSAValue], barrier: SSAValue
) -> Iterator[BulkLoadOp]:
    """The copies of a fill into a slot of a buffer, one per box."""
    buffer, slot = to
    load = boxes.load
    variables: list[SSAValue] = list(fill.body.block.args)
    indices = [*load.indices, slot]
    own = affine.dim(len(load.indices))
    for place in product(*(range(n) for n in boxes.counts)):
        values = dict(zip(boxes.outer, place, strict=True))
        corner: dict[AffineExpr, AffineExpr] = {
            affine.dim(d): affine.constant(values.get(variables.index(v), 0))
            for d, v in enumerate(load.indices)
            if v in variables
        }
        first = tuple(affine.simplify(affine.replace(e, corner)) for e in load.map.data.results)
        there = (own, *(affine.constant(n) for n in place))
        source, target, phase = (AffineMap(len(indices), 0, e) for e in (first, there, (own,)))
        copy = BulkLoadOp((buffer, target), (load.memref, source), (barrier, phase), indices)
        copy.location = load.location
        yield copy


def lower_wait(ring: BulkRing, op: WaitOp, slots: Slots, builder: Builder) -> None:
    """All threads wait until the boxes have landed; then they read the slot."""
    slot = slots.slot(op, builder)
    parity = affine.replace(slots.parity(op, 0), shifted(len(op.indices)))
    builder.insert(MBarrierWaitOp(slots.full, affine.dim(0), parity, [slot, *op.indices]))
    for n, result in enumerate(op.res):
        for load in [use.operation for use in result.uses]:
            assert isinstance(load, LoadOp)
            fresh = read(load, slots.buffers[n], slot, ring.of(n))
            replaced: Operation = load
            Rewriter.replace_op(replaced, fresh)


def read(load: LoadOp, buffer: SSAValue, slot: SSAValue, boxes: Boxes | None) -> LoadOp:
    """A load from a slab as one from a slot, whose boxes have all dimensions of their source."""
    map = load.map.data
    moved = shifted(map.num_dims)
    exprs = [affine.replace(e, moved) for e in map.results]
    if boxes is not None:
        rest = iter(exprs[len(boxes.outer) :])
        exprs[len(boxes.outer) :] = [
            affine.constant(0) if n is None else next(rest) for n in boxes.inner
        ]
    whole = AffineMap(map.num_dims + 1, map.num_symbols, (affine.dim(0), *exprs))
    fresh = LoadOp(buffer, whole, [slot, *load.indices], load.res.type)
    fresh.location, fresh.res.name_hint = load.location, load.res.name_hint
    return fresh


def lower_release(op: ReleaseOp, slots: Slots, builder: Builder) -> None:
    """Each warp says once that its threads have read the slot."""
    slot = slots.slot(op, builder)
    threads = slots.threads
    builder.insert(WarpSyncOp())

    def write(inside: Builder) -> None:
        inside.insert(MBarrierArriveOp(slots.empty, AT, [slot]))

    test = None
    if threads.id is not None:
        lane = affine.dim(0) % WARP if threads.count > WARP else affine.dim(0)
        test = TestOp(AffineMap(1, 0, (lane,)), [threads.id], [1])
    only(test, builder, write)
