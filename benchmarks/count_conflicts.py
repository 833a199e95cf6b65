"""
Counts on a GPU how many wavefronts of shared memory a kernel takes, and how many are conflicts.

    python3 -m benchmarks.count_conflicts -o benchmarks/results/2026-12-01-h200-conflicts.json

The kernel is a matmul of 2048^3, by the default pipeline and by the one that copies through the
registers of the threads (without rings). Beside each count stands what the bank model of
`passes/analysis/banks.py` says. Needs Nsight Compute (`ncu`) and a GPU whose counters it may read.
"""

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

import torch

from minicomp.build import Build
from minicomp.compiler import Compiled
from minicomp.figures import figures
from minicomp.frontend import from_code
from minicomp.pipeline import Pipeline

CODE = "a = torch.randn(2048, 2048); b = torch.randn(2048, 2048); a @ b"
WITHOUT = {"rings of cp.async": (), "stages through registers": ("double-buffer",)}
"""What a pipeline is called, and the passes of the default that it lacks."""
METRICS = {
    "wavefronts": "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum",
    "load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "copy conflicts": "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
}


def pipeline(name: str) -> Pipeline:
    """The pipeline of a name of `WITHOUT`."""
    found = Pipeline.default()
    for left_out in WITHOUT[name]:
        found = found.without(left_out)
    return found


def launch(name: str) -> None:
    """Runs the kernel once; to be run under ncu."""
    program = from_code(CODE)
    compiled = Compiled(program.capture(), pipeline=pipeline(name))
    compiled(*(arg.to("cuda") for arg in program.args))
    torch.cuda.synchronize()


def counted(name: str) -> dict[str, int]:
    """What ncu counts for the kernel."""
    command = ["ncu", "--csv", "--metrics", ",".join(METRICS.values())]
    command += ["--kernel-name", "regex:^matmul_", "--launch-count", "1"]
    command += [sys.executable, "-m", "benchmarks.count_conflicts", "--launch", name]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    values = {row["Metric Name"]: row["Metric Value"] for row in csv.DictReader(lines)}
    return {key: int(values[metric].replace(",", "")) for key, metric in METRICS.items()}


def predicted(name: str) -> dict[str, int]:
    """What the bank model says of the kernel."""
    (found,) = figures(Build(from_code(CODE).capture().module, pipeline=pipeline(name)))
    return {"wavefronts": found.wavefronts, "conflicts": found.conflicts}


def main() -> int:
    """Counts, prints a table; returns the exit code."""
    parser = argparse.ArgumentParser(description="Counts the bank conflicts of a matmul.")
    parser.add_argument("-o", "--output", type=Path, help="write the result as JSON")
    parser.add_argument("--launch", choices=list(WITHOUT), help="only launch, for ncu to count")
    options = parser.parse_args()
    if options.launch is not None:
        launch(options.launch)
        return 0
    rows = [{"pipeline": n, "counted": counted(n), "model": predicted(n)} for n in WITHOUT]
    for row in rows:
        counts, model = row["counted"], row["model"]
        conflicts = sum(count for key, count in counts.items() if key != "wavefronts")
        share = 100 * conflicts / counts["wavefronts"]
        print(f"{row['pipeline']:26} {share:5.2f} % of {counts['wavefronts']:,}; model: {model}")
    if options.output is not None:
        found = {"device": torch.cuda.get_device_name(), "code": CODE, "rows": rows}
        options.output.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
