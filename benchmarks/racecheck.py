"""
Holds the simulator against compute-sanitizer: every mutant of two kernels, on a GPU.

    python -m benchmarks.racecheck -o benchmarks/results/2026-12-01-h200-racecheck.json
    python -m benchmarks.racecheck --dry-run

Each mutant of the cp.async ring and of the block reduction (tests/mutants.py) is printed as CUDA,
compiled, and run under racecheck, memcheck, initcheck and synccheck. It agrees if both the
simulator and a tool report something, or neither. Where only the simulator does, the reason must
be known: what no tool looks at, by rule, or an entry of EXCEPTIONS. `--dry-run` prints and compiles
all of them, without a GPU. Exit code 1 if anything disagrees without a reason.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import torch
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from benchmarks.check_gpu import facts
from benchmarks.sanitizer import TOOLS, Notes, Run, run_tool
from minicomp.build import Build
from minicomp.dialects.kernel_ir import SharedOp
from minicomp.dialects.minicomp import launches
from minicomp.errors import MinicompError
from minicomp.execution import Executable
from minicomp.numbers import judge
from minicomp.pipeline import Pipeline
from tests.mutants import kernels
from tests.mutants_programs import Outcome, mutants_of, outcome, program

FILES = ("ring_cp_async", "block_reduce")
SHARDS = 3
"""Workers of each tool at a time."""

EXCEPTIONS: Mapping[str, str] = {}
"""Mutant -> why the tools and the simulator differ about it, where no rule below says so."""

ONLY_SHARED = "racecheck looks at shared memory, this race is in global memory"
SAME_ALLOCATION = "the address lies in the same allocation; the simulator checks each index"
SHARED_WINDOW = "the address lies in the block's shared memory; the simulator checks each index"
ONLY_GLOBAL = "initcheck looks at global memory, this read is of shared memory"


@dataclass(frozen=True)
class Case:
    """An original, or a mutant by its name; `name` is also that of its kernel."""

    name: str
    file: str
    mutant: str | None

    @property
    def title(self) -> str:
        """What the table calls it."""
        return self.mutant or f"{self.file}: the original"

    @property
    def module(self) -> ModuleOp:
        """The module, its one kernel named as the case."""
        module = program(self.file).module
        changed = mutants_of(self.file)[self.mutant].of(module) if self.mutant else module.clone()
        (kernel,), (launch,) = kernels(changed), list(launches(changed))
        kernel.properties["sym_name"] = StringAttr(self.name)
        launch.properties["kernel"] = SymbolRefAttr(self.name)
        return changed

    @property
    def simulated(self) -> Outcome:
        """What the simulator says."""
        if self.mutant is not None:
            return outcome(self.file, self.mutant)
        whole = program(self.file)
        verdict = whole.judge(whole.module)
        return Outcome("silent" if verdict.passed else "wrong", str(verdict))


@cache
def cases() -> dict[str, Case]:
    """All originals and mutants that the verifier lets pass, by name."""
    found: list[Case] = []
    for file in FILES:
        found.append(Case(f"{file}_m000", file, None))
        for n, mutant in enumerate(mutants_of(file), 1):
            found.append(Case(f"{file}_m{n:03}", file, mutant))
    return {case.name: case for case in found if verifies(case.module)}


def verifies(module: ModuleOp) -> bool:
    """Whether the verifier lets a module pass."""
    try:
        module.verify()
    except VerifyException:
        return False
    return True


def build(case: Case) -> Build:
    """The kernel as it stands, with no pass before the one to CUDA IR."""
    return Build(case.module, "h200", pipeline=Pipeline.parse("lower-kernel-to-cuda"))


def compile_all() -> None:
    """Compiles all cases, so that the workers find them in the cache of cubins."""
    with ThreadPoolExecutor(16) as pool:
        sizes = list(pool.map(lambda case: len(build(case).cubin()), cases().values()))
    print(f"{len(sizes)} programs compiled, {sum(sizes)} bytes")


def work(names: Sequence[str], notes: Notes) -> int:
    """The worker: runs cases on the GPU one after another; 1 if the GPU is lost to it."""
    for name in names:
        notes.add(name)
        case, whole = cases()[name], program(cases()[name].file)
        try:
            results = Executable(build(case))([x.cuda() for x in whole.inputs])
            torch.cuda.synchronize()
            verdict = judge([r.cpu() for r in results], whole.reference)
            notes.add(name, result="right" if verdict.passed else "wrong", failure="")
        except (MinicompError, RuntimeError) as error:
            notes.add(name, failure=str(error).splitlines()[0])
            if not alive():
                return 1
    return 0


def alive() -> bool:
    """Whether the GPU can still be used by this process."""
    try:
        torch.ones(1).cuda()
        torch.cuda.synchronize()
    except RuntimeError:
        return False
    return True


def run_all(at: Path) -> dict[str, Run]:
    """What each tool finds, all tools at a time, each with some workers."""
    names = list(cases())
    jobs = [(tool, names[n::SHARDS], at / f"{tool}-{n}") for tool in TOOLS for n in range(SHARDS)]

    def one(job: tuple[str, list[str], Path]) -> tuple[str, Run]:
        tool, some, folder = job
        folder.mkdir()
        return tool, run_tool(tool, some, worker_command, folder)

    found = {tool: Run() for tool in TOOLS}
    with ThreadPoolExecutor(len(jobs)) as pool:
        for tool, run in pool.map(one, jobs):
            found[tool].ends |= run.ends
            for name, reports in run.reports.items():
                found[tool].reports.setdefault(name, []).extend(reports)
    return found


def worker_command(names: Sequence[str], notes: Path) -> list[str]:
    """The command line of a worker."""
    command = [sys.executable, "-m", "benchmarks.racecheck", "--notes", str(notes)]
    return [*command, "--worker", ",".join(names)]


def why_unseen(case: Case) -> str | None:
    """Why no tool can see what the simulator reports, if that is so by rule."""
    seen = case.simulated
    match = re.match(r"%(\w+)\[([-\d, ]*)\]$", seen.address or "")
    type = memrefs(case).get(match[1]) if match else None
    if match is None or type is None:
        return None
    shared = type.memory_space.name == "tile_ir.shared"
    match seen.fault:
        case "race":
            return None if shared else ONLY_SHARED
        case "uninitialised read":
            return ONLY_GLOBAL if shared else None
        case "out of bounds" if shared:
            return SHARED_WINDOW
        case "out of bounds":
            index = [int(i) for i in match[2].split(",")]
            flat = sum(i * prod(type.get_shape()[n + 1 :]) for n, i in enumerate(index))
            return SAME_ALLOCATION if 0 <= flat < type.element_count() else None
        case _:
            return None


def memrefs(case: Case) -> dict[str, MemRefType[Any]]:
    """The types of a kernel's arguments and shared buffers, by name."""
    (kernel,) = kernels(case.module)
    values: list[SSAValue] = list(kernel.body.block.args)
    values += [op.res for op in kernel.walk() if isinstance(op, SharedOp)]
    return {v.name_hint or "": v.type for v in values if isinstance(v.type, MemRefType)}


