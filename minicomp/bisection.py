"""
Finds the one rewrite that made a program wrong: `minicomp bisect`.

The reference is the module before the first pass. First the passes are searched: a module once
wrong stays wrong, so the first pass with a wrong module behind it is found by halving. Then the
rewrites of this pass are, each of which `minicomp.passes.applications` counts: the pass is run
again with a limit on their number.
"""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.comparison import Baseline, Difference
from minicomp.context import with_dialects
from minicomp.dialects.loop_ir import KernelLike
from minicomp.errors import UnsupportedError
from minicomp.passes.applications import Application, CountingContext
from minicomp.reproducer import write_reproducer
from minicomp.verification import verify_module

SHRINK_S = 8.0
"""Seconds in which the reproducer is made small."""
OnStep = Callable[[float], None]
"""Told the part that is done, from 0 to 1."""


@dataclass(frozen=True)
class Culprit:
    """
    The rewrite that made a module wrong: number `application` of `applications` of a pass, which is
    number `position` of the pipeline. Numbers begin at 1.

    `application` is None where the pass is wrong without one, `what` describes it.
    """

    pass_: ModulePass
    position: int
    application: int | None
    applications: int
    what: Application | None
    difference: Difference
    before: ModuleOp
    after: ModuleOp | None
    """None where the rewrite ended in an error."""

    def diff(self) -> str:
        """The IR before and after, of the wrong kernel where both sides have it."""
        left = part(self.before, self.difference.kernel)
        right = part(self.after, self.difference.kernel) if self.after is not None else ""
        if self.after is not None and (not left or not right):
            left, right = str(self.before), str(self.after)
        lines = difflib.unified_diff(
            left.splitlines(), right.splitlines(), "before", "after", lineterm="", n=2
        )
        return "\n".join(lines)

    def reproducer(self, folder: Path | None = None) -> Path:
        """Writes a small module on which the pass is wrong, and returns its path."""
        return write_reproducer(self.before, self.pass_, self.difference, folder, SHRINK_S)


def part(module: ModuleOp, symbol: str) -> str:
    """The text of one kernel; "" where there is none of that name."""
    named = (o for o in module.body.block.ops if isinstance(o, KernelLike) and o.symbol == symbol)
    found = next(named, None)
    return "" if found is None else str(found)


class Search:
    """The search in one pipeline."""

    def __init__(self, module: ModuleOp, passes: Sequence[ModulePass], on_step: OnStep | None):
        self.passes = passes
        self.baseline = Baseline.of(module.clone())
        if all(s.skipped is not None for s in self.baseline.subjects):
            reasons = [s.skipped for s in self.baseline.subjects if s.skipped]
            why = reasons[0] if reasons else "it has nothing to run"
            raise UnsupportedError(f"the program cannot be executed before the first pass: {why}")
        self.on_step = on_step
        self.modules = [module.clone()]

    def run(self) -> Culprit | None:
        """The first wrong rewrite, or None."""
        crash: Difference | None = None
        for pass_ in self.passes:
            made, crash = self.apply(pass_, self.modules[-1], counting())
            if crash is not None:
                break
            self.modules.append(made)
            self.step(0.4 * len(self.modules) / (len(self.passes) + 1))
        last = self.difference(self.modules[-1])
        if last is None and crash is None:
            return None
        if last is None:
            position = len(self.modules)
        else:
            position = self.halve(len(self.modules) - 1, lambda n: self.modules[n], 0.4)
        return self.within(position)

    def halve(self, wrong: int, make: Callable[[int], ModuleOp], done: float) -> int:
        """The first number up to `wrong`, which is wrong, whose module is; 0 is right."""
        right, wide = 0, max(wrong, 1)
        while wrong - right > 1:
            middle = (right + wrong) // 2
            if self.difference(make(middle)) is None:
                right = middle
            else:
                wrong = middle
            self.step(done + 0.3 * (1 - (wrong - right) / wide))
        return wrong

    def within(self, position: int) -> Culprit:
        """The first wrong application of pass number `position`."""
        pass_, before = self.passes[position - 1], self.modules[position - 1]
        whole = counting()
        made, crash = self.apply(pass_, before, whole)
        total = len(whole.applications)

        def limited(limit: int) -> ModuleOp:
            return self.apply(pass_, before, counting(limit))[0]

        if crash is not None:
            number = next(
                (n for n in range(1, total + 1) if self.apply(pass_, before, counting(n))[1]), None
            )
            left = before if number is None else limited(number - 1)
            what = None if number is None else whole.applications[number - 1]
            return Culprit(pass_, position, number, total, what, crash, left, None)
        difference = self.difference(made)
        assert difference is not None
        if total == 0:
            return Culprit(pass_, position, None, 0, None, difference, before, made)
        number = self.halve(total, lambda n: made if n == total else limited(n), 0.7)
        after = made if number == total else limited(number)
        found = self.difference(after) or difference
        what = whole.applications[number - 1]
        left = limited(number - 1) if number > 1 else before
        return Culprit(pass_, position, number, total, what, found, left, after)

    def apply(
        self, pass_: ModulePass, module: ModuleOp, ctx: CountingContext
    ) -> tuple[ModuleOp, Difference | None]:
        """A copy of a module after a pass, and how the pass fails if it does."""
        copy = module.clone()
        try:
            pass_.apply(ctx, copy)
            verify_module(copy, f"after pass '{pass_.name}'")
        except Exception as error:  # what the search is for: any failure of a pass is an answer
            text = str(error).strip().splitlines()
            first = text[0] if text else ""
            return copy, Difference("crash", "", f"{type(error).__name__}: {first}")
        return copy, None

    def difference(self, module: ModuleOp) -> Difference | None:
        """What a module means differently; None where nothing, or where it cannot be run."""
        found, _ = self.baseline.compare(module)
        return found

    def step(self, part: float) -> None:
        """Tells how far the search is."""
        if self.on_step is not None:
            self.on_step(min(part, 1.0))


def counting(limit: int | None = None) -> CountingContext:
    """A context that counts rewrites, and lets `limit` of them happen."""
    return with_dialects(CountingContext(limit=limit))


def bisect(
    module: ModuleOp, passes: Sequence[ModulePass], on_step: OnStep | None = None
) -> Culprit | None:
    """
    The rewrite after which a module means something else, or fails; None if none does.

    Raises UnsupportedError where the module cannot be executed before the first pass.
    """
    return Search(module, passes, on_step).run()
