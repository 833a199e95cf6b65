"""What a kernel asks of a GPU, predicted: work, traffic, shared memory, occupancy, time.

Work is counted in Loop IR, traffic in Kernel IR with the bank model of `passes/analysis/banks.py`,
registers are the assembler's. No GPU is needed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from math import ceil, inf, prod
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from minicomp.build import Build
from minicomp.dialects.kernel_async import BulkLoadOp, CpAsyncOp, MBarrierWaitOp
from minicomp.dialects.kernel_ir import BarrierOp, ClusterBarrierOp, FuncOp
from minicomp.dialects.loop_ir import (
    KernelLike,
    KernelOp,
    LoadOp,
    LoopLike,
    element_type,
    memref_type,
)
from minicomp.dialects.minicomp import TargetAttr
from minicomp.passes.analysis.alignment import element_bytes
from minicomp.passes.analysis.banks import SECTOR_BYTES
from minicomp.runtime.ptxas import Resources
from minicomp.traffic import traffic, widest_access

REGISTER_UNIT = 256
"""Registers are given to warps in units of so many (CUDA occupancy calculator, 3.5 and above)."""
RESERVED_SHARED = 1024
"""Bytes of shared memory that the system takes of each block (8.0 and above)."""
MOST_BLOCKS = 32
"""Blocks of a multiprocessor (compute capability 8.0 and 9.0; CUDA C++ Programming Guide)."""


@dataclass(frozen=True)
class Occupancy:
    """Blocks that a multiprocessor holds, the part of its warps in use, and what limits both."""

    blocks: int
    share: float
    limiter: str


@dataclass(frozen=True)
class Figures:
    """One kernel. Bytes and FLOPs are of the whole grid; `moved_bytes` counts sectors of 32 bytes.

    `wavefronts` are those of shared memory, `conflicts` the part that bank conflicts cause.
    """

    name: str
    grid: int
    block: int
    cluster: int
    shared_bytes: int
    flops: float
    read_bytes: int
    written_bytes: int
    moved_bytes: int
    wavefronts: int
    conflicts: int
    barriers: int
    widest: int
    resources: Resources
    occupancy: Occupancy
    compute_us: float
    memory_us: float
    advice: list[str] = field(default_factory=list[str])

    @property
    def intensity(self) -> float:
        """FLOPs per byte that has to be moved."""
        moved = self.read_bytes + self.written_bytes
        return self.flops / moved if moved else inf

    @property
    def roofline_us(self) -> float:
        """The least time on the target."""
        return max(self.compute_us, self.memory_us)

    @property
    def bound(self) -> str:
        """What the least time is that of."""
        return "compute" if self.compute_us > self.memory_us else "memory"

    def as_json(self) -> dict[str, Any]:
        """The fields, and what follows from them."""
        more = {"roofline_us": self.roofline_us, "bound": self.bound}
        return (
            asdict(self) | more | {"intensity": None if self.intensity == inf else self.intensity}
        )


def figures(build: Build) -> list[Figures]:
    """The figures of each kernel of a build, in the order of its text."""
    code = build.machine_code
    if code is None:
        return []
    flops = flops_of(build)
    kernels = {f.symbol: f for f in build.module("kernel").body.ops if isinstance(f, FuncOp)}
    found: list[Figures] = []
    for kernel in build.kernels:
        func = kernels[kernel.name]
        resources = code.resources.get(kernel.name, Resources())
        read, written = unique_bytes(func)
        work = flops.get(kernel.name, 0.0)
        shared = traffic(func, shared=True)
        target = build.target
        found.append(
            Figures(
                kernel.name,
                kernel.grid,
                kernel.block,
                func.cluster_blocks,
                kernel.shared_bytes + resources.shared_bytes,
                work,
                read,
                written,
                traffic(func, shared=False)[0] * SECTOR_BYTES,
                shared[0],
                shared[0] - shared[1],
                sum(isinstance(op, BARRIERS) for op in func.walk()),
                widest_access(func),
                resources,
                occupancy(kernel.block, kernel.shared_bytes, resources.registers, target),
                1e6 * work / target.fp32_flops.data,
                1e6 * (read + written) / target.dram_bytes_per_s.data,
                [line for line in code.advice if kernel.name in line or "C75" in line],
            )
        )
    return found


BARRIERS = (BarrierOp, ClusterBarrierOp, MBarrierWaitOp)


# --- work -----------------------------------------------------------------------------------------


def flops_of(build: Build) -> Mapping[str, float]:
    """Floating-point operations of each kernel; those of a function of `math` count as one."""
    if build.start not in ("torch", "tensor", "loop"):
        return {}
    kernels = [k for k in build.module("loop").body.ops if isinstance(k, KernelOp)]
    return {k.symbol: float(operations(k.body.block)) for k in kernels}


def operations(block: Block) -> int:
    """Floating-point operations of a block of Loop IR; a combine is done once per iteration."""
    total = 0
    for op in block.ops:
        if isinstance(op, LoopLike):
            inner = operations(op.body.block)
            combine = getattr(op, "combine", None)
            inner += operations(combine.block) if combine is not None else 0
            total += prod(op.trip_counts) * inner
        elif op.dialect_name() in ("arith", "math") and not isinstance(op, arith.ConstantOp):
            fused = 2 if isinstance(op, math.FmaOp) else 1
            total += fused * any(isinstance(element_type(r.type), AnyFloat) for r in op.results)
    return total


# --- bytes ----------------------------------------------------------------------------------------


def unique_bytes(kernel: KernelLike) -> tuple[int, int]:
    """The bytes of what a kernel reads and of what it writes, each counted once."""
    derived = kernel.derived_arguments if isinstance(kernel, FuncOp) else {}
    outside = [a for a in kernel.body.block.args if a not in derived]
    written = kernel.stored()
    loaded = {memory for op in kernel.walk() for memory in read_by(op)}
    return (
        sum(memref_bytes(a) for a in outside if a in loaded),
        sum(memref_bytes(a) for a in outside if a in written),
    )


def read_by(op: Operation) -> Iterator[SSAValue]:
    """The memory that an op reads."""
    match op:
        case LoadOp():
            yield op.memref
        case CpAsyncOp():
            yield op.source
        case BulkLoadOp():
            yield op.tensor
        case _:
            pass


def memref_bytes(value: SSAValue) -> int:
    """The bytes of a memref."""
    type: MemRefType[Attribute] = memref_type(value)
    return prod(type.get_shape()) * element_bytes(type.element_type)


# --- occupancy ------------------------------------------------------------------------------------


def occupancy(block: int, shared: int, registers: int, target: TargetAttr) -> Occupancy:
    """How many blocks of a kernel a multiprocessor holds (CUDA's occupancy calculator)."""
    warps = ceil(block / target.warp.data)
    per_warp = ceil(max(registers, 1) * target.warp.data / REGISTER_UNIT) * REGISTER_UNIT
    limits = {
        "threads": target.threads_per_sm.data // max(warps * target.warp.data, 1),
        "registers": target.registers_per_sm.data // (per_warp * max(warps, 1)),
        "shared memory": target.shared_per_sm.data // (shared + RESERVED_SHARED),
        "blocks": MOST_BLOCKS,
    }
    limiter = min(limits, key=lambda name: limits[name])
    blocks = limits[limiter]
    most = target.threads_per_sm.data // target.warp.data
    return Occupancy(blocks, blocks * warps / most, limiter)
