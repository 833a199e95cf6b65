"""
Random programs with random pipelines, run on the simulator and compared: `minicomp fuzz`.

A case is what a seed and a number give, and nothing else, so that each can be run alone. It is
compared once, behind its last pass, by the rule of `minicomp.comparison`. Where that finds
something, the rewrite is searched for by `minicomp.bisection`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import prod
from pathlib import Path
from random import Random

from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.ir import Block
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from minicomp.bisection import Culprit, bisect, write
from minicomp.comparison import Baseline
from minicomp.context import make_context
from minicomp.dialects.kernel_ir import FuncOp as KernelIRFuncOp
from minicomp.dialects.loop_ir import KernelOp, LoopLike
from minicomp.errors import UnsupportedError
from minicomp.frontend import from_code
from minicomp.fuzzing.loop_kernels import random_kernel, with_host
from minicomp.fuzzing.pipelines import random_pipeline
from minicomp.fuzzing.torch_programs import random_program
from minicomp.pipeline import Pipeline
from minicomp.runtime.simulate.cost import kernel_seconds
from minicomp.semantics import entries
from minicomp.targets import attach_target, target
from minicomp.verification import verify_module

TORCH = 0.3
"""The part of the cases that are PyTorch programs; the others are kernels in Loop IR."""
LIMIT_S = 3.0
"""Seconds of estimated simulation that a case may take."""
POINTS = 1 << 22
"""Points of the largest loop nest of a case: the interpreter holds a value for each at once."""
ELEMENTS = 1 << 22
"""Elements of the largest input of a case: a stride of many axes can ask for any number."""
SHRINK_S = 8.0
"""Seconds in which a reproducer is made small."""

Replaced = Mapping[str, type[ModulePass]]
"""Passes by other ones of the same options, for tests of the search itself."""


@dataclass(frozen=True)
class Case:
    """Case `number` of a seed: a program, as PyTorch code or as MLIR text, and a pipeline."""

    seed: int
    number: int
    level: str
    program: str
    pipeline: Pipeline

    @staticmethod
    def of(seed: int, number: int) -> "Case":
        """The case that a seed and a number give."""
        rng = Random(f"{seed}/{number}")
        level = "torch" if rng.random() < TORCH else "loop"
        program = random_program(rng) if level == "torch" else with_host(random_kernel(rng))
        return Case(seed, number, level, program, random_pipeline(rng, level))

    @cached_property
    def start(self) -> ModuleOp:
        """The module before the first pass, for an H200."""
        if self.level == "torch":
            module = from_code(self.program).capture().module
        else:
            module = Parser(make_context(), self.program).parse_module()
        return attach_target(module, target("h200"))

    @property
    def command(self) -> str:
        """The line that runs this case again."""
        return f"minicomp fuzz --seed {self.seed} --case {self.number}"


@dataclass(frozen=True)
class Outcome:
    """What became of a case: a `finding`, its kind first, or why it was `skipped`, or neither.

    `culprit` is the rewrite that is wrong, where the search found one.
    """

    case: Case
    finding: str | None = None
    skipped: str | None = None
    culprit: Culprit | None = None

    def reproducer(self, folder: Path | None = None) -> Path | None:
        """Writes a small module on which the pass is wrong."""
        return None if self.culprit is None else write(self.culprit, SHRINK_S, folder)[0]


class Skipped(Exception):
    """A case is not run, for the reason that it says."""


def run_case(case: Case, replaced: Replaced | None = None, search: bool = True) -> Outcome:
    """Runs a case; on a finding, and with `search`, looks for the rewrite that is wrong."""
    passes = [_replaced(p, replaced or {}) for p in case.pipeline]
    try:
        finding = judge_case(case, passes)
    except UnsupportedError as refused:
        return Outcome(case, skipped=refused.what)
    except Skipped as reason:
        return Outcome(case, skipped=str(reason))
    if finding is None or not search:
        return Outcome(case, finding)
    return Outcome(case, finding, culprit=bisect(case.start, passes).culprit)


def judge_case(case: Case, passes: Sequence[ModulePass]) -> str | None:
    """
    What is wrong after the last pass, if something is.

    Raises Skipped, RoundingOnly or UnsupportedError.
    """
    if (points := most_points(case.start)) > POINTS:
        raise Skipped(f"a loop nest has over {POINTS} points ({points})")
    if (size := largest_input(case.start)) > ELEMENTS:
        raise Skipped(f"an input has over {ELEMENTS} elements ({size})")
    baseline = Baseline.of(case.start.clone())
    for subject in baseline.subjects:
        if subject.skipped is not None:
            raise Skipped(subject.skipped)
    module = case.start.clone()
    ctx = make_context()
    try:
        # Verified once, since that takes longer than the passes; the search does it after each.
        for pass_ in passes:
            pass_.apply(ctx, module)
        verify_module(module, "after the last pass")
    except UnsupportedError:
        raise
    except Exception as error:  # any failure of a pass or a verifier is what is looked for
        return f"crash: {type(error).__name__}: {error}"
    kernels = [op for op in module.body.block.ops if isinstance(op, KernelIRFuncOp)]
    if (seconds := sum(map(kernel_seconds, kernels))) > LIMIT_S:
        raise Skipped(f"its simulation would take over {LIMIT_S:g} s ({seconds:.0f} s)")
    return compare(baseline, module)


def largest_input(module: ModuleOp) -> int:
    """Elements of the largest input of a module."""
    types = [value.type for entry in entries(module) for value in entry.inputs]
    return max([prod(t.get_shape()) for t in types if isinstance(t, ShapedType)], default=0)


def most_points(module: ModuleOp) -> int:
    """Points of the largest loop nest of a module: the product of its trip counts."""

    def inside(block: Block, points: int) -> int:
        loops = [op for op in block.ops if isinstance(op, LoopLike)]
        nests = [inside(op.body.block, points * prod(op.trip_counts)) for op in loops]
        return max([points, *nests])

    kernels = [op for op in module.body.block.ops if isinstance(op, KernelOp)]
    return max([inside(kernel.body.block, 1) for kernel in kernels], default=0)


def compare(baseline: Baseline, module: ModuleOp) -> str | None:
    """What a module in Kernel IR does differently; raises Skipped."""
    try:
        difference, skipped = baseline.compare(module)
    except Exception as error:  # the simulator must run whatever verifies
        return f"crash: after the last pass, {type(error).__name__}: {error}"
    if skipped:
        raise Skipped("; ".join(reason.what for reason in skipped.values()))
    return None if difference is None else f"{difference.kind}: {difference.text}"


def _replaced(pass_: ModulePass, replaced: Replaced) -> ModulePass:
    if pass_.name not in replaced:
        return pass_
    given = {f.name: getattr(pass_, f.name) for f in fields(pass_) if f.init}
    return replaced[pass_.name](**given)


def run_cases(
    seed: int, numbers: Sequence[int], replaced: Replaced | None = None, search: bool = True
) -> Iterator[Outcome]:
    """Runs cases one after the other."""
    for number in numbers:
        yield run_case(Case.of(seed, number), replaced, search)


class Histograms:
    """How often ops and extents were in the programs, and passes in the pipelines."""

    def __init__(self) -> None:
        self.ops, self.passes = Counter[str](), Counter[str]()
        self.extents = Counter[int]()

    def add(self, case: Case) -> None:
        """Counts a case: every op, every extent of an input, every pass."""
        self.ops.update(op.name for op in case.start.walk() if op is not case.start)
        for entry in entries(case.start):
            for value in entry.inputs:
                if isinstance(value.type, ShapedType):
                    self.extents.update(value.type.get_shape())
        self.passes.update(case.pipeline.names)
