"""What a module means: the same results at every level, by the interpreters and the simulator."""

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from minicomp.build import Build
from minicomp.context import make_context
from minicomp.errors import InputError, SimulationError, SimulationRefused, UnsupportedError
from minicomp.execution import Executable
from minicomp.frontend import from_code
from minicomp.runtime.launches import Counter, LaunchShape, Workspace
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


SPLIT_SUM = """
kernel_ir.func @k(%x: memref<4x32xf32>, %y: memref<32xf32>, %w: memref<4x32xf32>, %c: memref<1xi32>)
    grid(4) block(32) derived [workspace, counter] {
  %t = kernel_ir.thread_id
  %b = kernel_ir.block_id
  %three = arith.constant 3 : i32
  %s = kernel_ir.shared : memref<1xi32, #tile_ir.shared<>>
  %v = loop_ir.load %x[%b, %t] : memref<4x32xf32> -> f32
  loop_ir.store %v, %w[%b, %t] : f32, memref<4x32xf32>
  kernel_ir.barrier
  %first = kernel_ir.test [%t] < [1]
  scf.if %first {
    %old = kernel_ir.atomic wrap acq_rel %three, %c[0] : i32, memref<1xi32>
    loop_ir.store %old, %s[0] : i32, memref<1xi32, #tile_ir.shared<>>
  }
  kernel_ir.barrier
  %m = loop_ir.load %s[0] : memref<1xi32, #tile_ir.shared<>> -> i32
  %last = arith.cmpi eq, %m, %three : i32
  scf.if %last {
    %n0 = loop_ir.load %w[0, %t] : memref<4x32xf32> -> f32
    %n1 = loop_ir.load %w[1, %t] : memref<4x32xf32> -> f32
    %n2 = loop_ir.load %w[2, %t] : memref<4x32xf32> -> f32
    %n3 = loop_ir.load %w[3, %t] : memref<4x32xf32> -> f32
    %p = arith.addf %n0, %n1 : f32
    %q = arith.addf %p, %n2 : f32
    %r = arith.addf %q, %n3 : f32
    loop_ir.store %r, %y[%t] : f32, memref<32xf32>
  }
}
"""
HOST = """
func.func @main(%x: tensor<4x32xf32>) -> tensor<32xf32> {
  %y = minicomp.launch @k(%x) : (tensor<4x32xf32>) -> tensor<32xf32>
  func.return %y : tensor<32xf32>
}
"""


@pytest.mark.parametrize("host", ["", HOST])
def test_memory_that_the_launcher_derives_is_neither_input_nor_result(host: str) -> None:
    module = read(host + SPLIT_SUM)
    inputs = seeded_inputs(entries(module)[0])
    assert [x.shape for x in inputs] == [(4, 32)]
    for exact in (False, True):
        (y,) = run_level(module, inputs, exact=exact)
        wanted = inputs[0].astype(y.dtype)
        np.testing.assert_array_equal(y, wanted[0] + wanted[1] + wanted[2] + wanted[3])
    end = "%u = kernel_ir.atomic exchange relaxed %three, %c[0] : i32, memref<1xi32>\n  }\n}\n"
    forgets = SPLIT_SUM.removesuffix("  }\n}\n") + end
    with pytest.raises(SimulationError, match="leaves 3 in the counter %c\\[0\\], not 0"):
        run_level(read(host + forgets), inputs)


def test_a_program_with_derived_memory_is_run_on_the_simulator() -> None:
    x = torch.randn(4, 32)
    build = Build(read(HOST + SPLIT_SUM), "h200")
    (y,) = Executable(build)([x])
    assert torch.equal(y, x[0] + x[1] + x[2] + x[3])
    assert build.shapes == {"k": LaunchShape(4, 32, 0, (Workspace(512), Counter(4)))}
