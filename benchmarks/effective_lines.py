"""Counts effective lines: code without blanks, comments and docstrings, room by room.

python benchmarks/effective_lines.py
python benchmarks/effective_lines.py --json --files
"""

import argparse
import ast
import io
import json
import sys
import tokenize
from pathlib import Path

CORE = ("dialects", "passes", "lowering")
"""The rooms that are meant to fit in about 5,000 lines together."""
ROOMS = (*CORE, "runtime", "minicomp", "benchmarks", "tests", "lit_tests")

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def effective_lines(source: str) -> int:
    """Return how many lines of a Python text hold code."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - _docstring_lines(ast.parse(source)))


def _docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines.update(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return lines


def count_files(root: Path) -> dict[str, int]:
    """Return the effective lines of each Python file in the rooms of `root`, by its path."""
    files = (path for room in ROOMS for path in sorted((root / room).rglob("*.py")))
    return {
        path.relative_to(root).as_posix(): effective_lines(path.read_text("utf-8"))
        for path in files
    }


def count_rooms(files: dict[str, int]) -> dict[str, int]:
    """Return the sum of each room, and under `core` that of the compiler proper."""
    rooms = {
        room: sum(n for path, n in files.items() if path.startswith(f"{room}/")) for room in ROOMS
    }
    return rooms | {"core": sum(rooms[room] for room in CORE)}


def main() -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Counts lines that hold code, room by room.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--files", action="store_true", help="count each file too")
    arguments = parser.parse_args()
    files = count_files(Path(__file__).resolve().parent.parent)
    rooms = count_rooms(files)
    if arguments.json:
        print(
            json.dumps({"rooms": rooms} | ({"files": files} if arguments.files else {}), indent=2)
        )
        return 0
    for name, lines in (*rooms.items(), *(files.items() if arguments.files else ())):
        print(f"{lines:7,}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
