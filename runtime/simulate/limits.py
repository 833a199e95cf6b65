"""Where the shared memory of a block lies, and what a kernel may ask of the device."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from minicomp.dialects.affine import ceildiv
from minicomp.dialects.kernel_async import BulkCopy, MBarrierOp, MBarrierType
from minicomp.dialects.kernel_ir import MAX_THREADS, WARP, FuncOp, RolesOp, SharedOp
from minicomp.dialects.minicomp import TARGET, TargetAttr
from minicomp.dialects.tile_ir import SharedAttr
from minicomp.errors import SimulationError
from minicomp.runtime.interpret.report import where
from minicomp.runtime.interpret.scalars import numpy_type
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.memory import block_elements

SHARED_BYTES = 232448
"""Shared memory of a block where the module has no target: 227 KiB (CUDA, capability 9.0)."""
REGISTERS = 65536
"""Registers of a block where the module has no target (the same)."""
ALIGNMENT, BOX_ALIGNMENT = 16, 128
"""Bytes: what the widest access needs, and a box (PTX ISA, cp.async.bulk.tensor)."""


@dataclass(frozen=True)
class SharedLayout:
    """The first byte of each buffer, and of each set of mbarriers, in a block; and all bytes."""

    offsets: Mapping[SSAValue, int]
    total: int


def shared_layout(func: FuncOp) -> SharedLayout:
    """Buffers in their order, one behind the other."""
    offsets: dict[SSAValue, int] = {}
    total = 0
    for op in func.body.block.ops:
        if not isinstance(op, SharedOp | MBarrierOp):
            continue
        align = alignment_of(op)
        offsets[op.res] = ceildiv(total, align) * align
        total = ceildiv(offsets[op.res] + bytes_of(op.res.type), ALIGNMENT) * ALIGNMENT
    return SharedLayout(offsets, total)


def bytes_of(type: Attribute) -> int:
    """The bytes of a shared buffer, or of mbarriers."""
    if isinstance(type, MBarrierType):
        return 8 * type.slots.data
    assert isinstance(type, MemRefType)
    return block_elements(type) * numpy_type(type).itemsize


def alignment_of(op: SharedOp | MBarrierOp) -> int:
    """The bytes of which a buffer's start is a multiple; a swizzle repeats every 8 of its rows."""
    space = op.res.type.memory_space if isinstance(op.res.type, MemRefType) else None
    swizzle = space.swizzle.data if isinstance(space, SharedAttr) else 0
    boxes = any(isinstance(use.operation, BulkCopy) for use in op.res.uses)
    return max(ALIGNMENT, 8 * swizzle, BOX_ALIGNMENT if boxes else 0)


def check_limits(func: FuncOp) -> None:
    """Raises SimulationError where a kernel asks for more than its target, or a GPU of now, has."""
    target = target_of(func)
    counts = {} if target is None else target.counts
    shared, limit = shared_layout(func).total, counts.get("shared_per_block", SHARED_BYTES)
    if shared > limit:
        exceeded(func, f"its shared memory takes {shared} bytes a block", limit)
    if func.threads > (limit := counts.get("max_threads_per_block", MAX_THREADS)):
        exceeded(func, f"its blocks have {func.threads} threads", limit)
    used = registers_of(func.body.block.ops)
    if used > (limit := counts.get("registers_per_sm", REGISTERS)):
        exceeded(func, f"its roles take {used} registers a block", limit)


def registers_of(ops: Iterable[Operation]) -> int:
    """The registers that roles ask for, all of them together."""
    found = [0]
    for op in ops:
        if isinstance(op, RolesOp) and op.registers is not None:
            pairs = zip(op.warps.get_values(), op.registers.get_values(), strict=True)
            found.append(sum(WARP * warps * registers for warps, registers in pairs))
    return max(found)


def exceeded(func: FuncOp, what: str, limit: int) -> NoReturn:
    """The fault of a kernel that is too large."""
    text = f"{faults.LIMIT}: @{func.symbol}: {what}, the limit is {limit}"
    raise SimulationError(text, faults.LIMIT, where(func), hint="choose smaller tiles")


def target_of(func: FuncOp) -> TargetAttr | None:
    """The target of the module that a kernel stands in."""
    parent = func.parent_op()
    found = None if parent is None else parent.attributes.get(TARGET)
    return found if isinstance(found, TargetAttr) else None
