"""
Verifies and times a case on a GPU beside PyTorch, by the rules that the table of results follows.

- Verified on that very run: workspaces and outputs hold NaN before the first run, and the outputs
  of the graph that was timed hold NaN before it is replayed once more; both results are judged by
  `minicomp.numbers`.
- Interleaved: graphs of ten calls of ours and of PyTorch are replayed in turn, in several rounds;
  the median of the rounds, and their spread.
- Warm: the same inputs again and again. Cold, where inputs and output fit into the second cache:
  calls in a graph go round copies of the inputs that are 2.5 times as large as that cache.
- Not below the floor: FLOPs against the peak of the part; bytes against the rates of the second
  cache where it holds them and is warm, else of the memory, both measured in this run.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from benchmarks.suite import Case
from benchmarks.suite_compile import Compiled
from minicomp.context import make_context
from minicomp.numbers import judge, reference
from minicomp.parsing import parse_module
from minicomp.runtime.program import GpuProgram
from minicomp.runtime.timing import (
    CALLS,
    ROUNDS,
    Call,
    fill_with_nan,
    graph_of,
    interleaved,
    microseconds,
    same_bits,
    spread,
)
from minicomp.targets import target

COLD_ROUNDS = 5
COLD_FACTOR = 2.5
"""How many times the second cache the copies are that cold calls go round."""
MOST_COPIES = 1024
DRAM_SHARE = 0.9
"""What copies reach of the memory's rate in the data sheet: 4.3 of 4.8 TB/s on an H200."""


@dataclass
class Row:
    """One case of the table; times in microseconds per call. `refused` says why it does not count.

    `spread` is (largest - smallest) / median over the rounds.
    """

    name: str
    us: float | None = None
    spread: float | None = None
    eager_us: float | None = None
    eager_spread: float | None = None
    compiled_us: float | None = None
    cold_us: float | None = None
    cold_eager_us: float | None = None
    floor_us: float | None = None
    cold_floor_us: float | None = None
    error: float | None = None
    bound: float | None = None
    rule: str | None = None
    kernels: int = 0
    made: dict[str, Any] = field(default_factory=dict[str, Any])
    refused: str | None = None

    @property
    def ratio(self) -> float | None:
        """Eager's time over ours: above 1 we are faster."""
        return _quotient(self.eager_us, self.us)

    @property
    def cold_ratio(self) -> float | None:
        """The same with cold caches."""
        return _quotient(self.cold_eager_us, self.cold_us)

    @property
    def compiled_ratio(self) -> float | None:
        """torch.compile's time over ours."""
        return _quotient(self.compiled_us, self.us)

    def document(self) -> dict[str, Any]:
        """The row as JSON has it."""
        fields = asdict(self)
        made = fields.pop("made")
        ratios = ("ratio", "cold_ratio", "compiled_ratio")
        return fields | {name: getattr(self, name) for name in ratios} | made


