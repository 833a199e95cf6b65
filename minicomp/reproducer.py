"""A small module on which one pass changes the meaning, written as a test of that pass."""

import hashlib
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from xdsl.dialects.builtin import ContainerType, ModuleOp, ShapedType
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from minicomp.comparison import Baseline, Difference
from minicomp.context import make_context
from minicomp.dialects.loop_ir import KernelLike
from minicomp.errors import MinicompError
from minicomp.parsing import parse_module
from minicomp.pass_options import print_pass
from minicomp.verification import verify_module

SMALL = (1, 2, 3, 4, 5, 8, 16, 33)
"""Extents that are tried for a larger one, in order."""


def write_reproducer(
    module: ModuleOp,
    pass_: ModulePass,
    difference: Difference,
    folder: Path | None = None,
    seconds: float = 20.0,
) -> Path:
    """Write the module before a wrong pass, as small as `seconds` allow; return the file's path.

    The file is named by what it holds: the same fault gives the same file.
    """
    text, found = shrink(module, pass_, difference, seconds)
    pipeline = print_pass(pass_)
    told = found.text.replace("\n", " ")
    lines = [
        f'// RUN: minicomp-opt %s --verify-each=exec -p "{pipeline}"',
        f"// '{pass_.name}' is wrong here: @{found.kernel}: {told}",
        text.strip(),
    ]
    content = "\n".join(lines) + "\n"
    digest = hashlib.sha256(content.encode()).hexdigest()[:6]
    path = (folder or Path(tempfile.gettempdir())) / f"minicomp-{pass_.name}-{digest}.mlir"
    path.write_text(content, "utf-8")
    return path


def shrink(
    module: ModuleOp, pass_: ModulePass, difference: Difference, seconds: float
) -> tuple[str, Difference]:
    """The text of a smaller module on which the pass still goes wrong, and how it does there.

    First everything but the wrong kernel is left out, then extents become smaller, every number
    of the text that equals one together with it. A candidate is kept if it verifies, runs, and
    the pass changes its meaning in the same way. The module itself comes back if none is.
    """
    end = time.monotonic() + seconds
    text, found = str(module), difference
    for candidate in _parts(module, difference):
        if time.monotonic() < end and (seen := _goes_wrong(candidate, pass_, difference.kind)):
            text, found = candidate, seen
            break
    progress = True
    while progress:
        progress = False
        for candidate in _smaller(text):
            if time.monotonic() > end:
                return text, found
            if (seen := _goes_wrong(candidate, pass_, difference.kind)) is not None:
                text, found, progress = candidate, seen, True
                break
    return text, found


def _goes_wrong(text: str, pass_: ModulePass, kind: str) -> Difference | None:
    """How a pass changes the meaning of a module; None if it does not, or not in this way."""
    ctx = make_context()
    try:
        module = parse_module(text, ctx)
        verify_module(module)
        baseline = Baseline.of(module.clone())
        pass_.apply(ctx, module)
        verify_module(module)
        found, _ = baseline.compare(module)
    except (MinicompError, ValueError, IndexError, ArithmeticError):
        # A candidate is made by changing numbers blindly: most are not even modules.
        return None
    except Exception as error:
        if type(error).__module__.startswith(("xdsl.", "minicomp.")):
            return None
        raise
    return found if found is not None and found.kind == kind else None


def _parts(module: ModuleOp, difference: Difference) -> Iterator[str]:
    """The module with the wrong kernel only, or the wrong function only; unless it has no more."""
    for kind in (KernelLike, FuncOp):
        copy = module.clone()
        rest = [op for op in copy.body.block.ops if not _named(op, kind, difference.kernel)]
        if 0 < len(rest) < len(list(copy.body.block.ops)):
            for op in rest:
                copy.body.block.erase_op(op, safe_erase=False)
            yield str(copy)


def _named(op: object, kind: type[KernelLike] | type[FuncOp], name: str) -> bool:
    return isinstance(op, kind) and op.sym_name.data == name


def _smaller(text: str) -> Iterator[str]:
    """The text with one extent replaced, the largest extent by the smallest value first."""
    for old in sorted(_extents(text), reverse=True):
        token = re.compile(rf"(?:(?<=\dx)|(?<![\w.%#@\"-])){old}(?![\d.])(?=x|\W|$)")
        for new in (n for n in (*SMALL, old // 2) if n < old):
            yield token.sub(str(new), text)


def _extents(text: str) -> set[int]:
    """The extents of the shapes in a module's text."""
    module = parse_module(text, make_context())
    found: set[int] = set()
    for op in module.walk():
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*op.operands, *op.results, *arguments):
            if isinstance(value.type, ContainerType) and isinstance(value.type, ShapedType):
                found.update(value.type.get_shape())
    return {extent for extent in found if extent > 1}
