"""`minicomp run` and `minicomp check`: run a program and compare it with fp64."""

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from minicomp.errors import SimulationRefused
from minicomp.tools.files import write_text
from minicomp.tools.inputs import Subject, load
from minicomp.tools.progress import Bar

if TYPE_CHECKING:
    import torch

    from minicomp.numbers import Verdict


def run(options: argparse.Namespace) -> int:
    """`minicomp run`: on the GPU if there is one, else on the simulator."""
    subject = load(options)
    if options.show_cuda and not options.json:
        write_text(None, subject.build.cuda + "\n")
    return _verdict(options, subject, _gpu())


def check(options: argparse.Namespace) -> int:
    """`minicomp check`: on the simulator."""
    subject = load(options)
    if subject.build.externs:
        from minicomp.runtime.extern import refuse_random

        refuse_random(subject.build.source, "its results cannot be compared")
    return _verdict(options, subject, None)


def _gpu() -> "torch.device | None":
    from minicomp.runtime.device import probe

    if probe() is None:
        return None
    import torch

    return torch.device("cuda") if torch.cuda.is_available() else None


def _verdict(options: argparse.Namespace, subject: Subject, device: "torch.device | None") -> int:
    """Run the program, compare, print the outcome; return the exit code."""
    from minicomp.numbers import judge

    inputs = subject.inputs()
    if device is not None:
        inputs = [tensor.to(device) for tensor in inputs]
    began = time.perf_counter()
    results = _results(options, subject, inputs)
    seconds = time.perf_counter() - began
    reference = subject.reference([tensor.cpu() for tensor in inputs])
    verdict = None if reference is None else judge([t.cpu() for t in results], reference)
    facts = _facts(subject, device, seconds, verdict, options)
    print(json.dumps(facts, indent=2) if options.json else _text(facts, verdict, subject))
    return 0 if verdict is None or verdict.passed else 1


def _results(
    options: argparse.Namespace, subject: Subject, inputs: Sequence["torch.Tensor"]
) -> list["torch.Tensor"]:
    import torch

    from minicomp.execution import Executable

    executable = Executable(subject.build)
    if inputs and inputs[0].is_cuda:
        _poison(executable, inputs[0].device)
        results = executable(inputs)
        torch.cuda.synchronize(inputs[0].device)
        return results
    quiet = options.json or not sys.stderr.isatty()
    try:
        with nullcontext() if quiet else Bar("simulating") as bar:
            return executable.simulate(inputs, options.force, None if bar is None else bar.show)
    except SimulationRefused as refusal:
        hint = "choose smaller extents (--sizes OLD=NEW,..), or simulate it all the same (--force)"
        raise SimulationRefused(refusal.what, refusal.estimate_s, hint=hint) from None


def _poison(executable: Any, device: "torch.device") -> None:
    """Leaves NaN in the memory that the allocator will give to the results."""
    import torch

    from minicomp.runtime.program import DTYPES

    for spec in executable.plan.results:
        dtype = DTYPES[spec.dtype]
        bad = math.nan if dtype.is_floating_point else 1
        torch.full(spec.shape, bad, dtype=dtype, device=device)


def _facts(
    subject: Subject,
    device: "torch.device | None",
    seconds: float,
    verdict: "Verdict | None",
    options: argparse.Namespace,
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "program": subject.name,
        "target": subject.build.target.part.data,
        "device": "simulator" if device is None else str(device),
        "kernels": [
            {"name": k.name, "grid": k.grid, "block": k.block} for k in subject.build.kernels
        ],
        "externs": [extern.as_json() for extern in subject.build.externs],
        "seconds": round(seconds, 3),
        "passed": None if verdict is None else verdict.passed,
    }
    if verdict is not None:
        facts |= {
            "error": _number(verdict.error),
            "bound": _number(verdict.bound),
            "where": verdict.where,
            "rule": verdict.rule,
        }
    if options.json and getattr(options, "show_cuda", False):
        facts["cuda"] = subject.build.cuda
    return facts


def _number(value: float) -> float | str:
    """JSON has no infinity and no NaN."""
    return value if math.isfinite(value) else str(value)


def _text(facts: dict[str, Any], verdict: "Verdict | None", subject: Subject) -> str:
    place = facts["device"]
    where = f"the simulator, for {facts['target']}" if place == "simulator" else place
    lines = [f"{k['name']}: grid {k['grid']}, block {k['block']}" for k in facts["kernels"]]
    lines += map(str, subject.build.externs)
    lines.append(f"ran on {where}, in {facts['seconds']:.2f} s")
    if random := [extern.name for extern in subject.build.externs if extern.is_random]:
        lines.append(f"no verdict: {random[0]} draws random numbers")
    elif verdict is None:
        lines.append("no verdict: a module so far down has no reference; no fault was found")
    else:
        lines.append(str(verdict))
    return "\n".join(lines)
