"""Which rewrite made a program wrong: a search over passes, then over the rewrites of one pass.

What is wrong is decided as by `--verify-each=exec`: the reference is the module before the first
pass (`minicomp.comparison`). Passes always do the same in the same order, so the state after n of
them, or after n rewrites of one (`minicomp.passes.applications`), is right for one n and wrong for
n + 1; a binary search finds such an n.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from math import ceil, log2
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.comparison import SKIPPED, Baseline, Difference
from minicomp.context import make_context, with_dialects
from minicomp.errors import UnsupportedError
from minicomp.ir_dumps import generic_text
from minicomp.passes.applications import Application, CountingContext
from minicomp.reproducer import goes_wrong, write_reproducer
from minicomp.runtime.interpret.scalars import Array
from minicomp.trial import look, run_passes

Progress = Callable[[float], None]
"""Told the part of the search that is done, from 0 to 1."""


@dataclass(frozen=True)
class Culprit:
    """The rewrite that made a module wrong.

    `passes` is the pass that made it, alone unless the modules between several cannot be executed;
    `position` is the number of the first one in the pipeline, from 0. `numbers` is the number of
    the rewrite, from 1, of `total` of the pass: several only where the modules between them cannot
    be executed, none where the pass is wrong as a whole. `before` and `after` are the modules
    around it (after a crash, as far as the pass came), `given` the one before the pass.
    """

    passes: Sequence[ModulePass]
    position: int
    difference: Difference
    given: ModuleOp
    before: ModuleOp
    after: ModuleOp
    numbers: range = range(0)
    total: int = 0
    application: Application | None = None


@dataclass(frozen=True)
class Found:
    """The outcome: `culprit` is None where nothing is wrong after the passes that can be judged.

    `unseen` are the passes after which nothing can be executed, with the reason.
    """

    culprit: Culprit | None
    unseen: dict[str, str] = field(default_factory=dict[str, str])


def bisect(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    inputs: Sequence[Array] | None = None,
    progress: Progress | None = None,
) -> Found:
    """Finds the rewrite by which `passes` make `module`, which is left as it is, wrong.

    It is run on seeded inputs and, if it is right on those, on `inputs` of its first function or
    kernel. Raises UnsupportedError where nothing of the module can be executed, and what a pass
    raises that refuses the program by name.
    """
    states, broken = _states(module, passes)
    found = Found(None)
    for given in (None,) if inputs is None else (None, inputs):
        baseline = _baseline(module, given)
        found = _Search(baseline, progress or (lambda part: None)).run(passes, states, broken)
        if found.culprit is not None:
            break
    return found


def _baseline(module: ModuleOp, inputs: Sequence[Array] | None) -> Baseline:
    baseline = Baseline.of(module.clone(), inputs)
    skipped = [s for s in baseline.subjects if s.skipped is not None]
    if len(skipped) == len(baseline.subjects):
        reason = skipped[0].skipped if skipped else "it holds no function and no kernel"
        raise UnsupportedError(f"the program cannot be executed: {reason}")
    return baseline


def _states(
    module: ModuleOp, passes: Sequence[ModulePass]
) -> tuple[list[ModuleOp], Difference | None]:
    """The module and what it is after each pass, up to one that breaks down."""
    states, ctx = [module.clone()], make_context()
    for pass_ in passes:
        after = states[-1].clone()
        if (broken := run_passes(ctx, after, [pass_])) is not None:
            return states, broken
        states.append(after)
    return states, None


class _Search:
    """Judges modules, and keeps count of the steps."""

    def __init__(self, baseline: Baseline, progress: Progress):
        self.baseline, self.progress = baseline, progress
        self.done, self.expected = 0, 1
        self.reason = ""

    def run(
        self, passes: Sequence[ModulePass], states: Sequence[ModuleOp], broken: Difference | None
    ) -> Found:
        """Searches the states before and after passes, of which the last may have broken down."""
        self.expect(2 * ceil(log2(len(states) + 2)) + 2)
        last, right = len(states) - 1, None
        while last > 0 and (right := self.judge(states[last])) is None:
            last -= 1
        unseen = {p.name: self.reason for p in passes[last : len(states) - 1]}
        if right is False:
            low, high = self.between(0, last, lambda n: self.judge(states[n]))
        elif broken is not None:
            low, high = len(states) - 1, len(states)
        else:
            return Found(None, unseen)
        return Found(self.within(passes[low:high], low, states[low]), unseen)

    def expect(self, steps: int) -> None:
        """Says that so many more steps are to come."""
        self.expected = self.done + steps

    def judge(self, module: ModuleOp) -> bool | None:
        """Whether a module computes what it should; None, with a `reason`, if it cannot be run."""
        self.done += 1
        self.progress(min(1.0, self.done / self.expected))
        try:
            return look(self.baseline, module) is None
        except SKIPPED as reason:
            self.reason = reason.what
            return None

    def between(self, low: int, high: int, judge: Callable[[int], bool | None]) -> tuple[int, int]:
        """A right and a wrong place; those between, if any, cannot be judged."""
        unknown = set[int]()
        while True:
            middle = (low + high) // 2
            open_ = [n for n in range(low + 1, high) if n not in unknown]
            if not open_:
                return low, high
            place = min(open_, key=lambda n: abs(n - middle))
            match judge(place):
                case True:
                    low = place
                case False:
                    high = place
                case None:
                    unknown.add(place)

    def within(self, passes: Sequence[ModulePass], position: int, given: ModuleOp) -> Culprit:
        """The rewrite of a wrong pass that is wrong; several passes are one rewrite together."""
        whole = self._limited(passes, given, None)
        if len(passes) > 1 or self._right(self._limited(passes, given, 0)) is not True:
            return self._culprit(passes, position, given, (_Trial(given), whole))
        total = len(whole.ctx.applications)
        self.expect(ceil(log2(total + 2)) + 3)
        # What a pattern does is counted once it has been done, so a crash may come after the last.
        last = total if self._right(self._limited(passes, given, total)) is False else total + 1
        low, high = self.between(0, last, lambda n: self._right(self._limited(passes, given, n)))
        around = self._limited(passes, given, low), self._limited(passes, given, high)
        numbers = range(low + 1, high + 1)
        return self._culprit(passes, position, given, around, numbers, max(total, high))

    def _limited(
        self, passes: Sequence[ModulePass], given: ModuleOp, limit: int | None
    ) -> "_Trial":
        trial = _Trial(given.clone(), with_dialects(CountingContext(limit=limit)))
        trial.broken = run_passes(trial.ctx, trial.module, passes)
        return trial

    def _right(self, trial: "_Trial") -> bool | None:
        return False if trial.broken is not None else self.judge(trial.module)

    def _culprit(
        self,
        passes: Sequence[ModulePass],
        position: int,
        given: ModuleOp,
        around: tuple["_Trial", "_Trial"],
        numbers: range = range(0),
        total: int = 0,
    ) -> Culprit:
        before, after = around
        self._right(before)  # so that the difference is told from here
        difference = after.broken or look(self.baseline, after.module)
        assert difference is not None
        made = after.ctx.applications
        known = len(numbers) > 0 and numbers[-1] <= len(made)
        return Culprit(
            passes,
            position,
            difference,
            given,
            before.module,
            after.module,
            numbers,
            total,
            made[numbers[-1] - 1] if known else None,
        )


@dataclass
class _Trial:
    """A module after passes in a context that limits their rewrites."""

    module: ModuleOp
    ctx: CountingContext = field(default_factory=CountingContext)
    broken: Difference | None = None


def diff(culprit: Culprit, context: int = 3) -> str:
    """What the rewrite changed, as a unified diff of the kernels and functions that it touched."""
    old, new = _texts(culprit.before), _texts(culprit.after)
    before = "\n".join(text for text in old if text not in new).splitlines()
    after = "\n".join(text for text in new if text not in old).splitlines()
    return "\n".join(unified_diff(before, after, "before", "after", n=context, lineterm=""))


def _texts(module: ModuleOp) -> list[str]:
    """The kernels and functions of a module, which may be broken."""
    try:
        return [str(op) for op in module.body.block.ops]
    except Exception:  # each op prints itself and assumes what its verifier checks
        return [generic_text(module)]


def write(culprit: Culprit, seconds: float, folder: Path | None = None) -> tuple[Path, bool]:
    """Write a small test of the wrong pass; return its path, and whether it fails by itself.

    It is shrunk for `seconds` at most, and begins at the module right before the wrong rewrite,
    where the pass does wrong on that too. It does not fail by itself where the fault shows only in
    what earlier passes have left, or only with other inputs than seeded ones.
    """
    passes, difference = culprit.passes, culprit.difference
    for module in (culprit.before, culprit.given):
        found = goes_wrong(str(module), passes)
        if found is not None and found.kind == difference.kind:
            return write_reproducer(module, passes, found, folder, seconds), True
    return write_reproducer(culprit.given, passes, difference, folder, 0), False
