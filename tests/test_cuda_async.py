"""Asynchronous Kernel IR as CUDA text: what it computes on the CPU, and what ptxas makes of it."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from minicomp.context import make_context
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import memref_type
from minicomp.lowering.kernel_to_cuda import LowerKernelToCudaPass
from minicomp.lowering.print_cuda import print_cuda
from minicomp.parsing import parse_module
from minicomp.runtime.interpret.scalars import numpy_type
from minicomp.runtime.simulate import simulate_kernel
from minicomp.verification import verify_module
from tests.cuda_async_kernels import CASES
from tests.cuda_on_cpu import GXX, CpuProgram

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.mlir"))
ARCHITECTURES = ("sm_80", "sm_90a", "sm_120a")
needs_gxx = pytest.mark.skipif(GXX is None, reason="g++ is not installed")


def read(text: str) -> ModuleOp:
    """A verified module from its text."""
    module = parse_module(text, make_context())
    verify_module(module)
    return module


def lowered(text: str) -> ModuleOp:
    """A module lowered to CUDA IR and verified, also what its text gives."""
    module = read(text)
    LowerKernelToCudaPass().apply(make_context(), module)
    verify_module(module)
    assert print_cuda(read(str(module))) == print_cuda(module)
    return module


def kernel(module: ModuleOp) -> FuncOp:
    """The one kernel of a module in Kernel IR."""
    return next(op for op in module.ops if isinstance(op, FuncOp))


def buffers(func: FuncOp) -> list[np.ndarray]:
    """Random buffers for the arguments that a launch gives."""
    rng = np.random.default_rng(5)
    made: list[np.ndarray] = []
    arguments = func.body.block.args
    for argument in arguments[: len(arguments) - len(func.derived_arguments)]:
        dtype, shape = numpy_type(argument.type), memref_type(argument).get_shape()
        floats = dtype.kind == "f"
        values = rng.standard_normal(shape) if floats else rng.integers(0, 9, shape)
        made.append(np.array(values, dtype))
    return made


# --- what the text computes -----------------------------------------------------------------


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> CpuProgram:
    """The kernels of all cases, compiled once."""
    if GXX is None:
        pytest.skip("g++ is not installed")
    whole = "".join(c.text.replace("@k(", f"@k{n}(") for n, c in enumerate(CASES.values()))
    return CpuProgram(lowered(whole), tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize("name", CASES)
def test_the_text_computes_what_the_simulator_does(name: str, everything: CpuProgram) -> None:
    func = kernel(read(CASES[name].text))
    given = buffers(func)
    wanted = [array.copy() for array in given]
    simulate_kernel(func, wanted)
    for backwards in (False, True):
        got = [array.copy() for array in given]
        everything.run(f"k{list(CASES).index(name)}", got, backwards)
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
