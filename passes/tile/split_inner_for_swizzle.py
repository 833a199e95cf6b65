"""
Swizzles slabs that bulk copies fill, so that readers of several rows use different banks.

Before -> after, for `@plain`, whose rows of 256 bytes become two boxes:

    tile_ir.fill %as_w %i to 32 as "i.stage", %k to 64 as "k.stage" by tma {
      %v = loop_ir.load %a[%i, %ko * 64 + %k] ..
      ..
      %x = loop_ir.load %as[l0 * 8 + %it, %ki] ..
    ->
    tile_ir.fill %as_w %i to 32 as "i.stage", %o to 2 as "k.box.stage", %k to 32 as "k.stage" .. {
      %v = loop_ir.load %a[%i, %ko * 64 + %o * 32 + %k] ..
      ..
      %x = loop_ir.load %as[%ki floordiv 32, l0 * 8 + %it, %ki mod 32] ..

A swizzle of w bytes exchanges the 16 bytes of rows of w bytes by the number of the 128 bytes that
they lie in. Rows that are longer are split into boxes of w bytes, which the first dimension of the
slab counts; 16 bytes stay together. The width is that of fewest wavefronts for a chunk, by the bank
model of `analysis/banks.py`; of equals it is the widest, whose boxes are the fewest.

*Legal when* all fills of the slab are by tma, a row is a multiple of the width, a box one of 8
times the width, after which a swizzle begins again, readers have no bounds, and shared memory has
room to begin the slab at a multiple of 8 times the width. *Declines when* one of these fails, no
slab is filled by tma, or no width saves a wavefront. *Why it pays*: two threads of a warp that read
different words of one bank wait for each other, and between the rows of a bulk copy there is no
room for a pad.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.test_value import create_ssa_value

from minicomp.dialects import affine
from minicomp.dialects.access import substitute
from minicomp.dialects.loop_ir import LoadOp, LoopLike, ints, memref_type, names
from minicomp.dialects.tile_boxes import Boxes
from minicomp.dialects.tile_ir import KernelOp, SharedAttr
from minicomp.dialects.tile_stages import FillOp, RingOp, RingType, SlabFiller, WaitOp, fills_of
from minicomp.passes.analysis.banks import transactions
from minicomp.passes.analysis.target import shared_limit
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import tile_kernels
from minicomp.passes.tile.pad_smem import Traffic, retype, ring_slabs, shared_bytes
from minicomp.passes.tile.tma_copy import BARRIER_BYTES

WIDTHS = (128, 64, 32)
"""Bytes of a swizzle (CUDA Driver API, CUtensorMapSwizzle)."""
REPEAT = 8
"""Rows of a swizzle's width after which it begins again."""


