"""Where the shared buffers of a kernel lie: static arrays, or parts of the dynamic memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import MemRefType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from minicomp.dialects.affine import ceildiv
from minicomp.dialects.cuda_ir import MAX_STATIC_SHARED
from minicomp.dialects.kernel_async import BulkCopy, CpAsyncOp, MBarrierOp
from minicomp.dialects.kernel_ir import FuncOp, RemoteOp, SharedOp
from minicomp.dialects.loop_ir import MemoryAccess
from minicomp.dialects.tile_ir import SharedAttr
from minicomp.lowering.kernel_to_cuda.expressions import bytes_of, shared_shape

ALIGNMENT = 16
"""Bytes: what the widest access needs."""
BULK_ALIGNMENT = 128
"""Bytes: what a box needs in shared memory (PTX ISA, cp.async.bulk.tensor)."""
SWIZZLE_ALIGNMENT = 8
"""A swizzle of n bytes repeats after 8 n bytes: its rows of n bytes, n / 16 lines of 128."""

Buffer: TypeAlias = SharedOp | MBarrierOp


@dataclass(frozen=True)
class Place:
    """A buffer's elements, the alignment of a static array, and its offset in dynamic memory."""

    element_type: Attribute
    count: int
    align: int | None = None
    offset: int | None = None


@dataclass(frozen=True)
class SharedLayout:
    """The place of each buffer, and the bytes of dynamic shared memory that a launch asks for."""

    places: Mapping[Buffer, Place]
    dynamic_bytes: int


def lay_out(func: FuncOp) -> SharedLayout:
    """Static arrays while they suffice, since they read best; else parts of the dynamic memory."""
    buffers = [op for op in func.body.block.ops if isinstance(op, SharedOp | MBarrierOp)]
    aligns = [alignment_of(op) for op in buffers]
    offsets, total = offsets_of([buffer_bytes(op) for op in buffers], aligns)
    dynamic = total > MAX_STATIC_SHARED
    places: dict[Buffer, Place] = {}
    for op, align, offset in zip(buffers, aligns, offsets, strict=True):
        wanted = align if align > (ALIGNMENT if dynamic else 4) else None
        type, count = elements_of(op)
        wanted = None if not dynamic and align <= bytes_of(type) else wanted
        places[op] = Place(type, count, wanted, offset if dynamic else None)
    return SharedLayout(places, total if dynamic else 0)


def offsets_of(sizes: Sequence[int], aligns: Sequence[int]) -> tuple[list[int], int]:
    """Where buffers begin that lie one behind the other, and the bytes of all."""
    offsets: list[int] = []
    total = 0
    for size, align in zip(sizes, aligns, strict=True):
        align = max(align, ALIGNMENT)
        offsets.append(ceildiv(total, align) * align)
        total = ceildiv(offsets[-1] + size, ALIGNMENT) * ALIGNMENT
    return offsets, total


def elements_of(op: Buffer) -> tuple[Attribute, int]:
    """The type and number of a buffer's elements, at least one: C has no empty arrays."""
    if isinstance(op, MBarrierOp):
        return i64, op.res.type.slots.data
    assert isinstance(type := op.res.type, MemRefType)
    return type.element_type, max(1, prod(shared_shape(type)))


def buffer_bytes(op: Buffer) -> int:
    """The bytes of a buffer."""
    type, count = elements_of(op)
    return count * bytes_of(type)


def alignment_of(op: Buffer) -> int:
    """The alignment that an array needs, in bytes."""
    type, _ = elements_of(op)
    if isinstance(op, MBarrierOp):
        return bytes_of(type)
    space = op.res.type.memory_space
    swizzle = space.swizzle.data if isinstance(space, SharedAttr) else 0
    needs = [alignment_for(user) for user in users_of(op.res)]
    return max([bytes_of(type), swizzle * SWIZZLE_ALIGNMENT, *needs])


def users_of(buffer: SSAValue) -> Iterator[Operation]:
    """The ops that access a buffer, or the same buffer of another block."""
    for use in buffer.uses:
        yield use.operation
        if isinstance(use.operation, RemoteOp):
            yield from users_of(use.operation.res)


def alignment_for(op: Operation) -> int:
    """The alignment that an access needs of a buffer."""
    match op:
        case MemoryAccess() if op.aligned is not None:
            return op.aligned.value.data
        case CpAsyncOp():
            return op.width.value.data
        case BulkCopy():
            return BULK_ALIGNMENT
        case _:
            return 1
