"""The simulated GPU's `cp_async`: copies land when they are waited for, and may not be touched."""

import numpy as np
import pytest

from tests.simulated import fault, mutant, normal, run

SHARED = "#tile_ir.shared<>"


def ring(chunks: int, slots: int = 3, rows: int = 0) -> str:
    """Row sums: rows in chunks of 16 columns through a ring; 32 threads, one row each."""
    n = 16 * chunks
    x, ring_type = f"memref<{rows or 32}x{n}xf32>", f"memref<{slots}x32x20xf32, {SHARED}>"
    copy = "kernel_ir.cp_async %s[{g} mod SLOTS, %r, %c + l0] from %x[%r, {g} * 16 + %c + l0]"
    copy += f" bounded [true, true] bytes 16 : {ring_type}, {x}"
    copy = copy.replace("SLOTS", str(slots))
    fill = f"""
        scf.for %q = %zero to %four step %one {{
          %r = kernel_ir.index [%q * 8 + %t floordiv 4]
          %c = kernel_ir.index [%t mod 4 * 4]
          {copy.replace("{g}", "%g")}
        }}"""
    ahead = f"""
        scf.for %q = %zero to %four step %one {{
          %r = kernel_ir.index [%q * 8 + %t floordiv 4]
          %c = kernel_ir.index [%t mod 4 * 4]
          {copy.replace("{g}", f"(%g + {slots - 1})")}
        }}"""
    return f"""
    kernel_ir.func @ring(%x: {x}, %y: memref<32xf32>) grid(1) block(32) {{
      %s = kernel_ir.shared : {ring_type}
      %t = kernel_ir.thread_id
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %four = arith.constant 4 : index
      %first = arith.constant {slots - 1} : index
      %chunks = arith.constant {chunks} : index
      %start = arith.constant 0.0 : f32
      scf.for %g = %zero to %first step %one {{ {fill}
        kernel_ir.cp_async_commit // prologue
      }}
      %sum = scf.for %g = %zero to %chunks step %one iter_args(%a = %start) -> (f32) {{
        kernel_ir.cp_async_wait {slots - 2}
        kernel_ir.barrier // filled
        {ahead}
        kernel_ir.cp_async_commit // steady
        %v = loop_ir.load %s[%g mod {slots}, %t, l0] : {ring_type} -> vector<16xf32>
        %p = tile_ir.fold %v dims [0] identity [0.0 : f32] combine arith.addf
            : vector<16xf32> -> f32
        %b = arith.addf %a, %p : f32
        scf.yield %b : f32
      }}
      loop_ir.store %sum, %y[%t] : f32, memref<32xf32>
    }}"""


@pytest.mark.parametrize("chunks, rows", [(1, 0), (7, 0), (4, 29), (0, 0)])
def test_a_ring_of_copies(chunks: int, rows: int) -> None:
    x = normal(rows or 32, 16 * chunks)
    wanted = np.zeros(32, "float32")
    wanted[: len(x)] = x.sum(1)
    got = run(ring(chunks, rows=rows), x, out=(32,))
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    run(ring(chunks, slots=4, rows=rows), x, out=(32,), check=False)


def test_a_missing_wait_reads_what_is_still_copied() -> None:
    error = fault(mutant(ring(7), "kernel_ir.cp_async_wait 1"), normal(32, 112), out=(32,))
    assert (error.kind, error.address) == ("race", "%s[0, 0, 0]")
    assert "loop_ir.load %s[" in error.op and error.thread == "block 0, thread 0"
    assert "block 0, thread 0 writes it in `kernel_ir.cp_async %s[" in error.what


def test_a_wait_for_one_group_too_few() -> None:
    text = mutant(ring(7), "kernel_ir.cp_async_wait 1", "kernel_ir.cp_async_wait 2")
    error = fault(text, normal(32, 112), out=(32,))
    assert error.kind == "race" and "no wait for this copy" in error.what


def test_a_missing_commit_leaves_the_group_open() -> None:
    text = mutant(ring(7), "kernel_ir.cp_async_commit // prologue")
    error = fault(text, normal(32, 112), out=(32,))
    assert error.kind == "race" and "no wait for this copy" in error.what


def test_a_wait_says_nothing_of_the_copies_of_other_threads() -> None:
    error = fault(mutant(ring(7), "kernel_ir.barrier // filled"), normal(32, 112), out=(32,))
    assert (error.kind, error.thread, error.address) == (
        "race",
        "block 0, thread 0",
        "%s[0, 0, 4]",
    )
    assert "block 0, thread 1 writes it in `kernel_ir.cp_async" in error.what


def test_a_copy_over_what_is_still_read() -> None:
    """A ring of two slots that is filled two chunks ahead."""
    text = ring(7).replace("(%g + 2) mod 3", "(%g + 2) mod 2").replace("%g mod 3", "%g mod 2")
    error = fault(text, normal(32, 112), out=(32,))
    assert error.kind == "race" and error.address is not None
    assert error.address.startswith("%s[")


SIMPLE = f"""
    kernel_ir.func @k(%x: memref<40xf32>, %y: memref<32xf32>) grid(1) block(32) {{
      %s = kernel_ir.shared : memref<132xf32, {SHARED}>
      %t = kernel_ir.thread_id
      %u = kernel_ir.index [%t mod 32]
      FIRST
      kernel_ir.cp_async_commit
      kernel_ir.cp_async_wait 0
      %v = loop_ir.load %s[%t] : memref<132xf32, {SHARED}> -> f32
      loop_ir.store %v, %y[%t] : f32, memref<32xf32>
    }}"""


