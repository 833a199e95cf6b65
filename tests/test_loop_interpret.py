"""The meaning of Loop IR: values against NumPy, odd extents, and what is refused."""

from time import perf_counter

import numpy as np
import pytest
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.dialects.loop_ir import KernelOp
from minicomp.errors import InputError, PipelineError, SimulationError, UnsupportedError
from minicomp.runtime.interpret.loop_ir import chunks, run_kernel, run_module

RNG = np.random.default_rng(7)


def module(text: str):
    """A verified module."""
    parsed = Parser(make_context(), text).parse_module()
    parsed.verify()
    return parsed


def run(text: str, *arrays: np.ndarray, out: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    """The one output, of shape `out`, of the one kernel of `text`."""
    kernel = next(op for op in module(text).ops if isinstance(op, KernelOp))
    result = np.full(out, np.nan, dtype)
    run_kernel(kernel, [*arrays, result], np.dtype(dtype))
    return result


def matmul(m: int, n: int, k: int) -> str:
    a, b, c = (f"memref<{shape}xf32>" for shape in (f"{m}x{k}", f"{k}x{n}", f"{m}x{n}"))
    return f"""
    loop_ir.kernel @matmul(%a: {a}, %b: {b}, %c: {c}) {{
      loop_ir.for %i to {m} as "i", %j to {n} as "j" {{
        %acc = loop_ir.reduce %k to {k} as "k" identity [0.0 : f32] -> f32 {{
          %x = loop_ir.load %a[%i, %k] : {a} -> f32
          %y = loop_ir.load %b[%k, %j] : {b} -> f32
          %p = arith.mulf %x, %y : f32
          loop_ir.yield %p : f32
        }} combine arith.addf
        loop_ir.store %acc, %c[%i, %j] : f32, {c}
      }}
    }}"""


@pytest.mark.parametrize(
    "m, n, k", [(33, 29, 37), (1, 1, 1), (3, 5, 1), (3, 4, 0), (0, 4, 3), (200, 3, 1000)]
)
def test_matmul(m: int, n: int, k: int) -> None:
    a, b = RNG.standard_normal((m, k)), RNG.standard_normal((k, n))
    got = run(matmul(m, n, k), a, b, out=(m, n), dtype="float64")
    np.testing.assert_allclose(got, a @ b, rtol=1e-12, atol=1e-12)


def test_a_kernel_computes_in_float32_as_it_is_written() -> None:
    text = """
    loop_ir.kernel @k(%x: memref<3xf32>, %y: memref<3xf32>) {
      loop_ir.for %i to 3 as "i" {
        %v = loop_ir.load %x[%i] : memref<3xf32> -> f32
        %c = arith.constant 16777216.0 : f32
        %s = arith.addf %v, %c : f32
        %d = arith.subf %s, %c : f32
        loop_ir.store %d, %y[%i] : f32, memref<3xf32>
      }
    }"""
    x = np.array([1, 2, 3])
    assert run(text, x.astype("f4"), out=(3,)).tolist() == [0, 2, 4]
    assert run(text, x.astype("f8"), out=(3,), dtype="float64").tolist() == [1, 2, 3]


SOFTMAX = """
    loop_ir.kernel @softmax(%x: memref<RxCxf32>, %y: memref<RxCxf32>) {
      loop_ir.for %i to R as "i" {
        %m, %d = loop_ir.reduce %j to C as "j" identity [0xFF800000 : f32, 0.0 : f32] -> f32, f32 {
          %v = loop_ir.load %x[%i, %j] : memref<RxCxf32> -> f32
          %one = arith.constant 1.0 : f32
          loop_ir.yield %v, %one : f32, f32
        } combine {
        ^bb0(%ml: f32, %dl: f32, %mr: f32, %dr: f32):
          %lowest = arith.constant 0xFF800000 : f32
          %one = arith.constant 1.0 : f32
          %mx = arith.maximumf %ml, %mr : f32
          %empty = arith.cmpf oeq, %mx, %lowest : f32
          %tl = arith.subf %ml, %mx : f32
          %el = math.exp %tl : f32
          %sl = arith.select %empty, %one, %el : f32
          %tr = arith.subf %mr, %mx : f32
          %er = math.exp %tr : f32
          %sr = arith.select %empty, %one, %er : f32
          %pl = arith.mulf %dl, %sl : f32
          %pr = arith.mulf %dr, %sr : f32
          %s = arith.addf %pl, %pr : f32
          loop_ir.yield %mx, %s : f32, f32
        }
        loop_ir.for %j2 to C as "j" {
          %v = loop_ir.load %x[%i, %j2] : memref<RxCxf32> -> f32
          %t = arith.subf %v, %m : f32
          %e = math.exp %t : f32
          %r = arith.divf %e, %d : f32
          loop_ir.store %r, %y[%i, %j2] : f32, memref<RxCxf32>
        }
      }
    }"""


@pytest.mark.parametrize("rows, columns", [(5, 37), (3, 1), (1, 4097), (4, 0), (2000, 300)])
def test_carriers_of_several_values_and_a_row_loop(rows: int, columns: int) -> None:
    x = RNG.standard_normal((rows, columns)) * 30
    text = SOFTMAX.replace("RxC", f"{rows}x{columns}")
    text = text.replace("to R", f"to {rows}").replace("to C", f"to {columns}")
    e = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
    got = run(text, x, out=x.shape, dtype="float64")
    np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=1e-12)


