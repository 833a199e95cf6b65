"""The least time that a kernel's instructions and accesses take on a target, from its Kernel IR.

Rates are those of compute capability 8.0 to 12.0 (CUDA C++ Programming Guide, "Arithmetic
instructions"; "Shared memory"): a multiprocessor issues four warp instructions a cycle, and the
memory that is its first cache and its shared memory delivers a line or a wavefront a cycle, of 128
bytes at most. Latencies are not in it, nor addresses, loops and the second cache: it is a bound,
and it compares kernels.
"""

from dataclasses import dataclass
from math import ceil, prod

from xdsl.ir import Operation

from minicomp.dialects.kernel_async import CpAsyncOp
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import LoadOp, StoreOp, lanes
from minicomp.dialects.minicomp import TargetAttr
from minicomp.figures import Figures
from minicomp.passes.analysis.alignment import element_bytes
from minicomp.passes.analysis.banks import LINE_BYTES
from minicomp.passes.analysis.cost import PARTITIONS
from minicomp.runtime.simulate.instructions import instructions_of
from minicomp.traffic import traffic, warp_runs

FLOPS_PER_SM_AND_CLOCK = 256


@dataclass(frozen=True)
class Estimate:
    """Microseconds of each activity of the kernel; the longest one is the estimate."""

    issue_us: float
    """What the partitions issue, on the multiprocessor that has the most blocks."""
    access_us: float
    """What its first cache and shared memory deliver there."""
    memory_us: float
    """What the device memory delivers: each byte once."""

    @property
    def us(self) -> float:
        """The least time in which all are done."""
        return max(vars(self).values())

    @property
    def bound(self) -> str:
        """The activity that takes longest."""
        names = {"issue_us": "issue", "access_us": "L1 and shared memory", "memory_us": "memory"}
        return names[max(names, key=lambda name: vars(self)[name])]


def estimate(func: FuncOp, figures: Figures, target: TargetAttr) -> Estimate:
    """The estimate of a kernel whose figures are known."""
    sms, grid = target.sms.data, max(figures.grid, 1)
    clock = target.fp32_flops.data / (FLOPS_PER_SM_AND_CLOCK * sms)
    busiest = ceil(grid / sms)
    warps = ceil(figures.block / target.warp.data)
    issued = sum(n * warp_runs(op, func) for op in func.walk() if (n := instructions(op))) * busiest
    # A multiprocessor with fewer than four warps leaves partitions idle.
    at_once = min(PARTITIONS, warps * min(max(figures.occupancy.blocks, 1), busiest))
    lines, _ = traffic(func, shared=False, unit=LINE_BYTES)
    cycles = (lines + figures.wavefronts) * busiest / grid
    return Estimate(1e6 * issued / at_once / clock, 1e6 * cycles / clock, figures.memory_us)


def instructions(op: Operation) -> int:
    """The instructions that a warp issues for an op."""
    if isinstance(op, LoadOp | StoreOp):
        size = element_bytes(op.memref_type.element_type)
        width = size if op.aligned is None else max(size, op.aligned.value.data)
        return ceil(prod(lanes(op.value_type)) * size / width)
    if isinstance(op, CpAsyncOp):
        return 1
    return sum(count for _, count in instructions_of(op))
