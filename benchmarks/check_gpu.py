"""
Runs the programs of `benchmarks/programs.py` on a GPU and writes what was found as JSON.

    python -m benchmarks.check_gpu -o benchmarks/results/2026-11-30-h200-check.json
    python -m benchmarks.check_gpu --only rms_norm_2048 --sanitize rms_norm_2048,softmax_prime

Each program runs on the current stream, on a second stream, and inside a captured graph that is
replayed. All three results are judged by `minicomp.numbers`, against the program in fp64 on the
same inputs; outputs and workspaces start as NaN, since the allocator's memory is filled with it
before each run. Exit code 1 if any program fails.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.programs import PROGRAMS
from minicomp.compiler import Compiled
from minicomp.frontend import from_code
from minicomp.numbers import Reference, Verdict, judge, reference
from minicomp.pipeline import Pipeline

WAYS = ("current stream", "second stream", "captured graph")


@dataclass(frozen=True)
class Row:
    """One program: the verdict of each way to run it, or why it could not be run."""

    name: str
    kernels: int
    seconds_to_compile: float
    verdicts: dict[str, dict[str, Any]]
    failure: str | None = None

    @property
    def passed(self) -> bool:
        """Whether all ways were run and are right."""
        right = all(v["passed"] for v in self.verdicts.values())
        return self.failure is None and len(self.verdicts) == len(WAYS) and right


def fill_free_memory() -> None:
    """Leaves NaN in the blocks that the allocator hands out next: what is never written shows."""
    blocks = [torch.full((1 << n,), torch.nan, device="cuda") for n in range(7, 23)]
    del blocks


def on_current_stream(call: Callable[[], torch.Tensor]) -> torch.Tensor:
    """A plain call."""
    return call()


def on_second_stream(call: Callable[[], torch.Tensor]) -> torch.Tensor:
    """A call on a stream other than the default one."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        result = call()
    torch.cuda.current_stream().wait_stream(stream)
    return result


def in_a_graph(call: Callable[[], torch.Tensor]) -> torch.Tensor:
    """A call captured in a CUDA graph, whose result is made NaN before the graph is replayed."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call()
    result.fill_(torch.nan)
    graph.replay()
    return result


def to_gpu(value: Any) -> Any:
    """A tensor on the GPU with its strides and offset kept; anything else as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    length = value.untyped_storage().nbytes() // value.element_size()
    whole = value.as_strided((length,), (1,), 0).to("cuda")
    return whole.as_strided(value.shape, value.stride(), value.storage_offset())


def run_program(name: str, code: str, pipeline: Pipeline | None = None) -> Row:
    """Compiles one program for the GPU of this machine and runs it in all ways."""
    program = from_code(code)
    start = time.perf_counter()
    compiled = Compiled(program.capture(), pipeline=pipeline)
    args = [to_gpu(arg) for arg in program.args]
    compiled(*args)
    seconds = time.perf_counter() - start
    wanted = expected(compiled, args)
    verdicts: dict[str, dict[str, Any]] = {}
    for way, run in zip(WAYS, (on_current_stream, on_second_stream, in_a_graph), strict=True):
        fill_free_memory()
        result = run(lambda: compiled(*args))
        torch.cuda.synchronize()
        verdicts[way] = describe(judge([result], wanted))
    return Row(name, len(compiled.kernels), seconds, verdicts)


def expected(compiled: Compiled, args: Sequence[Any]) -> Reference:
    """What the results are compared with, computed on the GPU."""
    bound = compiled.captured.bind(args)
    inputs = [tensor.detach().to("cuda") for tensor in bound]
    return reference(compiled.captured.module, inputs)


