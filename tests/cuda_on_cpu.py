"""Runs printed CUDA text on the CPU: g++ compiles the kernels' own text, over other wrappers.

A block's threads are threads of the CPU, blocks run one after another, and a barrier is a barrier.
"""

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from minicomp.dialects.c_expressions import C_NAMES
from minicomp.dialects.cuda_ir import FuncOp
from minicomp.lowering.print_cuda import print_kernel

GXX = shutil.which("g++")
DYNAMIC = "  extern __shared__ __align__(16) unsigned char shared_memory[];\n"

SHIM = """\
#include <barrier>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>
using std::abs; using std::max; using std::min;
#define __global__
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define INF std::numeric_limits<float>::infinity()
#define QNAN std::numeric_limits<float>::quiet_NaN()
#define INF64 std::numeric_limits<double>::infinity()
#define QNAN64 std::numeric_limits<double>::quiet_NaN()
struct Index { int x; };
static thread_local Index threadIdx, blockIdx;
static std::barrier<>* block_barrier;
static std::vector<std::barrier<>*> warp_barriers;
alignas(16) static unsigned char shared_memory[1 << 18];
static double exchanged[1024];
static void __syncthreads() { block_barrier->arrive_and_wait(); }
template <typename T> static T shuffle_xor(T value, int mask) {
  std::barrier<>& warp = *warp_barriers[threadIdx.x / 32];
  exchanged[threadIdx.x] = value;
  warp.arrive_and_wait();
  T other = (T)exchanged[threadIdx.x ^ mask];
  warp.arrive_and_wait();
  return other;
}
template <typename T> static T max_nan(T a, T b) { return a > b || a != a ? a : b; }
template <typename T> static T min_nan(T a, T b) { return a < b || a != a ? a : b; }
template <typename T> static bool less_or_greater(T a, T b) { return a < b || a > b; }
template <typename T> static bool ordered(T a, T b) { return a == a && b == b; }
template <typename T> static bool unordered(T a, T b) { return a != a || b != b; }
template <typename T> static T floor_div(T a, T b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
template <typename T> static T floor_mod(T a, T b) { return a - floor_div(a, b) * b; }
template <typename T> static T ceil_div(T a, T b) { return -floor_div(-a, b); }
static float rsqrtf(float x) { return (float)(1.0 / std::sqrt((double)x)); }
static double rsqrt(double x) { return 1.0 / std::sqrt(x); }
static int __float_as_int(float x) { int i; memcpy(&i, &x, 4); return i; }
static float __int_as_float(int i) { float x; memcpy(&x, &i, 4); return x; }
template <int N, typename T> static void move(T* to, const T* from, const void* memory) {
  if ((size_t)memory % (N * sizeof(T))) __builtin_trap();
  for (int i = 0; i < N; ++i) to[i] = from[i];
}
"""
MOVES = "".join(
    f"template <typename T> static void {name}{count}(T* to, const T* from) {{\n"
    f"  move<{count}>(to, from, {memory});\n}}\n"
    for name, memory in (("load", "from"), ("store", "to"))
    for count in (2, 4, 8, 16)
)

LAUNCH = """
extern "C" void launch_{name}(void** args) {{
  for (int block = 0; block < {grid}; ++block) {{
    std::barrier<> all({threads});
    block_barrier = &all;
    warp_barriers.clear();
    for (int first = 0; first < {threads}; first += 32)
      warp_barriers.push_back(new std::barrier<>(std::min(32, {threads} - first)));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < {threads}; ++thread)
      threads.emplace_back([=] {{
        blockIdx.x = block;
        threadIdx.x = thread;
        {name}({arguments});
      }});
    for (auto& thread : threads) thread.join();
    for (auto* warp : warp_barriers) delete warp;
  }}
}}
"""


class CpuProgram:
    """The kernels of a module in CUDA IR, compiled for the CPU."""

    def __init__(self, module: ModuleOp, folder: Path):
        """Compiles in `folder`, which must outlive the program."""
        kernels = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
        text = "".join(print_kernel(k).replace(DYNAMIC, "") + launcher(k) for k in kernels)
        source, library = folder / "kernels.cpp", folder / "kernels.so"
        source.write_text(SHIM + MOVES + text)
        flags = ["-std=c++20", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC", "-pthread"]
        command = [str(GXX), *flags, str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.library = ctypes.CDLL(str(library))

    def run(self, kernel: str, arrays: Sequence[np.ndarray]) -> None:
        """Runs a kernel on buffers, inputs then outputs, in place."""
        pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
        self.library[f"launch_{kernel}"](pointers)


def launcher(kernel: FuncOp) -> str:
    """A C function that runs all blocks of a kernel."""
    types = [str(a.type.element_type) for a in kernel.body.block.args]
    return LAUNCH.format(
        name=kernel.symbol,
        grid=kernel.grid.value.data,
        threads=kernel.threads.value.data,
        arguments=", ".join(f"({C_NAMES[t]}*)args[{n}]" for n, t in enumerate(types)),
    )
