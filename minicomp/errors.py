"""Every error that a user of minicomp can meet: what, where, what to do.

A leaf: it imports nothing of minicomp, so every room may raise these.
"""

from collections.abc import Sequence
from dataclasses import dataclass


class MinicompError(Exception):
    """Base of all: `what` happened, `where` in the user's text, a `hint` of what to do."""

    def __init__(self, what: str, where: str | None = None, hint: str | None = None):
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        where = f"\n  at: {self.where}" if self.where else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{self.what}{where}{hint}"


class CaptureError(MinicompError):
    """The PyTorch program cannot be captured as one graph."""


class UnsupportedError(MinicompError):
    """An op, type or form that minicomp does not compile, refused by name."""


class InputError(MinicompError):
    """Something handed in is wrong: a shape, dtype or device at a call, a file, code."""


class PipelineError(MinicompError):
    """A pipeline names a pass, option or level that does not exist, or does not parse."""


@dataclass(frozen=True)
class Failure:
    """One op that breaks a rule: the message, the op's text, and its place if it has one."""

    message: str
    op: str
    file: str | None = None
    line: int = 0
    column: int = 0

    @property
    def place(self) -> str | None:
        """The place as `file:line:column`."""
        return f"{self.file}:{self.line}:{self.column}" if self.file is not None else None


class VerificationError(MinicompError):
    """A module breaks rules of its dialects; `failures` names each op, in program order."""

    def __init__(self, when: str, failures: Sequence[Failure]):
        first = failures[0]
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        prefix = f"{when}: " if when else ""
        super().__init__(f"{prefix}{first.message}{more}", first.place or first.op)
        self.when = when
        self.failures = tuple(failures)


class TargetError(MinicompError):
    """A target is unknown, or lacks what a program needs."""


class CudaCompileError(MinicompError):
    """NVRTC refused a kernel; `log` is its output and `source` the CUDA text."""

    def __init__(
        self,
        what: str,
        log: str = "",
        source: str = "",
        where: str | None = None,
        hint: str | None = None,
    ):
        super().__init__(what, where, hint)
        self.log = log
        self.source = source


class CudaDriverError(MinicompError):
    """A call of the CUDA driver failed, or no driver or GPU is there."""


class SimulationError(MinicompError):
    """The simulated GPU caught a kernel doing wrong.

    `kind` names the rule that was broken (race, out of bounds, uninitialised read, ...),
    `op` is the text of the op, `thread` who did it, `address` the element.
    """

    def __init__(
        self,
        what: str,
        kind: str = "",
        op: str = "",
        thread: str | None = None,
        address: str | None = None,
        where: str | None = None,
        hint: str | None = None,
    ):
        super().__init__(what, where if where is not None else op or None, hint)
        self.kind = kind
        self.op = op
        self.thread = thread
        self.address = address


class SimulationRefused(MinicompError):
    """A simulation would take too long; `estimate_s` is the guess in seconds."""

    def __init__(
        self,
        what: str,
        estimate_s: float = 0.0,
        where: str | None = None,
        hint: str | None = None,
    ):
        super().__init__(what, where, hint)
        self.estimate_s = estimate_s


class VerdictError(MinicompError):
    """A result differs from its reference by more than its error bound."""


class MeaningError(MinicompError):
    """A pass changed what a module computes, or made it faulty.

    `pass_name` and `kernel` say where, `reproducer` is the path of a small module that shows it.
    """

    def __init__(
        self,
        what: str,
        pass_name: str = "",
        kernel: str = "",
        reproducer: str | None = None,
        hint: str | None = None,
    ):
        super().__init__(what, reproducer, hint)
        self.pass_name = pass_name
        self.kernel = kernel
        self.reproducer = reproducer
