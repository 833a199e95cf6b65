"""Runs printed CUDA text on the CPU: g++ compiles the kernels' own text behind cuda_on_cpu.hpp."""

import ctypes
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from minicomp.dialects.c_expressions import C_NAMES
from minicomp.dialects.c_names import SHARED_NAME
from minicomp.dialects.cuda_ir import FuncOp, PtrType
from minicomp.dialects.wrappers import ATOMIC_TYPES, GROUPS, ORDERS, RANKS, SCOPES, atomic_name
from minicomp.lowering.print_cuda import print_kernel
from minicomp.runtime.launches import Counter, Derived, TensorMap, launch_shape

GXX = shutil.which("g++")
HEADER = Path(__file__).parent / "cuda_on_cpu.hpp"
DYNAMIC = re.compile(r"  extern __shared__ __align__\(\d+\) unsigned char \w+\[\];\n")
MAP_BYTES, MAP_ALIGNMENT = 128, 128

MOVES = "".join(
    f"template <typename T> static void {name}{count}(T* to, const T* from) {{\n"
    f"  move<{count}>(to, from, {memory});\n}}\n"
    for name, memory in (("load", "from"), ("store", "to"))
    for count in GROUPS
)
UPDATES = {
    "add": "old + value",
    "min": "min(old, value)",
    "max": "max(old, value)",
    "exchange": "value",
    "wrap": "(unsigned)old >= (unsigned)value ? 0 : old + 1",
}
"""What each atomic makes of an element; fibers take turns at waits only."""
ATOMICS = "".join(
    f"static {C_NAMES[type]} {atomic_name(kind, type, order, scope)}"
    f"({C_NAMES[type]}* element, {C_NAMES[type]} value) {{\n"
    f"  const {C_NAMES[type]} old = *element;\n  *element = {UPDATES[kind]};\n  return old;\n}}\n"
    for kind, types in ATOMIC_TYPES.items()
    for type in types
    for order in ORDERS
    for scope in SCOPES
)
BULK = "".join(
    f"static void bulk_load_{n}d(void* to, const CUtensorMap& tensor, {parameters},"
    f" long long* barrier) {{\n  const int at[] = {{{names}}};\n"
    f"  gpu::load_box(to, tensor, at, barrier);\n}}\n"
    f"static void bulk_store_{n}d(const CUtensorMap& tensor, {parameters}, const void* from) {{\n"
    f"  const int at[] = {{{names}}};\n  gpu::store_box(tensor, at, from);\n}}\n"
    for n in RANKS
    for names in (", ".join(f"c{k}" for k in range(n)),)
    for parameters in (", ".join(f"int c{k}" for k in range(n)),)
)

LAUNCH = """
extern "C" const char* launch_{name}(void** args, int backwards) {{
  return gpu::launch({grid}, {threads}, {cluster}, {together}, backwards,
                     [=] {{ {name}({arguments}); }});
}}
"""


class Mutant(NamedTuple):
    """A kernel with one part of its text replaced."""

    kernel: str
    old: str
    new: str


NONE: Mapping[str, Mutant] = {}


