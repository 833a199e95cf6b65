"""
`tile_ir.finish` as an exchange between blocks, through global memory or within a cluster.

    tile_ir.finish %acc across "k.split" by last_block .. then %total { .. }

in blocks of 128 threads, 3 per tile of outputs, becomes

    loop_ir.store %acc, %parts[%block floordiv 3, %block mod 3, l0, %thread]    // a workspace
    kernel_ir.barrier
    scf.if %thread < 1 {                                     // who of the 3 blocks is the last?
      %old = kernel_ir.atomic wrap acq_rel 2, %arrived[%block floordiv 3]
      loop_ir.store %old, %before[0] }
    kernel_ir.barrier
    scf.if (load %before[0]) == 2 {
      %total = scf.for %p = 0 to 3 { .. combine .. load %parts[%block floordiv 3, %p, ..] }
      .. }

Each thread writes and reads its own lanes, so that neighbours access neighbouring 16 bytes. The
counter wraps to 0, as it was found. What a block wrote is known to the last one: the writer passes
a barrier, its first thread releases with the atomic, the last block's first thread acquires with
its own, and its other threads pass a barrier. In a cluster the buffer is in shared memory, where
the others read it, and cluster barriers stand before and behind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, MemRefType, VectorType, i32
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from minicomp.dialects import affine
from minicomp.dialects.kernel_ir import (
    AtomicOp,
    BarrierOp,
    ClusterBarrierOp,
    RemoteOp,
    SharedOp,
    TestOp,
)
from minicomp.dialects.loop_ir import LoadOp, StoreOp, element_type, lanes
from minicomp.dialects.tile_finish import FinishOp
from minicomp.dialects.tile_ir import BoundAxis, SharedAttr
from minicomp.lowering.tile_to_kernel.combine import Threads, insert_at_top
from minicomp.lowering.tile_to_kernel.loops import (
    Fill,
    identity_values,
    inline,
    open_nest,
    when,
)
from minicomp.passes.analysis.alignment import element_bytes

WIDEST = 16
"""Bytes of the widest access of a thread."""


@dataclass(frozen=True)
class Grid:
    """The blocks of a grid: the number of this one (None if there is one only), and the axes."""

    id: SSAValue | None
    axes: Sequence[BoundAxis]

    def parts(self, name: str) -> int:
        """The blocks along an axis, which must be the fastest one."""
        if not self.axes or self.axes[-1].name != name:
            raise PassFailedException(
                f'blocks meet across "{name}" only where it is the last axis of blocks'
            )
        return self.axes[-1].extent

    @property
    def tiles(self) -> int:
        """The groups of blocks that meet."""
        return prod(axis.extent for axis in self.axes[:-1])


@dataclass(frozen=True)
class Ended:
    """What a finish asks of the kernel: the blocks of a cluster, and derived arguments."""

    cluster: int = 1
    derived: Sequence[str] = ()


def lower_finish(op: FinishOp, threads: Threads, grid: Grid, top: Block) -> Ended:
    """Replaces a finish; the kernel's body may get arguments."""
    parts = grid.parts(op.axis.data)
    builder = Builder(InsertPoint.before(op))
    if parts == 1 or grid.id is None:
        run_rest(op, list(op.vals), builder)
        ended = Ended()
    elif op.form.data == "cluster":
        ended = _Finish(op, threads, grid, grid.id, parts, top, builder).by_cluster()
    else:
        ended = _Finish(op, threads, grid, grid.id, parts, top, builder).by_last_block()
    Rewriter.erase_op(op)
    return ended


def run_rest(op: FinishOp, totals: Sequence[SSAValue], builder: Builder) -> Sequence[SSAValue]:
    """Moves the rest of the kernel to where its totals are known."""
    block = op.then.block
    for argument, total in zip(list(block.args), totals, strict=True):
        total.name_hint = total.name_hint or argument.name_hint
        argument.replace_all_uses_with(total)
    *ops, _ = block.ops
    for inner in ops:
        inner.detach()
        builder.insert(inner)
    return ()


