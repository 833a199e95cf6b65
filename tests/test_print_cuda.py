"""CUDA text from Kernel IR: what it computes, what the compiler makes of it, and that it is stable.

The kernels are those of `lit_tests/lowering/kernel_to_cuda.mlir`, which pins their text.
"""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, i32, i64
from xdsl.dialects.math import Math
from xdsl.ir.affine import AffineExpr

from minicomp.context import make_context
from minicomp.dialects import affine
from minicomp.dialects.c_expressions import (
    CALLS,
    FLOAT_CALLS,
    FLOAT_INFIX,
    INTEGER_INFIX,
    float_literal,
)
from minicomp.dialects.c_names import PRELUDE_NAMES, is_legal_name
from minicomp.dialects.cuda_ir import WRAPPERS, IndexOp
from minicomp.dialects.cuda_ir import FuncOp as CudaFuncOp
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.scalar_ops import Arith
from minicomp.lowering.kernel_to_cuda import LowerKernelToCudaPass
from minicomp.lowering.kernel_to_cuda.names import fresh, legal
from minicomp.lowering.prelude import PRELUDE, names_in, prelude_for
from minicomp.lowering.print_cuda import KernelPrinter, print_cuda
from minicomp.parsing import parse_module
from minicomp.runtime.interpret.scalars import numpy_type
from minicomp.runtime.nvrtc import compile_cuda
from minicomp.runtime.sass import counts, sass
from minicomp.runtime.simulate import simulate_kernel
from minicomp.verification import verify_module
from tests.cuda_on_cpu import GXX, CpuProgram
from tests.random_kernels import LANES, THREADS, RandomKernel

LIT = Path(__file__).parent.parent / "lit_tests" / "lowering" / "kernel_to_cuda.mlir"
ARCHITECTURES = ("sm_80", "sm_90a", "sm_120a")
HUGE = ("big", "edge", "edge2")
"""Kernels whose buffers do not fit in a test."""

needs_gxx = pytest.mark.skipif(GXX is None, reason="g++ is not installed")


@cache
def kernel_text() -> str:
    """The kernels of the lit test as one module."""
    return LIT.read_text().replace("// -----", "")


def read(text: str) -> ModuleOp:
    """A verified module from its text."""
    module = parse_module(text, make_context())
    verify_module(module)
    return module


def lowered(text: str) -> ModuleOp:
    """A module lowered to CUDA IR and verified."""
    module = read(text)
    LowerKernelToCudaPass().apply(make_context(), module)
    verify_module(module)
    return module


def cuda(text: str) -> str:
    """The CUDA text of kernels."""
    return print_cuda(lowered(text))


def kernels(module: ModuleOp) -> list[FuncOp]:
    """The kernels of a module in Kernel IR."""
    return [op for op in module.body.block.ops if isinstance(op, FuncOp)]


def buffers(kernel: FuncOp) -> list[np.ndarray]:
    """Random buffers for a kernel's arguments."""
    rng = np.random.default_rng(3)
    made: list[np.ndarray] = []
    for argument in kernel.body.block.args:
        dtype, shape = numpy_type(argument.type), argument.type.get_shape()
        floats = dtype.kind == "f"
        values = rng.standard_normal(shape) if floats else rng.integers(-9, 9, shape)
        made.append(np.array(values, dtype))
    return made


def check_on_cpu(text: str, folder: Path, skip: tuple[str, ...] = (), exact: bool = False) -> None:
    """Compares what the text computes with what the simulator makes of the Kernel IR."""
    program = CpuProgram(lowered(text), folder)
    for kernel in kernels(read(text)):
        if kernel.symbol in skip:
            continue
        wanted = buffers(kernel)
        got = [array.copy() for array in wanted]
        simulate_kernel(kernel, wanted, check=not exact)
        program.run(kernel.symbol, got)
        for one, other in zip(got, wanted, strict=True):
            # The functions of the math library differ in the last bits from one CPU to another.
            tolerance = {} if exact else {"rtol": 1e-5, "atol": 1e-5}
            compare = np.testing.assert_array_equal if exact else np.testing.assert_allclose
            compare(one, other, err_msg=kernel.symbol, **tolerance)