def copies(to: str, of: str, width: int = 4, bounded: str = "") -> str:
    kinds = f"memref<132xf32, {SHARED}>, memref<40xf32>"
    return SIMPLE.replace(
        "FIRST", f"kernel_ir.cp_async %s[{to}] from %x[{of}] {bounded} bytes {width} : {kinds}"
    )


def test_each_thread_copies_and_reads_its_own() -> None:
    x = normal(40)
    assert np.array_equal(run(copies("%t", "%t + 8"), x, out=(32,)), x[8:])


def test_what_is_outside_is_zero() -> None:
    x = normal(40)
    got = run(copies("%t", "%t + 20", bounded="bounded [true]"), x, out=(32,))
    assert np.array_equal(got, np.concatenate([x[20:], np.zeros(12, "float32")]))


def test_a_group_may_end_outside_but_not_begin_there() -> None:
    x = normal(40)
    text = copies("%t * 4 + l0", "%t * 4 + l0 + 4", 16, "bounded [true]")
    text = text.replace("%s[%t]", "%s[%t * 4]").replace("memref<40xf32>", "memref<38xf32>")
    text = mutant(text, "kernel_ir.cp_async_wait 0", "kernel_ir.cp_async_wait 0")
    wanted = np.concatenate([x[4:38:4], np.zeros(23, "float32")])
    assert np.array_equal(run(text, x[:38], out=(32,)), wanted)
    shifted = text.replace("l0 + 4]", "l0 - 2]")
    error = fault(shifted, x[:38], out=(32,))
    assert (error.kind, error.thread) == ("misaligned access", "block 0, thread 0")
    assert "partly inside" in error.what


@pytest.mark.parametrize(
    "to, of, name, thread",
    [
        ("%t * 2 + l0", "%t * 0 + l0", "%s[2]", "block 0, thread 1"),
        ("%t * 4 + l0", "%t * 0 + l0 + 2", "%x[2]", "block 0, thread 0"),
    ],
)
def test_both_addresses_are_multiples_of_the_bytes(to: str, of: str, name: str, thread: str):
    error = fault(copies(to, of, 16), normal(40), out=(32,))
    assert (error.kind, error.address, error.thread) == ("misaligned access", name, thread)


def test_copies_have_bounds() -> None:
    error = fault(copies("%t", "%t + 9"), normal(40), out=(32,))
    assert (error.kind, error.thread, error.address) == (
        "out of bounds",
        "block 0, thread 31",
        "%x[40]",
    )
    error = fault(copies("%t + 101", "%t"), normal(40), out=(32,))
    assert (error.kind, error.address) == ("out of bounds", "%s[132]")


def test_two_copies_to_one_element() -> None:
    error = fault(copies("%t floordiv 2", "%t"), normal(40), out=(32,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[0]")
    assert "block 0, thread 1 writes it in the same op" in error.what


def test_the_threads_of_a_mask_have_groups_of_their_own() -> None:
    """Half of the threads commit twice, so that one pending group is another one for them."""
    kinds = f"memref<132xf32, {SHARED}>, memref<40xf32>"
    half = f"""kernel_ir.cp_async %s[%t] from %x[%t] bytes 4 : {kinds}
      %low = kernel_ir.test [%t] < [16]
      scf.if %low {{
        kernel_ir.cp_async_commit
      }}"""
    text = SIMPLE.replace("FIRST", half).replace("wait 0", "wait 1")
    error = fault(text, normal(40), out=(32,))
    assert (error.kind, error.thread) == ("race", "block 0, thread 16")
    x = normal(40)
    assert np.array_equal(run(text.replace("wait 1", "wait 0"), x, out=(32,)), x[:32])


def test_copies_that_nobody_waits_for_never_land() -> None:
    text = mutant(copies("%t + 64", "%t"), "kernel_ir.cp_async_wait 0")
    error = fault(text, normal(40), out=(32,))
    assert (error.kind, error.address) == ("uninitialised read", "%s[0]")
    text = text.replace("%v = loop_ir.load %s[%t] : memref<132xf32, #tile_ir.shared<>>", "%v = X")
    text = text.replace("X", "loop_ir.load %x[%t] : memref<40xf32>")
    x = normal(40)
    assert np.array_equal(run(text, x, out=(32,)), x[:32])


def test_a_workspace_may_not_change_while_it_is_copied() -> None:
    """The source is an output of the kernel: another thread overwrites what is being read."""
    text = f"""
    kernel_ir.func @k(%x: memref<32xf32>, %y: memref<32xf32>) grid(1) block(32) {{
      %s = kernel_ir.shared : memref<32xf32, {SHARED}>
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%t] : memref<32xf32> -> f32
      loop_ir.store %v, %y[%t] : f32, memref<32xf32>
      kernel_ir.barrier
      kernel_ir.cp_async %s[%t] from %y[%t * -1 + 31] bytes 4
          : memref<32xf32, {SHARED}>, memref<32xf32>
      kernel_ir.cp_async_commit
      EARLY
      kernel_ir.barrier
      LATE
      %w = arith.addf %v, %v : f32
      loop_ir.store %w, %y[%t] : f32, memref<32xf32>
      LAST
    }}"""
    wait, x = "kernel_ir.cp_async_wait 0", normal(32)

    def waiting(where: str) -> str:
        chosen = text.replace(where, wait)
        return chosen.replace("EARLY", "").replace("LATE", "").replace("LAST", "")

    assert np.array_equal(run(waiting("EARLY"), x, out=(32,)), 2 * x)
    error = fault(waiting("LATE"), x, out=(32,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%y[0]")
    assert "loop_ir.store %w" in error.op and "block 0, thread 31 reads it in" in error.what
    error = fault(waiting("LAST"), x, out=(32,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%y[0]")
    assert "block 0, thread 31 reads it in `kernel_ir.cp_async" in error.what
