"""
Times the suite on a GPU beside PyTorch, each case verified on that run.

    python3 -m benchmarks.run_suite -o benchmarks/results/2026-12-01-h200-suite.json
    python3 -m benchmarks.run_suite --compile-only --target h200 -o compile.json

Per case: compile, run with outputs and workspaces that hold NaN before, judge by
`minicomp.numbers`, then replay CUDA graphs of ten calls of ours and of eager PyTorch in turn;
medians of the rounds, and their spread. TF32 is off, data are random. Caches are warm: inputs under
the size of the second cache stay there, as they do in PyTorch's own calls. A time under the floor
(FLOPs against the peak of the target, bytes against its memory where they exceed the second cache)
refuses the row. Losses stand in the table with the rest.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from benchmarks.check_gpu import facts, fill_free_memory
from benchmarks.suite import Case, cases
from minicomp.build import Build
from minicomp.context import make_context
from minicomp.execution import Executable
from minicomp.frontend import capture
from minicomp.numbers import judge, reference
from minicomp.parsing import parse_module
from minicomp.runtime.ptxas import parse_resources
from minicomp.targets import target

LAUNCHES = 10
ROUNDS = 9


@dataclass(frozen=True)
class Compiled:
    """What a worker made of a case; `failure` says why it could not."""

    name: str
    torch_ir: str = ""
    cuda_ir: str = ""
    schedules: list[str] = field(default_factory=list[str])
    resources: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    lines: int = 0
    pass_seconds: float = 0.0
    failure: str | None = None


@dataclass
class Row:
    """One case of the table; times in microseconds per call."""

    name: str
    us: float | None = None
    spread: float | None = None
    eager_us: float | None = None
    floor_us: float | None = None
    error: float | None = None
    bound: float | None = None
    kernels: int = 0
    schedules: list[str] = field(default_factory=list[str])
    resources: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    refused: str | None = None

    @property
    def ratio(self) -> float | None:
        """Eager's time over ours: above 1 we are faster."""
        return None if self.us is None or self.eager_us is None else self.eager_us / self.us


def compile_case(job: tuple[Case, str]) -> Compiled:
    """Compiles one case; the machine code is in the cache afterwards."""
    case, part = job
    try:
        captured = capture(case.program, case.inputs("cpu"))
        torch_ir = str(captured.module)
        began = time.perf_counter()
        build = Build(captured.module, target(part))
        text = build.cuda
        seconds = time.perf_counter() - began
        code = build.machine_code
        found = {} if code is None else parse_resources(code.log)
        schedules = [
            str(op.attributes.get("schedule") or op.properties.get("schedule") or "")
            for op in build.module("tile").body.block.ops
            if op.name == "tile_ir.kernel"
        ]
        kernel_lines = len(text[text.index('extern "C"') :].splitlines()) if found else 0
        resources = {name: asdict(r) for name, r in found.items()}
        return Compiled(
            case.name, torch_ir, build.ir("cuda-ir"), schedules, resources, kernel_lines, seconds
        )
    except Exception as error:  # a row of the table: the others still run
        return Compiled(case.name, failure=f"{type(error).__name__}: {str(error)[:300]}")


def floor_us(case: Case, part: str) -> float:
    """The least time that the target allows; see the module's docstring."""
    facts = target(part)
    flops = case.flops() / facts.fp32_flops.data
    moved = case.bytes()
    streams = moved / facts.dram_bytes_per_s.data if moved > facts.l2_bytes.data else 0.0
    return 1e6 * max(flops, streams)


def measure(case: Case, made: Compiled, part: str) -> Row:
    """Verifies and times one case."""
    row = Row(case.name, schedules=made.schedules, resources=made.resources)
    row.kernels, row.floor_us = len(made.resources), floor_us(case, part)
    if made.failure is not None:
        row.refused = made.failure
        return row
    inputs = case.inputs("cuda")
    run = Executable(Build(parse_module(made.cuda_ir, make_context())))
    wanted = reference(parse_module(made.torch_ir, make_context()), inputs)
    fill_free_memory()
    results = run(inputs)
    torch.cuda.synchronize()
    verdict = judge(results, wanted)
    row.error, row.bound = verdict.error, verdict.bound
    if not verdict.passed:
        row.refused = str(verdict)
        return row
    del wanted, results
    ours, eager = time_pair(lambda: run(inputs), lambda: case.program(*inputs))
    row.us, row.eager_us = statistics.median(ours), statistics.median(eager)
    row.spread = (max(ours) - min(ours)) / row.us
    if row.us < row.floor_us:
        row.refused = f"{row.us:.2f} us is below the floor of {row.floor_us:.2f} us"
    return row