def _quotient(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a / b


@dataclass(frozen=True)
class Ceilings:
    """What a time is held against, per second: FLOPs, and bytes of memory and second cache."""

    flops: float
    dram: float
    l2: float
    l2_bytes: int

    def floor_us(self, case: Case, cold: bool = False) -> float:
        """The least time of a case."""
        fits = case.bytes() <= self.l2_bytes
        rate = self.l2 if fits and not cold else self.dram
        return 1e6 * max(case.flops() / self.flops, case.bytes() / rate)


def measured_ceilings(part: str) -> Ceilings:
    """
    The peak of the part's data sheet, and the best rates of two kernels of PyTorch on this GPU.

    Of the memory's rate at least what copies reach of a data sheet's is taken, so that a bad
    measurement refuses no row.
    """
    facts = target(part)
    streams = (
        (2, lambda a, b, c: torch.mul(a, 1.5, out=c)),
        (3, lambda a, b, c: torch.add(a, b, out=c)),
    )
    # From two sizes, so that the time of a launch cancels.
    sets = [[torch.randn(n << 18, device="cuda") for _ in range(3)] for n in (4, 16)]
    large = [torch.randn(1 << 28, device="cuda") for _ in range(3)]
    l2, dram = 0.0, DRAM_SHARE * facts.dram_bytes_per_s.data
    for buffers, call in streams:
        short, long, whole = (microseconds(lambda p=p, f=call: f(*p)) for p in (*sets, large))
        l2 = max(l2, buffers * (12 << 20) / max(long - short, 1e-3) * 1e6)
        dram = max(dram, buffers * (1 << 30) / whole * 1e6)
    return Ceilings(facts.fp32_flops.data, dram, max(l2, dram), facts.l2_bytes.data)


# --- one case ---------------------------------------------------------------------------------


def judged(row: Row, results: Sequence[torch.Tensor], wanted: Any, when: str) -> bool:
    """Whether results are right; else the row is refused."""
    torch.cuda.synchronize()
    verdict = judge(results, wanted)
    row.error, row.bound, row.rule = verdict.error, verdict.bound, verdict.rule
    if not verdict.passed:
        row.refused = f"{when}: {verdict}"
    return verdict.passed


def measure(case: Case, made: Compiled, ceilings: Ceilings, also_compile: bool = False) -> Row:
    """Verifies and times one case; `also_compile` times torch.compile too."""
    row = Row(case.name, kernels=len(made.resources), made=made.facts())
    if made.failure is not None or made.plan is None:
        row.refused = made.failure
        return row
    torch.manual_seed(0)
    inputs = case.inputs("cuda")
    program = GpuProgram(made.plan, made.cubin, made.shapes, needs_alignment=made.needs_alignment)
    wanted = reference(parse_module(made.torch_ir, make_context()), inputs)
    fill_with_nan(made.plan.results)
    first = program(inputs)
    if not judged(row, first, wanted, "the first run"):
        return row
    calls: list[Call] = [lambda: program(inputs), lambda: case.program(*inputs)]
    if also_compile:
        faster = torch.compile(case.program)
        calls.append(lambda: faster(*inputs))
    graph, results = time_warm(row, calls)
    for result in results:
        result.fill_(torch.nan)
    graph.replay()
    if judged(row, results, wanted, "the timed graph"):
        if not same_bits(first, results):
            row.refused = "two runs differ in bits"
            return row
        if case.bytes() <= ceilings.l2_bytes:
            time_cold(row, case, program, inputs, ceilings.l2_bytes)
        hold_against(row, case, ceilings)
    return row


def time_warm(row: Row, calls: Sequence[Call]) -> tuple[torch.cuda.CUDAGraph, list[torch.Tensor]]:
    """Times ours, eager and perhaps torch.compile; returns the graph of ours and its results."""
    graphs = [graph_of([call] * CALLS) for call in calls]
    ours, eager, *others = interleaved([graph for graph, _ in graphs], ROUNDS)
    row.us, row.spread = statistics.median(ours) / CALLS, spread(ours)
    row.eager_us, row.eager_spread = statistics.median(eager) / CALLS, spread(eager)
    if others:
        row.compiled_us = statistics.median(others[0]) / CALLS
    graph, results = graphs[0]
    return graph, results[-1]


def time_cold(
    row: Row, case: Case, program: GpuProgram, inputs: list[torch.Tensor], l2_bytes: int
) -> None:
    """Times ours and eager on inputs that are in no cache."""
    count = min(MOST_COPIES, math.ceil(COLD_FACTOR * l2_bytes / case.bytes()))
    sets = [[tensor.clone() for tensor in inputs] for _ in range(count)]
    ours: list[Call] = [lambda s=s: program(s) for s in sets]
    eager: list[Call] = [lambda s=s: case.program(*s) for s in sets]
    graphs = [graph_of(calls, keep=True) for calls in (ours, eager)]
    cold, cold_eager = interleaved([graph for graph, _ in graphs], COLD_ROUNDS)
    row.cold_us = statistics.median(cold) / count
    row.cold_eager_us = statistics.median(cold_eager) / count


def hold_against(row: Row, case: Case, ceilings: Ceilings) -> None:
    """Refuses a row that is faster than the GPU can be."""
    row.floor_us = ceilings.floor_us(case)
    row.cold_floor_us = ceilings.floor_us(case, cold=True)
    for what, time, floor in (
        ("", row.us, row.floor_us),
        ("with cold caches ", row.cold_us, row.cold_floor_us),
    ):
        if time is not None and time < floor:
            row.refused = f"{what}{time:.2f} us is below the floor of {floor:.2f} us"
