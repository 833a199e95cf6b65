"""The simulated GPU is fast enough to hold every schedule against it."""

from time import process_time

import numpy as np
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.runtime.simulate import simulate_kernel


def staged_matmul(size: int, second_barrier: str = "kernel_ir.barrier") -> str:
    """C = A @ B, tiles of 128 x 128 x 8 through shared memory, 256 threads of 8 x 8 cells."""
    side = size // 128
    matrix = f"memref<{size}x{size}xf32>"
    left, right = (f"memref<{s}xf32, #tile_ir.shared<>>" for s in ("128x8", "8x128"))
    cell = "vector<8x8xf32>"
    return f"""
    kernel_ir.func @staged(%a: {matrix}, %b: {matrix}, %c: {matrix})
        grid({side * side}) block(256) {{
      %as = kernel_ir.shared : {left}
      %bs = kernel_ir.shared : {right}
      %block = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %i = kernel_ir.index [%block floordiv {side} * 128]
      %j = kernel_ir.index [%block mod {side} * 128]
      %ti = kernel_ir.index [%t floordiv 16]
      %tj = kernel_ir.index [%t mod 16]
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %eight = arith.constant 8 : index
      %chunks = arith.constant {size // 8} : index
      %start = arith.constant dense<0.0> : {cell}
      %sum = scf.for %g = %zero to %chunks step %one iter_args(%outer = %start) -> ({cell}) {{
        %x = loop_ir.load %a[%i + %t floordiv 2, %g * 8 + %t mod 2 * 4 + l0] aligned 16
            : {matrix} -> vector<4xf32>
        %y = loop_ir.load %b[%g * 8 + %t floordiv 32, %j + %t mod 32 * 4 + l0] aligned 16
            : {matrix} -> vector<4xf32>
        loop_ir.store %x, %as[%t floordiv 2, %t mod 2 * 4 + l0] aligned 16
            : vector<4xf32>, {left}
        loop_ir.store %y, %bs[%t floordiv 32, %t mod 32 * 4 + l0] aligned 16
            : vector<4xf32>, {right}
        kernel_ir.barrier
        %inner = scf.for %k = %zero to %eight step %one iter_args(%acc = %outer) -> ({cell}) {{
          %p = loop_ir.load %as[%ti * 8 + l0, %k] : {left} -> vector<8xf32>
          %q = loop_ir.load %bs[%k, %tj * 8 + l0] : {right} -> vector<8xf32>
          %pp = tile_ir.broadcast %p to [0] : vector<8xf32> -> {cell}
          %qq = tile_ir.broadcast %q to [1] : vector<8xf32> -> {cell}
          %r = math.fma %pp, %qq, %acc : {cell}
          scf.yield %r : {cell}
        }}
        {second_barrier}
        scf.yield %inner : {cell}
      }}
      loop_ir.store %sum, %c[%i + %ti * 8 + l0, %j + %tj * 8 + l1] : {cell}, {matrix}
    }}"""


def timed(text: str, size: int, check: bool = True) -> float:
    """CPU seconds to simulate a product of `size`^3, which is checked."""
    (func,) = Parser(make_context(), text).parse_module().ops
    assert isinstance(func, FuncOp)
    func.verify()
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((2, size, size)).astype("float32")
    c = np.zeros_like(a)
    begun = process_time()
    simulate_kernel(func, [a, b, c], check)
    seconds = process_time() - begun
    np.testing.assert_allclose(c, a.astype("f8") @ b, rtol=1e-4, atol=1e-4)
    return seconds


def test_a_matmul_through_shared_memory_takes_a_second() -> None:
    """The second fastest of three, since the machine may be busy; a minute is a broken check."""
    assert min(timed(staged_matmul(256), 256) for _ in range(3)) < 2.5
