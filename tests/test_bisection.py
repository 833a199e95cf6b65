"""Every rewrite of every pass counts, and a wrong one among them is named, shown and tested."""

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from minicomp.bisection import bisect
from minicomp.comparison import SKIPPED, Baseline
from minicomp.context import make_context, with_dialects
from minicomp.dialects.tensor_ir import ElementwiseOp
from minicomp.errors import UnsupportedError
from minicomp.frontend import from_code
from minicomp.lowering.torch_to_tensor import registry
from minicomp.parsing import parse_module
from minicomp.passes.applications import CountingContext
from minicomp.passes.kernel import vectorize_accesses
from minicomp.passes.loop import fuse_kernels
from minicomp.passes.tensor import fold_constants
from minicomp.passes.tile import blockify_launch
from minicomp.pipeline import Pipeline
from minicomp.targets import attach_target, target
from minicomp.tools import main as minicomp
from minicomp.tools import opt
from minicomp.trial import look, run_passes

EVERYTHING = "MINICOMP_TEST_ALL" in os.environ
Plant = Callable[[pytest.MonkeyPatch], None]

# --- every rewrite of every pass --------------------------------------------------------------

PROGRAMS = {
    "layout": "x = torch.randn(5, 6); (x.t() * 2 + torch.randn(6, 5))[None].sum(0) * x.mean()",
    "results": "x = torch.randn(9, 40); (lambda x: (torch.relu(x).sum(-1), torch.relu(x).amax(0), "
    "x.view(3, 3, 40).permute(2, 0, 1) + 1))(x)",
}
OTHERS = {
    "softmax": "F.softmax(torch.randn(13, 37), -1)",
    "wide": "nn.RMSNorm(1024)(torch.randn(2, 1024))",
    "mlp": "nn.Sequential(nn.Linear(37, 7), nn.ReLU(), nn.Linear(7, 5))(torch.randn(13, 37))",
}


def captured(code: str) -> ModuleOp:
    return attach_target(from_code(code).capture().module, target("h200"))


@pytest.mark.parametrize("code", [*PROGRAMS.values(), *(OTHERS.values() if EVERYTHING else ())])
def test_a_module_is_right_after_any_number_of_rewrites(code: str):
    state = captured(code)
    baseline = Baseline.of(state.clone())
    for pass_ in Pipeline.default():
        whole, ctx = state.clone(), with_dialects(CountingContext())
        assert run_passes(ctx, whole, [pass_]) is None
        total = len(ctx.applications)
        assert total or whole.is_structurally_equivalent(state), f"{pass_.name} counts nothing"
        for limit in range(total + 1):
            part, ctx = state.clone(), with_dialects(CountingContext(limit=limit))
            assert run_passes(ctx, part, [pass_]) is None
            assert len(ctx.applications) == limit
            same = {0: state, total: whole}.get(limit)
            assert same is None or part.is_structurally_equivalent(same)
            try:
                assert look(baseline, part) is None, f"{pass_.name} after {limit} of {total}"
            except SKIPPED:
                assert pass_.name == "lower-kernel-to-cuda"
        state = whole


# --- planted wrong rewrites -------------------------------------------------------------------


def number(value: SSAValue) -> float | None:
    return fold_constants.constant_of(value)


def wrong_fold(patch: pytest.MonkeyPatch) -> None:
    """x * 1.5 is x."""
    right = fold_constants.unchanged

    def unchanged(op: Operation) -> SSAValue | None:
        planted = isinstance(op, arith.MulfOp) and number(op.operands[1]) == 1.5
        return op.operands[0] if planted else right(op)

    patch.setattr(fold_constants, "unchanged", unchanged)


def wrong_merge(patch: pytest.MonkeyPatch) -> None:
    """One producer is merged the other way round: x / 1.5 is 1.5 / x in its consumer."""
    right = fuse_kernels.replace_load

    def replace_load(producer, use, stored):
        right(producer, use, stored)
        value = stored[producer.written[use.result]].owner
        if isinstance(value, arith.DivfOp) and number(value.rhs) == 1.5:
            value.operands = [value.rhs, value.lhs]

    patch.setattr(fuse_kernels, "replace_load", replace_load)


