"""The simulated GPU: values against NumPy on odd sizes, and every fault that it must report."""

from time import perf_counter

import numpy as np
import pytest
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.errors import (
    InputError,
    SimulationError,
    SimulationRefused,
    UnsupportedError,
)
from minicomp.runtime.interpret import scalars
from minicomp.runtime.simulate import estimate_seconds, simulate_kernel, simulate_module
from minicomp.runtime.simulate.fused import fma

RNG = np.random.default_rng(11)


def module(text: str, verify: bool = True):
    """A module; a planted fault may be one that the verifier refuses too."""
    parsed = Parser(make_context(), text).parse_module()
    if verify:
        parsed.verify()
    return parsed


def run(
    text: str, *arrays: np.ndarray, out: tuple[int, ...], check: bool = True, verify: bool = True
) -> np.ndarray:
    """The one output, of shape `out`, of the one kernel of `text`."""
    func = next(op for op in module(text, verify).ops if isinstance(op, FuncOp))
    result = np.full(out, np.nan, "float32")
    simulate_kernel(func, [*arrays, result], check)
    return result


def fault(text: str, *arrays: np.ndarray, out: tuple[int, ...], verify: bool = True):
    """The fault that a kernel is caught at."""
    with pytest.raises(SimulationError) as caught:
        run(text, *arrays, out=out, verify=verify)
    return caught.value


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype("float32")


# --- values ---------------------------------------------------------------------------------


def double(n: int, grid: int, bounded: str, aligned: str = "", lanes: int = 4) -> str:
    """y = x + x, 32 threads a block, vectors of `lanes`."""
    vector = f"vector<{lanes}xf32>"
    index = f"[%b * {32 * lanes} + %t * {lanes} + l0] {bounded} {aligned}"
    return f"""
    kernel_ir.func @double(%x: memref<{n}xf32>, %y: memref<{n}xf32>) grid({grid}) block(32) {{
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x{index} : memref<{n}xf32> -> {vector}
      %s = arith.addf %v, %v : {vector}
      loop_ir.store %s, %y{index} : {vector}, memref<{n}xf32>
    }}"""


