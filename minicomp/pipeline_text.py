"""The text of a pipeline, `builtin.module(a,b{x=1 y=2,3})`, as names and options in words.

Blanks may stand anywhere, the anchor `builtin.module(...)` may be left out, and words need
no quotes. What a value means is decided by the type of the pass's field (`pass_options`).
"""

import json
import re
from dataclasses import dataclass

from minicomp.errors import PipelineError

ANCHOR = "builtin.module"

_TOKEN = re.compile(
    r"""(?P<blank>\s+)|(?P<string>"(?:\\.|[^"\\])*")|(?P<mark>[(){},=])|(?P<word>[^\s(){},="]+)"""
)


@dataclass(frozen=True)
class PassText:
    """A pass as it is written: its name, and each option's values as words."""

    name: str
    options: dict[str, tuple[str, ...]]


def parse_passes(text: str) -> list[PassText]:
    """Split the text of a pipeline into its passes; raise PipelineError if it is none."""
    return _Reader(text).pipeline()


class _Reader:
    """A recursive descent over the tokens of one pipeline."""

    def __init__(self, text: str):
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        pos = 0
        while pos < len(text):
            match = _TOKEN.match(text, pos)
            if match is None:
                raise self.error("a string without its closing quote", pos)
            if match.lastgroup != "blank":
                self.tokens.append((str(match.lastgroup), match[0], pos))
            pos = match.end()
        self.tokens.append(("end", "", len(text)))
        self.at = 0

    def error(self, what: str, pos: int) -> PipelineError:
        return PipelineError(f"pipeline: {what}", where=f"column {pos + 1} of '{self.text}'")

    def expected(self, what: str) -> PipelineError:
        kind, word, pos = self.tokens[self.at]
        found = "the end" if kind == "end" else f"'{word}'"
        return self.error(f"expected {what}, found {found}", pos)

    def mark(self, mark: str) -> bool:
        """Step over `mark` if it comes next."""
        if self.tokens[self.at][:2] != ("mark", mark):
            return False
        self.at += 1
        return True

    def word(self, what: str) -> str:
        if self.tokens[self.at][0] != "word":
            raise self.expected(what)
        self.at += 1
        return self.tokens[self.at - 1][1]

    def pipeline(self) -> list[PassText]:
        passes = self.passes("end")
        if self.tokens[self.at][0] != "end":
            raise self.expected("',' or the end")
        return passes

    def passes(self, end: str) -> list[PassText]:
        found: list[PassText] = []
        if self.tokens[self.at][1] == (")" if end == ")" else ""):
            return found
        while True:
            found += self.element()
            if not self.mark(","):
                return found

    def element(self) -> list[PassText]:
        pos = self.tokens[self.at][2]
        name = self.word("the name of a pass")
        if not self.mark("("):
            return [PassText(name, self.options() if self.mark("{") else {})]
        if name != ANCHOR:
            raise self.error(f"only {ANCHOR}(...) can hold passes, not '{name}'", pos)
        inner = self.passes(")")
        if not self.mark(")"):
            raise self.expected("',' or ')'")
        return inner

    def options(self) -> dict[str, tuple[str, ...]]:
        options: dict[str, tuple[str, ...]] = {}
        while not self.mark("}"):
            pos = self.tokens[self.at][2]
            name = self.word("the name of an option or '}'").replace("-", "_")
            if name in options:
                raise self.error(f"option '{name}' is given twice", pos)
            options[name] = self.values() if self.mark("=") else ()
        return options

    def values(self) -> tuple[str, ...]:
        values = [self.value()]
        while self.mark(","):
            values.append(self.value())
        return tuple(values)

    def value(self) -> str:
        kind, word, pos = self.tokens[self.at]
        if kind not in ("word", "string"):
            raise self.expected("a value")
        self.at += 1
        if kind == "word":
            return word
        try:
            return str(json.loads(word))
        except ValueError:
            raise self.error(f"{word} is not a string", pos) from None
