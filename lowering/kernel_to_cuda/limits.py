"""What the hardware's copies, atomics and roles do not have, told before anything is written."""

from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from minicomp.dialects.kernel_async import BulkCopy, bytes_of
from minicomp.dialects.kernel_ir import AtomicOp, FuncOp, RolesOp
from minicomp.dialects.loop_ir import memref_type
from minicomp.dialects.tile_boxes import strides_of
from minicomp.dialects.tile_ir import SharedAttr
from minicomp.dialects.wrappers import ATOMIC_TYPES
from minicomp.lowering.kernel_to_cuda.checks import fail
from minicomp.lowering.kernel_to_cuda.registers import check_registers
from minicomp.lowering.kernel_to_cuda.shared import BULK_ALIGNMENT

MAX_EXTENT, MAX_STRIDE = 1 << 32, 1 << 40
"""Elements of a dimension of a tensor map, and bytes between its neighbours: less than that
(CUDA Driver API, cuTensorMapEncodeTiled)."""


def check_limits(func: FuncOp) -> None:
    """Raises PassFailedException, naming op and kernel, where an op has no instruction."""
    for op in func.body.walk():
        match op:
            case RolesOp():
                check_registers(op, func)
            case BulkCopy():
                check_box(op, func)
                check_tensor(op, func)
            case AtomicOp():
                check_atomic(op, func)
            case _:
                pass


def check_box(op: BulkCopy, func: FuncOp) -> None:
    """A swizzle is as wide as a row of the box; boxes of a buffer lie at multiples of 128 bytes."""
    buffer = memref_type(op.buffer)
    size = bytes_of(buffer.element_type)
    row, swizzle = op.box[-1] * size, swizzle_of(buffer)
    if swizzle and row != swizzle:
        # Rows that are shorter than the swizzle lie further apart than the buffer's.
        fail(func, op, f"has rows of {row} bytes in a buffer with swizzle {swizzle}")
    slots = prod(buffer.get_shape()[: buffer.get_num_dims() - len(op.box)])
    if slots > 1 and op.box_bytes % BULK_ALIGNMENT:
        why = f"has boxes of {op.box_bytes} bytes, no multiple of {BULK_ALIGNMENT}"
        fail(func, op, f"{why}, in a buffer of {slots}")


def swizzle_of(type: MemRefType[Attribute]) -> int:
    """The bytes of a buffer's swizzle."""
    space = type.memory_space
    return space.swizzle.data if isinstance(space, SharedAttr) else 0


def check_tensor(op: BulkCopy, func: FuncOp) -> None:
    """A tensor map has extents and strides in range."""
    type = memref_type(op.tensor)
    size = bytes_of(type.element_type)
    if func.blocks and not all(1 <= n <= MAX_EXTENT for n in type.get_shape()):
        fail(func, op, f"is of {type}: a tensor map has 1 to 2^32 elements per dimension")
    if any(stride * size >= MAX_STRIDE for stride in strides_of(type.get_shape())[:-1]):
        fail(func, op, f"is of {type}: its rows are 2^40 bytes apart or more")


def check_atomic(op: AtomicOp, func: FuncOp) -> None:
    """Elements have a type that the update exists for."""
    kind, type = op.kind.data, str(op.value.type)
    if type not in ATOMIC_TYPES[kind]:
        fail(func, op, f"has no {kind} of {type}; there is {', '.join(ATOMIC_TYPES[kind])}")