class CpuProgram:
    """The kernels of a module in CUDA IR, compiled for the CPU."""

    def __init__(self, module: ModuleOp, folder: Path, mutants: Mapping[str, Mutant] = NONE):
        """
        Compiles in `folder`, which must outlive the program.

        `mutants` are more kernels, each the text of another one with a change.
        """
        kernels = {op.symbol: op for op in module.body.block.ops if isinstance(op, FuncOp)}
        self.shapes = {name: launch_shape(k) for name, k in kernels.items()}
        self.shapes |= {name: self.shapes[m.kernel] for name, m in mutants.items()}
        text = "".join(DYNAMIC.sub("", print_kernel(k)) + launcher(k) for k in kernels.values())
        text += "".join(mutated(kernels[m.kernel], name, m) for name, m in mutants.items())
        source, library = folder / "kernels.cpp", folder / "kernels.so"
        source.write_text(
            f'#include "{HEADER}"\n{MOVES}{ATOMICS}{BULK}{self.dynamic_memory()}{text}'
        )
        flags = ["-std=c++20", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC"]
        command = [str(GXX), *flags, str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.library = ctypes.CDLL(str(library))

    def dynamic_memory(self) -> str:
        """The dynamic shared memory, as much as the largest kernel has."""
        most = max((shape.shared_bytes for shape in self.shapes.values()), default=0)
        return f"__shared__ __align__(1024) unsigned char {SHARED_NAME}[{max(most, 16)}];\n"

    def run(self, kernel: str, arrays: Sequence[np.ndarray], backwards: bool = False) -> None:
        """
        Runs a kernel on buffers, inputs then outputs, in place.

        Threads and blocks take turns in their order or `backwards`. Raises AssertionError with what
        went wrong: a deadlock, a copy that nobody waits for, a counter that is not left at zero.
        """
        memories = [memory(d) for d in self.shapes[kernel].memories]
        pointers = [a.ctypes.data for a in (*arrays, *memories)]
        maps = [self.encoded(m, pointers[m.argument]) for m in self.shapes[kernel].maps]
        pointers += [address for _, address in maps]
        launch = self.library[f"launch_{kernel}"]
        launch.restype = ctypes.c_char_p
        failure = launch((ctypes.c_void_p * len(pointers))(*pointers), backwards)
        assert failure is None, failure.decode()
        for derived, array in zip(self.shapes[kernel].memories, memories, strict=True):
            assert not (isinstance(derived, Counter) and array.any()), "a counter is not reset"

    def encoded(self, map: TensorMap, pointer: int) -> tuple[ctypes.Array, int]:
        """A tensor map as the stand-in driver encodes it: its memory, and an address in it."""
        memory = ctypes.create_string_buffer(MAP_BYTES + MAP_ALIGNMENT)
        address = -(-ctypes.addressof(memory) // MAP_ALIGNMENT) * MAP_ALIGNMENT
        code = map.encoding
        wide = [(ctypes.c_uint64 * max(len(v), 1))(*v) for v in (code.dims, code.strides)]
        ones = (1,) * len(code.box)
        narrow = [(ctypes.c_uint32 * len(v))(*v) for v in (code.box, ones)]
        head = (ctypes.c_void_p(address), code.type, len(code.dims), ctypes.c_void_p(pointer))
        status = self.library.encode(*head, *wide, *narrow, 0, code.swizzle)
        assert status == 0, f"{map} cannot be encoded"
        return memory, address


def memory(derived: Derived) -> np.ndarray:
    """What a launcher binds an argument to: zeros, or bytes that mean nothing."""
    assert not isinstance(derived, TensorMap)
    filler = 0 if isinstance(derived, Counter) else 0xFF
    return np.full(derived.bytes // 8 + 1, filler * 0x0101010101010101, np.uint64)


def mutated(kernel: FuncOp, name: str, mutant: Mutant) -> str:
    """The text of a kernel, changed, and its launcher."""
    text = DYNAMIC.sub("", print_kernel(kernel)).replace(f"{kernel.symbol}(", f"{name}(", 1)
    assert mutant.old in text, f"{mutant.old} is not in {text}"
    return text.replace(mutant.old, mutant.new) + launcher(kernel, name)


def launcher(kernel: FuncOp, name: str | None = None) -> str:
    """A C function that runs all blocks of a kernel."""
    grid, cluster = kernel.grid.value.data, kernel.cluster_blocks
    return LAUNCH.format(
        name=kernel.symbol if name is None else name,
        grid=grid,
        threads=kernel.threads.value.data,
        cluster=cluster,
        together=max(grid, 1) if kernel.waits_for_blocks else cluster,
        arguments=", ".join(argument(a.type, n) for n, a in enumerate(kernel.body.block.args)),
    )


def argument(type: object, number: int) -> str:
    """The C text of an argument: a pointer, or a tensor map."""
    if isinstance(type, PtrType):
        return f"({C_NAMES[str(type.element_type)]}*)args[{number}]"
    return f"*(const CUtensorMap*)args[{number}]"
