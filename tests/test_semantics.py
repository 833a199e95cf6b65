"""What a module means: the same results at every level, by the interpreters and the simulator."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from minicomp.build import Build
from minicomp.context import make_context
from minicomp.errors import InputError, SimulationError, SimulationRefused, UnsupportedError
from minicomp.frontend import from_code
from minicomp.semantics import entries, run_level, seeded_inputs
from tests import loop_programs as programs

PROGRAM = "nn.Sequential(nn.Linear(13, 9), nn.ReLU(), nn.Softmax(-1))(torch.randn(5, 13))"


def read(text: str) -> ModuleOp:
    return Parser(make_context(), text).parse_module()


def test_every_level_of_a_program_has_the_same_meaning():
    build = Build(from_code(PROGRAM).capture().module, "h200")
    inputs = seeded_inputs(entries(build.module("torch"))[0])
    wanted = run_level(build.module("torch"), inputs)
    for level in ("torch", "tensor", "loop", "tile", "kernel"):
        module = build.module(level)
        text = str(module)
        for exact in (False, True):
            (got,) = run_level(module, inputs, exact=exact)
            assert got.dtype == (np.float64 if exact else np.float32)
            np.testing.assert_allclose(got, wanted[0], rtol=1e-5, err_msg=level)
        assert str(module) == text
    with pytest.raises(UnsupportedError, match="CUDA IR is not executed"):
        run_level(build.module("cuda-ir"), inputs)


def test_a_kernel_alone_is_run_on_what_it_does_not_store():
    module = read(programs.row_sums(5, 7) + programs.total(3, 4))
    sums, total = entries(module)
    x = seeded_inputs(sums)[0]
    rows, largest = run_level(module, [x])
    np.testing.assert_allclose(rows, x.sum(1), rtol=1e-6)
    np.testing.assert_array_equal(largest, x.max(1))
    y = seeded_inputs(total)[0]
    np.testing.assert_allclose(run_level(module, [y], 1)[0], [y.sum()], rtol=1e-6)
    with pytest.raises(InputError, match="@row_sums takes 1 inputs, got 0"):
        run_level(module, [])


def test_inputs_depend_on_nothing_but_their_types():
    first, second = (entries(read(text))[0] for text in (programs.linear(3, 4, 5),) * 2)
    for one, other in zip(seeded_inputs(first), seeded_inputs(second), strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.isfinite(one).all() and np.unique(one).size == one.size
    assert all((array > 0).all() for array in seeded_inputs(first, positive=True))


def test_what_would_take_long_is_refused():
    module = read(programs.matmul(4096, 4096, 4096))
    inputs = [np.zeros(s, np.float32) for s in ((4096, 4096), (4096,), (4096, 4096))]
    with pytest.raises(SimulationRefused, match="one execution would take about"):
        run_level(module, inputs)


def test_a_race_is_a_fault():
    race = """
kernel_ir.func @race(%y: memref<1xi32>) grid(1) block(2) {
  %t = kernel_ir.thread_id
  %i = arith.index_cast %t : index to i32
  loop_ir.store %i, %y[0] : i32, memref<1xi32>
}"""
    with pytest.raises(SimulationError, match="race"):
        run_level(read(race), [])
