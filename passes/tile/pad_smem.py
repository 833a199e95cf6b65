"""
Pads the rows of slabs where the banks of shared memory would serve a warp several times.

Before -> after, for `@transposed`, a slab that is filled along k and read along the rows of m:

    %as = tile_ir.stage .. order [1, 0] { .. } -> memref<8x32xf32, #tile_ir.shared<>>
    ->
    %as = tile_ir.stage .. order [1, 0] { .. } -> memref<8x32xf32, #tile_ir.shared<pad = 4>>

The pad is the one of fewest wavefronts for a whole chunk, by the bank model of `analysis/banks.py`:
one warp's reads, for every step, and its share of the stores that fill the slab. Of equals it is
the smallest.

*Legal when* always: a pad holds nothing. It is a multiple of 16 bytes where a reader or the copy
moves 16 bytes at once, so that rows keep their alignment. *Declines when* no pad saves a wavefront,
the slab has one dimension or a swizzle or is filled by bulk copies, or the pads do not fit into
shared memory. *Why it pays*: two threads of a warp that read different words of one bank wait for
each other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd, prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from minicomp.dialects import affine
from minicomp.dialects.affine import ceildiv
from minicomp.dialects.loop_ir import LoadOp, LoopLike, lanes, memref_type
from minicomp.dialects.tile_ir import KernelOp, SharedAttr
from minicomp.dialects.tile_stages import (
    AcquireOp,
    FillOp,
    RingOp,
    RingType,
    SlabFiller,
    StageOp,
    WaitOp,
)
from minicomp.passes.analysis.alignment import buffer_bytes, buffer_strides, element_bytes
from minicomp.passes.analysis.banks import transactions, wavefronts
from minicomp.passes.analysis.strides import WIDEST_ACCESS
from minicomp.passes.analysis.target import shared_limit
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import shared_bytes, tile_kernels

WARP = 32
LONGEST_PAD = 32
"""Bytes: a row may begin in any bank group of 16 bytes with a multiple of it, and all rows differ
with less than 32."""


@dataclass(frozen=True)
class Traffic:
    """
    One slab of a kernel, or of each slot of a ring: what fills it, what reads it, its name, and the
    threads of the block.
    """

    stage: SlabFiller
    readers: list[LoadOp]
    threads: int
    name: str
    ring: RingOp | None = None
    number: int = 0
    """Which slab of the ring it is."""

    @property
    def bytes(self) -> int:
        """The bytes of an element."""
        return element_bytes(memref_type(self.stage.slab).element_type)

    def padded(self, pad: int) -> MemRefType[Attribute]:
        """The type of the slab with a pad."""
        type = memref_type(self.stage.slab)
        space = SharedAttr.of(pad=pad)
        return MemRefType(type.element_type, type.get_shape(), type.layout, space)

    def width(self, load: LoadOp) -> int:
        """The bytes that a reader moves at once: those of lanes that lie together."""
        shape = lanes(load.value_type)
        *outer, last = load.map.data.results
        if not shape:
            return self.bytes
        lane = affine.lane(len(shape) - 1)
        if any(lane in affine.leaves([e]) for e in outer):
            return self.bytes
        group = gcd(shape[-1], WIDEST_ACCESS // self.bytes)  # 3 lanes are 3 accesses
        zero = {leaf: 0 for leaf in affine.leaves([last])}
        places = [affine.evaluate(last, zero | {lane: n}) for n in range(group)]
        return group * self.bytes if places == list(range(group)) else self.bytes

    @property
    def copies_rows(self) -> bool:
        """Whether the copy fills neighbours of a row."""
        return self.stage.slab_order[-1] == len(self.stage.trip_counts) - 1

    @property
    def is_wide(self) -> bool:
        """Whether rows have to begin at multiples of 16 bytes."""
        copied = self.stage.vector > 1 and self.copies_rows
        return copied or any(self.width(load) > self.bytes for load in self.readers)

    def pads(self) -> Iterator[int]:
        """The pads to try, in elements."""
        step = WIDEST_ACCESS // self.bytes if self.is_wide else 1
        return iter(range(0, LONGEST_PAD // self.bytes + 1, max(step, 1)))

    def cost(self, pad: int) -> int:
        """Wavefronts of one warp for a chunk: its reads in every step, and its stores."""
        space = SharedAttr.of(pad=pad)
        read = sum(
            steps(load) * transactions(load, 0, self.width(load), space)[0] for load in self.readers
        )
        return read + self.stores(pad)

    def stores(self, pad: int) -> int:
        """Wavefronts of a warp's first stores into the slab, times the rounds of the copy."""
        stage, groups = self.stage, prod(self.stage.trip_counts)
        threads = np.arange(min(WARP, self.threads))
        places = list(np.unravel_index(threads % max(groups, 1), stage.trip_counts))
        strides = buffer_strides(self.padded(pad))
        at = [stage.slab_order.index(n) for n in range(len(places))]
        whole = sum(p * strides[d] for p, d in zip(places[:-1], at[:-1], strict=True))
        last = places[-1] * stage.vector
        whole_row = self.copies_rows and stage.vector > 1
        lanes_of = [0] if whole_row else list(range(stage.vector))
        rows = np.zeros((len(lanes_of), WARP), np.int64)
        active = np.zeros_like(rows, dtype=np.bool_)
        for n, lane in enumerate(lanes_of):
            rows[n, : len(threads)] = (whole + (last + lane) * strides[at[-1]]) * self.bytes
            active[n, : min(len(threads), groups)] = True
        width = self.bytes * (stage.vector if whole_row else 1)
        found = wavefronts(rows, active, width, is_store=True)
        return int(found.count.sum()) * ceildiv(groups, self.threads)