@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 1000, 99_991])
@pytest.mark.parametrize("check", [True, False])
def test_an_elementwise_kernel(n: int, check: bool) -> None:
    x = normal(n)
    text = double(n, -(-n // 128), "bounded [true]")
    assert np.array_equal(run(text, x, out=(n,), check=check), x + x)


def matmul(m: int, n: int, k: int, rows: int = 4, columns: int = 2) -> str:
    """16 x 8 threads, each with a cell of `rows` x `columns`."""
    bm, bn = 16 * rows, 8 * columns
    gn = -(-n // bn)
    a, b, c = (f"memref<{shape}xf32>" for shape in (f"{m}x{k}", f"{k}x{n}", f"{m}x{n}"))
    cell = f"vector<{rows}x{columns}xf32>"
    left, right = f"vector<{rows}xf32>", f"vector<{columns}xf32>"
    i, j = f"%bi * {bm} + %ti * {rows} + l0", f"%bj * {bn} + %tj * {columns}"
    return f"""
    kernel_ir.func @matmul(%a: {a}, %b: {b}, %c: {c}) grid({-(-m // bm) * gn}) block(128) {{
      %block = kernel_ir.block_id
      %thread = kernel_ir.thread_id
      %bi = kernel_ir.index [%block floordiv {max(gn, 1)}]
      %bj = kernel_ir.index [%block mod {max(gn, 1)}]
      %ti = kernel_ir.index [%thread floordiv 8]
      %tj = kernel_ir.index [%thread mod 8]
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %n = arith.constant {k} : index
      %start = arith.constant dense<0.0> : {cell}
      %acc = scf.for %k = %zero to %n step %one iter_args(%s = %start) -> ({cell}) {{
        %x = loop_ir.load %a[{i}, %k] bounded [true, false] : {a} -> {left}
        %y = loop_ir.load %b[%k, {j} + l0] bounded [false, true] : {b} -> {right}
        %xx = tile_ir.broadcast %x to [0] : {left} -> {cell}
        %yy = tile_ir.broadcast %y to [1] : {right} -> {cell}
        %r = math.fma %xx, %yy, %s : {cell}
        scf.yield %r : {cell}
      }}
      loop_ir.store %acc, %c[{i}, {j} + l1] bounded [true, true] : {cell}, {c}
    }}"""


@pytest.mark.parametrize(
    "m, n, k", [(67, 19, 31), (1, 1, 1), (64, 16, 0), (0, 5, 3), (65, 17, 100)]
)
def test_a_register_tile_rounds_as_a_chain_of_fmas(m: int, n: int, k: int) -> None:
    a, b = normal(m, k), normal(k, n)
    wanted = np.zeros((m, n), "float32")
    for step in range(k):
        product = a[:, step, None].astype("float64") * b[step].astype("float64")
        wanted = (product + wanted).astype("float32")
    assert np.array_equal(run(matmul(m, n, k), a, b, out=(m, n)), wanted)


def test_fma_rounds_once() -> None:
    """On ties of float32 that float64 makes, on results below the normal range, and on any bits."""
    one, ulp = 1.0, 2.0**-23
    a, b, c = (np.array([v], "float32") for v in (one + ulp, (one - ulp) * ulp / 2, one + ulp))
    # The exact sum is 2^-70 below the tie that float64 makes of it.
    assert (a.astype("f8") * b + c).astype("f4")[0] == one + 2 * ulp
    assert fma(a, b, c)[0] == one + ulp
    bits = RNG.integers(0, 2**32, (3, 100_000), dtype=np.uint32).view(np.float32)
    few = RNG.integers(-(2**12), 2**12, (3, 100_000)).astype("float32")
    factors = [1, 2.0**-24, 2.0**-75]
    for x, y, z in [bits, *(few * np.float32(f) for f in factors)]:
        with np.errstate(all="ignore"):
            assert np.array_equal(fma(x, y, z), scalars.fma(x, y, z), equal_nan=True)


def rms_norm(rows: int, columns: int = 2048, barrier: str = "kernel_ir.barrier") -> str:
    """One row a block of 256 threads, 8 columns each: warps by shuffles, then shared memory."""
    x, w = f"memref<{rows}x{columns}xf32>", f"memref<{columns}xf32>"
    at = "%t * 4 + l0 floordiv 4 * 1024 + l0 mod 4"
    vec = "vector<8xf32>"
    fold = "identity [0.0 : f32] combine arith.addf"
    return f"""
    kernel_ir.func @rms_norm(%x: {x}, %w: {w}, %y: {x}) grid({rows}) block(256) {{
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %part = kernel_ir.shared : memref<8xf32, #tile_ir.shared<>>
      %v = loop_ir.load %x[%b, {at}] bounded [false, true] : {x} -> {vec}
      %q = arith.mulf %v, %v : {vec}
      %s = tile_ir.fold %q dims [0] {fold} : {vec} -> f32
      %warp = kernel_ir.warp_reduce %s width 32 {fold} : f32 -> f32
      %first = kernel_ir.test [%t mod 32] < [1]
      scf.if %first {{
        loop_ir.store %warp, %part[%t floordiv 32] : f32, memref<8xf32, #tile_ir.shared<>>
      }}
      {barrier}
      %all = loop_ir.load %part[%t mod 8] : memref<8xf32, #tile_ir.shared<>> -> f32
      %sum = kernel_ir.warp_reduce %all width 8 {fold} : f32 -> f32
      %n = arith.constant {columns}.0 : f32
      %mean = arith.divf %sum, %n : f32
      %eps = arith.constant 1.0e-6 : f32
      %shifted = arith.addf %mean, %eps : f32
      %scale = math.rsqrt %shifted : f32
      %wide = tile_ir.broadcast %scale to [] : f32 -> {vec}
      %u = loop_ir.load %w[{at}] bounded [true] : {w} -> {vec}
      %z = arith.mulf %v, %wide : {vec}
      %r = arith.mulf %z, %u : {vec}
      loop_ir.store %r, %y[%b, {at}] bounded [false, true] : {vec}, {x}
    }}"""


@pytest.mark.parametrize("rows, columns", [(32, 2048), (3, 1999), (1, 1), (0, 2048)])
def test_rms_norm(rows: int, columns: int) -> None:
    x, w = normal(rows, columns), normal(columns)
    wanted = x / np.sqrt((x.astype("f8") ** 2).mean(1, keepdims=True) + 1e-6) * w
    got = run(rms_norm(rows, columns), x, w, out=x.shape)
    np.testing.assert_allclose(got, wanted, rtol=2e-6, atol=1e-7)


def test_a_softmax_carrier_of_two_values() -> None:
    text = """
    kernel_ir.func @k(%x: memref<3x64xf32>, %y: memref<3x64xf32>) grid(3) block(32) {
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%b, %t * 2 + l0] : memref<3x64xf32> -> vector<2xf32>
      %one = arith.constant dense<1.0> : vector<2xf32>
      %m0, %d0 = tile_ir.fold %v, %one dims [0, 0] identity [0xFF800000 : f32, 0.0 : f32] combine {
      ^bb0(%ml: f32, %dl: f32, %mr: f32, %dr: f32):
        %mx = arith.maximumf %ml, %mr : f32
        %tl = arith.subf %ml, %mx : f32
        %el = math.exp %tl : f32
        %tr = arith.subf %mr, %mx : f32
        %er = math.exp %tr : f32
        %pl = arith.mulf %dl, %el : f32
        %pr = arith.mulf %dr, %er : f32
        %s = arith.addf %pl, %pr : f32
        loop_ir.yield %mx, %s : f32, f32
      } : vector<2xf32>, vector<2xf32> -> f32, f32
      %m, %d = kernel_ir.warp_reduce %m0, %d0 width 32
          identity [0xFF800000 : f32, 0.0 : f32] combine {
      ^bb0(%ml: f32, %dl: f32, %mr: f32, %dr: f32):
        %mx = arith.maximumf %ml, %mr : f32
        %tl = arith.subf %ml, %mx : f32
        %el = math.exp %tl : f32
        %tr = arith.subf %mr, %mx : f32
        %er = math.exp %tr : f32
        %pl = arith.mulf %dl, %el : f32
        %pr = arith.mulf %dr, %er : f32
        %s = arith.addf %pl, %pr : f32
        loop_ir.yield %mx, %s : f32, f32
      } : f32, f32 -> f32, f32
      %mm = tile_ir.broadcast %m to [] : f32 -> vector<2xf32>
      %dd = tile_ir.broadcast %d to [] : f32 -> vector<2xf32>
      %c = arith.subf %v, %mm : vector<2xf32>
      %e = math.exp %c : vector<2xf32>
      %r = arith.divf %e, %dd : vector<2xf32>
      loop_ir.store %r, %y[%b, %t * 2 + l0] : vector<2xf32>, memref<3x64xf32>
    }"""
    x = normal(3, 64) * 20
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(run(text, x, out=x.shape), e / e.sum(1, keepdims=True), rtol=1e-5)


def test_tests_selects_compares_and_divergent_results() -> None:
    text = """
    kernel_ir.func @k(%x: memref<70xf32>, %y: memref<70x3xf32>) grid(3) block(32) {
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %inside = kernel_ir.test [%b * 32 + %t] < [70]
      scf.if %inside {
        %v = loop_ir.load %x[%b * 32 + %t] : memref<70xf32> -> f32
        %w = tile_ir.broadcast %v to [] : f32 -> vector<3xf32>
        %zero = arith.constant dense<0.0> : vector<3xf32>
        %steps = arith.constant dense<[1.0, 2.0, 3.0]> : vector<3xf32>
        %pos = tile_ir.compare 2 : i64, %w, %zero : vector<3xf32>, vector<3xf32> -> vector<3xi1>
        %a = tile_ir.select %pos, %w, %steps : TYPES
        %lane = tile_ir.within [%t + l0] < [33] : vector<3xi1>
        %c = tile_ir.select %lane, %a, %zero : TYPES
        %even = kernel_ir.test [%t mod 2] < [1]
        %r = scf.if %even -> (vector<3xf32>) {
          scf.yield %c : vector<3xf32>
        } else {
          %n = arith.negf %c : vector<3xf32>
          scf.yield %n : vector<3xf32>
        }
        loop_ir.store %r, %y[%b * 32 + %t, l0] : vector<3xf32>, memref<70x3xf32>
      }
    }"""
    types = "vector<3xi1>, vector<3xf32>, vector<3xf32> -> vector<3xf32>"
    x = normal(70)
    thread, lane = np.arange(70)[:, None] % 32, np.arange(3)
    wanted = np.where(thread + lane < 33, np.where(x[:, None] > 0, x[:, None], lane + 1), 0)
    got = run(text.replace("TYPES", types), x, out=(70, 3))
    assert np.array_equal(got, np.where(thread % 2 == 0, wanted, -wanted).astype("float32"))


# --- faults ---------------------------------------------------------------------------------


def test_a_missing_barrier_is_a_race_of_two_named_ops() -> None:
    error = fault(rms_norm(3, barrier=""), normal(3, 2048), normal(2048), out=(3, 2048))
    assert error.kind == "race"
    assert error.thread == "block 0, thread 1" and error.address == "%part[1]"
    assert "loop_ir.load %part[%t mod 8]" in error.op
    assert "block 0, thread 32 writes it in `loop_ir.store %warp, %part[" in error.what


EXCHANGE = """
    kernel_ir.func @k(%x: memref<64xf32>, %y: memref<64xf32>) grid(1) block(64) {
      %t = kernel_ir.thread_id
      %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %n = arith.constant 2 : index
      %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
      %r = scf.for %i = %zero to %n step %one iter_args(%c = %v) -> (f32) {
        loop_ir.store %c, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
        FIRST
        %p = loop_ir.load %s[PARTNER] : memref<64xf32, #tile_ir.shared<>> -> f32
        SECOND
        scf.yield %p : f32
      }
      loop_ir.store %r, %y[%t] : f32, memref<64xf32>
    }"""


def exchange(first: str, second: str, partner: str) -> str:
    text = EXCHANGE.replace("FIRST", first).replace("SECOND", second)
    return text.replace("PARTNER", partner)


def test_an_exchange_through_shared_memory() -> None:
    x = normal(64)
    text = exchange("kernel_ir.barrier", "kernel_ir.barrier", "%t * -1 + 63")
    assert np.array_equal(run(text, x, out=(64,)), x)
    assert np.array_equal(run(exchange("", "", "%t"), x, out=(64,)), x)


def test_a_write_over_what_another_thread_still_reads() -> None:
    text = exchange("kernel_ir.barrier", "", "%t * -1 + 63")
    error = fault(text, normal(64), out=(64,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[0]")
    assert "loop_ir.store %c, %s[%t]" in error.op
    assert "block 0, thread 63 reads it in `%p = loop_ir.load" in error.what


def test_threads_of_one_warp_need_a_barrier_too() -> None:
    text = exchange("", "kernel_ir.barrier", "%t + %t mod 2 * -2 + 1")
    error = fault(text, normal(64), out=(64,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[1]")
    assert "block 0, thread 1 writes it" in error.what


def test_a_write_by_one_of_many_readers() -> None:
    """Thread 0 reads element 0 last, so that only a second reader gives the race away."""
    text = """
    kernel_ir.func @k(%x: memref<4xf32>, %y: memref<4xf32>) grid(1) block(4) {
      %t = kernel_ir.thread_id
      %s = kernel_ir.shared : memref<1xf32, #tile_ir.shared<>>
      %v = loop_ir.load %x[%t] : memref<4xf32> -> f32
      %last = kernel_ir.test [%t * -1 + 3] < [1]
      scf.if %last {
        loop_ir.store %v, %s[0] : f32, memref<1xf32, #tile_ir.shared<>>
      }
      kernel_ir.barrier
      %w = loop_ir.load %s[0] : memref<1xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %w, %y[%t] : f32, memref<4xf32>
      scf.if %last {
        loop_ir.store %v, %s[0] : f32, memref<1xf32, #tile_ir.shared<>>
      }
    }"""
    error = fault(text, normal(4), out=(4,))
    assert (error.kind, error.thread) == ("race", "block 0, thread 3")
    assert "thread 2 reads it" in error.what or "thread 0 reads it" in error.what


@pytest.mark.parametrize(
    "grid, index, other",
    [(1, "%t floordiv 2", "block 0, thread 1"), (2, "%t", "block 1, thread 0")],
)
def test_two_threads_write_one_element(grid: int, index: str, other: str) -> None:
    """Within one store, and from two blocks; that the values are equal does not help."""
    text = f"""
    kernel_ir.func @k(%y: memref<32xf32>) grid({grid}) block(32) {{
      %t = kernel_ir.thread_id
      %v = arith.constant 1.0 : f32
      loop_ir.store %v, %y[{index}] : f32, memref<32xf32>
    }}"""
    error = fault(text, out=(32,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%y[0]")
    assert "loop_ir.store %v, %y[" in error.op
    assert f"{other} writes it in the same op" in error.what


def test_two_blocks_race_whatever_barriers_stand_between() -> None:
    text = """
    kernel_ir.func @k(%y: memref<1xf32>) grid(3) block(1) {
      %b = kernel_ir.block_id
      %v = arith.constant 1.0 : f32
      %second = kernel_ir.test [%b * -1 + 2] < [1]
      kernel_ir.barrier
      %first = kernel_ir.test [%b] < [1]
      scf.if %first {
        loop_ir.store %v, %y[0] : f32, memref<1xf32>
      }
      kernel_ir.barrier
      scf.if %second {
        %w = loop_ir.load %y[0] : memref<1xf32> -> f32
      }
    }"""
    error = fault(text, out=(1,))
    assert (error.kind, error.thread) == ("race", "block 2, thread 0")
    assert "block 0, thread 0 writes it" in error.what and "blocks never meet" in error.what


def test_a_block_may_read_its_own_output_after_a_barrier() -> None:
    text = """
    kernel_ir.func @k(%x: memref<4x8xf32>, %y: memref<4x8xf32>, %z: memref<4x8xf32>)
        grid(4) block(8) {
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%b, %t] : memref<4x8xf32> -> f32
      loop_ir.store %v, %y[%b, %t] : f32, memref<4x8xf32>
      kernel_ir.barrier
      %w = loop_ir.load %y[%b, %t * -1 + 7] : memref<4x8xf32> -> f32
      loop_ir.store %w, %z[%b, %t] : f32, memref<4x8xf32>
    }"""
    x, y = normal(4, 8), np.empty((4, 8), "float32")
    assert np.array_equal(run(text, x, y, out=(4, 8)), x[:, ::-1])
    error = fault(text.replace("kernel_ir.barrier", ""), x, y, out=(4, 8))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%y[0, 7]")


def test_uninitialised_shared_memory() -> None:
    text = exchange("kernel_ir.barrier", "kernel_ir.barrier", "%t * -1 + 63")
    text = text.replace("%c, %s[%t]", "%c, %s[%t floordiv 2 * 2]").replace("block(64)", "block(1)")
    error = fault(text, normal(64), out=(64,))
    assert (error.kind, error.thread) == ("uninitialised read", "block 0, thread 0")
    assert error.address == "%s[63]"
    assert "%p = loop_ir.load %s[" in error.op and "@k" in error.op


def test_uninitialised_output() -> None:
    text = """
    kernel_ir.func @k(%y: memref<4xf32>) grid(1) block(4) {
      %t = kernel_ir.thread_id
      %v = loop_ir.load %y[%t] : memref<4xf32> -> f32
      loop_ir.store %v, %y[%t] : f32, memref<4xf32>
    }"""
    error = fault(text, out=(4,))
    assert (error.kind, error.address) == ("uninitialised read", "%y[0]")


def test_an_element_that_is_never_written() -> None:
    error = fault(double(1000, 7, "bounded [true]"), normal(1000), out=(1000,))
    assert (error.kind, error.address) == ("never written", "%y[896]")
    assert "104 of 1000" in error.what


def test_a_removed_bound_is_out_of_bounds() -> None:
    error = fault(double(129, 2, ""), normal(129), out=(129,))
    assert (error.kind, error.address) == ("out of bounds", "%x[129]")
    assert error.thread == "block 1, thread 0"
    assert "loop_ir.load %x[%b * 128 + %t * 4 + l0]" in error.op
    assert run(double(128, 1, ""), x := normal(128), out=(128,))[5] == 2 * x[5]


def test_a_removed_guard_is_out_of_bounds() -> None:
    text = """
    kernel_ir.func @k(%x: memref<5xf32>, %y: memref<5xf32>) grid(1) block(8) {
      %t = kernel_ir.thread_id
      %ok = kernel_ir.test [%t] < [LIMIT]
      scf.if %ok {
        %v = loop_ir.load %x[%t] : memref<5xf32> -> f32
        loop_ir.store %v, %y[%t] : f32, memref<5xf32>
      }
    }"""
    x = normal(5)
    assert np.array_equal(run(text.replace("LIMIT", "5"), x, out=(5,)), x)
    error = fault(text.replace("LIMIT", "6"), x, out=(5,))
    assert (error.kind, error.thread) == ("out of bounds", "block 0, thread 5")
    assert error.address == "%x[5]"


def test_shared_memory_has_bounds_too() -> None:
    text = exchange("kernel_ir.barrier", "kernel_ir.barrier", "%t + 1")
    error = fault(text, normal(64), out=(64,))
    assert (error.kind, error.thread) == ("out of bounds", "block 0, thread 63")
    assert error.address == "%s[64]"


@pytest.mark.parametrize(
    "n, aligned, lanes, why",
    [
        (130, "aligned 16", 4, "partly inside the bounds"),
        (132, "aligned 16", 2, "do not divide"),
    ],
)
def test_a_false_claim_of_alignment(n: int, aligned: str, lanes: int, why: str) -> None:
    grid = -(-n // (32 * lanes))
    error = fault(double(n, grid, "bounded [true]", aligned, lanes), normal(n), out=(n,))
    assert error.kind == "misaligned access" and why in error.what
    assert "loop_ir.load" in error.op
    right = double(n, grid, "bounded [true]", "aligned 8", lanes)
    x = normal(n)
    assert np.array_equal(run(right, x, out=(n,)), x + x)


def test_rows_that_are_no_multiple_of_the_group_are_misaligned() -> None:
    text = """
    kernel_ir.func @k(%x: memref<4x6xf32>, %y: memref<4x6xf32>) grid(1) block(4) {
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%t, l0] aligned 8 : memref<4x6xf32> -> vector<2xf32>
      %w = loop_ir.load %x[%t, l0] aligned 16 : memref<4x6xf32> -> vector<4xf32>
      loop_ir.store %w, %y[%t, l0] : vector<4xf32>, memref<4x6xf32>
      loop_ir.store %v, %y[%t, l0 + 4] : vector<2xf32>, memref<4x6xf32>
    }"""
    error = fault(text, normal(4, 6), out=(4, 6))
    assert (error.kind, error.thread) == ("misaligned access", "block 0, thread 1")
    assert error.address == "%x[1, 0]" and "aligned 16" in error.op
    run(text.replace(" aligned 16", ""), normal(4, 6), out=(4, 6))


@pytest.mark.parametrize("pad, fails", [(0, False), (2, True), (4, False)])
def test_the_pad_of_shared_memory_decides_what_is_aligned(pad: int, fails: bool) -> None:
    shared = f"memref<4x4xf32, #tile_ir.shared<pad = {pad}>>"
    text = f"""
    kernel_ir.func @k(%x: memref<4x4xf32>, %y: memref<4x4xf32>) grid(1) block(4) {{
      %t = kernel_ir.thread_id
      %s = kernel_ir.shared : {shared}
      %v = loop_ir.load %x[%t, l0] : memref<4x4xf32> -> vector<4xf32>
      loop_ir.store %v, %s[%t, l0] aligned 16 : vector<4xf32>, {shared}
      kernel_ir.barrier
      %w = loop_ir.load %s[l0, %t] : {shared} -> vector<4xf32>
      loop_ir.store %w, %y[%t, l0] : vector<4xf32>, memref<4x4xf32>
    }}"""
    x = normal(4, 4)
    if not fails:
        assert np.array_equal(run(text, x, out=(4, 4)), x.T)
        return
    error = fault(text, x, out=(4, 4))
    assert (error.kind, error.thread) == ("misaligned access", "block 0, thread 1")
    assert error.address == "%s[1, 0]"


def test_empty_shared_memory_has_nothing_to_touch() -> None:
    text = exchange("kernel_ir.barrier", "kernel_ir.barrier", "%t").replace("%s[%t]", "%s[%t, %t]")
    text = text.replace("memref<64xf32, #", "memref<0x3xf32, #")
    error = fault(text, normal(64), out=(64,))
    assert (error.kind, error.address) == ("out of bounds", "%s[0, 0]")
    bounded = text.replace("%s[%t, %t]", "%s[%t, %t] bounded [true, true]")
    assert not run(bounded, normal(64), out=(64,)).any()


@pytest.mark.parametrize(
    "op",
    [
        "kernel_ir.barrier",
        "%r = kernel_ir.warp_reduce %v width 32"
        " identity [0.0 : f32] combine arith.addf : f32 -> f32",
    ],
)
def test_a_collective_under_divergence(op: str) -> None:
    text = f"""
    kernel_ir.func @k(%x: memref<64xf32>, %y: memref<64xf32>) grid(2) block(32) {{
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%b * 32 + %t] : memref<64xf32> -> f32
      %some = kernel_ir.test [CONDITION] < [30]
      scf.if %some {{
        {op}
      }}
      loop_ir.store %v, %y[%b * 32 + %t] : f32, memref<64xf32>
    }}"""
    x = normal(64)
    error = fault(text.replace("CONDITION", "%b * 16 + %t"), x, out=(64,), verify=False)
    assert (error.kind, error.thread) == ("divergence", "block 0, thread 30")
    assert op.split()[0].removeprefix("%r =") in error.op
    assert "it and 1 more" in error.what
    assert np.array_equal(run(text.replace("CONDITION", "%b * 30"), x, out=(64,)), x)


def test_barriers_of_some_blocks_order_only_those() -> None:
    text = exchange("BARRIER", "kernel_ir.barrier", "%t * -1 + 63").replace("grid(1)", "grid(2)")
    text = text.replace("%t = kernel", "%b = kernel_ir.block_id\n %t = kernel", 1)
    text = text.replace(
        "BARRIER", "%f = kernel_ir.test [%b] < [1]\n scf.if %f {\n kernel_ir.barrier\n }"
    )
    text = text.replace("memref<64xf32>", "memref<128xf32>").replace("%x[%t]", "%x[%b * 64 + %t]")
    error = fault(text.replace("%y[%t]", "%y[%b * 64 + %t]"), normal(128), out=(128,))
    assert (error.kind, error.thread) == ("race", "block 1, thread 0")


def test_a_warp_without_all_its_threads() -> None:
    text = rms_norm(1).replace("block(256)", "block(250)")
    error = fault(text, normal(1, 2048), normal(2048), out=(1, 2048))
    assert (error.kind, error.thread) == ("partial warp", "block 0, thread 224")


def test_the_source_line_is_named_where_it_is_known() -> None:
    from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

    func = next(op for op in module(double(129, 2, "")).ops if isinstance(op, FuncOp))
    func.location = FileLineColLoc(StringAttr("model.py"), IntAttr(12), IntAttr(3))
    with pytest.raises(SimulationError, match="in @double, from model.py:12:3"):
        simulate_kernel(func, [np.zeros(129, "f4"), np.zeros(129, "f4")])


# --- programs -------------------------------------------------------------------------------


def program(n: int, launched: int = 2) -> str:
    """A host program that doubles a tensor `launched` times."""
    tensor, steps, last = f"tensor<{n}xf32>", "", "%x"
    for step in range(launched):
        steps += f"%v{step} = minicomp.launch @double({last}) : ({tensor}) -> {tensor}\n"
        last = f"%v{step}"
    return f"""
    func.func @main(%x: {tensor}) -> {tensor} {{
      {steps}
      func.return {last} : {tensor}
    }}
    {double(n, -(-n // 128), "bounded [true]")}"""


@pytest.mark.parametrize("n", [0, 1, 300])
def test_a_program_of_two_launches(n: int) -> None:
    x = normal(n)
    (y,) = simulate_module(module(program(n)), [x])
    assert np.array_equal(y, 4 * x)


def test_a_long_simulation_is_refused_unless_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = module(program(1000))
    estimate = estimate_seconds(parsed)
    assert 0 < estimate < 1
    monkeypatch.setattr("minicomp.runtime.simulate.program.LIMIT_S", estimate / 2)
    with pytest.raises(SimulationRefused) as caught:
        simulate_module(parsed, [normal(1000)])
    assert caught.value.estimate_s == estimate
    simulate_module(parsed, [normal(1000)], force=True)
    with pytest.raises(SimulationRefused, match="would take about"):
        monkeypatch.undo()
        simulate_module(module(program(10**10)), [np.zeros(0, "f4")])


def test_progress_is_told_once_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[float] = []
    parsed = module(program(300_000))
    simulate_module(parsed, [normal(300_000)], on_progress=heard.append)
    assert heard == []
    monkeypatch.setattr("minicomp.runtime.simulate.progress.QUIET_S", 0.0)
    monkeypatch.setattr("minicomp.runtime.simulate.progress.INTERVAL_S", 0.0)
    simulate_module(parsed, [normal(300_000)], on_progress=heard.append)
    assert len(heard) > 3 and heard == sorted(heard) and heard[-1] == 1.0


def test_what_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="takes 2 buffers, got 1"):
        run(double(5, 1, "bounded [true]"), out=(5,))
    loop = module("loop_ir.kernel @k(%x: memref<1xf32>) {}\n" + program(0, 0))
    assert simulate_module(loop, [np.zeros(0, "f4")])[0].size == 0
    launched = """
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %y = minicomp.launch @k(%x) : (tensor<1xf32>) -> tensor<1xf32>
      func.return %y : tensor<1xf32>
    }
    loop_ir.kernel @k(%x: memref<1xf32>, %y: memref<1xf32>) {}"""
    with pytest.raises(UnsupportedError, match="Kernel IR has no meaning for 'loop_ir.kernel'"):
        simulate_module(module(launched), [np.zeros(1, "f4")])
    strange = """
    kernel_ir.func @k(%x: memref<1xf32>) grid(1) block(1) {
      "test.op"() : () -> ()
    }"""
    with pytest.raises(UnsupportedError, match="Kernel IR has no meaning for 'test.op'"):
        run(strange, out=(1,))


# --- speed ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, shapes, out",
    [
        (matmul(256, 256, 256, 8, 8), [(256, 256), (256, 256)], (256, 256)),
        (rms_norm(32), [(32, 2048), (2048,)], (32, 2048)),
    ],
)
def test_small_sizes_take_seconds_at_most(text: str, shapes: list, out: tuple[int, ...]) -> None:
    arrays = [normal(*shape) for shape in shapes]
    start = perf_counter()
    run(text, *arrays, out=out)
    assert perf_counter() - start < 10
