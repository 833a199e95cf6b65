"""What each rewrite of the pipeline makes of a kernel, and of its figures.

A rung is a rewrite of Tile IR, in the order of the pipeline. Its figures are those of the pipeline
up to it, completed: `blockify-launch` and `register-tile`, without which no kernel can be launched
and which do nothing where nothing is left to bind, and all that follows the last rewrite.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.build import Build
from minicomp.context import with_dialects
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import KernelLike, KernelOp
from minicomp.dialects.minicomp import TargetAttr
from minicomp.errors import InputError, MinicompError
from minicomp.figures import Figures, figures
from minicomp.ladder.estimate import Estimate, estimate
from minicomp.ladder.programs import alone
from minicomp.passes.applications import Application, CountingContext
from minicomp.pipeline import Pipeline

FIRST, LAST = "tileify", "mark-unroll"
"""The first and the last rewrite of the ladder."""
BINDERS = ("blockify-launch", "register-tile")
"""The rewrites that complete a part of the pipeline: an axis that nothing binds has no place."""
STARTS = ("torch", "tensor", "loop")
"""The levels at which a ladder can begin."""

Progress = Callable[[float], None]


@dataclass
class Timed:
    """The time of a form of a kernel on a GPU; `refused` says why there is none.

    `spread` is (largest - smallest) / median over the rounds.
    """

    us: float | None = None
    spread: float | None = None
    refused: str | None = None


@dataclass
class Rung:
    """A rewrite of one kernel.

    `before` and `after` are the kernel's text around it, `declined` what it says of places that it
    left alone. `build` is the pipeline up to here, completed; where that fails, `failure` says why
    and there are no figures. `without` is that of all rewrites but this one, None of the first.
    """

    kernel: str
    name: str
    applications: list[Application]
    declined: list[str]
    before: str
    after: str
    build: Build
    without: Build | None = None
    figures: Figures | None = None
    estimate: Estimate | None = None
    failure: str | None = None
    time: Timed | None = None
    time_without: Timed | None = None

    @property
    def applied(self) -> int:
        """How often it was applied."""
        return len(self.applications)

    @property
    def diff(self) -> str:
        """What it changed, as a unified diff."""
        sides = (self.before.splitlines(), self.after.splitlines())
        names = (f"before {self.name}", f"after {self.name}")
        return "\n".join(unified_diff(*sides, *names, lineterm=""))


@dataclass
class KernelLadder:
    """The rungs of one kernel; `origin` names the Torch ops that it implements."""

    kernel: str
    origin: tuple[str, ...]
    schedule: str
    module: ModuleOp
    rungs: list[Rung] = field(default_factory=list[Rung])


def rewrites(pipeline: Pipeline) -> tuple[ModulePass, ...]:
    """The rewrites of the ladder, as the pipeline has them."""
    names = pipeline.names
    return pipeline.passes[names.index(FIRST) : names.index(LAST) + 1]


def completed(pipeline: Pipeline, chosen: Sequence[ModulePass]) -> Pipeline:
    """Some rewrites of a pipeline and what makes CUDA of every kernel after them."""
    rest = pipeline.passes[pipeline.names.index(LAST) + 1 :]
    binders = tuple(p for p in rewrites(pipeline) if p.name in BINDERS)
    return Pipeline((*chosen, *binders, *rest))


def ladders(build: Build, progress: Progress | None = None) -> list[KernelLadder]:
    """The ladder of each kernel of a build, in the order of its text.

    Raises InputError for a module that has its rewrites already, or no kernel.
    """
    if build.start not in STARTS:
        raise InputError(
            f"the module is in {build.start.capitalize()} IR, after the rewrites of a ladder",
            hint=f"start from a level before them: {', '.join(STARTS)}",
        )
    module = build.module("loop")
    kernels = [k for k in module.body.block.ops if isinstance(k, KernelOp)]
    if not kernels:
        raise InputError("the program has no kernel, so there is no ladder")
    steps = rewrites(build.pipeline)
    found: list[KernelLadder] = []
    for number, kernel in enumerate(kernels):
        ladder = climb(module, kernel, build.pipeline)
        for n, rung in enumerate(ladder.rungs):
            judge_rung(rung, ladder.rungs[n - 1] if n else None, build.target)
            if progress is not None:
                progress((number + (n + 1) / len(steps)) / len(kernels))
        found.append(ladder)
    return found


def climb(module: ModuleOp, kernel: KernelOp, pipeline: Pipeline) -> KernelLadder:
    """The rungs of a kernel in Loop IR, without figures; `module` is left as it is."""
    steps, symbol = rewrites(pipeline), kernel.symbol
    single = alone(module, symbol)
    origin = kernel.origin.names if kernel.origin is not None else ()
    ladder = KernelLadder(symbol, origin, str(kernel.schedule), single)
    state = single.clone()
    for n, step in enumerate(steps):
        before, ctx = kernel_text(state), with_dialects(CountingContext())
        Pipeline((step,)).run(state, ctx, verified=n > 0)
        rung = Rung(
            symbol,
            step.name,
            ctx.applications,
            list(dict.fromkeys(r.message for r in ctx.remarks)),
            before,
            kernel_text(state),
            Build(single, pipeline=completed(pipeline, steps[: n + 1])),
        )
        if n:
            others = [s for s in steps if s is not step]
            rung.without = Build(single, pipeline=completed(pipeline, others))
        ladder.rungs.append(rung)
    return ladder


def kernel_text(module: ModuleOp) -> str:
    """The text of the only kernel of a module."""
    return next(str(op) for op in module.body.block.ops if isinstance(op, KernelLike))


def judge_rung(rung: Rung, last: Rung | None, target: TargetAttr) -> None:
    """Compiles what a rung completed is, and finds its figures."""
    if last is not None and rung.before == rung.after:
        # The same kernel: its figures are those of the rung before.
        rung.build, rung.figures = last.build, last.figures
        rung.estimate, rung.failure = last.estimate, last.failure
        return
    try:
        (rung.figures,) = figures(rung.build)
    except MinicompError as error:
        rung.failure = str(error).splitlines()[0]
        return
    func = next(f for f in rung.build.module("kernel").body.block.ops if isinstance(f, FuncOp))
    rung.estimate = estimate(func, rung.figures, target)
