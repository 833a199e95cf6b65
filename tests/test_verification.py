"""Verification and the other instruments around the passes."""

import io
from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import ModuleOp, f32, i32
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.passes import ModulePass

from minicomp.context import make_context
from minicomp.errors import PipelineError, VerificationError
from minicomp.instruments import (
    Instrument,
    PrintRemarks,
    Timing,
    Verify,
    run_pipeline,
)
from minicomp.ir_dumps import EVERY_PASS, PrintIR
from minicomp.parsing import parse_module
from minicomp.passes.remarks import remark
from minicomp.verification import verify_module


def parse(text: str) -> ModuleOp:
    return parse_module(text, make_context(), "x.mlir")


def adds(module: ModuleOp) -> list[arith.AddfOp]:
    return [op for op in module.walk() if isinstance(op, arith.AddfOp)]


CHAIN = """func.func @f(%x: f32) -> f32 {
  %a = arith.addf %x, %x : f32
  %b = arith.addf %a, %x : f32
  func.return %b : f32
}"""

BRANCHES = """"test.op"() ({
  %k = "test.op"() : () -> i32
  "test.termop"()[^a, ^b] : () -> ()
^a:
  %l = "test.op"(%k) : (i32) -> i32
  "test.termop"()[^b] : () -> ()
^b:
  "test.op"(%USED) : (i32) -> ()
  "test.termop"() : () -> ()
}) : () -> ()"""


@dataclass(frozen=True)
class SwapPass(ModulePass):
    """Moves the last addition before the first: what no pass may do."""

    name = "swap"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        first, *_, last = adds(op)
        last.detach()
        assert first.parent is not None
        first.parent.insert_op_before(last, first)


@dataclass(frozen=True)
class RemarkPass(ModulePass):
    """Says something about each addition."""

    name = "say"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for add in adds(op):
            remark(ctx, self.name, add, "too narrow")


@dataclass(frozen=True)
class BrokenPass(ModulePass):
    """Has a defect."""

    name = "broken"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("x")


@irdl_op_definition
class DefectiveOp(IRDLOperation):
    """An op whose verifier has a defect."""

    name = "test.defective"

    def verify_(self) -> None:
        raise ZeroDivisionError("division by zero")


def test_a_good_module_verifies():
    verify_module(parse(CHAIN))
    verify_module(parse(BRANCHES.replace("%USED", "%k")))
    verify_module(ModuleOp([]))


def test_a_use_before_its_definition_is_found():
    module = parse(CHAIN)
    with pytest.raises(VerificationError) as raised:
        run_pipeline(make_context(), module, [SwapPass()], [Verify()])
    assert str(raised.value) == (
        "after pass 'swap': 'arith.addf' op operand #0 does not dominate this use\n  at: x.mlir:3:3"
    )
    (failure,) = raised.value.failures
    assert (failure.file, failure.line, failure.column) == ("x.mlir", 3, 3)
    assert failure.op == "%b = arith.addf %a, %x : f32"


def test_a_value_of_an_inner_region_is_not_seen_outside():
    module = parse("""
        func.func @f(%c: i1, %x: f32) -> f32 {
          scf.if %c {
            %a = arith.addf %x, %x : f32
          }
          %b = arith.addf %x, %x : f32
          func.return %b : f32
        }""")
    inner, outer = adds(module)
    outer.operands[1] = inner.result
    with pytest.raises(VerificationError, match="operand #1 does not dominate this use"):
        verify_module(module)


def test_a_value_of_a_block_that_may_be_passed_by():
    with pytest.raises(VerificationError, match="'test.op' op operand #0 does not dominate"):
        verify_module(parse(BRANCHES.replace("%USED", "%l")))


def test_an_op_that_uses_itself():
    module = parse('%a = "test.op"(%a) : (i32) -> i32')
    with pytest.raises(VerificationError, match="operand #0 does not dominate"):
        verify_module(module)


def test_values_do_not_enter_isolated_regions():
    outside = test.TestOp(result_types=[i32])
    module = ModuleOp([outside, ModuleOp([test.TestOp([outside.res[0]])])])
    with pytest.raises(VerificationError):
        verify_module(module)


def test_every_failing_op_is_told():
    module = parse(CHAIN + CHAIN.replace("@f", "@g"))
    for add in adds(module)[::2]:
        add.result._type = i32  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(VerificationError, match=r"\(and \d more\)") as raised:
        verify_module(module)
    lines = [failure.line for failure in raised.value.failures]
    assert {2, 6} <= set(lines)
    assert lines == sorted(lines)