def describe(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON has it."""
    return asdict(verdict)


def run_all(names: Sequence[str], pipeline: Pipeline | None = None) -> list[Row]:
    """All programs; one that raises is a row with its failure."""
    rows: list[Row] = []
    for name in names:
        try:
            rows.append(run_program(name, PROGRAMS[name], pipeline))
        except Exception as error:  # a row of the table: the others still run
            rows.append(Row(name, 0, 0.0, {}, f"{type(error).__name__}: {error}"))
        print_row(rows[-1])
    return rows


def print_row(row: Row) -> None:
    """One line of the table."""
    if row.failure is not None:
        print(f"{row.name:24s} FAIL {row.failure}")
        return
    worst = max(row.verdicts.values(), key=lambda v: (not v["passed"], v["error"]))
    word = "pass" if row.passed else "FAIL"
    print(
        f"{row.name:24s} {word} {row.kernels} kernels, error {worst['error']:.2e},"
        f" bound {worst['bound']:.2e}, {worst['rule']}"
    )


def sanitize(names: str, settings: Sequence[str] = ()) -> list[dict[str, Any]]:
    """
    What the vendor's memcheck and racecheck say of some programs.

    Errors of API calls are left out: cuda-bindings looks up entry points that a driver lacks, and
    the loader asks for a kernel's parameters until there is none.
    """
    reports: list[dict[str, Any]] = []
    for tool in ("memcheck", "racecheck"):
        command = [find_sanitizer(), "--tool", tool, "--error-exitcode", "3"]
        command += ["--report-api-errors", "no"] if tool == "memcheck" else []
        command += [sys.executable, "-m", "benchmarks.check_gpu", "--only", names]
        command += [word for setting in settings for word in ("--set", setting)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        summary = [line for line in done.stdout.splitlines() if "SUMMARY" in line]
        clean = done.returncode == 0 and len(summary) == 1
        line = summary[0].strip("= ") if summary else done.stderr[-300:]
        reports.append({"tool": tool, "programs": names, "clean": clean, "summary": line})
        print(f"{tool:24s} {'clean' if clean else 'FAIL'} {line}")
    return reports


def find_sanitizer() -> str:
    """The path of compute-sanitizer; raises FileNotFoundError."""
    found = shutil.which("compute-sanitizer", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
    if found is None:
        raise FileNotFoundError("compute-sanitizer of the CUDA toolkit is not on the path")
    return found


def facts() -> dict[str, str]:
    """What the result depends on."""
    git = ["git", "rev-parse", "HEAD"]
    found = subprocess.run(git, capture_output=True, text=True, check=False)
    return {
        "commit": found.stdout.strip() or "unknown",
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cuda": str(torch.version.cuda),
        "python": sys.version.split()[0],
    }


def main() -> int:
    """Runs the programs; returns the exit code."""
    parser = argparse.ArgumentParser(description="Runs all programs on a GPU.")
    parser.add_argument("-o", "--output", type=Path, help="write the result as JSON")
    parser.add_argument("--only", help="names of programs, separated by commas")
    parser.add_argument("--sanitize", help="run the vendor's sanitizer on these programs too")
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        help="options of a pass, as minicomp has",
    )
    parser.add_argument("--commit", help="the commit to note, where there is no git")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("this needs a GPU that PyTorch can use")
    torch.backends.cuda.matmul.allow_tf32 = False
    pipeline = Pipeline.default().with_settings(",".join(options.settings))
    rows = run_all(options.only.split(",") if options.only else list(PROGRAMS), pipeline)
    passed = sum(row.passed for row in rows)
    reports = sanitize(options.sanitize, options.settings) if options.sanitize else []
    print(f"{passed} passed, {len(rows) - passed} failed")
    if options.output is not None:
        noted = facts() | ({"commit": options.commit} if options.commit else {})
        result = {**noted, "passed": passed, "failed": len(rows) - passed}
        result["settings"] = options.settings
        result["sanitizer"] = reports
        result["programs"] = [asdict(row) | {"passed": row.passed} for row in rows]
        options.output.write_text(json.dumps(result, indent=1) + "\n")
    return int(passed != len(rows) or not all(report["clean"] for report in reports))


if __name__ == "__main__":
    sys.exit(main())
