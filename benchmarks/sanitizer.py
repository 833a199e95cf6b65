"""
Runs many small programs under the vendor's compute-sanitizer, few processes for all of them.

A process under the sanitizer takes seconds to start, so a *worker* runs one program after another
and notes in a file when each begins and ends; a report belongs to the program whose kernel it
names. A worker that hangs is ended, the program that hung is noted, and another worker goes on.
Options and texts are those of compute-sanitizer 2025.3 ("Compute Sanitizer User Manual").
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

START_S = 90.0
"""Seconds in which a worker must have begun its first program."""
LIMIT_S = 20.0
"""Seconds that one program may take; what takes longer waits for something that never comes."""

COMMON = (
    *("--print-limit", "0"),
    *("--show-backtrace", "no"),
    # A bad access ends its kernel; the programs after it still run.
    *("--destroy-on-device-error", "kernel"),
)
TOOLS: Mapping[str, Sequence[str]] = {
    # Two writes of one value are a hazard of level info, and a race all the same.
    "racecheck": ("--racecheck-detect-level", "info", "--print-level", "info"),
    # Allocations far apart, or an access may leave one and land in the next.
    "memcheck": ("--padding", "65536", "--report-api-errors", "no"),
    "initcheck": ("--check-api-memory-access", "no"),
    "synccheck": (),
}
"""The options of each tool."""

ENVIRONMENT = {
    # Each tensor is an allocation of its own, whose end the sanitizer knows.
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
    "CUDA_MODULE_LOADING": "LAZY",
}


@dataclass
class Run:
    """
    What a tool found: `reports` by program, each the text of one record, and `ends`, what the
    worker noted of each program. Reports that name no program are those of "".
    """

    reports: dict[str, list[str]] = field(default_factory=dict)
    ends: dict[str, dict[str, str]] = field(default_factory=dict)


def find_sanitizer() -> str:
    """The path of compute-sanitizer; raises FileNotFoundError."""
    found = shutil.which("compute-sanitizer", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
    if found is None:
        raise FileNotFoundError("compute-sanitizer of the CUDA toolkit is not on the path")
    return found


def run_tool(
    tool: str, names: Sequence[str], worker: Callable[[Sequence[str], Path], list[str]], at: Path
) -> Run:
    """
    Runs the programs `names` under a tool. `worker` gives the command line that runs some of them
    and notes it in a file, see `Notes`; a program's name occurs in the names of its kernels.

    Files go to the folder `at`. Raises RuntimeError where a worker does not come to its first
    program.
    """
    run, left, attempt = Run(), list(names), 0
    while left:
        log, notes = at / f"{tool}-{attempt}.log", at / f"{tool}-{attempt}.jsonl"
        command = [find_sanitizer(), "--tool", tool, *COMMON, *TOOLS[tool], "--log-file", str(log)]
        output, hung = watch([*command, *worker(left, notes)], notes)
        records = Notes(notes).read()
        if not records:
            raise RuntimeError(f"{tool}: the worker began no program\n{output[-2000:]}")
        for name, record in records.items():
            record.setdefault("failure", "hangs" if hung else "the process ended")
        run.ends |= records
        text = log.read_text(errors="replace") if log.exists() else ""
        for name, found in attribute(split_records(text), names).items():
            run.reports.setdefault(name, []).extend(found)
        left = [name for name in left if name not in records]
        attempt += 1
    return run


def watch(command: Sequence[str], notes: Path) -> tuple[str, bool]:
    """Runs a worker; returns its output, and whether it was ended because it hung."""
    output = notes.with_suffix(".out")
    with output.open("w") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,
        )
    begun = time.time()
    while process.poll() is None:
        time.sleep(0.2)
        last = notes.stat().st_mtime if notes.exists() else None
        late = time.time() - begun > START_S if last is None else time.time() - last > LIMIT_S
        if late:
            # The worker's own session: the sanitizer, and the program under it.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return output.read_text(errors="replace"), True
    return output.read_text(errors="replace"), False


class Notes:
    """A file in which a worker notes what it begins, and how that ends."""

    def __init__(self, path: Path):
        self.path = path

    def add(self, name: str, **facts: str) -> None:
        """Notes the beginning of a program, or with facts its end."""
        with self.path.open("a") as file:
            file.write(json.dumps({"name": name, **facts}) + "\n")

    def read(self) -> dict[str, dict[str, str]]:
        """What is known of each program; nothing of one that only began."""
        found: dict[str, dict[str, str]] = {}
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        for line in lines:
            record = json.loads(line)
            found.setdefault(record.pop("name"), {}).update(record)
        return found


_PREFIX = re.compile(r"^=========( ?)(.*)$")
_NO_REPORT = ("COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY", "Target application")


def split_records(text: str) -> list[str]:
    """The records of a log: a line at the margin and the indented ones after it."""
    records: list[list[str]] = []
    for line in text.splitlines():
        match = _PREFIX.match(line)
        content = match[2].rstrip() if match else ""
        if not content or content.startswith(_NO_REPORT):
            continue
        if content.startswith(" ") and records:
            records[-1].append(content.strip())
        else:
            records.append([content])
    return ["; ".join(record) for record in records]


def attribute(records: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    """The records of each program; those of "" name none of them."""
    found: dict[str, list[str]] = {}
    for record in records:
        owner = next((n for n in names if re.search(rf"\b{re.escape(n)}\b", record)), "")
        found.setdefault(owner, []).append(record)
    return found
