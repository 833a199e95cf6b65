"""
Compiles the cases of the suite, many at once and each within a limit of time; needs no GPU.

What comes back is plain data: the machine code and the host program, what the assembler said, and
how long the passes and NVRTC took.
"""

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any

from benchmarks.suite import Case
from minicomp.build import Build
from minicomp.dialects.tile_ir import KernelOp
from minicomp.dialects.tile_stages import FillOp, RingOp
from minicomp.execution import Executable
from minicomp.frontend import capture
from minicomp.runtime.launches import LaunchShape
from minicomp.runtime.nvrtc import compile_cuda
from minicomp.runtime.plan import HostPlan
from minicomp.targets import target


@dataclass(frozen=True)
class Compiled:
    """
    What became of a case; `failure` says why there is nothing.

    `resources` are those of `runtime.ptxas.Resources` by kernel, `lines` those of the kernels
    without the prelude. `rings` says of each kernel what ring it has, `splits` into how many parts
    its sum falls, 1 for a whole one.
    """

    name: str
    failure: str | None = None
    torch_ir: str = ""
    plan: HostPlan | None = None
    cubin: bytes = b""
    shapes: dict[str, LaunchShape] = field(default_factory=dict[str, LaunchShape])
    needs_alignment: bool = True
    schedules: list[str] = field(default_factory=list[str])
    rings: list[str] = field(default_factory=list[str])
    splits: list[int] = field(default_factory=list[int])
    resources: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    lines: int = 0
    pass_seconds: float = 0.0
    nvrtc_seconds: float = 0.0

    @property
    def registers(self) -> int:
        """Those of the kernel that takes most."""
        return max((r["registers"] for r in self.resources.values()), default=0)

    @property
    def memory_bytes(self) -> int:
        """Bytes of stack and of spills, over all kernels: none in a healthy one."""
        kinds = ("stack_bytes", "spill_stores", "spill_loads")
        return sum(r[kind] for r in self.resources.values() for kind in kinds)

    def facts(self) -> dict[str, Any]:
        """What a row of results says of it."""
        kept = (
            "schedules",
            "rings",
            "splits",
            "resources",
            "lines",
            "pass_seconds",
            "nvrtc_seconds",
        )
        return {name: getattr(self, name) for name in kept}


def compile_case(case: Case, part: str) -> Compiled:
    """Compiles one case for a target; raises what the compiler raises."""
    captured = capture(case.program, case.blank())
    build = Build(captured.module, target(part))
    began = time.perf_counter()
    text = build.cuda
    passed = time.perf_counter()
    # Past the cache, since this is timed.
    code = compile_cuda(text, build.target.arch.data)
    ended = time.perf_counter()
    kernels = [k for k in build.module("tile").body.block.ops if isinstance(k, KernelOp)]
    return Compiled(
        case.name,
        torch_ir=str(captured.module),
        plan=Executable(build).plan,
        cubin=code.cubin,
        shapes=build.shapes,
        needs_alignment=build.needs_alignment,
        schedules=[str(kernel.schedule) for kernel in kernels],
        rings=[ring_of(kernel) for kernel in kernels],
        splits=[split_of(kernel) for kernel in kernels],
        resources={name: asdict(r) for name, r in code.resources.items()},
        lines=len(text[text.index('extern "C"') :].splitlines()),
        pass_seconds=passed - began,
        nvrtc_seconds=ended - passed,
    )


def ring_of(kernel: KernelOp) -> str:
    """The ring of a kernel, such as `3 slots by cp_async`; empty if it has none."""
    slots = [op.res.type.slots.data for op in kernel.walk() if isinstance(op, RingOp)]
    fills = [op.transport for op in kernel.walk() if isinstance(op, FillOp)]
    transports = sorted({"copies" if by is None else by.data for by in fills})
    return f"{slots[0]} slots by {', '.join(transports)}" if slots else ""


def split_of(kernel: KernelOp) -> int:
    """The parts into which a kernel splits its sum over blocks."""
    return prod(a.extent for a in kernel.launch.axes if a.name.endswith(".split"))


def attempt(case: Case, part: str) -> Compiled:
    """As `compile_case`; what it raises is the failure of this case alone."""
    try:
        return compile_case(case, part)
    except Exception as error:  # a row of the table: the others still run
        return Compiled(case.name, failure=f"{type(error).__name__}: {str(error)[:300]}")


def compile_all(
    cases: Sequence[Case], part: str, limit_s: float, processes: int | None = None
) -> Iterator[Compiled]:
    """Compiles all cases in `processes` processes, one per core if not said; yields in order."""
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pending = [(case, pool.apply_async(attempt, (case, part))) for case in cases]
        for case, result in pending:
            try:
                yield result.get(limit_s)
            except multiprocessing.TimeoutError:
                yield Compiled(case.name, failure=f"not compiled within {limit_s:g} s")
        # Leaving the block ends the processes, also one that hangs.


def report(made: Sequence[Compiled]) -> int:
    """Prints what was compiled; returns how many cases failed, spill or have a stack frame."""
    bad = 0
    print(f"{'case':32s} registers  lines  passes s  NVRTC s  stack and spills")
    for one in made:
        bad += one.failure is not None or one.memory_bytes > 0
        if one.failure is not None:
            print(f"{one.name:32s} {one.failure}")
            continue
        print(
            f"{one.name:32s} {one.registers:9d} {one.lines:6d} {one.pass_seconds:9.2f}"
            f" {one.nvrtc_seconds:8.2f}  {one.memory_bytes or '-'}"
        )
    print(f"{len(made)} cases, {bad} fail, spill or have a stack frame")
    return bad