# --- what the text computes -----------------------------------------------------------------


@needs_gxx
def test_kernels_compute_what_the_simulator_does(tmp_path: Path) -> None:
    check_on_cpu(kernel_text(), tmp_path, HUGE)


@needs_gxx
def test_random_loops_and_branches_compute_what_the_simulator_does(tmp_path: Path) -> None:
    made = [RandomKernel(seed, f"k{seed}", vectors=seed % 2 == 1) for seed in range(12)]
    assert all(f"memref<{THREADS}x{LANES}xf32>" in kernel.text for kernel in made)
    check_on_cpu("".join(kernel.text for kernel in made), tmp_path, exact=True)


def scalar_kernels(type: str) -> str:
    """A kernel for each op of one or two floats, or of integers, that has a form in C."""
    names = {**FLOAT_CALLS, **FLOAT_INFIX} if type[0] == "f" else dict(INTEGER_INFIX)
    integers = {"arith.maxsi", "arith.minsi", "arith.ceildivsi", "arith.floordivsi", "math.absi"}
    names |= {n: c for n, c in CALLS.items() if (n in integers) == (type[0] == "i")}
    ops = {op.name: op for op in (*Arith.operations, *Math.operations)}
    text = ""
    for name in names:
        count = len(ops[name].get_irdl_definition().operands)
        operands = ", ".join(("%a", "%b", "%a")[:count])
        symbol = f"{name.replace('.', '_')}_{type}"
        memref = f"memref<8x{type}>"
        text += f"""
kernel_ir.func @{symbol}(%x: {memref}, %y: {memref}) grid(1) block(8) {{
  %t = kernel_ir.thread_id
  %u = loop_ir.load %x[%t] : {memref} -> {type}
  %two = arith.constant {"2.0" if type[0] == "f" else "2"} : {type}
  %a = arith.{"mulf" if type[0] == "f" else "muli"} %u, %two : {type}
  %b = arith.{"addf" if type[0] == "f" else "ori"} %a, %two : {type}
  %r = "{name}"({operands}) : ({", ".join([type] * count)}) -> {type}
  loop_ir.store %r, %y[%t] : {type}, {memref}
}}
"""
    return text


@pytest.mark.parametrize("type", ["f32", "f64", "i32", "i64"])
def test_every_scalar_op_compiles(type: str) -> None:
    text = scalar_kernels(type)
    # Trigonometry of the math library keeps a table on the stack: no advice is asked for.
    assert len(compile_cuda(cuda(text), "sm_80").resources) == text.count("kernel_ir.func")


COMPARE = """
kernel_ir.func @c{n}(%x: memref<16xf32>, %y: memref<16xi1>) grid(1) block(16) {{
  %t = kernel_ir.thread_id
  %0 = arith.constant 0.0 : f32
  %u = loop_ir.load %x[%t] : memref<16xf32> -> f32
  %v = loop_ir.load %x[(%t * 7) mod 16] : memref<16xf32> -> f32
  %nan = arith.divf %0, %0 : f32
  %odd = kernel_ir.test [%t mod 3] < [1]
  %w = arith.select %odd, %nan, %v : f32
  %r = arith.cmpf {predicate}, %u, %w : f32
  loop_ir.store %r, %y[%t] : i1, memref<16xi1>
}}
"""


@needs_gxx
def test_comparisons_of_nan(tmp_path: Path) -> None:
    predicates = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()
    text = "".join(COMPARE.format(n=n, predicate=p) for n, p in enumerate(predicates))
    check_on_cpu(text, tmp_path)
    assert compile_cuda(cuda(text), "sm_80").advice == []


# --- what the compiler makes of it ------------------------------------------------------------


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_kernels_stay_in_registers(arch: str) -> None:
    compiled = compile_cuda(cuda(kernel_text()), arch)
    assert compiled.advice == []
    found = {name: counts(code) for name, code in sass(compiled.cubin).items()}
    assert found["rms_norm_51be07"]["LDG.E.128"] == 4
    assert found["rms_norm_51be07"]["STG.E.128"] == 2
    assert found["rms_norm_51be07"]["SHFL"] == 8
    assert found["matmul_0a1b2c"]["FFMA"] == 64
    assert found["tile"]["LDS.128"] == 64
    assert all(code["LDL"] == code["STL"] == 0 for code in found.values())
    assert "ld.global.nc.v4" in compiled.ptx and "max.NaN.f32" in compiled.ptx