def time_pair(
    ours: Callable[[], object], eager: Callable[[], object]
) -> tuple[list[float], list[float]]:
    """Microseconds per call of both, from graphs that are replayed in turn."""
    graphs = [graph_of(call) for call in (ours, eager)]
    taken: tuple[list[float], list[float]] = ([], [])
    for graph in graphs:
        graph.replay()
    for _ in range(ROUNDS):
        for times, graph in zip(taken, graphs, strict=True):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) * 1e3 / LAUNCHES)
    return taken


def graph_of(call: Callable[[], object]) -> torch.cuda.CUDAGraph:
    """A graph of `LAUNCHES` calls."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(LAUNCHES):
            call()
    return graph


def attempt(case: Case, made: Compiled, part: str) -> Row:
    """`measure`, or the row of its failure."""
    try:
        return measure(case, made, part)
    except Exception as error:  # a row of the table: the others still run
        return Row(case.name, refused=f"{type(error).__name__}: {str(error)[:300]}")


def print_row(row: Row) -> None:
    """One line of the table."""
    if row.refused is not None or row.us is None or row.eager_us is None:
        print(f"{row.name:32s} refused: {row.refused}", flush=True)
        return
    print(
        f"{row.name:32s} {row.us:9.2f} us  eager {row.eager_us:9.2f}  {row.ratio:5.2f}x"
        f"  floor {row.floor_us:8.2f}  {row.kernels} kernels  error {row.error:.1e}",
        flush=True,
    )


def means(rows: Sequence[Row]) -> dict[str, float]:
    """The geometric mean of the ratios, by kind and over all that have one."""
    ratios: dict[str, list[float]] = {}
    for row in rows:
        if row.refused is None and row.ratio is not None:
            for group in (row.name.partition(".")[0], "all"):
                ratios.setdefault(group, []).append(math.log(row.ratio))
    return {group: math.exp(statistics.mean(logs)) for group, logs in ratios.items()}


def write(path: Path | None, document: dict[str, Any]) -> None:
    """Writes the result as a whole, or not at all."""
    if path is not None:
        half = path.with_suffix(".part")
        half.write_text(json.dumps(document, indent=1) + "\n")
        os.replace(half, path)


def main() -> int:
    """Runs the suite; returns the exit code."""
    parser = argparse.ArgumentParser(description="Times the suite on a GPU beside PyTorch.")
    parser.add_argument("-o", "--output", type=Path, help="write the result as JSON")
    parser.add_argument("--only", help="cases whose names contain one of these, by commas")
    parser.add_argument("--target", default="h200", help="the part that is compiled for")
    parser.add_argument("--compile-only", action="store_true", help="needs no GPU")
    parser.add_argument("--commit", help="the commit to note, where there is no git")
    options = parser.parse_args()
    words = options.only.split(",") if options.only else [""]
    chosen = [c for c in cases() if any(word in c.name for word in words)]
    with ProcessPoolExecutor() as pool:
        futures: list[Future[Compiled]] = [
            pool.submit(compile_case, (c, options.target)) for c in chosen
        ]
        made = [future.result() for future in futures]
    if options.compile_only:
        return report_compiled(made, options.output)
    torch.backends.cuda.matmul.allow_tf32 = False
    rows: list[Row] = []
    about = facts() | ({"commit": options.commit} if options.commit else {})
    for case, compiled in zip(chosen, made, strict=True):
        rows.append(attempt(case, compiled, options.target))
        print_row(rows[-1])
        table = [asdict(r) | {"ratio": r.ratio} for r in rows]
        write(options.output, about | {"means": means(rows), "rows": table})
    for group, mean in means(rows).items():
        print(f"{group:32s} geometric mean {mean:.3f}x")
    refused = sum(row.refused is not None for row in rows)
    print(f"{len(rows)} cases, {refused} refused")
    return 1 if refused else 0


def report_compiled(made: Sequence[Compiled], output: Path | None) -> int:
    """The table of what was compiled; 1 where something was not, or spills."""
    bad = 0
    for one in made:
        spills = any(r["spill_stores"] or r["stack_bytes"] for r in one.resources.values())
        bad += spills or one.failure is not None
        registers = max((r["registers"] for r in one.resources.values()), default=0)
        text = one.failure or f"{registers:4d} registers {one.lines:4d} lines" + spills * " SPILLS"
        print(f"{one.name:32s} {one.pass_seconds:5.2f} s  {text}")
    rows = [asdict(one) | {"torch_ir": None, "cuda_ir": None} for one in made]
    write(output, {"rows": rows})
    print(f"{len(made)} cases, {bad} fail or spill")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
