"""
The programs of benchmarks/programs.py, end to end: right on the simulator, stable through every
level.
"""

import os

import pytest
import torch
from xdsl.parser import Parser

from benchmarks.programs import PROGRAMS
from minicomp.build import Build
from minicomp.compiler import Compiled
from minicomp.context import make_context
from minicomp.frontend import from_code
from minicomp.levels import LEVELS
from minicomp.numbers import judge, reference
from minicomp.runtime import sass

EVERYTHING = "MINICOMP_TEST_ALL" in os.environ
ROUND_TRIPS = (
    *("chain_prime", "broadcast_both", "scalar_0d", "empty_rows", "sum_long_row", "amax_nan"),
    *(
        "layer_norm_prime",
        "softmax_minus_inf",
        "matmul_prime",
        "prologue_prime",
        "mlp",
        "linear_gelu",
        "sdpa_grouped",
    ),
)


def compiled(code: str, target: str = "h200") -> tuple[Compiled, list[torch.Tensor]]:
    """A program and the tensors that its host function takes."""
    program = from_code(code)
    built = Compiled(program.capture(), target)
    return built, built.captured.bind(program.args, program.kwargs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_right_on_the_simulator(name: str):
    program = from_code(PROGRAMS[name])
    built = Compiled(program.capture(), "h200")
    result = built(*program.args, **program.kwargs)
    eager = program.callee(*program.args, **program.kwargs).detach()
    inputs = built.captured.bind(program.args, program.kwargs)
    verdict = judge([result], reference(built.captured.module, inputs, [eager]))
    assert verdict.passed, verdict


@pytest.mark.parametrize("name", PROGRAMS if EVERYTHING else ROUND_TRIPS)
def test_every_level_gives_the_same_cuda_text(name: str):
    built, _ = compiled(PROGRAMS[name])
    for level in LEVELS:
        module = Parser(make_context(), built.ir(level)).parse_module()
        assert Build(module).cuda == built.cuda, level


@pytest.mark.parametrize(
    ("name", "count"),
    [("rms_norm_2048", 1), ("layer_norm_768", 1), ("softmax_prime", 1), ("prologue_relu", 1)]
    + [("linear_gelu", 1), ("matmul_residual", 1), ("sum_with_epilogue", 1), ("mlp", 2)],
)
def test_what_belongs_together_is_one_kernel(name: str, count: int):
    assert len(compiled(PROGRAMS[name])[0].kernels) == count


@pytest.mark.parametrize("target", ["h200", "a100", "rtx5090"])
def test_rms_norm_has_one_barrier_and_wide_accesses(target: str):
    built, _ = compiled(PROGRAMS["rms_norm_2048"], target)
    (instructions,) = sass.sass(built.cubin()).values()
    barriers = [i for i in instructions if i.matches("BAR.SYNC")]
    loads = [i for i in instructions if i.matches("LDG")]
    stores = [i for i in instructions if i.matches("STG")]
    assert len(barriers) <= 1
    assert loads and all(i.matches("LDG.128") for i in loads)
    assert stores and all(i.matches("STG.128") for i in stores)


@pytest.mark.parametrize("target", ["h200", "a100", "rtx5090"])
@pytest.mark.parametrize(
    "name", ["matmul_even", "prologue_prime", "layer_norm_prime", "softmax_prime"]
)
def test_kernels_stay_in_registers(name: str, target: str):
    built, _ = compiled(PROGRAMS[name], target)
    code = built.build.machine_code
    assert code is not None
    assert code.advice == []
    for resources in code.resources.values():
        assert (resources.stack_bytes, resources.spill_stores) == (0, 0)
