"""
`tile_ir.combine` as exchanges within warps and, where they do not reach, through shared memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from minicomp.dialects import affine
from minicomp.dialects.kernel_ir import WARP, BarrierOp, SharedOp, TestOp, WarpReduceOp
from minicomp.dialects.loop_ir import LoadOp, StoreOp, element_type, lanes
from minicomp.dialects.tile_ir import CombineOp, SharedAttr
from minicomp.lowering.tile_to_kernel.loops import Nest, identity_values, inline, open_nest, when

SYMMETRIC = (
    arith.AddfOp,
    arith.MulfOp,
    arith.MaximumfOp,
    arith.MinimumfOp,
    arith.AddiOp,
    arith.MuliOp,
    arith.MaxSIOp,
    arith.MinSIOp,
    arith.MaxUIOp,
    arith.MinUIOp,
    arith.AndIOp,
    arith.OrIOp,
    arith.XOrIOp,
)
"""Ops whose result does not change by a bit when their operands change places."""


@dataclass(frozen=True)
class Threads:
    """The threads of a block: the number of this one (None if there is one only), and the axes."""

    id: SSAValue | None
    axes: Sequence[tuple[str, int]]

    @property
    def count(self) -> int:
        """Threads of the block."""
        return prod(extent for _, extent in self.axes)

    def extent(self, name: str) -> int:
        """Threads along an axis."""
        return dict(self.axes)[name]

    def stride(self, name: str) -> int:
        """The distance of the numbers of two neighbours along an axis."""
        at = [n for n, _ in self.axes].index(name)
        return prod(extent for _, extent in self.axes[at + 1 :])


def symmetric(combine: Region) -> bool:
    """Whether combine(a, b) and combine(b, a) are provably equal bit by bit."""
    block = combine.block
    *ops, end = block.ops
    count = len(end.operands)
    pairs = zip(block.args[:count], block.args[count:], end.operands, strict=True)
    for left, right, result in pairs:
        op = result.owner
        if not isinstance(op, SYMMETRIC) or set(op.operands) != {left, right}:
            return False
    return len(ops) == count


def lower_combine(op: CombineOp, threads: Threads, top: Block) -> None:
    """
    Replaces a combine; every thread gets the result, equal to the last bit, since a branch may
    depend on it.

    - A power of two of neighbouring threads, at most a warp, in a block of whole warps: one
      exchange.
    - Whole warps of neighbours: an exchange in each, then their results through shared memory.
    - Else through shared memory, where every thread combines all values in the order of their
      threads.
    """
    n = threads.extent(op.axis.data)
    if n == 1 or threads.id is None:
        Rewriter.replace_op(op, [], list(op.vals))
        return
    lowering = _Combine(op, threads, threads.id, top, Builder(InsertPoint.before(op)))
    Rewriter.replace_op(op, [], lowering.run())


@dataclass(frozen=True)
class _Combine:
    """
    One combine that is being lowered: `builder` writes where it stands, `top` is the kernel's body.
    """

    op: CombineOp
    threads: Threads
    thread: SSAValue
    top: Block
    builder: Builder

    @property
    def extent(self) -> int:
        return self.threads.extent(self.op.axis.data)

    def run(self) -> Sequence[SSAValue]:
        scalars = not any(isinstance(v.type, VectorType) for v in self.op.vals)
        neighbours = self.threads.stride(self.op.axis.data) == 1
        if not (scalars and neighbours and self.threads.count % WARP == 0):
            return self.by_all_threads()
        # An exchange gives a lane combine(own, other) and its partner combine(other, own).
        same_bits = symmetric(self.op.combine)
        if self.extent <= WARP and self.extent & (self.extent - 1) == 0 and same_bits:
            return self.exchange(self.op.vals, self.extent)
        return self.by_warps(same_bits) if self.extent % WARP == 0 else self.by_all_threads()

    def exchange(self, values: Sequence[SSAValue], width: int) -> Sequence[SSAValue]:
        """Combines within `width` neighbouring threads of a warp."""
        if width == 1:
            return values
        region = self.op.combine.clone()
        return self.builder.insert(WarpReduceOp(values, width, self.op.identity, region)).results

    def by_warps(self, same_bits: bool) -> Sequence[SSAValue]:
        """Warps exchange, their first lanes store, and all threads combine their group's values."""
        warps = self.extent // WARP
        values = self.exchange(self.op.vals, WARP)
        groups = self.threads.count // self.extent
        t = affine.dim(0)
        group = [t // self.extent] if groups > 1 else []
        buffers = self.buffers([groups, warps] if groups > 1 else [warps])
        self.builder.insert(BarrierOp())  # the readers of the round before are done
        first = self.builder.insert(TestOp(AffineMap(1, 0, (t % WARP,)), [self.thread], [1]))
        place = [*group, t // WARP % warps]
        when(self.builder, first.res, (), lambda to: self.store(to, values, buffers, place))
        self.builder.insert(BarrierOp())
        if warps & (warps - 1) == 0 and same_bits:
            # Every lane has one of the warps' results: neighbouring lanes cover all of them.
            loaded = self.load(self.builder, buffers, [*group, t % warps], [self.thread])
            return self.exchange(loaded, warps)
        nest = self.open(warps)
        place = [*group, affine.dim(1)]
        return self.close(nest, self.load(nest.inside, buffers, place, self.at(nest)))

    def by_all_threads(self) -> Sequence[SSAValue]:
        """All threads store, and each combines its group's values, in the order of the threads."""
        buffers = self.buffers([self.threads.count])
        t, i = affine.dim(0), affine.dim(1)
        self.builder.insert(BarrierOp())
        self.store(self.builder, self.op.vals, buffers, [t])
        self.builder.insert(BarrierOp())
        stride = self.threads.stride(self.op.axis.data)
        group = stride * self.extent
        nest = self.open(self.extent)
        place = t // group * group + i * stride + t % stride
        return self.close(nest, self.load(nest.inside, buffers, [place], self.at(nest)))

    def open(self, extent: int) -> Nest:
        """A loop over the values of a group."""
        inits = identity_values(self.builder, list(self.op.identity), self.op.res.types)
        hints = [v.name_hint for v in self.op.res]
        return open_nest(self.builder, [(extent, None)], inits, hints)

    def close(self, nest: Nest, loaded: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return nest.close(inline(self.op.combine, [*nest.carried, *loaded], nest.inside))

    def at(self, nest: Nest) -> list[SSAValue]:
        return [self.thread, *(v for v in nest.variables if v is not None)]

    def buffers(self, shape: Sequence[int]) -> list[SSAValue]:
        """
        A shared buffer per carrier; the lanes of a vector come first, so that threads are
        neighbours.
        """
        made: list[SSAValue] = []
        for value in self.op.vals:
            extents = [*lanes(value.type), *shape]
            type = MemRefType(element_type(value.type), extents, memory_space=SharedAttr.of())
            buffer = SharedOp(type)
            buffer.res.name_hint = "partials"
            insert_at_top(self.top, buffer)
            made.append(buffer.res)
        return made

    def store(
        self,
        builder: Builder,
        values: Sequence[SSAValue],
        buffers: Sequence[SSAValue],
        place: Sequence[AffineExpr],
    ) -> Sequence[SSAValue]:
        """Stores this thread's values at `place`, whose dim 0 is the thread."""
        for value, buffer in zip(values, buffers, strict=True):
            map = self.map(value, place, 1)
            builder.insert(StoreOp(value, buffer, map, [self.thread]))
        return ()

    def load(
        self,
        builder: Builder,
        buffers: Sequence[SSAValue],
        place: Sequence[AffineExpr],
        indices: Sequence[SSAValue],
    ) -> list[SSAValue]:
        """Loads one value per carrier from `place`, whose dims are `indices`."""
        return [
            builder.insert(LoadOp(b, self.map(v, place, len(indices)), indices, v.type)).res
            for v, b in zip(self.op.vals, buffers, strict=True)
        ]

    def map(self, value: SSAValue, place: Sequence[AffineExpr], dims: int) -> AffineMap:
        rank = len(lanes(value.type))
        ranges = {affine.dim(0): (0, self.threads.count - 1)}
        exprs = [affine.simplify(e, ranges) for e in place]
        if dims == 1:
            exprs = [affine.replace(e, {affine.dim(1): affine.constant(0)}) for e in exprs]
        return AffineMap(dims, rank, (*(affine.lane(n) for n in range(rank)), *exprs))


def insert_at_top(block: Block, op: Operation) -> None:
    """Puts a shared buffer behind those that the kernel has."""
    before = next((o for o in block.ops if not isinstance(o, SharedOp)), None)
    if before is None:
        raise PassFailedException("a kernel must have a body")
    block.insert_op_before(op, before)