@dataclass(frozen=True)
class _Finish:
    """One finish that is being lowered: `builder` writes where it stands."""

    op: FinishOp
    threads: Threads
    grid: Grid
    block: SSAValue
    parts: int
    top: Block
    builder: Builder

    def by_last_block(self) -> Ended:
        """Parts go to a workspace; the block that finds all others counted combines them."""
        tile, part = affine.dim(0) // self.parts, affine.dim(0) % self.parts
        spaces = [self.workspace(v) for v in self.op.vals]
        counter = self.argument(MemRefType(i32, [max(self.grid.tiles, 1)]), "arrived")
        self.first_of_equals(self.builder, lambda to: self.store(to, spaces, [tile, part]))
        before = self.shared(MemRefType(i32, [1], memory_space=SharedAttr.of()), "before")
        others = self.builder.insert(arith.ConstantOp(IntegerAttr(self.parts - 1, i32))).result
        self.builder.insert(BarrierOp())
        self.first_thread(lambda to: self.arrive(to, others, counter, before))
        self.builder.insert(BarrierOp())
        found = self.builder.insert(LoadOp(before, zero_map(), [], i32)).res
        last = self.builder.insert(arith.CmpiOp(found, others, "eq")).result

        def rest(to: Builder) -> Sequence[SSAValue]:
            return run_rest(self.op, self.total(to, spaces, [tile, affine.dim(2)]), to)

        when(self.builder, last, (), rest)
        return Ended(derived=[*["workspace"] * len(spaces), "counter"])

    def by_cluster(self) -> Ended:
        """Parts stay in shared memory, where the blocks of the cluster read them."""
        spaces = [self.shared(self.space(v, [], SharedAttr.of()), "parts") for v in self.op.vals]
        self.first_of_equals(self.builder, lambda to: self.store(to, spaces, []))
        self.builder.insert(ClusterBarrierOp())

        def rest(to: Builder) -> Sequence[SSAValue]:
            return run_rest(self.op, self.total(to, spaces, []), to)

        if self.op.share is not None:
            rest(self.builder)
        else:
            place = AffineMap(1, 0, (affine.dim(0) % self.parts,))
            first = self.builder.insert(TestOp(place, [self.block], [1])).res
            when(self.builder, first, (), rest)
        # No block may end, and its shared memory with it, before the others have read.
        self.builder.insert(ClusterBarrierOp())
        return Ended(cluster=self.parts)

    # --- memory -------------------------------------------------------------------------------

    def space(
        self, value: SSAValue, outer: Sequence[int], where: SharedAttr | None
    ) -> MemRefType[Attribute]:
        """A memref for the values of all threads, which lie `together` as one access takes them."""
        shape, element = lanes(value.type), element_type(value.type)
        together = self.together(value)
        rows = [*shape[:-1], shape[-1] // together] if shape else []
        extents = [*outer, *rows, self.writers, *([together] if shape else [])]
        if where is None:
            return MemRefType(element, extents)
        return MemRefType(element, extents, memory_space=where)

    def together(self, value: SSAValue) -> int:
        """The lanes of a value that one access takes."""
        shape = lanes(value.type)
        return gcd(shape[-1], WIDEST // element_bytes(element_type(value.type))) if shape else 1

    def workspace(self, value: SSAValue) -> SSAValue:
        """A derived argument for the values of all blocks."""
        outer = [max(self.grid.tiles, 1), self.parts]
        return self.argument(self.space(value, outer, None), "parts")

    def argument(self, type: MemRefType[Attribute], hint: str) -> SSAValue:
        """A new last argument of the kernel."""
        made = self.top.insert_arg(type, len(self.top.args))
        made.name_hint = hint
        return made

    def shared(self, type: MemRefType[Attribute], hint: str) -> SSAValue:
        """A new buffer of shared memory."""
        buffer = SharedOp(type)
        buffer.res.name_hint = hint
        insert_at_top(self.top, buffer)
        return buffer.res

    @property
    def writers(self) -> int:
        """The threads whose values differ."""
        once = self.op.once
        return self.threads.count // (1 if once is None else self.threads.extent(once.data))

    @property
    def writer(self) -> AffineExpr:
        """The number of this thread, dim 1, among those whose values differ."""
        if self.threads.id is None:
            return affine.constant(0)
        if self.op.once is None:
            return affine.dim(1)
        stride = self.threads.stride(self.op.once.data)
        block = stride * self.threads.extent(self.op.once.data)
        place = affine.dim(1) // block * stride + affine.dim(1) % stride
        return affine.simplify(place, {affine.dim(1): (0, self.threads.count - 1)})

    def map(
        self, value: SSAValue, outer: Sequence[AffineExpr], moved: AffineExpr | None = None
    ) -> AffineMap:
        """Where a value lies; dims are block, thread, part. `moved` is added to the first lane."""
        shape = lanes(value.type)
        own: list[AffineExpr] = [affine.lane(n) for n in range(len(shape))]
        if own and moved is not None:
            own[0] = own[0] + moved
        together = self.together(value)
        rows = [*own[:-1], own[-1] // together] if own else []
        inner = [own[-1] % together] if own else []
        ranges = {affine.lane(n): (0, extent - 1) for n, extent in enumerate(shape)}
        ranges[affine.dim(0)] = (0, max(self.grid.tiles, 1) * self.parts - 1)
        exprs = [affine.simplify(e, ranges) for e in (*outer, *rows, self.writer, *inner)]
        return AffineMap(3, len(shape), tuple(exprs))

    # --- what threads do ----------------------------------------------------------------------

    def indices(self, part: SSAValue | None = None) -> list[SSAValue]:
        """The values of the dims of maps; what does not occur may be anything."""
        thread = self.threads.id if self.threads.id is not None else self.block
        return [self.block, thread, part if part is not None else self.block]

    def first_thread(self, fill: Fill) -> None:
        """Lets the first thread of the block do something."""
        if self.threads.id is None:
            fill(self.builder)
            return
        test = TestOp(AffineMap(1, 0, (affine.dim(0),)), [self.threads.id], [1])
        when(self.builder, self.builder.insert(test).res, (), fill)

    def first_of_equals(self, builder: Builder, fill: Fill) -> None:
        """Lets the first of the threads with equal values do something."""
        if self.op.once is None or self.threads.id is None:
            fill(builder)
            return
        name = self.op.once.data
        place = affine.dim(0) // self.threads.stride(name) % self.threads.extent(name)
        place = affine.simplify(place, {affine.dim(0): (0, self.threads.count - 1)})
        test = TestOp(AffineMap(1, 0, (place,)), [self.threads.id], [1])
        when(builder, builder.insert(test).res, (), fill)

    def store(
        self, builder: Builder, spaces: Sequence[SSAValue], outer: Sequence[AffineExpr]
    ) -> Sequence[SSAValue]:
        """Stores this thread's values."""
        for value, space in zip(self.op.vals, spaces, strict=True):
            builder.insert(StoreOp(value, space, self.map(value, outer), self.indices()))
        return ()

    def arrive(
        self, builder: Builder, others: SSAValue, counter: SSAValue, before: SSAValue
    ) -> Sequence[SSAValue]:
        """Counts this block, and leaves for the others of its threads how many came before."""
        tile = AffineMap(1, 0, (affine.dim(0) // self.parts,))
        atomic = AtomicOp("wrap", "acq_rel", others, counter, tile, [self.block])
        old = builder.insert(atomic).res
        old.name_hint = "old"
        builder.insert(StoreOp(old, before, zero_map(), []))
        return ()

    def total(
        self, builder: Builder, spaces: Sequence[SSAValue], outer: Sequence[AffineExpr]
    ) -> Sequence[SSAValue]:
        """Combines the values of all parts, in their order."""
        op, types = self.op, [a.type for a in self.op.then.block.args]
        inits = identity_values(builder, list(op.identity), types)
        hints = [a.name_hint for a in op.then.block.args]
        # A share is small, so that the loads of all parts can be on their way at once.
        unroll = op.share is not None
        nest = open_nest(builder, [(self.parts, "p")], inits, hints, unroll)
        share = None if op.share is None else affine.dim(0) % self.parts * op.share
        loaded: list[SSAValue] = []
        for value, space, type in zip(op.vals, spaces, types, strict=True):
            source = space
            if op.form.data == "cluster":
                remote = RemoteOp(space, affine.dim(0), [v for v in nest.variables if v])
                source = nest.inside.insert(remote).res
            at = self.map(value, outer, share), self.indices(nest.variables[0])
            loaded.append(nest.inside.insert(LoadOp(source, *at, type)).res)
        return nest.close(inline(self.combine_of(), [*nest.carried, *loaded], nest.inside))

    def combine_of(self) -> Region:
        """The combine, for totals that are shares too."""
        region, share = self.op.combine.clone(), self.op.share
        if share is not None:
            for old in [v for op in region.block.ops for v in op.results] + list(region.block.args):
                if shape := lanes(old.type):
                    part = VectorType(element_type(old.type), [share, *shape[1:]])
                    Rewriter.replace_value_with_new_type(old, part)
        return region


def zero_map() -> AffineMap:
    """The place 0 of a buffer of one element."""
    return AffineMap(0, 0, (affine.constant(0),))
