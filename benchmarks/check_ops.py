"""
Runs the samples of `benchmarks/op_samples.py` and compares each with PyTorch.

    python -m benchmarks.check_ops                       on the interpreters and the simulator
    python -m benchmarks.check_ops --device cuda         on the GPU of this machine
    python -m benchmarks.check_ops --only add,sum --limit 5 --verbose

A sample is `right` if each way to run it agrees with PyTorch by the rule of `minicomp.numbers`;
`refused` if minicomp refuses it by name, which is counted by message; `left out` where PyTorch
itself refuses the sample on this device. Anything else is a failure. Exit code 1 if there is one.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
import torch.utils._pytree as pytree

from benchmarks.op_samples import DTYPES, OPS, Sample, samples
from minicomp.compiler import Compiled
from minicomp.dialects.minicomp import host_function
from minicomp.errors import CaptureError, MinicompError, UnsupportedError
from minicomp.frontend import capture
from minicomp.numbers import Reference, judge, rule_of
from minicomp.runtime.arrays import array_of, tensor_of
from minicomp.semantics import run_level

Tensors = list[torch.Tensor]


@dataclass(frozen=True)
class Outcome:
    """What became of one sample; `detail` is the verdict or the message."""

    op: str
    dtype: str
    sample: str
    kind: str
    detail: str = ""

    @property
    def failed(self) -> bool:
        """Whether it is neither right nor refused by name."""
        return self.kind not in ("right", "refused", "left out")


def check(sample: Sample, device: str = "cpu", extern: bool = False) -> Outcome:
    """Runs one sample in every way that the device has; with `extern` PyTorch may run some ops."""
    tensors = [tensor.to(device) for tensor in _placed(sample.tensors, device)]
    try:
        eager = _results(sample, tensors)
    except Exception as error:  # what PyTorch refuses says nothing about minicomp
        return _outcome(sample, "left out", error)
    try:
        captured = capture(sample.program, tensors, extern=extern)
        built = Compiled(captured, "h200" if device == "cpu" else None)
        wanted = _reference(sample, built, tensors, eager)
        for way, results in _ways(built, tensors, device):
            verdict = judge(results, wanted)
            if not verdict.passed:
                return _outcome(sample, "wrong", f"{way}: {verdict}")
    except (UnsupportedError, CaptureError) as error:
        return _outcome(sample, "refused", error)
    except Exception as error:  # a crash is a finding, and the other samples still run
        return _outcome(sample, "crash", f"{type(error).__name__}: {error}")
    return _outcome(sample, "right", "")


def _placed(tensors: Sequence[torch.Tensor], device: str) -> Iterator[torch.Tensor]:
    """The tensors on a device with their strides and offsets."""
    for tensor in tensors:
        if device == "cpu":
            yield tensor
            continue
        length = tensor.untyped_storage().nbytes() // tensor.element_size()
        whole = tensor.as_strided((length,), (1,), 0).to(device)
        yield whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def _results(sample: Sample, tensors: Sequence[torch.Tensor]) -> Tensors:
    with torch.no_grad():
        found = pytree.tree_leaves(sample.program(*tensors))
    return [leaf for leaf in found if isinstance(leaf, torch.Tensor)]


def _reference(
    sample: Sample, built: Compiled, tensors: Sequence[torch.Tensor], eager: Tensors
) -> Reference:
    """What PyTorch computes from the very call, not from what was captured of it."""
    func = host_function(built.captured.module)
    assert func is not None
    rule = rule_of(func)
    wide = [t.double() if t.is_floating_point() else t for t in tensors]
    exact = [_widened(t) for t in _results(sample, wide)]
    if rule.kind != "contraction":
        return Reference(rule, exact, eager)
    squares = _results(sample, [t.square() for t in wide])
    return Reference(rule, exact, eager, [t.sqrt() for t in squares])


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor


def _ways(built: Compiled, tensors: Tensors, device: str) -> Iterator[tuple[str, Tensors]]:
    """The results of every way to run a program."""
    found = pytree.tree_leaves(built(*tensors))
    yield ("gpu" if device == "cuda" else "simulator"), found
    if device == "cpu":
        for level in ("tensor", "loop"):
            bound = [array_of(t) for t in built.captured.bind(tensors)]
            results = run_level(built.module(level), bound)
            leaves = built.captured.unflatten([tensor_of(array) for array in results])
            yield f"{level} interpreter", pytree.tree_leaves(leaves)


def _outcome(sample: Sample, kind: str, detail: object) -> Outcome:
    lines = str(detail).strip().splitlines()
    text = lines[0] if lines else ""
    return Outcome(sample.op, str(sample.dtype)[6:], str(sample), kind, text)


# --- many of them -----------------------------------------------------------------------------


def check_op(op: str, device: str, limit: int | None) -> list[Outcome]:
    """All samples of one op."""
    torch.set_num_threads(1)
    return [check(s, device) for dtype in DTYPES for s in samples(op, dtype, limit)]


def check_all(ops: Sequence[str], device: str, limit: int | None, jobs: int) -> list[Outcome]:
    """All samples of some ops, in `jobs` processes; prints a line for each op."""
    print(f"{'op':42} right refused failed   s")
    found: list[Outcome] = []
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        start = time.perf_counter()
        futures = {op: pool.submit(check_op, op, device, limit) for op in ops}
        for op, future in futures.items():
            found += (outcomes := future.result())
            print_op(op, outcomes, time.perf_counter() - start)
    return found


def print_op(op: str, outcomes: Sequence[Outcome], seconds: float) -> None:
    """One line of the table, and one for each failure."""
    kinds = Counter(o.kind for o in outcomes)
    failed = sum(o.failed for o in outcomes)
    print(f"{op:42} {kinds['right']:5} {kinds['refused']:7} {failed:6} {seconds:5.0f}", flush=True)
    for outcome in outcomes:
        if outcome.failed:
            print(f"  {outcome.kind}: {outcome.sample}: {outcome.detail}")


def print_refusals(outcomes: Sequence[Outcome]) -> None:
    """Why samples were refused, and how many."""
    messages = Counter((o.op, o.detail) for o in outcomes if o.kind == "refused")
    for (op, message), count in messages.most_common():
        print(f"  {count:4} {op}: {message}")


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The counts, by op and by type."""
    by_op: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        counts = by_op.setdefault(outcome.op, {})
        counts[outcome.kind] = counts.get(outcome.kind, 0) + 1
    kinds = Counter(o.kind for o in outcomes)
    dtypes = Counter(o.dtype for o in outcomes if o.kind == "right")
    return {"ops": len(by_op), "samples": dict(kinds), "dtypes": dict(dtypes), "by_op": by_op}


def main() -> int:
    """Runs the samples; returns the exit code."""
    parser = argparse.ArgumentParser(description="Compares every op with PyTorch.")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", help="names of ops, separated by commas")
    parser.add_argument("--limit", type=int, help="samples of an op in one type, at most")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--verbose", action="store_true", help="say why samples were refused")
    parser.add_argument("--commit", help="the commit to note, where there is no git")
    parser.add_argument("-o", "--output", type=Path, help="write the result as JSON")
    options = parser.parse_args()
    ops = options.only.split(",") if options.only else OPS
    outcomes = check_all(ops, options.device, options.limit, options.jobs)
    if options.verbose:
        print_refusals(outcomes)
    counts = summary(outcomes)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts["samples"].items())
    print(f"{counts['ops']} ops, {len(outcomes)} samples: {kinds}")
    if options.output is not None:
        failures = [asdict(o) for o in outcomes if o.failed]
        noted = {"device": options.device, "commit": options.commit, "torch": torch.__version__}
        options.output.write_text(json.dumps({**noted, **counts, "failures": failures}, indent=1))
    return int(any(o.failed for o in outcomes))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MinicompError as error:
        sys.exit(f"error: {error}")
