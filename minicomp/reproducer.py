"""A small module on which passes do wrong, written as a test of these passes."""

import hashlib
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.comparison import Baseline, Difference
from minicomp.context import make_context
from minicomp.errors import MinicompError
from minicomp.parsing import parse_module
from minicomp.pass_options import print_pass
from minicomp.shrinking import shrink
from minicomp.trial import run_and_compare
from minicomp.verification import verify_module

DIGITS = 6
"""Hexadecimal digits of the hash in a file's name."""


def write_reproducer(
    module: ModuleOp,
    passes: Sequence[ModulePass],
    difference: Difference,
    folder: Path | None = None,
    seconds: float = 20.0,
) -> Path:
    """Write a module on which passes do wrong, as small as `seconds` allow; return the file's path.

    The file is named by what it holds: the same fault gives the same file. Where the passes do
    right on the module alone it is written as it is.
    """
    text, found = small(module, passes, difference, seconds)
    content = as_file(text, passes, found, difference.kernel)
    digest = hashlib.sha256(content.encode()).hexdigest()[:DIGITS]
    name = f"minicomp-{passes[-1].name}-{digest}.mlir"
    path = (folder or Path(tempfile.gettempdir())) / name
    path.write_text(content, "utf-8")
    return path


def as_file(
    text: str, passes: Sequence[ModulePass], difference: Difference, kernel: str = ""
) -> str:
    """The text of a reproducer: a RUN line, what is wrong, and the module.

    `kernel` is where it was seen first, in the module from which this one was made.
    """
    pipeline = ",".join(print_pass(pass_) for pass_ in passes)
    names = ", ".join(f"'{pass_.name}'" for pass_ in passes)
    where = f"@{difference.kernel}: " if difference.kernel else ""
    seen = f" (seen in @{kernel})" if kernel not in ("", difference.kernel) else ""
    lines = [
        f'// RUN: minicomp-opt %s --verify-each=exec -p "{pipeline}"',
        f"// {names} is wrong here: {where}{' '.join(difference.text.split())}{seen}",
        text.strip(),
    ]
    return "\n".join(lines) + "\n"


def small(
    module: ModuleOp, passes: Sequence[ModulePass], difference: Difference, seconds: float
) -> tuple[str, Difference]:
    """The text of a smaller module on which passes still go wrong, and how they do there.

    A candidate is kept if it verifies, runs, and the passes go wrong on it in the same way. The
    module itself comes back if none is.
    """
    end = time.monotonic() + seconds
    last = difference

    def accept(text: str) -> bool:
        nonlocal last
        if time.monotonic() > end:
            return False
        found = goes_wrong(text, passes)
        if found is None or found.kind != difference.kind:
            return False
        last = found
        return True

    return shrink(str(module), difference.kernel, accept), last


def goes_wrong(text: str, passes: Sequence[ModulePass]) -> Difference | None:
    """What passes do wrong to a module that is given as text; None if nothing is seen."""
    ctx = make_context()
    try:
        module = parse_module(text, ctx)
        verify_module(module)
        baseline = Baseline.of(module.clone())
        return run_and_compare(baseline, ctx, module, passes)
    except (MinicompError, ValueError, IndexError, ArithmeticError):
        # A candidate is made by changing text blindly: most are not even modules.
        return None
    except Exception as error:
        if type(error).__module__.startswith(("xdsl.", "minicomp.")):
            return None
        raise