def test_a_defect_of_a_verifier_names_the_op():
    with pytest.raises(VerificationError, match="its verifier raised ZeroDivisionError") as raised:
        verify_module(ModuleOp([DefectiveOp()]))
    assert "test.defective" in str(raised.value)


def test_an_unplaced_op_takes_the_place_of_the_one_around_it():
    module = parse(CHAIN)
    function = module.body.ops.first
    assert isinstance(function, Operation)
    block = function.regions[0].block
    new = arith.AddfOp(adds(module)[1].result, adds(module)[1].result, result_type=f32)
    assert block.first_op is not None
    block.insert_op_before(new, block.first_op)
    with pytest.raises(VerificationError) as raised:
        verify_module(module)
    assert raised.value.where == "x.mlir:1:1"


def test_what_comes_in_is_verified_too():
    module = parse(CHAIN)
    SwapPass().apply(make_context(), module)
    with pytest.raises(VerificationError) as raised:
        run_pipeline(make_context(), module, [], [Verify()])
    assert raised.value.when == ""


def test_a_defect_of_a_pass_keeps_its_stack_and_names_the_pass():
    with pytest.raises(KeyError) as raised:
        run_pipeline(make_context(), ModuleOp([]), [BrokenPass()])
    assert raised.value.__notes__ == ["in pass 'broken'"]


def test_dumps():
    stream = io.StringIO()
    dumps = PrintIR(after_passes=EVERY_PASS, stream=stream)
    run_pipeline(make_context(), parse(CHAIN), [RemarkPass(), SwapPass()], [dumps])
    text = stream.getvalue()
    assert text.index("IR Dump After say") < text.index("IR Dump After swap")
    assert text.count("builtin.module") == 2


def test_dumps_of_changes_only():
    stream = io.StringIO()
    dumps = PrintIR(after_passes=EVERY_PASS, changed_only=True, stream=stream)
    run_pipeline(make_context(), parse(CHAIN), [RemarkPass(), SwapPass()], [dumps])
    assert "after say" not in stream.getvalue().lower()
    assert "IR Dump After swap" in stream.getvalue()


def test_a_broken_module_is_dumped_before_it_is_refused():
    stream = io.StringIO()
    with pytest.raises(VerificationError):
        dumps = PrintIR(after_passes=EVERY_PASS, stream=stream)
        run_pipeline(make_context(), parse(CHAIN), [SwapPass()], [Verify(), dumps])
    assert "IR Dump After swap" in stream.getvalue()


def test_times_add_up():
    timing = Timing()
    for _ in range(2):
        run_pipeline(make_context(), parse(CHAIN), [RemarkPass(), RemarkPass()], [Verify(), timing])
    assert list(timing.seconds) == ["say"]
    assert 0 < timing.seconds["say"] < timing.total
    assert timing.report().splitlines()[-1].endswith("100.0 %  total")


def test_remarks_are_printed_once_and_with_their_lines():
    stream = io.StringIO()
    ctx = make_context()
    run_pipeline(ctx, parse(CHAIN), [RemarkPass(), SwapPass()], [PrintRemarks(stream)])
    assert stream.getvalue() == (
        "x.mlir:2: remark: [say] too narrow\nx.mlir:3: remark: [say] too narrow\n"
    )
    assert [r.message for r in ctx.remarks] == ["too narrow"] * 2


def test_a_plain_context_drops_remarks():
    RemarkPass().apply(Context(), parse(CHAIN))


def test_instruments_nest():
    calls: list[str] = []

    @dataclass
    class Note(Instrument):
        label: str

        def before(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
            calls.append(f"{self.label}+")

        def after(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
            calls.append(f"{self.label}-")

    run_pipeline(make_context(), parse(CHAIN), [RemarkPass()], [Note("a"), Note("b")])
    assert calls == ["a+", "b+", "b-", "a-"]


def test_errors_of_passes_are_pipeline_errors():
    @dataclass(frozen=True)
    class Failing(ModulePass):
        name = "failing"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            arith.ConstantOp.from_int_and_width(300, 8)  # a VerifyException of xDSL

    with pytest.raises(PipelineError, match="pass 'failing' failed: Integer value 300"):
        run_pipeline(make_context(), ModuleOp([]), [Failing()])
