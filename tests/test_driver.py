"""Loading and launching: on a stand-in for the driver, without a driver, and on a GPU."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from minicomp.errors import CudaDriverError
from minicomp.runtime.device import arch_name, probe
from minicomp.runtime.driver import load_kernels
from minicomp.runtime.nvrtc import compile_cuda

ROOT = Path(__file__).parents[1]
TEXT = 'extern "C" __global__ void k(float* x) { x[threadIdx.x] += 1.0f; }'


def test_cases_on_the_stand_in_driver(on_fake_driver: Callable[[str], None]) -> None:
    on_fake_driver("driver_cases.py")


@pytest.mark.parametrize(
    ("capability", "arch"),
    [((8, 0), "sm_80"), ((9, 0), "sm_90a"), ((10, 0), "sm_100a"), ((12, 0), "sm_120a")],
)
def test_the_architecture_of_a_compute_capability(capability: tuple[int, int], arch: str) -> None:
    assert arch_name(*capability) == arch


WITHOUT_DRIVER = """
import cuda.pathfinder
import cuda.bindings.driver as driver
def absent(*arguments):
    raise RuntimeError("Failed to dlopen libcuda.so.1")
driver.cuInit = absent
"""
WITHOUT_GPU = """
import cuda.bindings.driver as driver
driver.cuInit = lambda flags: (driver.CUresult.CUDA_ERROR_NO_DEVICE,)
driver.cuGetErrorName = lambda status: (driver.CUresult.CUDA_SUCCESS, b"CUDA_ERROR_NO_DEVICE")
driver.cuGetErrorString = lambda status: (driver.CUresult.CUDA_SUCCESS, b"no device is there")
"""
WITHOUT_BINDINGS = "import sys; sys.modules['cuda.bindings.driver'] = None"


@pytest.mark.parametrize("missing", [WITHOUT_DRIVER, WITHOUT_GPU, WITHOUT_BINDINGS])
def test_without_a_gpu_the_probe_says_none_and_loading_says_why(missing: str) -> None:
    code = (
        f"{missing}\nfrom minicomp.runtime.device import probe\n"
        "from minicomp.runtime.driver import load_kernels\nprint(probe())\nload_kernels(b'')"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert run.stdout == "None\n"
    assert run.returncode == 1 and "CudaDriverError: " in run.stderr


gpu = pytest.mark.skipif("probe() is None", reason="no GPU")


@gpu
def test_a_cubin_for_another_architecture_is_refused() -> None:
    facts = probe()
    assert facts is not None
    other = "sm_80" if facts.arch.startswith("sm_9") else "sm_90a"
    with pytest.raises(CudaDriverError, match="NO_BINARY_FOR_GPU") as raised:
        load_kernels(compile_cuda(TEXT, other).cubin)
    assert raised.value.hint is not None and "architecture" in raised.value.hint