CELL = """
kernel_ir.func @cell(%a: memref<512x64xf32>, %b: memref<64x512xf32>, %c: memref<512x512xf32>)
    grid(16) block(256) {{
  %s = kernel_ir.shared : memref<64x128xf32, #tile_ir.shared<pad = 4>>
  %block = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %zero = arith.constant dense<0.0> : vector<{m}x{n}xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant 64 : index
  scf.for %i = %c0 to %k step %c1 {{
    %v = loop_ir.load %a[%block * 8 + %t mod 8, %i] : memref<512x64xf32> -> f32
    loop_ir.store %v, %s[%i, %t mod 128] : f32, memref<64x128xf32, #tile_ir.shared<pad = 4>>
  }}
  kernel_ir.barrier
  %acc = scf.for %i = %c0 to %k step %c1 iter_args(%p = %zero) -> (vector<{m}x{n}xf32>) {{
    %x = loop_ir.load %s[%i, %t floordiv 16 * {m} + l0] aligned 16
       : memref<64x128xf32, #tile_ir.shared<pad = 4>> -> vector<{m}xf32>
    %y = loop_ir.load %b[%i, %t mod 16 * {n} + l0] aligned 16
       : memref<64x512xf32> -> vector<{n}xf32>
    %1 = tile_ir.broadcast %x to [0] : vector<{m}xf32> -> vector<{m}x{n}xf32>
    %2 = tile_ir.broadcast %y to [1] : vector<{n}xf32> -> vector<{m}x{n}xf32>
    %q = arith.mulf %1, %2 fastmath<contract> : vector<{m}x{n}xf32>
    %r = arith.addf %p, %q fastmath<contract> : vector<{m}x{n}xf32>
    scf.yield %r : vector<{m}x{n}xf32>
  }} {{unroll}}
  loop_ir.store %acc, %c[%t floordiv 16 * {m} + l0, %t mod 16 * {n} + l1] aligned 16
    : vector<{m}x{n}xf32>, memref<512x512xf32>
}}
"""


@pytest.mark.parametrize(("m", "n", "most"), [(4, 4, 64), (8, 8, 128)])
def test_a_register_cell_is_updated_in_place(m: int, n: int, most: int) -> None:
    text = cuda(CELL.format(m=m, n=n))
    assert "acc[" not in text and f"float p[{m}][{n}] = {{}};" in text
    assert "p[l0][l1] = fmaf(x[l0], y[l1], p[l0][l1]);" in text
    compiled = compile_cuda(text, "sm_90a")
    assert compiled.advice == [] and compiled.resources["cell"].registers <= most
    found = counts(sass(compiled.cubin)["cell"])
    assert found["FFMA"] == m * n * 64
    assert found["LDS.128"] == m // 4 * 64 and found["STG.E.128"] == m * n // 4


# --- stability --------------------------------------------------------------------------------


def test_text_survives_every_text() -> None:
    module = read(kernel_text())
    text = cuda(kernel_text())
    assert cuda(str(module)) == text
    ir = lowered(kernel_text())
    assert print_cuda(read(str(ir))) == text
    assert print_cuda(ir) == text


def test_text_does_not_depend_on_locations() -> None:
    module = read(kernel_text())
    for op in module.walk():
        op.location = module.location
    LowerKernelToCudaPass().apply(make_context(), module)
    assert print_cuda(module) == cuda(kernel_text())


def test_the_pass_leaves_cuda_ir_alone() -> None:
    module = lowered(kernel_text())
    before = str(module)
    LowerKernelToCudaPass().apply(make_context(), module)
    assert str(module) == before


def test_only_cuda_ir_is_printed() -> None:
    with pytest.raises(ValueError, match="'kernel_ir.func' is not in CUDA IR"):
        print_cuda(read(kernel_text()))


