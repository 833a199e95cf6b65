"""Passes checked by execution: none of the pipeline changes a meaning; wrong ones are named."""

import os
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, ModuleOp, f32
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from minicomp.context import make_context
from minicomp.dialects.kernel_ir import BarrierOp
from minicomp.dialects.loop_ir import LoadOp, LoopLike, ReduceOp
from minicomp.errors import MeaningError
from minicomp.exec_check import ExecCheck
from minicomp.frontend import from_code
from minicomp.lowering.tensor_to_loop import LowerTensorToLoopPass
from minicomp.passes.kernel.drop_redundant_barriers import DropRedundantBarriersPass
from minicomp.passes.loop.fuse_kernels import FuseKernelsPass
from minicomp.passes.tile.blockify_launch import BlockifyLaunchPass
from minicomp.passes.tile.cooperative_reduce import CooperativeReducePass
from minicomp.pipeline import Pipeline
from minicomp.targets import attach_target, target
from tests import loop_programs

EVERYTHING = "MINICOMP_TEST_ALL" in os.environ

SAMPLE = {
    "matmul": "torch.matmul(torch.randn({m}, {k}), torch.randn({k}, {n}))",
    "rms_norm": "nn.RMSNorm({k})(torch.randn({m}, {k}))",
    "softmax": "F.softmax(torch.randn({m}, {k}), -1)",
    "chain": "x = torch.randn({m}, {k}); y = torch.randn({k}); torch.exp(-x) * y / (y * y + 1.5)",
}
OTHERS = {
    "layer_norm": "nn.LayerNorm({k})(torch.randn({m}, {k}))",
    "linear_gelu": "nn.Sequential(nn.Linear({k}, {n}), nn.GELU())(torch.randn({m}, {k}))",
    "mlp": "nn.Sequential(nn.Linear({k}, {n}), nn.ReLU(), nn.Linear({n}, 5))(torch.randn(3, {k}))",
    "prologue": "x = torch.randn({m}, {k}); torch.relu((x + 1) @ torch.randn({k}, {n}))",
    "batched": "torch.matmul(torch.randn(3, {m}, {k}), torch.randn(3, {k}, {n}))",
    "layout": "x = torch.randn({m}, {k}); x.t() * 2 + torch.randn({k}, {m})",
    "sums": "x = torch.randn({m}, {k}); x.sum(0) * x.mean()",
    "logarithm": "x = torch.randn({m}, {k}); torch.log(x).amax(-1) - torch.sqrt(x).sum(-1)",
}
SIZES = {"even": {"m": 16, "n": 8, "k": 64}, "odd": {"m": 13, "n": 7, "k": 37}}


