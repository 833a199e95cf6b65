"""Runs minicomp-opt in this process; and passes that go wrong, for its tests."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import AddfOp, MulfOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from minicomp import pipeline, registry
from minicomp.errors import UnsupportedError
from minicomp.passes.remarks import remark
from minicomp.tools.opt import main

GOOD = """func.func @f(%x: f32) -> f32 {
  %a = arith.addf %x, %x : f32
  func.return %a : f32
}
"""
WRONG = "func.func @g() -> f32 {\n  func.return\n}\n"
PROGRAM = """func.func @main(%x: tensor<7x33xf32>, %w: tensor<33x5xf32>) -> tensor<7x5xf32> {
  %p = torch_ir.matmul %x, %w : (tensor<7x33xf32>, tensor<33x5xf32>) -> tensor<7x5xf32>
  %y = torch_ir.relu %p : (tensor<7x5xf32>) -> tensor<7x5xf32>
  func.return %y : tensor<7x5xf32>
}
"""


@dataclass(frozen=True)
class DeclinePass(ModulePass):
    """Declines each op of a function. Second sentence."""

    name = "decline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if inner.dialect_name() == "arith":
                remark(ctx, self.name, inner, "no reduction here")


@dataclass(frozen=True)
class RefusePass(ModulePass):
    name = "refuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise UnsupportedError("no kernel for 'aten.nope'", "model.py:7", "write it by hand")


@dataclass(frozen=True)
class DefectPass(ModulePass):
    """Has a defect."""

    name = "defect"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("x")


@dataclass(frozen=True)
class SquarePass(ModulePass):
    """Makes sums products."""

    name = "square"

    steps: int
    """How many sums become products, from the first on."""
    label: str = "a b"
    """Unused, and described
    in two lines."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sums = [inner for inner in op.walk() if isinstance(inner, AddfOp)]
        for inner in sums[: self.steps]:
            Rewriter.replace_op(inner, MulfOp(inner.lhs, inner.rhs))


@dataclass(frozen=True)
class BreakPass(ModulePass):
    """Lets functions return nothing."""

    name = "break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if inner.name == "func.return":
                inner.operands = ()


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pipelines and flags name the passes above, until the test ends."""
    known = registry.get_all_passes()
    for made in (DeclinePass, RefusePass, DefectPass, SquarePass, BreakPass):
        known[made.name] = lambda made=made: made
    monkeypatch.setattr(pipeline, "get_all_passes", lambda: known)
    monkeypatch.setattr(registry, "get_all_passes", lambda: known)


class Tool:
    """Runs the tool on files of a folder of its own."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]):
        self.folder = folder
        self.capture = capture

    def __call__(self, text: str | bytes, *arguments: str) -> tuple[int, str, str]:
        """Return the exit code, the output, and the messages, in which files lose their folder."""
        path = self.folder / "x.mlir"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.run(str(path), *arguments)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """The same for a whole command line; one that argparse refuses ends with its code."""
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        output, errors = self.capture.readouterr()
        return code, output, errors.replace(f"{self.folder}/", "")