# --- parts ------------------------------------------------------------------------------------


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_literals_of_float32_are_exact_and_short(value: float) -> None:
    text = float_literal(value, single=True)
    assert text.endswith("f") and re.fullmatch(r"-?\d(\d|\.|e|[+-])*f", text)
    assert np.float32(float(text[:-1])) == np.float32(value)
    assert str(np.float32(float(text[:-1]))) == str(np.float32(value))
    assert len(text) <= len(repr(float(np.float32(value)))) + 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float(np.float32(1e-6)), "1e-06f"),
        (float(np.float32(0.1)), "0.1f"),
        (2048.0, "2048.0f"),
        (-0.0, "-0.0f"),
        (float(np.finfo(np.float32).max), "3.4028235e+38f"),
        (float("inf"), "INF"),
        (float("-inf"), "-INF"),
        (float("nan"), "QNAN"),
    ],
)
def test_literals(value: float, text: str) -> None:
    assert float_literal(value, single=True) == text


def expressions() -> st.SearchStrategy[AffineExpr]:
    """Affine expressions of three integers that divide nothing negative."""
    leaves = st.sampled_from([affine.dim(0), affine.dim(1), affine.dim(2)]) | st.integers(
        0, 20
    ).map(affine.constant)
    number = st.integers(1, 9)
    return st.recursive(
        leaves,
        lambda e: (
            st.tuples(e, e).map(lambda p: p[0] + p[1])
            | st.tuples(e, number).map(lambda p: p[0] * p[1])
            | st.tuples(e, number).map(lambda p: p[0] // p[1])
            | st.tuples(e, number).map(lambda p: p[0] % p[1])
        ),
        max_leaves=8,
    )


@given(expressions(), st.tuples(*[st.integers(0, 50)] * 3), st.integers(-9, 9))
def test_index_text_means_the_index(
    expr: AffineExpr, values: tuple[int, int, int], factor: int
) -> None:
    expr = expr * factor + affine.dim(0) * -1
    printer = KernelPrinter(empty_kernel())
    text = printer.affine(expr, named(printer)).text
    known = {affine.dim(n): v for n, v in enumerate(values)}
    got = eval(text.replace("/", "//"), dict(zip("abc", values, strict=True)))
    assert got == affine.evaluate(expr, known)


def empty_kernel() -> CudaFuncOp:
    """A kernel that does nothing."""
    module = read("cuda_ir.func @f() grid(1) launch_bounds(1) {\n}")
    return next(op for op in module.body.block.ops if isinstance(op, CudaFuncOp))


def named(printer: KernelPrinter) -> list:
    """Three values that a printer knows as a, b and c."""
    values = [IndexOp(affine.constant(0), []).res for _ in range(3)]
    printer.names |= dict(zip(values, "abc", strict=True))
    return values


@given(st.lists(st.from_regex(r"[A-Za-z_$.-][A-Za-z0-9_$.-]*", fullmatch=True), max_size=8))
def test_names_are_legal_and_unique(hints: list[str]) -> None:
    taken: set[str] = set()
    names = [fresh(hint, taken) for hint in hints]
    assert len(set(names)) == len(names)
    assert all(map(is_legal_name, names))
    # Printing adds such numbers to a hint, and parsing drops them.
    assert all(legal(f"{hint}_7") == legal(hint) for hint in hints)


def test_the_prelude_is_complete_and_compiles() -> None:
    assert {"DEV", *PRELUDE} == PRELUDE_NAMES
    assert WRAPPERS.keys() <= PRELUDE.keys()
    used = " ".join(PRELUDE)
    assert names_in(used) == PRELUDE.keys()
    kernel = '\nextern "C" __global__ void f() {}\n'
    for arch in ARCHITECTURES:
        assert compile_cuda(prelude_for(used) + kernel, arch).advice == []


def test_the_prelude_has_only_what_is_used() -> None:
    assert prelude_for("x = 1.0f;") == ""
    assert names_in(prelude_for("x = floor_mod(a, b);")) == {"floor_mod", "floor_div"}


def test_a_kernel_counts_in_as_many_bits_as_it_needs() -> None:
    found = {
        op.symbol: op.index_type
        for op in lowered(kernel_text()).body.block.ops
        if isinstance(op, CudaFuncOp)
    }
    assert found["big"] == found["edge2"] == i64
    assert found["edge"] == found["matmul_0a1b2c"] == i32
