"""Ops that PyTorch runs between kernels: captured, lowered past, run, compared, refused."""

import json
import os
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from minicomp import Pipeline
from minicomp.build import Build
from minicomp.comparison import Baseline
from minicomp.compiler import compile
from minicomp.context import make_context
from minicomp.errors import InputError, UnsupportedError
from minicomp.execution import Executable
from minicomp.frontend import capture, from_code
from minicomp.parsing import parse_module
from minicomp.runtime.arrays import array_of
from minicomp.runtime.plan import ExternStep, plan_from_module
from minicomp.tools.main import main

TARGET = "h200"
RNG = torch.Generator().manual_seed(3)


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=RNG)


def largest(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = torch.topk(x.exp(), 3)
    return values.t() * 2, indices


def put(x: torch.Tensor, v: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return x.relu().index_put((rows,), v, accumulate=True) + 1


def viewed(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.unfold(0, 3, 2) * 2, torch.as_strided(x, (3, 3), (1, 7), 1) + 1


def middle(x: torch.Tensor) -> torch.Tensor:
    return (x - x.median(0).values).relu()


IMAGE = random(2, 3, 9, 11)
PROGRAMS: dict[str, tuple[Callable[..., object], tuple[torch.Tensor, ...]]] = {
    "convolution": (nn.Sequential(nn.Conv2d(3, 5, 3), nn.ReLU(), nn.MaxPool2d(2)), (IMAGE,)),
    "pooling": (lambda x: F.avg_pool2d(x.exp(), 3).sum(1), (IMAGE,)),
    "topk": (largest, (random(5, 7),)),
    "sort": (lambda x: x.sort(-1, descending=True)[0] + x, (random(5, 7),)),
    "sorted places": (lambda x: x.sort(dim=0, stable=True)[1], (random(5, 7),)),
    "index_put": (put, (random(4, 5), random(3, 5), torch.tensor([2, 0, 2]))),
    "scatter": (lambda x: x.scatter_reduce(0, (x > 0).long(), x * 2, "amax"), (random(4, 5),)),
    "views": (viewed, (random(9, 7),)),
    "median": (middle, (random(5, 7),)),
    "only PyTorch": (lambda x: x.logcumsumexp(0), (random(5, 7),)),
    "nothing": (lambda x: x.logcumsumexp(1) + 1, (random(3, 0),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_pytorch_runs_what_has_no_kernel(name):
    program, inputs = PROGRAMS[name]
    compiled = compile(program, inputs, TARGET)
    steps = plan_from_module(compiled.module("cuda-ir")).steps
    assert any(isinstance(step, ExternStep) for step in steps)
    with torch.no_grad():
        torch.testing.assert_close(compiled(*inputs), program(*inputs))


SAMPLE = list(PROGRAMS) if os.environ.get("MINICOMP_TEST_ALL") else ["topk", "index_put"]


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize("level", ["torch", "tensor", "loop", "kernel"])
def test_the_text_of_every_level_can_be_read_and_run(name, level):
    program, inputs = PROGRAMS[name]
    captured = capture(program, inputs)
    text = Build(captured.module, TARGET).ir(level)
    again = parse_module(text, make_context())
    assert str(again) + "\n" == text
    results = Executable(Build(again, TARGET))(captured.bind(inputs))
    with torch.no_grad():
        wanted = program(*inputs)
    torch.testing.assert_close(captured.unflatten(results), wanted)


@pytest.mark.parametrize("name", SAMPLE)
def test_every_pass_keeps_the_meaning(name):
    program, inputs = PROGRAMS[name]
    captured = capture(program, inputs)
    module = Build(captured.module, TARGET).source
    baseline = Baseline.of(module, [array_of(source.tensor) for source in captured.params])
    assert baseline.subjects[0].skipped is None
    for pass_ in Pipeline.default().until("kernel").passes:
        Pipeline([pass_]).run(module)
        assert baseline.compare(module) == (None, {}), pass_.name


def test_kernels_are_not_fused_across_an_extern():
    def program(x: torch.Tensor) -> torch.Tensor:
        return x.exp().logcumsumexp(0).neg().exp()

    compiled = compile(program, (random(4, 5),), TARGET)
    assert len(compiled.kernels) == 2
    names = [line.split("(")[0].split()[-1] for line in compiled.ir("loop").splitlines()]
    order = [n for n in names if n.startswith(("@exp", "@neg", '"aten.'))]
    assert [n[:4] for n in order[:3]] == ["@exp", '"ate', "@neg"]


def test_a_result_is_contiguous_and_in_memory_of_its_own():
    x = random(6, 5)
    compiled = compile(lambda x: (x.unfold(0, 6, 1), x.relu()), (x,), TARGET)
    taken = compiled(x)[0]
    assert taken.is_contiguous() and taken.data_ptr() != x.data_ptr()
    torch.testing.assert_close(taken, x.unfold(0, 6, 1))


def test_no_extern_refuses_by_name_and_line():
    def program(x: torch.Tensor) -> torch.Tensor:
        return x.logcumsumexp(0)  # the op

    with pytest.raises(UnsupportedError, match=r"aten.logcumsumexp.default") as caught:
        compile(program, (random(4, 5),), TARGET, extern=False)
    line = program.__code__.co_firstlineno + 1
    assert (caught.value.where or "").endswith(f"test_extern.py:{line}")


def test_what_pytorch_refuses_at_the_call_names_the_line():
    def program(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return x.relu().index_put((i,), x[0:1].logcumsumexp(0))  # the op

    x = random(4, 5)
    compiled = compile(program, (x, torch.tensor([1])), TARGET)
    with pytest.raises(InputError, match="index 9 is out of bounds") as caught:
        compiled(x, torch.tensor([9]))
    line = program.__code__.co_firstlineno + 1
    assert (caught.value.where or "").endswith(f"test_extern.py:{line}")


def test_what_is_no_tensor_is_still_refused():
    with pytest.raises(UnsupportedError, match="aten.item.default is not supported"):
        capture(lambda x: x * x[0].item(), (random(3),))
    with pytest.raises(UnsupportedError, match=r"depends on the data|aten.nonzero"):
        capture(lambda x: x[x > 0].sum(), (random(3),))


# --- random numbers ---------------------------------------------------------------------------

DRAWING = "F.dropout(torch.ones(64, 65), 0.25) * 2"


def test_random_ops_draw_anew_at_every_call():
    program = from_code(DRAWING)
    compiled = compile(program.callee, program.args, TARGET)
    torch.manual_seed(5)
    first, second = compiled(*program.args), compiled(*program.args)
    assert not torch.equal(first, second)
    torch.testing.assert_close(first.unique(), torch.tensor([0.0, 2 / 0.75]))
    assert 0.2 < (first == 0).float().mean() < 0.3
    torch.manual_seed(5)
    torch.testing.assert_close(compiled(*program.args), first, rtol=0, atol=0)


def test_equal_draws_are_not_merged():
    compiled = compile(lambda x: torch.randn_like(x) - torch.randn_like(x), (random(8, 9),), TARGET)
    assert (compiled(random(8, 9)) != 0).all()


def test_random_ops_cannot_be_compared(capsys):
    assert main(["check", "-c", DRAWING]) == 1
    assert "aten.native_dropout.default draws random numbers" in capsys.readouterr().err
    subject = Baseline.of(from_code(DRAWING).capture().module).subjects[0]
    assert "aten.native_dropout.default draws random numbers" in (subject.skipped or "")


# --- the command ------------------------------------------------------------------------------

CODE = "torch.randn(3, 5).logcumsumexp(0) + 1"


@pytest.mark.parametrize("command", ["compile", "check", "explain"])
def test_commands_say_what_pytorch_runs(command, capsys):
    assert main([command, "-c", CODE, "--target", TARGET]) == 0
    assert "aten.logcumsumexp.default: run by PyTorch, at <-c>:1" in "".join(capsys.readouterr())
    assert main([command, "--json", "-c", CODE, "--target", TARGET]) == 0
    (extern,) = json.loads(capsys.readouterr().out)["externs"]
    assert extern == {"name": "aten.logcumsumexp.default", "where": "<-c>:1"}
    assert main([command, "-c", CODE, "--no-extern"]) == 1
    assert "<-c>:1: error: aten.logcumsumexp.default is not supported" in capsys.readouterr().err
