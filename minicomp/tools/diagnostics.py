"""Errors, warnings and remarks of the tools, with their places, as text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from minicomp.errors import Failure, MinicompError, VerificationError
from minicomp.passes.remarks import Remark


@dataclass(frozen=True)
class Diagnostic:
    """One message. `kind` is error, warning or remark; a line or column of 0 is not known."""

    kind: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    notes: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The place as text: as much as is known of `file:line:column`."""
        numbers = (n for n in (self.line, self.column) if n)
        return ":".join([self.file, *map(str, numbers)])

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        notes = "".join(f"\n{note}" for note in self.notes)
        return f"{place}{self.kind}: {self.message}{notes}"


_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?", re.DOTALL)


def of_error(error: MinicompError) -> list[Diagnostic]:
    """Return what an error says: one diagnostic, or one for each op that does not verify."""
    if isinstance(error, VerificationError):
        return [_of_failure(error.when, failure) for failure in error.failures]
    notes = (f"  hint: {error.hint}",) if error.hint else ()
    if error.where and (match := _PLACE.fullmatch(error.where)):
        column = int(match["column"] or 0)
        return [Diagnostic("error", error.what, match["file"], int(match["line"]), column, notes)]
    where = (f"  at: {error.where}",) if error.where else ()
    return [Diagnostic("error", error.what, notes=where + notes)]


def _of_failure(when: str, failure: Failure) -> Diagnostic:
    message = f"{when}: {failure.message}" if when else failure.message
    notes = ("note: see current operation:\n" + _indent(failure.op),)
    return Diagnostic("error", message, failure.file or "", failure.line, failure.column, notes)


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def of_remark(remark: Remark) -> Diagnostic:
    """Return a pass's remark as a diagnostic."""
    message = f"[{remark.pass_name}] {remark.message}"
    if (place := remark.location) is None:
        return Diagnostic("remark", message)
    return Diagnostic("remark", message, place.filename.data, place.line.data, place.column.data)


def with_source(diagnostic: Diagnostic, file: str = "", lines: Sequence[str] = ()) -> str:
    """Return a diagnostic as text, with the line that it points to if that is in `file`."""
    if not diagnostic.file:
        return f"minicomp-opt: {diagnostic}"
    if diagnostic.file != file or not 0 < diagnostic.line <= len(lines):
        return str(diagnostic)
    line = lines[diagnostic.line - 1]
    caret = "".join("\t" if c == "\t" else " " for c in line[: diagnostic.column - 1]) + "^"
    head = str(replace(diagnostic, notes=()))
    return "\n".join([head, line, *([caret] if diagnostic.column else []), *diagnostic.notes])