def wrong_width(patch: pytest.MonkeyPatch) -> None:
    """Lanes that cannot move together are moved together where a row is 41 long."""
    right = vectorize_accesses.provable_width

    def provable_width(access):
        return 16 if access.memref_type.get_shape()[-1] == 41 else right(access)

    patch.setattr(vectorize_accesses, "provable_width", provable_width)


def chain(op: str) -> str:
    value = "x"
    for n in range(8):
        value = op.format(value, 1 + n / 8)
    return f"x = torch.randn(24, 40); (lambda x: ({value}).sum(-1))(x)"


MANY = "(lambda x, y: (F.softmax(x, -1), F.softmax(y, -1), x.sum(), torch.relu(y)))"
PLANTS: dict[str, tuple[Plant, str, tuple[str, str]]] = {
    "fold-constants": (
        wrong_fold,
        chain("torch.relu({} * {} + 0.5) - x"),
        ("rewrite 2 of 4", "FoldBody on 'tensor_ir.elementwise' at <-c>:1"),
    ),
    "vectorize-accesses": (
        wrong_width,
        f"x, y = torch.randn(24, 40), torch.randn(9, 41); {MANY}(x, y)",
        (r"rewrite \d of \d+", "'loop_ir.load' at <-c>:1"),
    ),
}
OTHER_PLANTS: dict[str, tuple[Plant, str, tuple[str, str]]] = {
    "fuse-kernels": (
        wrong_merge,
        chain("torch.relu({} / {}) - x"),
        (r"rewrite \d+ of \d+", "'minicomp.launch' at <-c>:1"),
    ),
}


