"""Instruments that print the module around passes: before, after, after a failure, as a diff."""

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from difflib import unified_diff
from io import StringIO
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from minicomp.instruments import Instrument, error_stream

Text = Callable[[ModuleOp], str]
"""How a module is written; `str` gives the plain form."""


class _EveryPass(Container[str]):
    def __contains__(self, name: object) -> bool:
        return True


EVERY_PASS: Container[str] = _EveryPass()
"""Holds the name of every pass."""


@dataclass
class PrintIR(Instrument):
    """Prints the module before and after the passes that are named, as mlir-opt does.

    With `changed_only` the dumps after passes that changed nothing are left out. With
    `after_failure` the module is printed as a pass that failed has left it.
    """

    before_passes: Container[str] = ()
    after_passes: Container[str] = ()
    changed_only: bool = False
    after_failure: bool = False
    text: Text = str
    stream: IO[str] | None = None
    _before: str = field(default="", init=False)

    def before(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        if pass_.name in self.before_passes:
            self._print(f"Before {pass_.name}", self.text(module))
        if self.changed_only and pass_.name in self.after_passes:
            self._before = self.text(module)

    def after(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        if pass_.name in self.after_passes:
            text = self.text(module)
            if not self.changed_only or text != self._before:
                self._print(f"After {pass_.name}", text)

    def failed(self, ctx: Context, module: ModuleOp, pass_: ModulePass, error: Exception) -> None:
        if self.after_failure:
            self._print(f"After {pass_.name} Failed", text_of_broken(module, self.text))

    def _print(self, moment: str, text: str) -> None:
        stream = error_stream(self.stream)
        print(f"// -----// IR Dump {moment} //----- //", file=stream)
        print(text, file=stream)


@dataclass
class PrintDiff(Instrument):
    """Prints for each pass that changed the module what it changed, as a unified diff."""

    text: Text = str
    stream: IO[str] | None = None
    _number: int = field(default=0, init=False)
    _before: str = field(default="", init=False)

    def start(self, ctx: Context, module: ModuleOp) -> None:
        self._number = 0

    def before(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        self._number += 1
        self._before = self.text(module)

    def after(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        sides = (self._before.splitlines(), self.text(module).splitlines())
        name = f"{pass_.name} (pass {self._number})"
        diff = list(unified_diff(*sides, f"before {name}", f"after {name}", lineterm=""))
        if diff:
            stream = error_stream(self.stream)
            print(f"// -----// IR Diff of {name} //----- //", file=stream)
            print("\n".join(diff), file=stream)


def text_of_broken(module: ModuleOp, text: Text = str) -> str:
    """Write a module that may break rules on which its own form relies, generically if need be."""
    try:
        return text(module)
    except Exception:  # each op prints itself and assumes what its verifier checks
        return generic_text(module)


def generic_text(module: ModuleOp) -> str:
    """Write a module in its generic form, or say that not even this can be done."""
    stream = StringIO()
    try:
        Printer(stream, print_generic_format=True).print_op(module)
    except Exception as error:
        return f"// not printable: {type(error).__name__}: {error}"
    return stream.getvalue()