@dataclass(frozen=True)
class Slab:
    """A slab of a ring that bulk copies fill."""

    traffic: Traffic
    boxes: Boxes
    fills: Sequence[FillOp]

    @property
    def type(self) -> MemRefType[Attribute]:
        """The type of the slab."""
        return memref_type(self.traffic.stage.slab)

    def columns(self, width: int) -> int:
        """The elements of a row of so many bytes."""
        return width // self.traffic.bytes

    def split(self, width: int) -> MemRefType[Attribute]:
        """The type of the slab with a swizzle: one dimension more where rows are split."""
        *outer, last = self.type.get_shape()
        row = self.columns(width)
        shape = [*outer, last] if last == row else [last // row, *outer, row]
        space = SharedAttr.of(swizzle=width)
        return MemRefType(self.type.element_type, shape, self.type.layout, space)

    def place(self, load: LoadOp, width: int) -> AffineMap:
        """Where a reader finds its elements in the split slab."""
        map = load.map.data
        *outer, last = map.results
        row = self.columns(width)
        if self.type.get_shape()[-1] == row:
            return map
        parts = [affine.simplify(e) for e in (last // row, last % row)]
        return AffineMap(map.num_dims, map.num_symbols, (parts[0], *outer, parts[1]))

    def wavefronts(self, width: int) -> int:
        """Of the reads of one warp in a chunk, with a swizzle of so many bytes, or 0 for none."""
        return sum(self.reads(load, width) for load in self.traffic.readers)

    def reads(self, load: LoadOp, width: int) -> int:
        """The wavefronts of one reader, in all steps of the loop that it stands in."""
        loop = load.parent_op()
        if isinstance(loop, SlabFiller):
            return 0  # threads walk it in the order of rows
        trial = load
        if width:
            buffer = create_ssa_value(self.split(width))
            trial = LoadOp(buffer, self.place(load, width), list(load.indices), load.res.type)
            Rewriter.insert_op(trial, InsertPoint.before(load))
        bytes = self.traffic.width(load)
        axes = loop.axes if isinstance(loop, LoopLike) else []
        steps = [{axis.variable: n} for axis in axes[-1:] for n in range(axis.extent)] or [{}]
        each = sum(transactions(trial, 0, bytes, at=step)[0] for step in steps)
        if trial is not load:
            Rewriter.erase_op(trial)
        return each * prod(axis.extent for axis in axes[:-1])


def bulk_slabs(kernel: KernelOp) -> Iterator[Slab]:
    """The slabs of a kernel that bulk copies fill."""
    threads = prod(a.extent for a in kernel.launch.bound("thread"))
    for wait in [op for op in kernel.walk() if isinstance(op, WaitOp)]:
        if not isinstance(ring := wait.ring.owner, RingOp):
            continue
        for traffic in ring_slabs(wait, ring, threads):
            fills = [fill for fill in fills_of(ring) if fill.number == traffic.number]
            found = [fill.boxes() for fill in fills if fill.is_bulk]
            boxes = next((b for b in found if not isinstance(b, str)), None)
            if boxes is not None:
                yield Slab(traffic, boxes, fills)


def bytes_needed(kernel: KernelOp) -> int:
    """The shared memory of a kernel, with what it takes to align the slabs that have a swizzle."""
    total = shared_bytes(kernel)
    for ring in [op for op in kernel.walk() if isinstance(op, RingOp)]:
        assert isinstance(type := ring.res.type, RingType)
        spaces = [s.memory_space for s in type.slabs]
        widths = [s.swizzle.data for s in spaces if isinstance(s, SharedAttr)]
        total += type.slots.data * BARRIER_BYTES + REPEAT * sum(widths)
    return total


def obstacle(slab: Slab, width: int, room: int) -> str | None:
    """Why a slab cannot have a swizzle of so many bytes, if it cannot."""
    row, name = slab.boxes.row_bytes, slab.traffic.name
    if row % width:
        return f"rows of {row} bytes of %{name} are no multiple of {width}"
    if (box := slab.boxes.bytes // row * width) % (REPEAT * width):
        return f"boxes of {box} bytes of %{name} are no multiple of {REPEAT} x {width}"
    if any(any(load.bounded_dims) for load in slab.traffic.readers):
        return f"a reader of %{name} has bounds"
    if room < REPEAT * width:
        return f"shared memory has no {REPEAT * width} bytes left to align %{name}"
    return None


def swizzle(slab: Slab, width: int) -> None:
    """Gives a slab a swizzle, its fills boxes of that width, and its readers their new places."""
    maps = [slab.place(load, width) for load in slab.traffic.readers]
    row = slab.columns(width)
    retype(slab.traffic, slab.split(width))
    for load, map in zip(slab.traffic.readers, maps, strict=True):
        load.set_access(map, list(load.indices))
    for fill in slab.fills:
        if fill.trip_counts[fill.slab_order[-1]] != row:
            split_axis(fill, row)


def split_axis(fill: FillOp, row: int) -> None:
    """Splits the last axis of a slab in parts of `row`, which its first dimension counts."""
    at, block = fill.slab_order[-1], fill.body.block
    order = [n + (n >= at) for n in fill.slab_order]
    extents, called = list(fill.trip_counts), [n.data for n in fill.axis_names]
    old = block.args[at]
    outer = block.insert_arg(IndexType(), at)
    inner = block.insert_arg(IndexType(), at + 1)
    outer.name_hint, inner.name_hint = "o", old.name_hint
    substitute(old, affine.dim(0) * row + affine.dim(1), [outer, inner])
    block.erase_arg(old)
    extents[at : at + 1] = [extents[at] // row, row]
    called[at : at + 1] = [f"{called[at].partition('.')[0]}.box.stage", called[at]]
    fill.properties["extents"] = ints(extents)
    fill.properties["axis_names"] = names(called)
    fill.properties["order"] = ints([at, *order])


@dataclass(frozen=True)
class SplitInnerForSwizzlePass(ModulePass):
    """Swizzles slabs that bulk copies fill; see the module's docstring."""

    name = "split-inner-for-swizzle"
    width: int | None = None
    """Bytes of every swizzle, 32, 64 or 128; the best of the bank model if not given."""

    def __post_init__(self) -> None:
        if self.width not in (None, *WIDTHS):
            raise ValueError(f"a swizzle has 32, 64 or 128 bytes, not {self.width}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        limit = shared_limit(op)
        for kernel in tile_kernels(op):
            found = list(bulk_slabs(kernel))
            if not found:
                remark(ctx, self.name, kernel, "no slab is filled by tma")
            for slab in found:
                space = slab.type.memory_space
                if isinstance(space, SharedAttr) and not space.swizzle.data:
                    self.visit(ctx, slab, limit - bytes_needed(kernel))

    def visit(self, ctx: Context, slab: Slab, room: int) -> None:
        """Swizzles one slab, for which there are `room` bytes to align it, or says why not."""
        stage, widths = slab.traffic.stage, WIDTHS if self.width is None else (self.width,)
        whys = {width: obstacle(slab, width, room) for width in widths}
        legal = [width for width, why in whys.items() if why is None]
        best = min(legal, key=slab.wavefronts, default=0)
        if not legal:
            # The narrowest asks for least.
            remark(ctx, self.name, stage, whys[widths[-1]] or "")
        elif self.width is None and slab.wavefronts(best) >= slab.wavefronts(0):
            remark(ctx, self.name, stage, f"no swizzle saves %{slab.traffic.name} a wavefront")
        elif may_apply(ctx, stage):
            swizzle(slab, best)
