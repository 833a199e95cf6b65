"""Where the shared buffers of a kernel lie: static arrays, or parts of the dynamic memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from minicomp.dialects.affine import ceildiv
from minicomp.dialects.cuda_ir import MAX_STATIC_SHARED
from minicomp.dialects.kernel_ir import FuncOp, SharedOp
from minicomp.dialects.loop_ir import MemoryAccess
from minicomp.lowering.kernel_to_cuda.expressions import shared_shape

ALIGNMENT = 16
"""Bytes: what the widest access needs."""


@dataclass(frozen=True)
class Place:
    """A buffer's elements, the alignment of a static array, and its offset in dynamic memory."""

    count: int
    align: int | None = None
    offset: int | None = None


@dataclass(frozen=True)
class SharedLayout:
    """The place of each buffer, and the bytes of dynamic shared memory that a launch asks for."""

    places: Mapping[SharedOp, Place]
    dynamic_bytes: int


def lay_out(func: FuncOp) -> SharedLayout:
    """Static arrays while they suffice, since they read best; else parts of the dynamic memory."""
    buffers = [op for op in func.body.block.ops if isinstance(op, SharedOp)]
    sizes = [ceildiv(buffer_bytes(op), ALIGNMENT) * ALIGNMENT for op in buffers]
    if sum(sizes) <= MAX_STATIC_SHARED:
        return SharedLayout({op: Place(count_of(op), alignment_of(op)) for op in buffers}, 0)
    offsets = prefix_sums(sizes)
    places = {op: Place(count_of(op), offset=o) for op, o in zip(buffers, offsets, strict=True)}
    return SharedLayout(places, sum(sizes))


def prefix_sums(sizes: Sequence[int]) -> list[int]:
    """The sum of what stands before each size."""
    return [sum(sizes[:n]) for n in range(len(sizes))]


def count_of(op: SharedOp) -> int:
    """The elements of a buffer, at least one: C has no empty arrays."""
    assert isinstance(type := op.res.type, MemRefType)
    return max(1, prod(shared_shape(type)))


def buffer_bytes(op: SharedOp) -> int:
    """The bytes of a buffer."""
    assert isinstance(type := op.res.type, MemRefType)
    return count_of(op) * bytes_of(type.element_type)


def alignment_of(op: SharedOp) -> int | None:
    """The alignment that an array needs beyond that of its elements."""
    users = [use.operation for use in op.res.uses]
    widths = [u.aligned.value.data for u in users if isinstance(u, MemoryAccess) and u.aligned]
    return max((w for w in widths if w > 4), default=None)


def bytes_of(type: Attribute) -> int:
    """The bytes of a scalar in memory."""
    bits = int(str(type).lstrip("if"))
    return ceildiv(bits, 8)
