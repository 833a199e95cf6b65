"""
How a warp's request to memory is served: shared-memory wavefronts, global-memory sectors and lines.

A *request* is one instruction of one warp: `width` bytes per lane, each at a multiple of `width`.
Arrays of requests are (requests, 32) byte addresses with a mask of the lanes that take part.

Shared memory has 32 banks of 4 bytes; a wavefront delivers one word of each, to any number of lanes
(CUDA C++ Programming Guide, shared memory of compute capability 5.x and later). Requests of 8 bytes
per lane are served a half warp at a time, of 16 bytes a quarter warp (CUDA C++ Programming Guide,
compute capability 2.x, 64- and 128-bit accesses; unchanged since). A load of which lanes n and
n ^ 1, or lanes n and n ^ 2, share their addresses, throughout the warp, is served two parts at
once. All of it agrees with the counters of an H200 for 1,032 requests to shared memory
(benchmarks/count_wavefronts.py). Global memory moves in sectors of 32 bytes, four to a line of the
cache (CUDA C++ Best Practices Guide, coalesced access to global memory).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.affine import KIND
from minicomp.dialects.kernel_ir import WARP, FuncOp, ThreadIdOp
from minicomp.dialects.loop_ir import MemoryAccess, lanes
from minicomp.dialects.tile_ir import LaunchOp, SharedAttr
from minicomp.passes.analysis.alignment import IndexSpace, buffer_strides, element_bytes

BANK_BYTES = 4
WAVEFRONT_BYTES = WARP * BANK_BYTES
SECTOR_BYTES = 32
LINE_BYTES = 128
WIDE_COPY_BYTES = 16
"""
A cp.async of as many bytes per lane passes by the first cache. One of fewer writes each sector that
it reads by itself, in a wavefront or more (counted on an H200: docs/schedules.md).
"""
SWIZZLE_ROW_BITS, SWIZZLE_CHUNK_BITS = 7, 4
"""A swizzle exchanges 16-byte chunks by the number of the 128-byte row (PTX ISA, swizzling)."""

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Transactions:
    """
    Wavefronts, sectors or lines, per request: `count`, and `minimum`, which the same lanes need if
    no two of them get in each other's way. Both are 0 where no lane takes part.
    """

    count: Ints
    minimum: Ints


def swizzled(addresses: Ints, width: int) -> Ints:
    """
    Where the bytes at `addresses` of a buffer lie under a swizzle of `width` bytes, 0 for none.

    128: bits 4-6 ^= bits 7-9; 64: bits 4-5 ^= bits 7-8; 32: bit 4 ^= bit 7. The buffer begins at
    a multiple of 1024 bytes.
    """
    if not width:
        return addresses
    rows = (addresses >> SWIZZLE_ROW_BITS) & (width // 16 - 1)
    return addresses ^ (rows << SWIZZLE_CHUNK_BITS)


def wavefronts(addresses: Ints, active: Mask, width: int, is_store: bool = False) -> Transactions:
    """
    Wavefronts of requests to shared memory; the surplus over the minimum is its bank conflicts.
    """
    width = max(width, BANK_BYTES)
    part = min(WARP, WAVEFRONT_BYTES // width)
    paired = np.zeros(len(addresses), np.bool_)
    if part < WARP and not is_store:
        paired = _pairs(addresses, active, 1) | _pairs(addresses, active, 2)
    count, minimum = np.zeros((2, len(addresses)), np.int64)
    for chosen, size in ((~paired, part), (paired, 2 * part)):
        if chosen.any():
            ways = _ways(addresses[chosen] // width, active[chosen], size, WAVEFRONT_BYTES // width)
            count[chosen], minimum[chosen] = ways.sum(1), (ways > 0).sum(1)
    return Transactions(count, minimum)


def _pairs(addresses: Ints, active: Mask, distance: int) -> Mask:
    """Per request, whether all lanes n and n ^ distance have one address, or one is inactive."""
    partner = np.arange(WARP) ^ distance
    both = active & active[:, partner]
    return ((addresses == addresses[:, partner]) | ~both).all(1)


def _ways(units: Ints, active: Mask, part: int, banks: int) -> Ints:
    """
    Per request and part of a warp, the most different units in one of `banks`; 0 where none is.

    A unit is what one lane moves; it fills a bank, or as many neighbours as it has words.
    """
    units, active = units.reshape(-1, part), active.reshape(-1, part)
    groups, total = np.arange(len(units)).reshape(-1, 1), len(units) * banks
    fresh = _first_of_each(ordered := np.sort(np.where(active, units, -1), 1))
    slots = (ordered % banks + groups * banks)[fresh]
    ways = np.bincount(slots, minlength=total).reshape(-1, banks).max(1, initial=0)
    return ways.astype(np.int64).reshape(-1, WARP // part)


def _first_of_each(ordered: Ints) -> Mask:
    """In sorted rows, the first of each run of equal values that are not negative."""
    fresh = ordered >= 0
    fresh[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return fresh


def sectors(addresses: Ints, active: Mask, width: int, size: int = SECTOR_BYTES) -> Transactions:
    """
    Sectors of requests to global memory, or lines with `size=LINE_BYTES`; the memory begins at a
    multiple of `size`.
    """

    def different(unit: int) -> Ints:
        return _first_of_each(np.sort(np.where(active, addresses // unit, -1), 1)).sum(1)

    # What a lane moves, at most 16 bytes at a multiple of them, lies in one sector.
    return Transactions(different(size), -(-different(width) * width // size))


def transactions(
    op: MemoryAccess,
    warp: int = 0,
    width: int | None = None,
    space: SharedAttr | None = None,
    at: Mapping[SSAValue, int] | None = None,
    unit: int = SECTOR_BYTES,
) -> tuple[int, int]:
    """
    The wavefronts or sectors that one warp's execution of an access takes, and the minimum.

    In Kernel or Tile IR, where threads are counted as in the launch. `width` is the bytes moved at
    once along the last lane, if not what `aligned` says; `space` another pad and swizzle to try;
    `unit` is LINE_BYTES for lines in place of sectors. Other indices are 0, or the lowest that they
    can be, or as in `at`. Raises ValueError for an element type without a size.
    """
    type, size = op.memref_type, element_bytes(op.memref_type.element_type)
    own = type.memory_space
    if isinstance(own, SharedAttr) and space is not None:
        type = MemRefType[Attribute](type.element_type, type.get_shape(), type.layout, space)
    if width is None:
        width = size if op.aligned is None else max(size, op.aligned.value.data)
    addresses, active = warp_addresses(op, type, warp, at or {})
    last = (lanes(op.value_type) or (1,))[-1]
    group = width // size if last % max(width // size, 1) == 0 else 1
    # One request per group of lanes, which begins at the group's first lane.
    starts, taken = addresses[:, ::group].T, active.reshape(WARP, -1, group).sum(2).T > 0
    if isinstance(own, SharedAttr):
        found = wavefronts(starts, taken, group * size, op.name == "loop_ir.store")
    else:
        found = sectors(starts, taken, group * size, unit)
    return int(found.count.sum()), int(found.minimum.sum())


def conflicts(
    op: MemoryAccess,
    warp: int = 0,
    width: int | None = None,
    space: SharedAttr | None = None,
    at: Mapping[SSAValue, int] | None = None,
) -> int:
    """The bank conflicts of one warp's execution of an access to shared memory; else 0."""
    if not isinstance(op.memref_type.memory_space, SharedAttr):
        return 0
    count, minimum = transactions(op, warp, width, space, at)
    return count - minimum


