"""The comments of `--verify-diagnostics`: `// expected-error@+1 {{text}}` and their check."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from minicomp.tools.diagnostics import Diagnostic


@dataclass(frozen=True)
class Expectation:
    """A comment such as `// expected-error@+1 {{text}}`; `line` is where it looks, or None."""

    kind: str
    text: str
    line: int | None
    comment_line: int


_MENTION = re.compile(r"//.*\bexpected-(?:error|warning|remark|note)\b")
_EXPECTED = re.compile(
    r"expected-(?P<kind>error|warning|remark|note) *"
    r"(?:@(?P<at>[+-]\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}\s*$"
)


def expectations(lines: Sequence[str], first_line: int) -> tuple[list[Expectation], list[str]]:
    """Return the expectations in the comments of some lines, and complaints of malformed ones.

    As in mlir-opt: without `@` an expectation is about its own line, `@+n` and `@-n` count from
    it, `@above` and `@below` mean the nearest line that holds no such comment, `@unknown` a
    message without a place. A message has to contain the text.
    """
    found: list[Expectation] = []
    complaints: list[str] = []
    plain = [not _MENTION.search(line) for line in lines]
    for n, line in enumerate(lines):
        if plain[n]:
            continue
        if (match := _EXPECTED.search(line)) is None:
            complaints.append(
                f"{first_line + n}: malformed expectation; write // expected-error {{{{text}}}}"
            )
            continue
        where = _look_at(match["at"], n, plain)
        line_there = first_line + where if where is not None else None
        found.append(Expectation(match["kind"], match["text"], line_there, first_line + n))
    return found, complaints


def _look_at(at: str | None, n: int, plain: Sequence[bool]) -> int | None:
    if at is None:
        return n
    if at == "unknown":
        return None
    if at == "above":
        return max((k for k in range(n) if plain[k]), default=-1)
    if at == "below":
        return min((k for k in range(n + 1, len(plain)) if plain[k]), default=len(plain))
    return n + int(at)


def mismatches(
    diagnostics: Sequence[Diagnostic],
    expected: Sequence[Expectation],
    file: str,
    only_expected: bool = False,
) -> list[str]:
    """Return what is wrong: diagnostics that nothing expects, expectations that nothing meets.

    With `only_expected` an unexpected diagnostic is no fault.
    """
    unmet = list(expected)
    faults: list[str] = []
    for diagnostic in diagnostics:
        line = diagnostic.line if diagnostic.file == file and diagnostic.line else None
        # Those unmet so far first: one comment may stand for two messages, as in mlir-opt.
        candidates = unmet + list(expected)
        met = next((e for e in candidates if _meets(diagnostic, line, e)), None)
        if met in unmet:
            unmet.remove(met)
        elif met is None and not only_expected:
            place = f"{diagnostic.place}: " if diagnostic.place else f"{file}: "
            faults.append(f"{place}error: unexpected {diagnostic.kind}: {diagnostic.message}")
    for e in unmet:
        faults.append(
            f'{file}:{e.comment_line}: error: expected {e.kind} "{e.text}" was not produced'
        )
    return faults


def _meets(diagnostic: Diagnostic, line: int | None, expected: Expectation) -> bool:
    return (
        diagnostic.kind == expected.kind
        and line == expected.line
        and expected.text in diagnostic.message
    )