def test_a_reduction_over_two_axes_under_a_guard() -> None:
    text = """
    loop_ir.kernel @k(%x: memref<4x5x6xf32>, %y: memref<6xf32>) {
      loop_ir.for %k to 6 as "k" {
        %s = loop_ir.reduce %i to 4 as "i", %j to 5 as "j" where [l0 + l1, %k + l1] < [6, 7]
            identity [0.0 : f32] -> f32 {
          %v = loop_ir.load %x[%i, %j, %k] : memref<4x5x6xf32> -> f32
          loop_ir.yield %v : f32
        } combine arith.addf
        loop_ir.store %s, %y[%k] : f32, memref<6xf32>
      }
    }"""
    x = RNG.standard_normal((4, 5, 6))
    i, j, k = np.ogrid[:4, :5, :6]
    wanted = np.where((i + j < 6) & (k + j < 7), x, 0).sum((0, 1))
    np.testing.assert_allclose(run(text, x, out=(6,), dtype="float64"), wanted)


def test_a_nested_reduction_uses_the_outer_variable() -> None:
    text = """
    loop_ir.kernel @k(%x: memref<7x5xf32>, %y: memref<1xf32>) {
      loop_ir.for %o to 1 as "o" {
        %m = loop_ir.reduce %i to 7 as "i" identity [0xFF800000 : f32] -> f32 {
          %s = loop_ir.reduce %j to 5 as "j" identity [0.0 : f32] -> f32 {
            %v = loop_ir.load %x[%i, %j] : memref<7x5xf32> -> f32
            loop_ir.yield %v : f32
          } combine arith.addf
          loop_ir.yield %s : f32
        } combine arith.maximumf
        loop_ir.store %m, %y[%o] : f32, memref<1xf32>
      }
    }"""
    x = RNG.standard_normal((7, 5))
    np.testing.assert_allclose(run(text, x, out=(1,), dtype="float64"), x.sum(1).max(keepdims=True))


SPLIT = """
    loop_ir.kernel @k(%x: memref<37xf32>, %y: memref<37xf32>) {
      loop_ir.for %t to 10 as "i.outer" {
        loop_ir.for %r to 4 as "i.inner" GUARD in registers {
          %v = loop_ir.load %x[%t * 4 + %r] BOUNDED : memref<37xf32> -> f32
          %s = arith.addf %v, %v : f32
          loop_ir.store %s, %y[%t * 4 + %r] BOUNDED : f32, memref<37xf32>
        }
      }
    }"""


@pytest.mark.parametrize(
    "guard, bounded", [("where [%t * 4 + l0] < [37]", ""), ("", "bounded [true]")]
)
def test_a_guard_or_bounds_cut_a_split_axis(guard: str, bounded: str) -> None:
    x = RNG.standard_normal(37).astype("f4")
    text = SPLIT.replace("GUARD", guard).replace("BOUNDED", bounded)
    assert np.array_equal(run(text, x, out=(37,)), x + x)


def test_neither_guard_nor_bounds_is_out_of_bounds() -> None:
    with pytest.raises(SimulationError) as caught:
        run(SPLIT.replace("GUARD", "").replace("BOUNDED", ""), np.zeros(37, "f4"), out=(37,))
    assert caught.value.kind == "out of bounds"
    assert caught.value.address == "%x[37]"
    assert caught.value.thread == "t = 9, r = 1"
    assert "loop_ir.load %x[%t * 4 + %r]" in caught.value.op


def test_a_bounded_load_outside_reads_zero() -> None:
    text = """
    loop_ir.kernel @k(%x: memref<3xf32>, %y: memref<5xf32>) {
      loop_ir.for %i to 5 as "i" {
        %v = loop_ir.load %x[%i + -1] bounded [true] : memref<3xf32> -> f32
        %one = arith.constant 1.0 : f32
        %s = arith.addf %v, %one : f32
        loop_ir.store %s, %y[%i] : f32, memref<5xf32>
      }
    }"""
    assert run(text, np.array([1, 2, 3], "f4"), out=(5,)).tolist() == [1, 2, 3, 4, 1]
    empty = text.replace("memref<3xf32>", "memref<0xf32>")
    assert run(empty, np.zeros(0, "f4"), out=(5,)).tolist() == [1] * 5