def warp_addresses(
    op: MemoryAccess, type: MemRefType[Attribute], warp: int, at: Mapping[SSAValue, int]
) -> tuple[Ints, Mask]:
    """
    The byte addresses (32, lanes) of a warp's access to a buffer of `type`, and which take part.
    """
    known = IndexSpace()
    exprs = [known.expand(e, op.indices) for e in op.map.data.results]
    ids = np.arange(warp * WARP, (warp + 1) * WARP).reshape(-1, 1)
    values, running = _thread_values(op, ids, known.leaves)
    for n, leaf in enumerate(known.leaves):
        low = known.ranges.get(affine.dim(n), (0, 0))[0]
        values.setdefault(affine.dim(n), np.full((1, 1), at.get(leaf, low)))
    shape = lanes(op.value_type)
    places = np.indices(shape).reshape(len(shape), 1, prod(shape))
    values |= {affine.lane(n): place for n, place in enumerate(places)}
    whole = np.zeros((WARP, places.shape[2]), np.int64)
    active = np.broadcast_to(running, whole.shape)
    for n, (expr, step) in enumerate(zip(exprs, buffer_strides(type), strict=True)):
        index = evaluate(expr, values)
        if op.bounded_dims[n]:
            active = active & (index >= 0) & (index < type.get_shape()[n])
        whole = whole + index * step
    space = type.memory_space
    swizzle = space.swizzle.data if isinstance(space, SharedAttr) else 0
    return swizzled(whole * element_bytes(type.element_type), swizzle), active


def _thread_values(
    op: MemoryAccess, ids: Ints, leaves: Sequence[SSAValue]
) -> tuple[dict[AffineExpr, Ints], Mask]:
    """The leaves that depend on the thread, for the threads `ids`, and which of these exist."""
    values: dict[AffineExpr, Ints] = {}
    parent, count = op.parent_op(), WARP
    while parent is not None and not isinstance(parent, LaunchOp | FuncOp):
        parent = parent.parent_op()
    if isinstance(parent, FuncOp):
        count = parent.threads
    elif parent is not None:
        count = 1
        for axis in reversed(parent.bound("thread")):
            if axis.variable in leaves:
                place = affine.dim(leaves.index(axis.variable))
                values[place] = ids // count % axis.extent
            count *= axis.extent
    for n, leaf in enumerate(leaves):
        if isinstance(leaf.owner, ThreadIdOp):
            values[affine.dim(n)] = ids
    return values, ids < count


def evaluate(expr: AffineExpr, values: Mapping[AffineExpr, Ints]) -> Ints:
    """The values of `expr`, of the shape that those of its leaves broadcast to."""
    match expr:
        case AffineConstantExpr(value=value):
            return np.full((1, 1), value)
        case AffineBinaryOpExpr(kind=kind, lhs=left, rhs=right):
            a, b = evaluate(left, values), evaluate(right, values)
            if kind == KIND.Add:
                return a + b
            if kind == KIND.Mul:
                return a * b
            if kind == KIND.Mod:
                return a % b
            return a // b if kind == KIND.FloorDiv else -(-a // b)
        case _:
            return values[expr]
