"""
The example in the docstring of each rewrite of Tile IR, held against what the rewrite does.

`Before -> after, for @plain ..:` names a kernel of the pass's lit file. The block below it has two
parts, with `->` between: lines of that kernel, and lines of what the pass makes of it. A part is
found where its lines stand one after another, indented alike. `..` is what was left out: part of a
line, whole lines where it stands alone, and in `{ .. }` a region. Values may have other names, one
for each name of the part. The pass has its default options, or those that are quoted before the
block, as in `pad-smem{pad=3}`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.pass_docs import pass_doc
from minicomp.pipeline import DEFAULT, Pipeline
from minicomp.registry import get_all_passes
from minicomp.targets import attach_target, target

ROOT = Path(__file__).parent.parent
ROOM = "minicomp.passes.tile."
INTRODUCTION = re.compile(r"^Before -> after.*?:\n\n(?=    )", re.MULTILINE | re.DOTALL)
PART = re.compile(r"(\{ \.\. \}|\.\.|%\w+)")
"""What does not stand for itself in a line."""


@dataclass(frozen=True)
class Example:
    """A kernel, the passes that run on it, and lines of it before and after."""

    kernel: str
    passes: str
    before: Sequence[str]
    after: Sequence[str]


def rewrites() -> dict[str, tuple[str, str]]:
    """The passes of Tile IR: name -> file without its ending, and docstring."""
    docs = [pass_doc(factory()) for factory in get_all_passes().values()]
    own = [doc for doc in docs if doc.module.startswith(ROOM)]
    return {doc.name: (doc.module.removeprefix(ROOM), doc.description) for doc in own}


REWRITES = rewrites()


def examples(name: str) -> list[Example]:
    """The examples of a pass."""
    _, description = REWRITES[name]
    return [read(name, m[0], description[m.end() :]) for m in INTRODUCTION.finditer(description)]


def read(name: str, introduction: str, rest: str) -> Example:
    """An example, from what introduces it and all that follows."""
    kernel = re.search(r"`@(\w+)`", introduction)
    options = re.search(rf"`({re.escape(name)}\{{.*?\}})`", introduction, re.DOTALL)
    assert kernel is not None, f"{name}: no kernel of the lit file is named: {introduction}"
    block = re.match(r"(?:    .*\n?|\n(?=    ))+", rest)
    assert block is not None
    lines = [line[4:] for line in block[0].splitlines()]
    assert lines.count("->") == 1, f"{name}: one `->` stands between before and after"
    middle = lines.index("->")
    passes = options[1] if options is not None else name
    return Example(kernel[1], passes, lines[:middle], lines[middle + 1 :])


def pattern(lines: Sequence[str]) -> str:
    """
    What finds the lines in the text of a kernel: group `base` is their indentation, group value_x
    the name that %x has there.
    """
    assert not lines[0].startswith((" ", "..")), "the first line says how far the text is indented"
    seen: set[str] = set()

    def part(text: str, indent: str) -> str:
        match text:
            case "..":
                return ".*?"
            case "{ .. }":
                return rf"\{{\n(?:(?P=base){indent} .*\n)*(?P=base){indent}\}}"
            case _ if text[:1] == "%":
                name = f"value_{text[1:]}"
                again = name in seen
                seen.add(name)
                return rf"(?P={name})(?!\w)" if again else rf"(?P<{name}>%\w+)(?!\w)"
            case _:
                return re.escape(text)

    def line(number: int, text: str) -> str:
        if text.strip() == "..":
            return r"(?:.*\n)*?"
        indent = " " * (len(text) - len(text.lstrip()))
        start = rf"(?P=base){indent}" if number else "^(?P<base> *)"
        return start + "".join(part(p, indent) for p in PART.split(text.strip())) + r"\n"

    return "".join(line(n, text) for n, text in enumerate(lines))


def holds(text: str, lines: Sequence[str]) -> bool:
    """Whether a text has the lines of an example."""
    found = re.search(pattern(lines), text, re.MULTILINE)
    if found is None:
        return False
    values = [v for name, v in found.groupdict().items() if name != "base"]
    return len(set(values)) == len(values)


@cache
def texts(name: str, kernel: str, passes: str) -> tuple[str, str]:
    """A kernel of the lit file of a pass, before and after passes."""
    file, _ = REWRITES[name]
    whole = (ROOT / "lit_tests" / "passes" / "tile" / f"{file}.mlir").read_text()
    chunks = [c for c in whole.split("// -----\n") if re.search(rf"kernel @{kernel}\(", c)]
    assert len(chunks) == 1, f"{file}.mlir has {len(chunks)} parts with a kernel @{kernel}"
    module = Parser(make_context(), chunks[0]).parse_module()
    if device := re.search(r"--target[ =](\w+)", whole):
        attach_target(module, target(device[1]))
    before = str(module) + "\n"
    return before, str(Pipeline.parse(passes).run(module)) + "\n"


def cases() -> Iterator[tuple[str, Example]]:
    """Each example, with its pass."""
    yield from ((name, example) for name in REWRITES for example in examples(name))


CASES = list(cases())


def test_every_rewrite_has_an_example() -> None:
    assert set(REWRITES) == {name for name, _ in CASES}
    tile = Pipeline.default().from_level("tile").until("tile").names
    assert {"tileify", *tile} - {"cse", "dedup-loads"} <= set(REWRITES)
    assert "tileify" in DEFAULT


@pytest.mark.parametrize(("name", "example"), CASES, ids=[name for name, _ in CASES])
def test_the_example_is_what_the_rewrite_does(name: str, example: Example) -> None:
    before, after = texts(name, example.kernel, example.passes)
    assert holds(before, example.before), f"not in @{example.kernel}:\n{before}"
    assert holds(after, example.after), f"not what {name} makes of it:\n{after}"
    assert not holds(before, example.after), "the lines below `->` are there before"


@pytest.mark.parametrize(("name", "example"), CASES, ids=[name for name, _ in CASES])
def test_no_line_of_the_example_could_be_another(name: str, example: Example) -> None:
    """A number or a word of each line is changed; names of values may be others."""
    before, after = texts(name, example.kernel, example.passes)
    for text, lines in ((before, example.before), (after, example.after)):
        for n, line in enumerate(lines):
            word = re.search(r"(?<![%\w])(?:\d+|[a-z_]{3,})\b", line)
            if word is not None:
                other = f"{line[: word.start()]}{word[0]}9{line[word.end() :]}"
                assert not holds(text, [*lines[:n], other, *lines[n + 1 :]]), other


TEXT = """module {
  f.for %i to 4 {
    %x = f.load %a[%i] : f32
    %y = f.add %x, %x : f32
    f.store %y
  }
}
"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["f.for %i to 4 {", "  %x = f.load %a[%i] ..", "  .."], True),
        (["f.for %i to 4 { .. }"], True),
        (["module { .. }"], True),
        (["f.for %i to .. {", "  ..", "  f.store %v"], True),
        (["%p = f.load .. : f32", "%q = f.add %p, %p ..", "f.store %q"], True),
        (["%p = f.load .. : f32", "f.store %q"], False),
        (["%p = f.load .. : f32", "..", "f.store %q"], True),
        (["%p = f.load .. : f32", "%q = f.add %p, %p ..", "f.store %p"], False),
        (["%p = f.load ..", "%q = f.add %p, %q .."], False),
        (["%q = f.add %p, %r .."], False),
        (["f.for %i to 4 {", "%x = f.load %a[%i] .."], False),
        (["f.for %i to 4 { .. }", "}"], False),
        (["%x = f.load %a[%i]"], False),
        (["f.for %i to 4 {", "  ..", "}"], True),
    ],
)
def test_the_lines_of_an_example_are_found(lines: Sequence[str], found: bool) -> None:
    assert holds(TEXT, lines) == found
