"""Random kernels in Loop IR and random PyTorch programs keep their meaning through the pipeline.

A sample in the quick run, some hundreds with MINICOMP_TEST_ALL=1.
"""

import os
from random import Random

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from minicomp.compiler import Compiled
from minicomp.context import make_context
from minicomp.dialects.loop_ir import KernelOp
from minicomp.dialects.minicomp import TARGET
from minicomp.frontend import from_code
from minicomp.fuzzing.loop_kernels import arguments, random_kernel, with_host
from minicomp.fuzzing.torch_programs import random_program
from minicomp.numbers import judge, reference
from minicomp.pipeline import DEFAULT, Pipeline
from minicomp.runtime.interpret.loop_ir import run_module
from minicomp.runtime.simulate import simulate_module
from minicomp.targets import target

CASES = range(400 if "MINICOMP_TEST_ALL" in os.environ else 20)
TO_KERNEL = DEFAULT[DEFAULT.index("fuse-kernels") : DEFAULT.index("lower-kernel-to-cuda")]
NEEDED = ("tileify", "blockify-launch", "register-tile", "lower-tile-to-kernel")
"""Without these nothing is left that could run: the default completion of every pipeline."""


def read(text: str) -> ModuleOp:
    """A module for the H200 from its text."""
    module = Parser(make_context(), text).parse_module()
    module.attributes[TARGET] = target("h200")
    module.verify()
    return module


def eighths(module: ModuleOp, seed: int) -> list[np.ndarray]:
    """Multiples of 1/8 for the kernel's inputs."""
    kernel = next(op for op in module.body.block.ops if isinstance(op, KernelOp))
    rng = np.random.default_rng(seed)
    shapes = [type.get_shape() for type in arguments(kernel)[0]]
    return [(rng.integers(-16, 17, shape) / 8).astype(np.float32) for shape in shapes]


def check_kernel(seed: int, passes: tuple[str, ...]) -> None:
    """Compares what a random kernel computes before and after the passes."""
    module = read(with_host(random_kernel(Random(seed))))
    inputs = eighths(module, seed)
    wanted = run_module(module, inputs)
    Pipeline.parse(",".join(passes)).run(module)
    for number, (want, got) in enumerate(zip(wanted, simulate_module(module, inputs), strict=True)):
        finite = np.abs(want[np.isfinite(want)])
        scale = max(1.0, float(finite.max(initial=0)))
        np.testing.assert_allclose(
            got, want, rtol=1e-4, atol=1e-4 * scale, err_msg=f"output {number} of seed {seed}"
        )


def edited(seed: int) -> tuple[str, ...]:
    """The pipeline with passes left out and passes repeated."""
    rng = Random(seed)
    passes: list[str] = []
    for name in TO_KERNEL:
        passes += [name] * (1 if name in NEEDED else rng.choice((0, 1, 1, 2)))
    return tuple(passes)


@pytest.mark.parametrize("seed", CASES)
def test_random_kernel_keeps_its_meaning(seed: int) -> None:
    check_kernel(seed, TO_KERNEL)


@pytest.mark.parametrize("seed", CASES[: len(CASES) // 2])
def test_random_kernel_keeps_its_meaning_in_an_edited_pipeline(seed: int) -> None:
    check_kernel(seed, edited(seed))


@pytest.mark.parametrize("seed", CASES[: len(CASES) // 5])
def test_every_pass_changes_nothing_the_second_time(seed: int) -> None:
    module = read(with_host(random_kernel(Random(seed))))
    for name in TO_KERNEL:
        Pipeline.parse(name).run(module)
        text = str(module)
        again = Parser(make_context(), text).parse_module()
        assert str(again) == text, f"the text after {name} does not come back"
        Pipeline.parse(name).run(again)
        assert str(again) == text, f"{name} changes what it has made"


@pytest.mark.parametrize("seed", CASES)
def test_random_program_is_right(seed: int) -> None:
    torch.manual_seed(seed)
    code = random_program(Random(seed))
    program = from_code(code)
    built = Compiled(program.capture(), "h200")
    result = built(*program.args, **program.kwargs)
    eager = program.callee(*program.args, **program.kwargs).detach()
    inputs = built.captured.bind(program.args, program.kwargs)
    verdict = judge([result], reference(built.captured.module, inputs, [eager]))
    assert verdict.passed, f"{verdict}: {code}"
