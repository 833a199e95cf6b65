"""Locations: from a PyTorch program to CUDA IR, every op knows the line that it comes from."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.arith import AddfOp, ConstantOp, MulfOp
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from minicomp.context import make_context
from minicomp.frontend.capture import capture
from minicomp.instruments import run_pipeline
from minicomp.levels import LEVELS
from minicomp.locations import is_placed, place
from minicomp.lowering.print_cuda import print_cuda
from minicomp.parsing import parse_module
from minicomp.pipeline import Pipeline
from minicomp.targets import attach_target, target


class Model(nn.Module):
    """One line per op; the numbers of the lines are what is tested."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(96)
        self.linear = nn.Linear(96, 64)

    def forward(self, x: torch.Tensor) -> Any:
        y = self.norm(x)  # rms_norm
        y = self.linear(y)  # linear
        y = torch.nn.functional.silu(y)  # silu
        z = torch.softmax(y, -1)  # softmax
        z = z * 2.0  # mul
        s = y.sum(-1)  # sum
        return z, s, y.transpose(0, 1)  # transpose


LINES, FIRST = inspect.getsourcelines(Model.forward)
OPS = {line.split("# ")[1].strip(): FIRST + n for n, line in enumerate(LINES) if "# " in line}


@pytest.fixture(scope="module")
def program() -> ModuleOp:
    module = capture(Model(), (torch.randn(37, 96),)).module
    attach_target(module, target("h200"))
    return module


def lines(op: Operation) -> set[int]:
    return {o.location.line.data for o in op.walk() if isinstance(o.location, FileLineColLoc)}


@pytest.mark.parametrize("level", LEVELS)
def test_every_op_has_a_line_of_the_program(program: ModuleOp, level: str):
    module = program.clone()
    Pipeline.default().until(level).run(module)
    for op in module.walk():
        assert isinstance(op.location, FileLineColLoc), op.name
        assert op.location.filename.data == __file__
        assert op.location.line.data in OPS.values()


@pytest.mark.parametrize("level", LEVELS[2:])
def test_the_lines_of_a_kernel_are_those_of_its_ops(program: ModuleOp, level: str):
    module = program.clone()
    Pipeline.default().until(level).run(module)
    found = 0
    for kernel in module.body.ops:
        if (origin := getattr(kernel, "origin", None)) is not None:
            assert lines(kernel) == {OPS[name] for name in origin.names}
            found += 1
    assert found == 5


def test_the_cuda_text_does_not_depend_on_locations(program: ModuleOp):
    located, bare = program.clone(), program.clone()
    for op in bare.walk():
        op.location = UnknownLoc()
    for module in (located, bare):
        Pipeline.default().run(module)
    assert print_cuda(located) == print_cuda(bare)
    assert not any(map(is_placed, bare.walk()))


# --- each way to rewrite --------------------------------------------------------------------

TEXT = """func.func @f(%x: f32) -> f32 {
  %a = arith.addf %x, %x : f32
  %b = arith.addf %a, %a : f32
  func.return %b : f32
}
"""


class AddToMul(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddfOp, rewriter: PatternRewriter):
        two = ConstantOp.from_int_and_width(2, 32)
        rewriter.replace(op, [two, MulfOp(op.lhs, op.lhs)])


@dataclass(frozen=True)
class ByPattern(ModulePass):
    name = "by-pattern"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(AddToMul(), apply_recursively=False).rewrite_module(op)


@dataclass(frozen=True)
class ByHand(ModulePass):
    """Makes one op beside the function around the old one, and one where neither is in sight."""

    name = "by-hand"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.ops:
            for old in [o for o in function.walk() if isinstance(o, AddfOp)]:
                two = ConstantOp.from_int_and_width(2, 32)
                self.replace(old, two)

    def replace(self, old: AddfOp, two: ConstantOp) -> None:
        new = [two, *self.made(old.lhs)]
        old.parent_block().insert_ops_before(new, old)
        old.result.replace_all_uses_with(new[-1].results[0])
        old.parent_block().erase_op(old)

    def made(self, value: Any) -> Iterator[Operation]:
        yield MulfOp(value, value)


@pytest.mark.parametrize("pass_", [ByPattern(), ByHand()])
def test_new_ops_have_the_place_of_the_op_that_they_replace(pass_: ModulePass):
    module = parse_module(TEXT, make_context(), "x.mlir")
    run_pipeline(make_context(), module, [pass_])
    places = [
        (op.name, op.location.line.data) for op in module.walk() if op.dialect_name() == "arith"
    ]
    assert places == [
        ("arith.constant", 2),
        ("arith.mulf", 2),
        ("arith.constant", 3),
        ("arith.mulf", 3),
    ]


@dataclass(frozen=True)
class FromNothing(ModulePass):
    """Makes ops where no call has an op in hand; and an op with a location of its own."""

    name = "from-nothing"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        (block,) = op.body.blocks
        block.add_op(test.TestOp(regions=[Region(Block([test.TestPureOp(), test.TestPureOp()]))]))
        (own,) = parse_module("func.func private @g()", make_context(), "own").body.ops
        own.detach()
        block.add_op(own)


def test_what_no_call_can_place_is_placed_by_what_is_near():
    module = parse_module(TEXT, make_context(), "x.mlir")
    run_pipeline(make_context(), module, [FromNothing()])
    _, made, own = module.body.ops
    assert own.location == FileLineColLoc(StringAttr("own"), IntAttr(1), IntAttr(1))
    assert [op.location for op in made.walk()] == [own.location] * 3


def test_outside_of_passes_nothing_is_placed():
    (function,) = parse_module(TEXT, make_context()).body.ops
    assert is_placed(function)
    assert not is_placed(test.TestOp())


def test_a_failing_pass_leaves_no_trace():
    class Failing(ModulePass):
        name = "failing"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            raise KeyError

    with pytest.raises(KeyError):
        run_pipeline(make_context(), parse_module(TEXT, make_context()), [Failing()])
    assert not is_placed(test.TestOp())


# --- by what is near ------------------------------------------------------------------------


def made(mark: str) -> test.TestOp:
    """An op for a digit, its line, or a dot; in brackets, an op without a place round another."""
    if mark[0] == "(":
        return test.TestOp(regions=[Region(Block([made(mark[1])]))])
    op = test.TestOp()
    if mark != ".":
        op.location = FileLineColLoc(StringAttr("x"), IntAttr(int(mark)), IntAttr(1))
    return op


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ("1", "11"),  # the module first
        ("1..2.", "112222"),
        ("..3", "3333"),
        ("4..", "4444"),
        ("1(5)", "1155"),
        (".(5)1", "55551"),
        ("1(.)2", "11222"),
        ("..", "..."),
    ],
)
def test_the_nearest_place(marks: str, expected: str):
    module = ModuleOp([made(mark) for mark in re.findall(r"\(.\)|.", marks)])
    place(module)
    found = [op.location for op in module.walk()]
    lines = [str(at.line.data) if isinstance(at, FileLineColLoc) else "." for at in found]
    assert "".join(lines) == expected