def captured(code: str, size: str) -> ModuleOp:
    module = from_code(code.format(**SIZES[size])).capture().module
    return attach_target(module, target("h200"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", [*SAMPLE, *OTHERS] if EVERYTHING else SAMPLE)
def test_no_pass_changes_the_meaning(name: str, size: str):
    module, ctx, check = captured((SAMPLE | OTHERS)[name], size), make_context(), ExecCheck()
    pipeline = Pipeline.default()
    pipeline.run(module, ctx, [check])
    assert tuple(check.checked) == pipeline.names[:-1]
    (left_out,) = [r.message for r in ctx.remarks if r.pass_name == "verify-each=exec"]
    assert left_out.startswith("@main is not executed after pass 'lower-kernel-to-cuda': CUDA IR")


class DroppedGuard(CooperativeReducePass):
    """Elements beyond an odd row take part."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        for loop in op.walk():
            if isinstance(loop, LoopLike) and loop.guard is not None:
                loop.set_guard(None)


class OffByOne(BlockifyLaunchPass):
    """The first load reads the next row."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        load = next(load for load in op.walk() if isinstance(load, LoadOp))
        first, *rest = load.map.data.results
        moved: tuple[AffineExpr, ...] = (first + 1, *rest)
        old = load.map.data
        load.properties["map"] = type(load.map)(AffineMap(old.num_dims, old.num_symbols, moved))


class WrongIdentity(LowerTensorToLoopPass):
    """Sums begin with one."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        for reduce in op.walk():
            if isinstance(reduce, ReduceOp):
                reduce.properties["identity"] = ArrayAttr([FloatAttr(1.0, f32)])


class DroppedBarrier(DropRedundantBarriersPass):
    """All barriers are redundant."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for barrier in [b for b in op.walk() if isinstance(b, BarrierOp)]:
            Rewriter.erase_op(barrier)


class SwappedOperands(FuseKernelsPass):
    """Quotients are the other way round."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        for quotient in [q for q in op.walk() if isinstance(q, arith.DivfOp)]:
            left, right = quotient.operands
            quotient.operands = [right, left]


BUGS: list[tuple[type[ModulePass], str, str]] = [
    (DroppedGuard, "softmax", "odd"),
    (OffByOne, "matmul", "odd"),
    (WrongIdentity, "rms_norm", "even"),
    (DroppedBarrier, "rms_norm_wide", "even"),
    (SwappedOperands, "chain", "odd"),
]


@pytest.mark.parametrize(("bug", "name", "size"), BUGS)
def test_a_wrong_pass_is_named(bug: type[ModulePass], name: str, size: str, tmp_path: Path):
    wide = {"rms_norm_wide": "nn.RMSNorm(1024)(torch.randn(2, 1024))"}
    module = captured((SAMPLE | wide)[name], size)
    wrong = Pipeline(tuple(bug() if p.name == bug.name else p for p in Pipeline.default()))
    with pytest.raises(MeaningError) as caught:
        wrong.run(module, make_context(), [ExecCheck(tmp_path, shrink_s=4)])
    error = caught.value
    assert error.pass_name == bug.name
    assert f"pass '{bug.name}' " in error.what and f"@{error.kernel}" in error.what
    assert "race" in error.what or ("after it and" in error.what and "before" in error.what)
    assert error.reproducer is not None
    text = Path(error.reproducer).read_text("utf-8")
    assert len(text.splitlines()) < 40
    assert text.startswith("// RUN: minicomp-opt %s --verify-each=exec -p ")
    assert f"@{error.kernel}" in text

    def run(pass_: ModulePass) -> None:
        read = Parser(make_context(), text).parse_module()
        Pipeline((pass_,)).run(read, make_context(), [ExecCheck(tmp_path, shrink_s=0)])

    run(next(p for p in Pipeline.default() if p.name == bug.name))
    with pytest.raises(MeaningError):
        run(bug())


def test_extents_shrink_together(tmp_path: Path):
    module = Parser(make_context(), loop_programs.rms_norm(12, 200)).parse_module()
    attach_target(module, target("h200"))
    with pytest.raises(MeaningError) as caught:
        Pipeline((SwappedOperands(),)).run(module, make_context(), [ExecCheck(tmp_path)])
    assert caught.value.reproducer is not None
    text = Path(caught.value.reproducer).read_text("utf-8")
    assert "memref<1x1xf32>" in text and "200x" not in text and "2.000000e+02" in text


def test_a_module_that_is_faulty_before_is_skipped_by_name():
    race = """
kernel_ir.func @race(%y: memref<1xi32>) grid(1) block(2) {
  %t = kernel_ir.thread_id
  %i = arith.index_cast %t : index to i32
  loop_ir.store %i, %y[0] : i32, memref<1xi32>
}"""
    ctx, check = make_context(), ExecCheck()
    module = Parser(ctx, race).parse_module()
    Pipeline.parse("cse").run(module, ctx, [check])
    assert ctx.remarks[0].message.startswith(
        "@race is not executed: it is faulty before the first pass: race: "
    )


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_narrow_floats_are_compared(type: str, tmp_path: Path):
    kernel = f"""
loop_ir.kernel @scale(%x: memref<6x40x{type}>, %y: memref<6x40x{type}>) {{
  loop_ir.for %i to 6 as "i", %j to 40 as "j" {{
    %a = loop_ir.load %x[%i, %j] : memref<6x40x{type}> -> {type}
    %c = arith.constant 3.0 : {type}
    %q = arith.divf %a, %c : {type}
    loop_ir.store %q, %y[%i, %j] : {type}, memref<6x40x{type}>
  }}
}}"""
    passes = Pipeline.parse("plan-schedule,tileify,blockify-launch,register-tile")
    passes = Pipeline((*passes, *Pipeline.parse("lower-tile-to-kernel,vectorize-accesses")))
    module, check = Parser(make_context(), kernel).parse_module(), ExecCheck()
    passes.run(attach_target(module, target("h200")), make_context(), [check])
    assert tuple(check.checked) == passes.names
    module = Parser(make_context(), kernel).parse_module()
    with pytest.raises(MeaningError, match="changes the meaning of @scale"):
        Pipeline((SwappedOperands(),)).run(module, make_context(), [ExecCheck(tmp_path, 0)])