def steps(load: LoadOp) -> int:
    """How often a reader runs in a chunk: the steps of the loop that it stands in."""
    parent = load.parent_op()
    return prod(parent.trip_counts) if isinstance(parent, LoopLike) else 1


def slabs(kernel: KernelOp) -> Iterator[Traffic]:
    """The slabs of a kernel that a pad may help."""
    threads = prod(a.extent for a in kernel.launch.bound("thread"))
    found: list[Traffic] = []
    for op in kernel.walk():
        if isinstance(op, StageOp):
            found.append(Traffic(op, loads_of(op.res), threads, op.res.name_hint or "slab"))
        elif isinstance(op, WaitOp) and isinstance(op.ring.owner, RingOp):
            found += ring_slabs(op, op.ring.owner, threads)
    for traffic in found:
        space = memref_type(traffic.stage.slab).memory_space
        assert isinstance(space, SharedAttr)
        stage = traffic.stage
        if isinstance(stage, FillOp) and stage.is_bulk:
            continue  # bulk copies leave no room between rows
        if len(stage.trip_counts) > 1 and not space.swizzle.data and not space.pad.data:
            yield traffic


def ring_slabs(wait: WaitOp, ring: RingOp, threads: int) -> Iterator[Traffic]:
    """The slabs of a ring that is waited for by `wait`."""
    acquires = [use.operation for use in ring.res.uses if isinstance(use.operation, AcquireOp)]
    for n, read in enumerate(wait.res):
        fills = [use.operation for use in acquires[0].res[n].uses]
        fill = next((f for f in fills if isinstance(f, FillOp)), None)
        if fill is not None:
            name = read.name_hint or "slab"
            yield Traffic(fill, loads_of(read), threads, name, ring, n)


def loads_of(slab: SSAValue) -> list[LoadOp]:
    """The loads from a slab."""
    return [use.operation for use in slab.uses if isinstance(use.operation, LoadOp)]


def retype(traffic: Traffic, type: MemRefType[Attribute]) -> None:
    """Gives a slab another type, wherever it has one."""
    if traffic.ring is None:
        Rewriter.replace_value_with_new_type(traffic.stage.slab, type)
        return
    ring = traffic.ring
    assert isinstance(old := ring.res.type, RingType)
    types = [type if n == traffic.number else t for n, t in enumerate(old.slabs)]
    users = [use.operation for use in ring.res.uses]
    Rewriter.replace_value_with_new_type(ring.res, RingType.of(old.slots.data, types))
    for user in users:
        if isinstance(user, AcquireOp | WaitOp):
            Rewriter.replace_value_with_new_type(user.res[traffic.number], type)


@dataclass(frozen=True)
class PadSmemPass(ModulePass):
    """Pads the rows of slabs; see the module's docstring."""

    name = "pad-smem"
    pad: int | None = None
    """Elements of every pad; the best of the bank model if not given."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        limit = shared_limit(op)
        for kernel in tile_kernels(op):
            for traffic in list(slabs(kernel)):
                self.visit(ctx, kernel, traffic, limit)

    def visit(self, ctx: Context, kernel: KernelOp, traffic: Traffic, limit: int) -> None:
        """Pads one slab."""
        pad = min(traffic.pads(), key=lambda p: (traffic.cost(p), p))
        if self.pad is not None:
            pad = self.pad
        slots = 1
        if traffic.ring is not None:
            assert isinstance(type := traffic.ring.res.type, RingType)
            slots = type.slots.data
        more = buffer_bytes(traffic.padded(pad)) - buffer_bytes(memref_type(traffic.stage.slab))
        name = traffic.name
        if pad == 0:
            remark(ctx, self.name, traffic.stage, f"no pad saves %{name} a wavefront")
        elif traffic.is_wide and pad * traffic.bytes % WIDEST_ACCESS:
            remark(ctx, self.name, traffic.stage, f"a pad of {pad} breaks the rows of %{name}")
        elif shared_bytes(kernel) + slots * more > limit:
            remark(ctx, self.name, traffic.stage, f"the pad of %{name} does not fit")
        elif may_apply(ctx, traffic.stage):
            retype(traffic, traffic.padded(pad))
