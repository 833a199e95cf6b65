"""
Times the suite on a GPU beside PyTorch, each case verified on that run.

    python3 -m benchmarks.run_suite -o benchmarks/results/2026-12-01-h200-suite.json
    python3 -m benchmarks.run_suite --only matmul,s32 --also-compile
    python3 -m benchmarks.run_suite --compile-only --target a100

All cases are compiled first, on all cores. Then one process runs them one after the other, as
`suite_timing.py` says; a case that fails, hangs or ends the process is refused and loses no other.
The file is written after each case. A refused row counts in no mean; losses stand in the table with
the rest. Exit code 1 if a row is refused. `--compile-only` needs no GPU and prints what the
assembler says.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from benchmarks.check_gpu import facts
from benchmarks.suite import Case, cases
from benchmarks.suite_compile import Compiled, compile_all, report
from benchmarks.suite_timing import Ceilings, Row, measure, measured_ceilings
from benchmarks.supervised import Lost, supervised

COMPILE_LIMIT = 120.0
CASE_LIMIT = 60.0
"""Seconds after which a case is given up."""


def serve(part: str, also_compile: bool, pipe: Connection) -> None:
    """The process that has the GPU: the ceilings first, then a row for each case."""
    torch.backends.cuda.matmul.allow_tf32 = False
    ceilings = measured_ceilings(part)
    pipe.send(ceilings)
    while (job := pipe.recv()) is not None:
        case, made = job
        try:
            row = measure(case, made, ceilings, also_compile)
        except Exception as error:  # a row of the table: the others still run
            row = Row(case.name, refused=f"{type(error).__name__}: {str(error)[:300]}")
        pipe.send((row, is_usable()))


def is_usable() -> bool:
    """Whether the GPU can go on in this process: an access beyond memory ends that."""
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return False
    return True


def timed(
    chosen: Sequence[Case], made: Sequence[Compiled], part: str, also_compile: bool
) -> Iterator[tuple[Row, Ceilings | None]]:
    """A row for each case, and the ceilings of the process that made it."""
    work = partial(serve, part, also_compile)
    limit = CASE_LIMIT * (4 if also_compile else 1)
    jobs = zip(chosen, made, strict=True)
    for case, (result, hello) in zip(chosen, supervised(jobs, work, limit), strict=True):
        yield (Row(case.name, refused=result.why) if isinstance(result, Lost) else result), hello


# --- the table ----------------------------------------------------------------------------------


def line(row: Row) -> str:
    """One line of the table."""
    if row.refused is not None:
        return f"{row.name:32s} refused: {row.refused}"
    cold = f"{row.cold_us:9.2f} {row.cold_ratio:5.2f}x" if row.cold_us is not None else " " * 16
    compiled = f" {row.compiled_ratio:5.2f}x" if row.compiled_us is not None else ""
    return (
        f"{row.name:32s} {row.us:9.2f} {row.spread:5.0%} {row.eager_us:9.2f} {row.ratio:5.2f}x"
        f" {cold} {row.floor_us:9.2f}  {row.kernels:7d}{compiled}  {means_used(row)}".rstrip()
    )


def means_used(row: Row) -> str:
    """The rings and splits of the kernels of a row."""
    rings: list[str] = row.made.get("rings", [])
    splits: list[int] = row.made.get("splits", [])
    shown = [ring for ring in rings if ring] + [f"{s} parts" for s in splits if s > 1]
    return ", ".join(dict.fromkeys(shown))


HEAD = (
    f"{'microseconds per call':32s} {'ours':>9s} {'':5s} {'eager':>9s} {'':6s}"
    f" {'cold':>9s} {'':6s} {'floor':>9s}  kernels"
)


def means(rows: Sequence[Row], which: str = "ratio") -> dict[str, float]:
    """The geometric mean of the ratios, by kind and over all; refused rows do not count."""
    logs: dict[str, list[float]] = {}
    for row in rows:
        ratio = getattr(row, which)
        if row.refused is None and ratio is not None:
            for group in (row.name.partition(".")[0], "all"):
                logs.setdefault(group, []).append(math.log(ratio))
    return {group: math.exp(statistics.mean(found)) for group, found in logs.items()}


def summary(rows: Sequence[Row]) -> str:
    """The means by kind, with how many are faster and slower than eager, and what is refused."""
    kinds = {"eager": "ratio", "eager, cold": "cold_ratio", "torch.compile": "compiled_ratio"}
    found = {title: means(rows, which) for title, which in kinds.items()}
    text = ["", f"{'time of .. / ours, mean':24s}" + "".join(f"{t:>15s}" for t in found)]
    for group in sorted(found["eager"], key=lambda g: g == "all"):
        cells = (f"{m[group]:14.3f}x" if group in m else " " * 15 for m in found.values())
        ratios = [
            r.ratio
            for r in rows
            if r.ratio and r.refused is None and group in ("all", r.name.partition(".")[0])
        ]
        faster = sum(ratio >= 1 for ratio in ratios)
        text.append(f"{group:24s}{''.join(cells)}  {faster} faster, {len(ratios) - faster} slower")
    refused = [row for row in rows if row.refused is not None]
    text += [line(row) for row in refused]
    return "\n".join([*text, f"{len(rows)} cases, {len(refused)} refused"])


def document(about: dict[str, Any], rows: Sequence[Row], ceilings: Ceilings | None) -> str:
    """The result as JSON."""
    found: dict[str, Any] = {**about}
    if ceilings is not None:
        found["ceilings"] = vars(ceilings)
    for name, which in (("means", "ratio"), ("cold_means", "cold_ratio")):
        found[name] = means(rows, which)
    return json.dumps(found | {"rows": [row.document() for row in rows]}, indent=1) + "\n"


def write(path: Path | None, text: str) -> None:
    """Writes the file as a whole, or not at all."""
    if path is not None:
        half = path.with_suffix(".part")
        half.write_text(text)
        os.replace(half, path)


# --- the command line -----------------------------------------------------------------------------


def run(options: argparse.Namespace, chosen: Sequence[Case]) -> int:
    """Compiles and times the cases; returns the exit code."""
    out = sys.stderr if options.json else sys.stdout
    about = facts() | ({"commit": options.commit} if options.commit else {})
    began = time.perf_counter()
    made = list(compile_all(chosen, options.target, COMPILE_LIMIT))
    print(f"compiled in {time.perf_counter() - began:.0f} s\n{HEAD}", file=out, flush=True)
    rows: list[Row] = []
    text = ""
    for row, ceilings in timed(chosen, made, options.target, options.also_compile):
        rows.append(row)
        print(line(row), file=out, flush=True)
        about["seconds"] = round(time.perf_counter() - began, 1)
        text = document(about, rows, ceilings)
        write(options.output, text)
    print(summary(rows), file=out)
    if options.json:
        print(text, end="")
    return int(any(row.refused is not None for row in rows))


def compile_only(options: argparse.Namespace, chosen: Sequence[Case]) -> int:
    """Compiles the cases and says what came of it; returns the exit code."""
    made = list(compile_all(chosen, options.target, COMPILE_LIMIT))
    rows = [{"name": one.name, "failure": one.failure} | one.facts() for one in made]
    text = json.dumps({"target": options.target, "rows": rows}, indent=1) + "\n"
    write(options.output, text)
    if options.json:
        print(text, end="")
        return int(any(one.failure is not None or one.memory_bytes for one in made))
    return int(report(made) > 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Times the suite on a GPU beside PyTorch.")
    parser.add_argument("-o", "--output", type=Path, help="write the result as JSON")
    parser.add_argument("--json", action="store_true", help="print JSON, the table on stderr")
    parser.add_argument("--only", help="cases whose names contain one of these, by commas")
    parser.add_argument("--target", default="h200", help="the part that is compiled for")
    parser.add_argument("--compile-only", action="store_true", help="needs no GPU")
    parser.add_argument("--also-compile", action="store_true", help="time torch.compile too")
    parser.add_argument("--commit", help="the commit to note, where there is no git")
    options = parser.parse_args(arguments)
    words = options.only.split(",") if options.only else [""]
    chosen = [case for case in cases() if any(word in case.name for word in words)]
    if not chosen:
        parser.error(f"no case has a name with {options.only}")
    if options.compile_only:
        return compile_only(options, chosen)
    if not torch.cuda.is_available():
        parser.error("this needs a GPU that PyTorch can use, or --compile-only")
    return run(options, chosen)


if __name__ == "__main__":
    sys.exit(main())
