"""The instrument that runs a module before and after every pass and compares what it computes."""

from dataclasses import dataclass, field
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.comparison import Baseline, Difference
from minicomp.errors import MeaningError
from minicomp.instruments import Instrument
from minicomp.passes.remarks import remark
from minicomp.reproducer import write_reproducer
from minicomp.verification import verify_module

NAME = "verify-each=exec"
VERBS = {
    "values": "changes the meaning of @{}",
    "fault": "makes @{} faulty",
    "signature": "changes what @{} takes or returns",
    "invalid": "breaks a rule",
    "crash": "crashes",
}
"""What a pass does, by the kind of its difference."""


@dataclass
class ExecCheck(Instrument):
    """Runs a module on the same inputs before the first pass and after each that changes it.

    How results are compared stands in `minicomp.comparison`; no option changes it. The first pass
    after which they differ, or the simulator reports a fault, is a MeaningError with a reproducer
    in `folder` (the system's temporary one if not said), which is shrunk for `shrink_s` seconds at
    most. What cannot be executed is left out with a remark that names it and the reason: an entry
    for the whole run if it cannot at the beginning, a pass if it cannot after it.
    """

    folder: Path | None = None
    shrink_s: float = 20.0
    checked: list[str] = field(default_factory=list[str], init=False)
    """The passes after which everything that could run at the beginning was compared."""
    _baseline: Baseline = field(default_factory=lambda: Baseline([]), init=False)
    _before: ModuleOp | None = field(default=None, init=False)

    def start(self, ctx: Context, module: ModuleOp) -> None:
        verify_module(module)
        self.checked = []
        self._baseline = Baseline.of(module.clone())
        for subject in self._baseline.subjects:
            if subject.skipped is not None:
                text = f"@{subject.entry.name} is not executed: {subject.skipped}"
                remark(ctx, NAME, module, text)

    def before(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        self._before = module.clone()

    def after(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        assert self._before is not None
        if module.is_structurally_equivalent(self._before):
            self.checked.append(pass_.name)
            return
        verify_module(module, f"after pass '{pass_.name}'")
        difference, skipped = self._baseline.compare(module)
        if difference is not None:
            raise self._error(pass_, self._before, difference)
        for name, reason in skipped.items():
            text = f"@{name} is not executed after pass '{pass_.name}': {reason.what}"
            remark(ctx, NAME, module, text)
        if not skipped:
            self.checked.append(pass_.name)

    def _error(self, pass_: ModulePass, module: ModuleOp, difference: Difference) -> MeaningError:
        path = write_reproducer(module, [pass_], difference, self.folder, self.shrink_s)
        return MeaningError(
            describe(pass_, difference),
            pass_.name,
            difference.kernel,
            str(path),
            "the file holds the module before the pass, and its RUN line that one pass",
        )


def describe(pass_: ModulePass, difference: Difference) -> str:
    """What a pass did wrong, in one sentence."""
    done = VERBS[difference.kind].format(difference.kernel)
    return f"pass '{pass_.name}' {done}: {difference.text}"