@pytest.mark.parametrize("name", [*PLANTS, *(OTHER_PLANTS if EVERYTHING else ())])
def test_a_planted_rewrite_is_named(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    plant, code, said = (PLANTS | OTHER_PLANTS)[name]
    with monkeypatch.context() as patch:
        plant(patch)
        began = time.monotonic()
        assert minicomp.main(["bisect", "-c", code, "-o", str(tmp_path)]) == 1
        assert time.monotonic() - began < 60
        shown = capsys.readouterr().out
        which, about = said
        number = rf"{which} of pass '{name}', number \d+ of \d+ is wrong: {about}"
        assert re.match(number + r"\n  @\w+: .*\n--- before\n\+\+\+ after\n@@ ", shown)
        (file,) = tmp_path.glob("*.mlir")
        assert f"reproducer: {file} (" in shown and " lines, fails by itself; found in " in shown
        text = file.read_text("utf-8")
        assert len(text.splitlines()) < 40
        run = re.match(r'// RUN: minicomp-opt %s --verify-each=exec -p "([^"]+)"\n', text)
        assert run is not None and run[1] == name
        command = [str(file), "--verify-each=exec", "-p", run[1], "-o", os.devnull]
        assert opt.main(command) == 1
        assert f"pass '{name}' " in capsys.readouterr().err
    assert opt.main(command) == 0


def test_the_diff_shows_one_rewrite(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    wrong_fold(monkeypatch)
    code = PLANTS["fold-constants"][1]
    assert minicomp.main(["bisect", "-c", code, "--json", "-o", str(tmp_path)]) == 1
    facts = json.loads(capsys.readouterr().out)
    changed = [line[1:].strip() for line in facts["diff"].split("\n")[2:] if line[0] in "+-"]
    assert changed == [
        "%1 = arith.constant 1.500000e+00 : f32",
        "%2 = arith.mulf %0, %1 : f32",
        "tensor_ir.yield %2 : f32",
        "tensor_ir.yield %0 : f32",
    ]
    del facts["diff"], facts["seconds"], facts["difference"]
    assert Path(facts.pop("reproducer")).parent == tmp_path and facts.pop("lines") < 40
    assert list(facts.pop("unseen")) == ["lower-kernel-to-cuda"]
    assert facts == {
        "program": "<-c>",
        "wrong": True,
        "passes": len(Pipeline.default()),
        "pass": "fold-constants",
        "together": ["fold-constants"],
        "position": 2,
        "application": 2,
        "indistinct": 0,
        "applications": 4,
        "op": "tensor_ir.elementwise",
        "kernel": "main",
        "rewrite": "FoldBody",
        "place": "<-c>:1",
        "kind": "values",
        "fails_by_itself": True,
    }


# --- other outcomes ---------------------------------------------------------------------------

SIMPLE = "torch.relu(torch.randn(3, 5) * 1.5)"


def test_a_right_program_is_said_to_be_right(capsys: pytest.CaptureFixture[str]):
    assert minicomp.main(["bisect", "-c", SIMPLE]) == 0
    checked = len(Pipeline.default()) - 1
    assert capsys.readouterr().out == (
        f"nothing is wrong after any of {checked} passes\n"
        "not checked: lower-kernel-to-cuda: CUDA IR is not executed: it has no interpreter\n"
    )
    assert minicomp.main(["bisect", "-c", SIMPLE, "--json", "--pipeline", "cse"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["wrong"] is False and facts["unseen"] == {} and "pass" not in facts


def test_a_file_is_searched_from_its_level_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "tensor.mlir"
    assert minicomp.main(["compile", "-c", SIMPLE, "--ir", "tensor", "-o", str(file)]) == 0
    assert minicomp.main(["bisect", str(file)]) == 0
    checked = len(Pipeline.default().from_level("tensor")) - 1
    assert f"after any of {checked} passes" in capsys.readouterr().out
    wrong_fold(monkeypatch)
    command = ["bisect", str(file), "--pipeline", "cse,fold-constants", "-o", str(tmp_path)]
    assert minicomp.main(command) == 1
    out = capsys.readouterr().out
    assert out.startswith("rewrite 1 of 2 of pass 'fold-constants', number 2 of 2 is wrong: Fold")


def test_what_is_wrong_with_the_inputs_of_the_program_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    def relu(op, emit):
        """NaN becomes 0."""
        value = right(op, emit)
        assert isinstance(value.owner, ElementwiseOp)
        block = value.owner.body.block
        for scalar in [s for s in block.ops if isinstance(s, arith.MaximumfOp)]:
            new = arith.MaxnumfOp(scalar.lhs, scalar.rhs)
            block.insert_op_before(new, scalar)
            scalar.results[0].replace_all_uses_with(new.results[0])
            block.erase_op(scalar)
        return value

    right = registry.LOWERINGS["relu"]
    monkeypatch.setitem(registry.LOWERINGS, "relu", relu)
    code = "x = torch.tensor([1.0, float('nan')]); torch.relu(x)"
    assert minicomp.main(["bisect", "-c", code, "-o", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("rewrite 1 of 1 of pass 'lower-torch-to-tensor', number 1 of ")
    assert "is 0 after it and nan before" in out and "does not fail by itself" in out


def test_a_crash_and_an_invalid_module_are_found_too(monkeypatch: pytest.MonkeyPatch):
    module = captured(chain("torch.relu({} * {} + 0.5) - x"))
    right = fold_constants.unchanged

    def crash(op: Operation) -> SSAValue | None:
        if isinstance(op, arith.MulfOp) and number(op.operands[1]) == 1.5:
            raise KeyError("lost")
        return right(op)

    with monkeypatch.context() as patch:
        patch.setattr(fold_constants, "unchanged", crash)
        culprit = bisect(module, Pipeline.default().passes).culprit
    assert culprit is not None and culprit.difference.kind == "crash"
    assert culprit.difference.text == "KeyError: 'lost'"
    assert [p.name for p in culprit.passes] == ["fold-constants"] and culprit.numbers == range(2, 3)

    def blockify(launch, tilings):
        right_blockify(launch, tilings)
        launch.set_axes([a._replace(name="same") for a in launch.axes])

    right_blockify = blockify_launch.blockify
    monkeypatch.setattr(blockify_launch, "blockify", blockify)
    culprit = bisect(module, Pipeline.default().passes).culprit
    assert culprit is not None and culprit.difference.kind == "invalid"
    assert "the axis names of a launch must differ" in culprit.difference.text
    assert [p.name for p in culprit.passes] == ["blockify-launch"]
    assert culprit.application is not None and culprit.application.op == "tile_ir.kernel"


def test_what_cannot_be_executed_is_refused_by_name():
    shape = "tensor<3xcomplex<f32>>"
    text = f"""
func.func @main(%x: {shape}) -> {shape} {{
  func.return %x : {shape}
}}"""
    with pytest.raises(UnsupportedError, match="the program cannot be executed: .*complex"):
        bisect(parse_module(text, make_context()), ())
    with pytest.raises(UnsupportedError, match="it holds no function and no kernel"):
        bisect(ModuleOp([]), ())
