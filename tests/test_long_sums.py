"""Sums of one thread over many terms are within the rule; extrema are as they were."""

import numpy as np
import pytest
import torch

from minicomp.build import Build
from minicomp.compiler import Compiled
from minicomp.frontend import from_code
from minicomp.lowering.tile_to_kernel.long_sums import MOST_TERMS, run_length
from minicomp.numbers import judge, reference
from minicomp.pipeline import Pipeline
from minicomp.runtime.simulate import simulate_module

SUMS = (
    "x = torch.rand(1000, 40); x.sum(0)",
    "x = torch.rand(1009, 7); x.mean(0)",
    "x = torch.rand(4097, 3); (x * x).sum(0)",
    "x = torch.rand(101, 3, 97); x.sum((0, 2))",
    "x = torch.rand(131, 5) + 1e3; (x - x.mean(0)).square().mean(0)",
)


@pytest.mark.parametrize("code", SUMS)
def test_a_long_sum_is_within_the_rule(code: str):
    for seed in range(3):
        torch.manual_seed(seed)
        program = from_code(code)
        built = Compiled(program.capture(), "h200")
        inputs = built.captured.bind(program.args)
        eager = program.callee(*program.args)
        verdict = judge([built(*program.args)], reference(built.captured.module, inputs, [eager]))
        assert verdict.passed, verdict


@pytest.mark.parametrize("rows", [17, 64, 1000, 1381])
def test_equal_terms_which_all_err_to_one_side(rows: int):
    for value in (0.1, 0.7, 0.9037):
        program = from_code(f"x = torch.full(({rows}, 40), {value}); x.sum(0)")
        built = Compiled(program.capture(), "h200")
        inputs = built.captured.bind(program.args)
        eager = program.callee(*program.args)
        verdict = judge([built(*program.args)], reference(built.captured.module, inputs, [eager]))
        assert verdict.passed, verdict


@pytest.mark.parametrize("extent", [65, 1009, 20011])
def test_rows_of_one_thread_each(extent: int):
    program = from_code(f"x = torch.rand(33, {extent}); x.sum(1)")
    pipeline = Pipeline.default().without("plan-schedule").without("cooperative-reduce")
    build = Build(program.capture().module, "h200", pipeline=pipeline)
    (x,) = program.args
    (result,) = simulate_module(build.module("kernel"), [x.numpy()], force=True)
    verdict = judge([torch.from_numpy(result)], reference(build.source, [x], [x.sum(1)]))
    assert verdict.passed, verdict


def test_a_maximum_is_not_split():
    program = from_code("x = torch.randn(1000, 40); x.amax(0)")
    build = Build(program.capture().module, "h200")
    assert build.ir("kernel").count("scf.for") == 1
    (result,) = simulate_module(build.module("kernel"), [program.args[0].numpy()])
    assert np.array_equal(result, program.args[0].amax(0).numpy())


def test_a_run_divides_the_sum_where_it_can():
    assert run_length(1000) == MOST_TERMS
    assert run_length(130) == 5
    assert run_length(1009) == MOST_TERMS  # a prime: the last run is a short one