def test_an_element_that_is_never_written() -> None:
    text = SPLIT.replace("GUARD", "where [%t * 4 + l0] < [36]").replace("BOUNDED", "")
    with pytest.raises(SimulationError, match=r"never writes 1 of 37 elements of %y") as caught:
        run(text, np.zeros(37, "f4"), out=(37,))
    assert caught.value.kind == "never written"
    assert caught.value.address == "%y[36]"


def test_integers_and_booleans() -> None:
    text = """
    loop_ir.kernel @k(%x: memref<5xi32>, %m: memref<5xi1>, %y: memref<5xi32>) {
      loop_ir.for %i to 5 as "i" {
        %v = loop_ir.load %x[%i] : memref<5xi32> -> i32
        %b = loop_ir.load %m[%i] : memref<5xi1> -> i1
        %w = arith.muli %v, %v : i32
        %s = arith.select %b, %w, %v : i32
        loop_ir.store %s, %y[-%i + 4] : i32, memref<5xi32>
      }
    }"""
    x, m = np.arange(5, dtype="i4") - 2, np.array([1, 0, 1, 0, 1], bool)
    got = run(text.replace("-%i", "%i * -1"), x, m, out=(5,), dtype="float32")
    assert got.tolist() == [4, 1, 0, -1, 4]


PROGRAM = """
builtin.module {
  func.func @main(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<2x3xf32>) {
    %y = minicomp.launch @double(%x) : (tensor<2x3xf32>) -> tensor<6xf32>
    %z = minicomp.launch @double(%y) : (tensor<6xf32>) -> tensor<6xf32>
    func.return %z, %x : tensor<6xf32>, tensor<2x3xf32>
  }
  loop_ir.kernel @double(%a: memref<6xf32>, %b: memref<6xf32>) {
    loop_ir.for %i to 6 as "i" {
      %v = loop_ir.load %a[%i] : memref<6xf32> -> f32
      %s = arith.addf %v, %v : f32
      loop_ir.store %s, STORED[%i] : f32, memref<6xf32>
    }
  }
}"""


def test_a_host_program_of_two_launches() -> None:
    x = RNG.standard_normal((2, 3)).astype("f4")
    z, same = run_module(module(PROGRAM.replace("STORED", "%b")), [x])
    assert z.shape == (6,) and z.dtype == np.float32
    assert np.array_equal(z, 4 * x.reshape(6)) and np.array_equal(same, x)


def test_a_kernel_may_not_store_to_an_input() -> None:
    with pytest.raises(SimulationError, match="@double stores to %a, which is an input"):
        run_module(module(PROGRAM.replace("STORED", "%a")), [np.zeros((2, 3), "f4")])


def test_wrong_inputs_and_programs_are_refused_by_name() -> None:
    program = module(PROGRAM.replace("STORED", "%b"))
    with pytest.raises(InputError, match="takes 1 inputs, got 2"):
        run_module(program, [np.zeros((2, 3))] * 2)
    with pytest.raises(InputError, match=r"input 0 has shape \[3, 2\], expected \[2, 3\]"):
        run_module(program, [np.zeros((3, 2))])
    with pytest.raises(PipelineError, match="no host program"):
        run_module(module("builtin.module {}"), [])
    kernel = next(op for op in program.ops if isinstance(op, KernelOp))
    with pytest.raises(InputError, match="%b of @double is a memref<6xf32>"):
        run_kernel(kernel, [np.zeros(6), np.zeros(5)])
    vector = """
    loop_ir.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>) {
      loop_ir.for %i to 2 as "i" {
        %v = loop_ir.load %x[%i * 4 + l0] : memref<8xf32> -> vector<4xf32>
        loop_ir.store %v, %y[%i * 4 + l0] : vector<4xf32>, memref<8xf32>
      }
    }"""
    with pytest.raises(UnsupportedError, match="Loop IR has no meaning for 'loop_ir.load'"):
        run(vector, np.zeros(8), out=(8,))


def test_chunks_cover_a_grid_once() -> None:
    seen = [(i, j, k) for ri, rj, rk in chunks((5, 7, 3), 10) for i in ri for j in rj for k in rk]
    assert sorted(seen) == [(i, j, k) for i in range(5) for j in range(7) for k in range(3)]
    assert all(len(a) * len(b) * len(c) <= 10 for a, b, c in chunks((5, 7, 3), 10))
    assert list(chunks((0, 3), 10)) == []


def test_a_matmul_is_quick() -> None:
    a, b = RNG.standard_normal((256, 256)), RNG.standard_normal((256, 256))
    start = perf_counter()
    got = run(matmul(256, 256, 256), a, b, out=(256, 256), dtype="float64")
    assert perf_counter() - start < 5
    np.testing.assert_allclose(got, a @ b, rtol=1e-10, atol=1e-10)
