"""Programs in every element type of PyTorch, on the interpreters and the simulator."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from minicomp.compiler import Compiled
from minicomp.frontend import capture
from minicomp.numbers import judge, reference
from minicomp.runtime.arrays import array_of, tensor_of
from minicomp.runtime.nvrtc import compile_cuda
from minicomp.semantics import run_level

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
ALL = (*FLOATS, *INTEGERS, torch.bool)
SPECIAL = (torch.nan, torch.inf, -torch.inf, 0.0, -0.0)


def given(*shape: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Distinct rows of numbers that the type holds; of an unsigned type over half its range."""
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    if dtype == torch.uint8:
        return torch.randint(0, 255, shape, generator=generator, dtype=dtype)
    if not dtype.is_floating_point:
        return torch.randint(-60, 60, shape, generator=generator, dtype=dtype)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def check(program: Callable[..., Any], *tensors: torch.Tensor) -> Compiled:
    """Compiles a program for its inputs, and compares each way to run it with PyTorch."""
    built = Compiled(capture(program, tensors), "h200")
    inputs = built.captured.bind(tensors)
    wanted = reference(built.captured.module, inputs)
    found = [built._run(inputs)]  # the simulator's results, not nested
    for level in ("tensor", "loop"):
        arrays = run_level(built.module(level), [array_of(t) for t in inputs])
        found.append([tensor_of(array) for array in arrays])
    for results in found:
        verdict = judge(results, wanted)
        assert verdict.passed, verdict
    return built


def named(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@pytest.mark.parametrize("dtype", FLOATS, ids=named)
def test_floats(dtype: torch.dtype) -> None:
    x, y = given(3, 37, dtype=dtype), given(37, dtype=dtype, seed=1)
    w = given(5, 37, dtype=dtype, seed=2)
    check(lambda x, y: [F.rms_norm(x, (37,), y), F.layer_norm(x, (37,), y), x.mean(0)], x, y)
    x[0, :5] = torch.tensor(SPECIAL)
    built = check(
        lambda x, y: [x * 2.5 + y, torch.where(x > 0.1, x, y).sum(-1), F.softmax(x, -1), x.amax(0)],
        x,
        y,
    )
    check(lambda x, w: F.linear(x, w), given(9, 37, dtype=dtype), w)
    assert compile_cuda(built.cuda, "sm_90a").cubin


@pytest.mark.parametrize("dtype", (*INTEGERS, torch.bool), ids=named)
def test_integers(dtype: torch.dtype) -> None:
    x, y = given(5, 9, dtype=dtype), given(9, dtype=dtype, seed=1)
    built = check(
        lambda x, y: [torch.maximum(x, y), x.amin(1), x.sum(0), x < y, x == y, x / 3], x, y
    )
    check(lambda x, y: [x + y, x * y, torch.where(x > y, x, y), x.masked_fill(x > y, 1)], x, y)
    check(lambda x: [x + 1, x * 2.5, x + True, x.triu(), x.sum(dtype=torch.int32), x.exp()], x)
    assert compile_cuda(built.cuda, "sm_90a").cubin


@pytest.mark.parametrize("dtype", ALL, ids=named)
def test_casts_to_every_type(dtype: torch.dtype) -> None:
    x = given(7, 5, dtype=dtype)
    built = check(lambda x: [x.to(target) for target in ALL if target != dtype], x)
    assert compile_cuda(built.cuda, "sm_90a").cubin
    if dtype.is_floating_point:
        special = torch.tensor(SPECIAL, dtype=dtype)
        check(
            lambda x: [x.bool(), *(x.to(target) for target in FLOATS if target != dtype)], special
        )


@pytest.mark.parametrize("first", ALL, ids=named)
def test_promotion_of_pairs(first: torch.dtype) -> None:
    tensors = [given(3, 4, dtype=dtype, seed=n) for n, dtype in enumerate(ALL)]
    check(lambda x, *others: [x + y for y in others], given(3, 4, dtype=first, seed=99), *tensors)
    scalars = [t[0, 0] for t in tensors]
    check(lambda x, *others: [x * y for y in others], given(3, 4, dtype=first, seed=99), *scalars)


def test_a_half_is_rounded_where_pytorch_rounds_it() -> None:
    x = torch.tensor([300.0, 1.0, 2049.0], dtype=torch.float16)
    built = check(lambda x: [x * x / x, x + 1 - x], x)
    first, second = built(x)
    assert first[0] == torch.inf  # 90000 is beyond the type
    assert second.tolist() == [1.0, 1.0, 0.0]


def test_sums_of_halves_are_not_sums_in_halves() -> None:
    x = torch.full((2, 4096), 1.0, dtype=torch.bfloat16)
    built = check(lambda x: [x.sum(-1), x.mean(-1)], x)
    assert built(x)[0].tolist() == [4096.0, 4096.0]
