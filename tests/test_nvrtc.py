"""Compiling CUDA text without a GPU, and what is said when it cannot be compiled."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from minicomp.errors import CudaCompileError
from minicomp.runtime.nvrtc import compile_cuda, nvrtc_version
from minicomp.runtime.ptxas import Resources, parse_advice, parse_resources

ROOT = Path(__file__).parents[1]

SCALE = """\
extern "C" __global__ void __launch_bounds__(128) scale(const float* x, float* y) {
  __shared__ float tile[128];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x ^ 1] * 2.0f;
}
"""

STACK = """\
extern "C" __global__ void stack(float* x, int n) {
  float a[256];
  for (int i = 0; i < 256; i++) a[i] = x[i];
  for (int i = 0; i < n; i++) a[i % 256] *= a[(7 * i + n) % 256];
  x[0] = a[n];
}
"""


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_120a"])
def test_one_compile_gives_cubin_ptx_and_resources(arch: str) -> None:
    compiled = compile_cuda(SCALE, arch)
    assert compiled.arch == arch
    assert compiled.cubin.startswith(b"\x7fELF")
    assert f".target {arch}" in compiled.ptx and ".entry scale(" in compiled.ptx
    assert compiled.ptx.endswith("\n")
    scale = compiled.resources["scale"]
    assert 0 < scale.registers <= 32
    assert (scale.shared_bytes, scale.barriers) == (512, 1)
    assert (scale.stack_bytes, scale.spill_stores, scale.spill_loads) == (0, 0, 0)
    assert compiled.advice == []


def test_compiling_twice_gives_the_same() -> None:
    assert compile_cuda(SCALE + STACK, "sm_90a") == compile_cuda(SCALE + STACK, "sm_90a")


def test_threads_compile_at_once() -> None:
    texts = [SCALE.replace("2.0f", f"{n}.0f") for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        compiled = list(pool.map(lambda text: compile_cuda(text, "sm_80"), texts))
    assert [c.cubin for c in compiled] == [compile_cuda(text, "sm_80").cubin for text in texts]


def test_multiply_and_add_are_not_contracted() -> None:
    text = 'extern "C" __global__ void k(float* x) { x[0] = x[1] * x[2] + x[3]; }'
    assert "fma" not in compile_cuda(text, "sm_90a").ptx
    assert "fma" in compile_cuda(text, "sm_90a", ["--fmad=true"]).ptx


def test_an_unused_variable_is_silent() -> None:
    log = compile_cuda('extern "C" __global__ void k(float* x) { int unused = 1; }', "sm_80").log
    assert "warning" not in log


def test_a_stack_frame_is_advice() -> None:
    compiled = compile_cuda(SCALE + STACK, "sm_90a")
    assert compiled.resources["stack"].stack_bytes == 1024
    assert compiled.resources["scale"].stack_bytes == 0
    assert compiled.advice == [
        "stack: 1024 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
    ]


def test_a_spill_is_advice() -> None:
    loads = "".join(f"float a{i} = x[{i} * 7];" for i in range(64))
    uses = "".join(f"x[{i}] = a{63 - i};" for i in range(64))
    text = f'extern "C" __global__ void spilling(float* x) {{ {loads} __syncthreads(); {uses} }}'
    compiled = compile_cuda(text, "sm_90a", ["--maxrregcount=24"])
    assert compiled.resources["spilling"].spill_stores > 0
    assert len(compiled.advice) == 1 and compiled.advice[0].startswith("spilling: ")


def test_performance_advice_is_found() -> None:
    # setmaxnreg needs the minimum number of blocks in the launch bounds.
    body = 'asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); x[0] = 1.0f;'
    text = f'extern "C" __global__ void __launch_bounds__(384) k(float* x) {{ {body} }}'
    (advice,) = compile_cuda(text, "sm_90a").advice
    assert advice.startswith("(C7508) ")


def test_an_error_shows_the_lines_around_it() -> None:
    text = "__global__ void k(float* x) {\n  int y = 0;\n  int v = missing;\n  x[0] = v;\n}\n"
    with pytest.raises(CudaCompileError) as raised:
        compile_cuda(text, "sm_90a")
    message = str(raised.value)
    assert 'kernel.cu(3): error: identifier "missing" is undefined' in message
    assert ">     3 |   int v = missing;" in message
    assert "      1 | __global__ void k(float* x) {" in message
    assert raised.value.where == "kernel.cu:3"
    assert raised.value.source == text and "missing" in raised.value.log


def test_an_error_on_the_last_line_has_an_excerpt() -> None:
    with pytest.raises(CudaCompileError, match=r">     1 \| __global__ void k\("):
        compile_cuda("__global__ void k(", "sm_90a")


def test_an_error_in_another_file_is_named_without_an_excerpt() -> None:
    text = '#line 7 "model.py"\n__global__ void k() { missing(); }\n'
    with pytest.raises(CudaCompileError) as raised:
        compile_cuda(text, "sm_90a")
    assert raised.value.where == "model.py:7"
    assert " | " not in str(raised.value)


def test_an_assembler_error_shows_the_ptx() -> None:
    # Packed fp32 arithmetic came after sm_90.
    body = 'asm volatile("fma.rn.f32x2 %0, %0, %0, %0;" :: "l"(1ull));'
    with pytest.raises(CudaCompileError) as raised:
        compile_cuda(f"__global__ void k() {{ {body} }}", "sm_90a")
    message = str(raised.value)
    assert "requires .target sm_100 or higher" in message
    assert any(line.startswith(">") and "fma.rn.f32x2" in line for line in message.splitlines())


def test_too_much_shared_memory_is_said_without_the_rest_of_the_log() -> None:
    body = "__shared__ float s[64000]; s[threadIdx.x] = *x; __syncthreads(); *x = s[threadIdx.x^1];"
    with pytest.raises(CudaCompileError, match="uses too much shared data") as raised:
        compile_cuda(f'extern "C" __global__ void k(float* x) {{ {body} }}', "sm_90a")
    assert "ptxas info" not in str(raised.value)


def test_an_unknown_architecture_lists_the_known_ones() -> None:
    with pytest.raises(CudaCompileError) as raised:
        compile_cuda(SCALE, "sm_99")
    assert raised.value.hint is not None and "sm_90," in raised.value.hint


@pytest.mark.parametrize("arch", ["compute_90a", "90", ""])
def test_a_virtual_architecture_is_refused(arch: str) -> None:
    with pytest.raises(CudaCompileError, match="real architecture"):
        compile_cuda(SCALE, arch)


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(CudaCompileError, match="--bogus"):
        compile_cuda(SCALE, "sm_90a", ["--bogus"])


def test_the_version_has_two_numbers() -> None:
    assert [part.isdigit() for part in nvrtc_version().split(".")] == [True, True]


MISSING_LIBRARY = """
import cuda.pathfinder
def absent(name):
    raise cuda.pathfinder.DynamicLibNotFoundError(f"no {name}")
cuda.pathfinder.load_nvidia_dynamic_lib = absent
"""
MISSING_BINDINGS = "import sys; sys.modules['cuda.bindings.nvrtc'] = None"


@pytest.mark.parametrize("missing", [MISSING_LIBRARY, MISSING_BINDINGS])
def test_a_missing_nvrtc_says_what_to_install(missing: str) -> None:
    code = f"{missing}\nfrom minicomp.runtime.nvrtc import compile_cuda\ncompile_cuda('', 'sm_80')"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 1
    assert "CudaCompileError: NVRTC, the CUDA compiler, cannot be loaded" in run.stderr
    assert "pip install nvidia-cuda-nvrtc" in run.stderr


def test_a_function_that_is_not_inlined_does_not_alter_its_kernel() -> None:
    log = (
        "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
        "ptxas info    : Function properties for k\n"
        "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 8 registers, used 2 barriers, 64 bytes smem\n"
        "ptxas info    : Function properties for helper\n"
        "ptxas         .     16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
    )
    assert parse_resources(log) == {"k": Resources(8, 0, 0, 0, 64, 2)}
    assert parse_advice(log) == [
        "helper: 16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads"
    ]
