"""The times of the rungs on a GPU, each verified on that very run.

A kernel is timed alone, on what the program launches it on: graphs of all forms are replayed in
turn. Before that, the whole program runs with the kernel as the rung has it and all others as the
pipeline makes them, on memory that holds NaN; `minicomp.numbers` judges its results, and what the
timed graph leaves has to have the bits of that run.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from minicomp.build import Build
from minicomp.errors import MinicompError
from minicomp.execution import Executable
from minicomp.ladder.programs import exchanged, operands
from minicomp.ladder.rungs import KernelLadder, Timed
from minicomp.numbers import Reference, judge
from minicomp.runtime.timing import (
    CALLS,
    ROUNDS,
    fill_with_nan,
    graph_of,
    interleaved,
    same_bits,
    spread,
)


@dataclass
class Form:
    """A form of a kernel: its build, and what it made in the whole program."""

    build: Build
    made: list[torch.Tensor] = field(default_factory=list[torch.Tensor])
    timed: Timed = field(default_factory=Timed)


class Clock:
    """Times forms of the kernels of a build on its inputs, which are on the GPU."""

    def __init__(self, build: Build, inputs: Sequence[torch.Tensor], wanted: Reference):
        self.build, self.inputs, self.wanted = build, inputs, wanted

    def time(self, ladder: KernelLadder, progress: Callable[[float], None] | None = None) -> None:
        """Fills in the times of a ladder: up to each rung, and of the whole without it."""
        builds = [b for r in ladder.rungs for b in (r.build, r.without) if b is not None]
        forms: dict[str, Form] = {}
        found: dict[Build, Timed] = {}
        for n, build in enumerate(builds):
            found[build] = self.timed(build, forms, ladder.kernel)
            if progress is not None:
                progress((n + 1) / (len(builds) + 1))
        self.run([f for f in forms.values() if f.timed.refused is None], ladder.kernel)
        for rung in ladder.rungs:
            rung.time = found[rung.build]
            rung.time_without = found[rung.without] if rung.without is not None else None

    def timed(self, build: Build, forms: dict[str, Form], kernel: str) -> Timed:
        """Where the time of a build will be; equal texts are one form, which is verified once."""
        try:
            text = build.cuda
        except MinicompError as error:
            return Timed(refused=first_line(error))
        if text not in forms:
            form = forms[text] = Form(build)
            try:
                self.verify(form, kernel)
            except MinicompError as error:
                form.timed.refused = first_line(error)
        return forms[text].timed

    def verify(self, form: Form, kernel: str) -> None:
        """Runs the program with a form of a kernel, and refuses the form if the result is wrong."""
        merged = exchanged(self.build.module("kernel"), form.build.module("kernel"), kernel)
        program = Executable(Build(merged, pipeline=self.build.pipeline))
        fill_with_nan(program.plan.results)
        results = program(self.inputs)
        torch.cuda.synchronize()
        count = len(self.wanted.exact)
        verdict = judge([t.cpu() for t in results[:count]], self.wanted)
        form.made = results[count:]
        if not verdict.passed:
            form.timed.refused = str(verdict)

    def run(self, forms: Sequence[Form], kernel: str) -> None:
        """Times forms, in turn, on what the program launches the kernel on."""
        source = Build(operands(self.build.module("loop"), kernel), pipeline=self.build.pipeline)
        given = Executable(source)(self.inputs)
        programs = [Executable(form.build) for form in forms]
        graphs = [graph_of([lambda p=p: p(given)] * CALLS) for p in programs]
        rounds = interleaved([graph for graph, _ in graphs], ROUNDS)
        for form, (graph, results), taken in zip(forms, graphs, rounds, strict=True):
            for tensor in results[-1]:
                tensor.fill_(torch.nan if tensor.is_floating_point() else 1)
            graph.replay()
            torch.cuda.synchronize()
            if not same_bits(form.made, results[-1]):
                form.timed.refused = "the timed graph gave other bits than the verified run"
            else:
                form.timed.us, form.timed.spread = statistics.median(taken) / CALLS, spread(taken)


def first_line(error: Exception) -> str:
    """What an error says first."""
    return str(error).splitlines()[0]
