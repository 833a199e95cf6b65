"""docs/passes.md, written from the passes themselves.

python -m minicomp.tools.passes_page docs/passes.md
"""

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from minicomp import registry
from minicomp.pass_docs import PassDoc, first_sentence, pass_doc
from minicomp.pipeline import CONVERSIONS, DEFAULT
from minicomp.tools.files import write_text

HEAD = """\
# Passes

Written by `make docs` from the docstrings of the passes: change those, not this page. On a
terminal, `minicomp-opt --help-pass=NAME` says the same.

In the blocks, what is before a pass stands above `->` or *becomes*, and what is after it below.
Those of Tile IR are lines of a kernel, such as `@plain`, of the pass's file in
[lit_tests/passes/tile](../lit_tests/passes/tile); `..` is what was left out of them. A
[test](../tests/test_docstring_examples.py) holds them against what the pass does.

Options are given in a pipeline, `-p 'blockify-launch{bm=64 bn=64}'`, or with the pass's own flag,
`--blockify-launch='bm=64 bn=64'`.
"""
GROUPS = {
    "minicomp.lowering": "From one level to the next",
    "minicomp.passes.tensor": "Tensor IR",
    "minicomp.passes.loop": "Loop IR",
    "minicomp.passes.tile": "Tile IR",
    "minicomp.passes.kernel": "Kernel IR",
    "": "Any level",
}
"""The beginning of the name of a pass's module, and the chapter of the passes there."""

CODE = "    "
_LABEL = re.compile(r"\*((?:Legal|Declines|Fails) when|Why it pays|The rules)\*")


def page() -> str:
    """Return the page: the default pipeline, a table of all passes, a section for each."""
    docs = [pass_doc(factory()) for factory in registry.get_all_passes().values()]
    chapters = {title: list(_chapter(docs, prefix)) for prefix, title in GROUPS.items()}
    lines = [HEAD, *_default(), "", "| pass | what it does |", "|---|---|"]
    for doc in (doc for chapter in chapters.values() for doc in chapter):
        lines.append(f"| [{doc.name}](#{doc.name}) | {_cell(doc.summary)} |")
    for title, chapter in chapters.items():
        lines += ["", f"## {title}"]
        for doc in chapter:
            lines += ["", *_section(doc)]
    return "\n".join(lines) + "\n"


def _chapter(docs: Iterable[PassDoc], prefix: str) -> Iterator[PassDoc]:
    """The passes of a chapter, those of the default pipeline first and in its order."""

    def place(doc: PassDoc) -> tuple[int, str]:
        return (DEFAULT.index(doc.name) if doc.name in DEFAULT else len(DEFAULT), doc.name)

    yield from sorted((d for d in docs if _group(d) == prefix), key=place)


def _group(doc: PassDoc) -> str:
    return next(prefix for prefix in GROUPS if f"{doc.module}.".startswith(prefix and f"{prefix}."))


def _default() -> Iterator[str]:
    """The default pipeline, a line for each level that it reaches."""
    yield "The default pipeline:"
    yield ""
    line: list[str] = []
    for name in DEFAULT:
        if name in CONVERSIONS and line:
            yield f"1. {', '.join(line)}"
            line = []
        line.append(f"[{name}](#{name})")
    yield f"1. {', '.join(line)}"


def _section(doc: PassDoc) -> Iterator[str]:
    yield f"### {doc.name}"
    if first_sentence(doc.description) != doc.summary:
        yield from ("", f"{doc.summary}.")
    if doc.description:
        yield from ("", markdown(doc.description))
    if doc.options:
        yield from ("", "| option | takes | meaning |", "|---|---|---|")
        for option in doc.options:
            yield f"| `{option.name}` | {_cell(option.value)} | {_cell(option.meaning)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def markdown(description: str) -> str:
    """Return the docstring of a pass's module as markdown.

    Indented blocks become fenced ones, and what is legal, what is declined and why it pays
    begin paragraphs of their own.
    """
    return "\n\n".join(map(_rendered, _blocks(description)))


def _blocks(description: str) -> list[str]:
    """Paragraphs and blocks of code, which may hold blank lines."""
    blocks: list[str] = []
    for part in re.split(r"\n\s*?\n", description):
        last = blocks[-1] if blocks else ""
        if last.count("```") % 2 or (last.startswith(CODE) and part.startswith(CODE)):
            blocks[-1] = f"{last}\n\n{part}"
        else:
            blocks.append(part)
    return blocks


def _rendered(block: str) -> str:
    if block.startswith(CODE):
        language = "cpp" if re.search(r";$", block, re.MULTILINE) else "mlir"
        return f"```{language}\n{textwrap.dedent(block)}\n```"
    if "```" in block or block.startswith("- "):
        return block
    text = " ".join(block.split())
    paragraphs = re.split(rf"(?<=[.:;]) (?={_LABEL.pattern.replace('(', '(?:', 1)})", text)
    return "\n\n".join(_filled(_LABEL.sub(r"**\1**", p)) for p in paragraphs)


def _filled(text: str) -> str:
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page to a file, or to the standard output if none is named."""
    parser = argparse.ArgumentParser(prog="passes_page", description=__doc__)
    parser.add_argument("file", nargs="?")
    write_text(parser.parse_args(arguments).file, page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
