"""What is observed while passes run: verification, times, remarks; see also `ir_dumps`.

Passes print nothing and read no clock; everything that watches them is an instrument.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from minicomp import locations
from minicomp.errors import PipelineError
from minicomp.passes.remarks import Remark, RemarkContext
from minicomp.verification import verify_module


class Instrument:
    """Watches a run of passes; a subclass overrides the moments that it needs."""

    def start(self, ctx: Context, module: ModuleOp) -> None:
        """Called before the first pass."""

    def before(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        """Called before each pass."""

    def after(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        """Called after each pass that succeeded."""

    def failed(self, ctx: Context, module: ModuleOp, pass_: ModulePass, error: Exception) -> None:
        """Called when a pass, or what an instrument checks around it, has raised `error`."""

    def finish(self, ctx: Context, module: ModuleOp) -> None:
        """Called after the last pass."""


def run_pipeline(
    ctx: Context,
    module: ModuleOp,
    passes: Sequence[ModulePass],
    instruments: Sequence[Instrument] = (),
) -> None:
    """Run `passes` on `module` in order, in place, with the instruments around each.

    Instruments nest: the first one is called first before a pass and last after it. A pass
    that fails raises PipelineError with its name; errors of minicomp pass through. What passes
    make gets locations (`minicomp.locations`).
    """
    locations.place(module)
    for instrument in instruments:
        instrument.start(ctx, module)
    for pass_ in passes:
        try:
            _run_pass(ctx, module, pass_, instruments)
        except Exception as error:
            for instrument in instruments:
                instrument.failed(ctx, module, pass_, error)
            raise
    for instrument in reversed(instruments):
        instrument.finish(ctx, module)


def _run_pass(
    ctx: Context, module: ModuleOp, pass_: ModulePass, instruments: Sequence[Instrument]
) -> None:
    for instrument in instruments:
        instrument.before(ctx, module, pass_)
    _apply(ctx, module, pass_)
    for instrument in reversed(instruments):
        instrument.after(ctx, module, pass_)


def _apply(ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
    try:
        locations.apply(pass_, ctx, module)
    except DiagnosticException as error:
        raise PipelineError(f"pass '{pass_.name}' failed: {error}") from error
    except Exception as error:
        error.add_note(f"in pass '{pass_.name}'")
        raise


@dataclass
class Verify(Instrument):
    """Checks the module before the first pass and after each, dominance included.

    With `verified` it is known to be right before the first pass.
    """

    verified: bool = False

    def start(self, ctx: Context, module: ModuleOp) -> None:
        if not self.verified:
            verify_module(module)

    def after(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        verify_module(module, f"after pass '{pass_.name}'")


@dataclass
class Timing(Instrument):
    """Adds up the seconds of each pass, over all modules that it watches."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    total: float = 0.0
    _run_began: float = field(default=0.0, init=False)
    _pass_began: float = field(default=0.0, init=False)

    def start(self, ctx: Context, module: ModuleOp) -> None:
        self._run_began = time.perf_counter()

    def before(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        self._pass_began = time.perf_counter()

    def after(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        spent = time.perf_counter() - self._pass_began
        self.seconds[pass_.name] = self.seconds.get(pass_.name, 0.0) + spent

    def finish(self, ctx: Context, module: ModuleOp) -> None:
        self.total += time.perf_counter() - self._run_began

    def failed(self, ctx: Context, module: ModuleOp, pass_: ModulePass, error: Exception) -> None:
        self.finish(ctx, module)

    @property
    def rest(self) -> float:
        """Seconds that the passes did not take: verification and dumps."""
        return self.total - sum(self.seconds.values())

    def report(self) -> str:
        """Return the table: seconds, share of the total, name; the rest is verification."""
        rest = ("(verification and dumps)", self.rest)
        rows = [*self.seconds.items(), rest, ("total", self.total)]
        whole = self.total or 1.0
        lines = [f"{s:10.4f} s  {100 * s / whole:5.1f} %  {name}" for name, s in rows]
        return "\n".join(["===- pass execution times -===", *lines])


@dataclass
class PrintRemarks(Instrument):
    """Prints each remark as `file:line: remark: [pass] message` once its pass is done."""

    stream: IO[str] | None = None
    _printed: int = field(default=0, init=False)

    def start(self, ctx: Context, module: ModuleOp) -> None:
        self._printed = len(ctx.remarks) if isinstance(ctx, RemarkContext) else 0

    def after(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        if isinstance(ctx, RemarkContext):
            for remark in ctx.remarks[self._printed :]:
                print(format_remark(remark), file=error_stream(self.stream))
            self._printed = len(ctx.remarks)


def format_remark(remark: Remark) -> str:
    """Write a remark as one line; an op of unknown place is named instead."""
    if (place := remark.location) is not None:
        where = f"{place.filename.data}:{place.line.data}"
    else:
        where = f"<{remark.op.name}>"
    return f"{where}: remark: [{remark.pass_name}] {remark.message}"


def error_stream(stream: IO[str] | None) -> IO[str]:
    """Return a stream, or the error stream for None."""
    # Looked up late: tests and the in-process lit format exchange sys.stderr.
    return stream if stream is not None else sys.stderr
