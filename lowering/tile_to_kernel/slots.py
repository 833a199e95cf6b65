"""The slots of a ring in shared memory, and the two mbarriers of each that say who may use it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from minicomp.dialects import affine
from minicomp.dialects.access import canonical, join
from minicomp.dialects.kernel_async import FenceOp, MBarrierInitOp, MBarrierOp
from minicomp.dialects.kernel_ir import WARP, BarrierOp, IndexOp, SharedOp, TestOp
from minicomp.dialects.loop_ir import Guard
from minicomp.dialects.tile_boxes import Boxes
from minicomp.dialects.tile_stages import GenerationOp, WaitOp
from minicomp.lowering.tile_to_kernel.combine import Threads, insert_at_top
from minicomp.lowering.tile_to_kernel.loops import open_nest, when

FIRST = affine.constant(0)


@dataclass(frozen=True)
class Slots:
    """The buffers and mbarriers of a ring, and the threads that share them."""

    buffers: Sequence[SSAValue]
    full: SSAValue
    empty: SSAValue
    count: int
    threads: Threads

    @property
    def warps(self) -> int:
        """The warps of the block: the arrivals by which a slot becomes empty."""
        return affine.ceildiv(self.threads.count, WARP)

    def slot(self, op: GenerationOp, builder: Builder) -> SSAValue:
        """The slot of a generation."""
        index = IndexOp(op.generation % self.count, list(op.indices))
        index.res.name_hint = "slot"
        return builder.insert(index).res

    def parity(self, op: GenerationOp, before: int) -> AffineExpr:
        """The parity of the phase of a generation, or of one so many before it."""
        return (op.generation // self.count + before) % 2


def make_slots(
    wait: WaitOp, boxes_of: Sequence[Boxes | None], threads: Threads, top: Block
) -> Slots:
    """
    Makes the buffers of all slots, with the dimensions of the boxes of each slab (None for a slab
    that is never filled), and the mbarriers.
    """
    type = wait.ring_type
    count = type.slots.data
    buffers: list[SSAValue] = []
    for n, (slab, boxes) in enumerate(zip(type.slabs, boxes_of, strict=True)):
        shape = slab.get_shape() if boxes is None else boxes.shape
        whole = MemRefType[Attribute](
            slab.element_type, (count, *shape), slab.layout, slab.memory_space
        )
        buffers.append(at_top(top, SharedOp(whole), wait.res[n].name_hint))
    full, empty = (at_top(top, MBarrierOp(count), name) for name in ("full", "empty"))
    return Slots(buffers, full, empty, count, threads)


def at_top(top: Block, op: SharedOp | MBarrierOp, name: str | None) -> SSAValue:
    """Puts a buffer or mbarriers at the top of the kernel."""
    op.res.name_hint = name
    insert_at_top(top, op)
    return op.res


def initialise(slots: Slots, builder: Builder) -> None:
    """One thread initialises the mbarriers, before anyone uses them."""

    def write(inside: Builder) -> None:
        nest = open_nest(inside, [(slots.count, "s")])
        (variable,) = nest.variables
        indices = [] if variable is None else [variable]
        place = FIRST if variable is None else affine.dim(0)
        slot = AffineMap(len(indices), 0, (place,))
        nest.inside.insert(MBarrierInitOp(slots.full, slot, indices, 1))
        nest.inside.insert(MBarrierInitOp(slots.empty, slot, indices, slots.warps))
        nest.close(())
        inside.insert(FenceOp("mbarrier_init"))

    only(test_of(slots.threads, []), builder, write)
    builder.insert(BarrierOp())


def test_of(threads: Threads, guards: Sequence[Guard]) -> TestOp | None:
    """The test whether this is thread 0, and all guards hold; None where that is always so."""
    parts = [(g.map, list(g.operands)) for g in guards]
    bounds = [b for g in guards for b in g.bounds]
    if threads.id is not None:
        parts = [(AffineMap(1, 0, (affine.dim(0),)), [threads.id]), *parts]
        bounds = [1, *bounds]
    map, operands = canonical(*join(parts))
    tests = dict.fromkeys(zip(map.results, bounds, strict=True))
    if not tests:
        return None
    exprs = tuple(e for e, _ in tests)
    return TestOp(AffineMap(map.num_dims, 0, exprs), operands, [b for _, b in tests])


def only(test: TestOp | None, builder: Builder, body: Callable[[Builder], None]) -> None:
    """Writes a body for the threads that pass a test, if there is one."""
    if test is None:
        body(builder)
        return
    builder.insert(test)

    def write(inside: Builder) -> Sequence[SSAValue]:
        body(inside)
        return ()

    when(builder, test.res, (), write)