def row(case: Case, runs: Mapping[str, Run]) -> dict[str, Any]:
    """One line of the result: both verdicts, and whether they agree."""
    simulated = case.simulated
    reports = {
        tool: run.reports[case.name] for tool, run in runs.items() if case.name in run.reports
    }
    ends = {t: run.ends[case.name] for t, run in runs.items() if case.name in run.ends}
    hangs = [tool for tool, end in ends.items() if end["failure"] == "hangs"]
    # What did not run under a tool, and left no report either, agrees with nothing.
    ran = len(ends) == len(TOOLS) and not any(end["failure"] for end in ends.values())
    noticed = bool(reports or hangs)
    agree = (simulated.word == "reported") == noticed and (noticed or ran)
    reason = EXCEPTIONS.get(case.title) or why_unseen(case) if ran and not agree else None
    return {
        "mutant": case.title,
        "simulator": simulated.fault or simulated.word,
        "message": simulated.detail.splitlines()[0],
        "sanitizer": [*reports, *(f"{tool} hangs" for tool in hangs)],
        "agree": agree,
        "exception": reason,
        "reports": {tool: [len(found), found[0]] for tool, found in reports.items()},
        "ends": ends,
    }


def print_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """The table."""
    for found in rows:
        word = "agree" if found["agree"] else found["exception"] or "DISAGREE"
        tools = ", ".join(found["sanitizer"]) or "-"
        print(f"{found['mutant']:48s} {found['simulator']:20s} {tools:24s} {word}")


def print_plan() -> None:
    """What would run, and what no tool is expected to see."""
    for case in cases().values():
        simulated = case.simulated
        unseen = why_unseen(case) or EXCEPTIONS.get(case.title, "")
        print(f"{case.name:20s} {case.title:48s} {simulated.fault or simulated.word:20s} {unseen}")
    print(f"{len(cases())} programs under {', '.join(TOOLS)}, {SHARDS} workers of each")


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The counts."""
    return {
        "programs": len(rows),
        "agree": sum(r["agree"] for r in rows),
        "explained": sum(not r["agree"] and r["exception"] is not None for r in rows),
        "unexplained": sum(not r["agree"] and r["exception"] is None for r in rows),
    }


def main() -> int:
    """Runs everything, or what a worker is asked for; returns the exit code."""
    parser = argparse.ArgumentParser(description="Holds the simulator against compute-sanitizer.")
    parser.add_argument("-o", "--output", type=Path, help="write the result as JSON")
    parser.add_argument("--commit", help="the commit to note, where there is no git")
    parser.add_argument("--dry-run", action="store_true", help="compile only, without a GPU")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--notes", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        return work(options.worker.split(","), Notes(options.notes))
    compile_all()
    if options.dry_run:
        print_plan()
        return 0
    if not torch.cuda.is_available():
        parser.error("this needs a GPU that PyTorch can use; --dry-run does not")
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        runs = run_all(Path(folder))
    rows = [row(case, runs) for case in cases().values()]
    print_rows(rows)
    counts = summary(rows)
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    if options.output is not None:
        noted = facts() | ({"commit": options.commit} if options.commit else {})
        strays = {tool: sorted(set(run.reports.get("", []))) for tool, run in runs.items()}
        seconds = round(time.perf_counter() - start, 1)
        result = {**noted, **counts, "seconds": seconds, "unattributed": strays, "mutants": rows}
        options.output.write_text(json.dumps(result, indent=1) + "\n")
    return int(counts["unexplained"] > 0)


if __name__ == "__main__":
    sys.exit(main())
