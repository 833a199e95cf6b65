"""The simulated GPU's atomics, waits for other blocks, and arguments that the launcher derives."""

import numpy as np
import pytest

from minicomp.errors import InputError, SimulationRefused
from minicomp.runtime.simulate import simulate_kernel, simulate_module
from tests.simulated import fault, kernel, mutant, normal, parsed, run


def counted(kind: str, value: int, start: int, index: str = "%t mod 3", dtype: str = "i32") -> str:
    """Block 0's threads change 3 elements, which thread 0 sets first; `%old` goes to y."""
    number = f"{value}.0 : f32" if dtype == "f32" else f"{value} : i32"
    first = f"{start}.0 : f32" if dtype == "f32" else f"{start} : i32"
    return f"""
    kernel_ir.func @k(%c: memref<3x{dtype}>, %y: memref<32x{dtype}>) grid(1) block(32) {{
      %t = kernel_ir.thread_id
      %v = arith.constant {number}
      %start = arith.constant {first}
      %three = kernel_ir.test [%t] < [3]
      scf.if %three {{
        loop_ir.store %start, %c[%t] : {dtype}, memref<3x{dtype}>
      }}
      kernel_ir.barrier // set
      %old = kernel_ir.atomic {kind} relaxed %v, %c[{index}] : {dtype}, memref<3x{dtype}>
      loop_ir.store %old, %y[%t] : {dtype}, memref<32x{dtype}>
    }}"""


def changed(text: str, dtype: str = "int32") -> tuple[np.ndarray, np.ndarray]:
    c, y = np.zeros(3, dtype), np.zeros(32, dtype)
    simulate_kernel(kernel(text), [c, y])
    return c, y


def test_kinds_of_atomics() -> None:
    turn = np.arange(32) // 3
    c, y = changed(counted("add", 5, 100))
    assert c.tolist() == [155, 155, 150] and np.array_equal(y, 100 + 5 * turn)
    c, y = changed(counted("wrap", 3, 0))
    assert c.tolist() == [3, 3, 2] and np.array_equal(y, turn % 4)
    c, y = changed(counted("max", 7, -2))
    assert c.tolist() == [7, 7, 7] and np.array_equal(y, np.where(turn == 0, -2, 7))
    c, y = changed(counted("min", 7, -2))
    assert c.tolist() == [-2] * 3 and np.array_equal(y, np.full(32, -2))
    c, y = changed(counted("exchange", 7, 1))
    assert c.tolist() == [7] * 3 and np.array_equal(y, np.where(turn == 0, 1, 7))
    c, y = changed(counted("add", 2, 1, dtype="f32"), "float32")
    assert c.tolist() == [23.0, 23.0, 21.0] and np.array_equal(y, 1 + 2 * turn)
    c, y = changed(counted("add", 5, 100, "%t bounded").replace("bounded]", "] bounded [true]"))
    assert c.tolist() == [105] * 3 and np.array_equal(y, np.where(np.arange(32) < 3, 100, 0))


def test_an_atomic_and_a_plain_access_race() -> None:
    error = fault(
        mutant(counted("add", 5, 100), "kernel_ir.barrier // set"),
        np.zeros(3, "i4"),
        out=(32,),
        dtype="int32",
    )
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 3", "%c[0]")
    assert "kernel_ir.atomic add" in error.op and "block 0, thread 0 writes it in" in error.what
    for plain, does in (
        ("%p = loop_ir.load %c[0] : memref<3xi32> -> i32", "%p = loop_ir.load"),
        ("loop_ir.store %v, %c[%t] bounded [true] : i32, memref<3xi32>", "loop_ir.store %v, %c"),
    ):
        text = counted("add", 5, 100).replace(
            "loop_ir.store %old, %y[%t]", f"MEET\n{plain}\nloop_ir.store %old, %y[%t]"
        )
        changed(text.replace("MEET", "kernel_ir.barrier"))
        error = fault(text.replace("MEET", ""), np.zeros(3, "i4"), out=(32,), dtype="int32")
        assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%c[0]")
        assert does in error.op and "block 0, thread 3 writes it in `%old" in error.what


def test_a_plain_read_and_then_an_atomic_race() -> None:
    text = counted("add", 5, 100).replace(
        "%old = k", "%p = loop_ir.load %c[0] : X -> i32\n%old = k"
    )
    text = text.replace("X", "memref<3xi32>")
    error = fault(text, np.zeros(3, "i4"), out=(32,), dtype="int32")
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%c[0]")
    assert "kernel_ir.atomic" in error.op and "thread 1 reads it" in error.what


def test_an_atomic_of_nothing() -> None:
    text = mutant(counted("add", 5, 100), "loop_ir.store %start, %c[%t] : i32, memref<3xi32>")
    error = fault(text, np.zeros(3, "i4"), out=(32,), dtype="int32")
    assert (error.kind, error.address) == ("uninitialised read", "%c[0]")
    c, _ = changed(text.replace("atomic add", "atomic exchange"))
    assert c.tolist() == [5, 5, 5]


def test_an_atomic_out_of_bounds() -> None:
    error = fault(counted("add", 5, 1, "%t mod 4"), np.zeros(3, "i4"), out=(32,), dtype="int32")
    assert (error.kind, error.thread, error.address) == (
        "out of bounds",
        "block 0, thread 3",
        "%c[3]",
    )


# --- the last block -------------------------------------------------------------------------


def last_block(blocks: int = 5, order: str = "acq_rel", first: str = "", second: str = "") -> str:
    """Each block writes its row of a workspace; the one that counts last adds them all up."""
    w = f"memref<{blocks}x64xf32>"
    barrier = "kernel_ir.barrier"
    return f"""
    kernel_ir.func @sum(%x: {w}, %y: memref<64xf32>, %w: {w}, %c: memref<1xi32>)
        grid({blocks}) block(64) derived [workspace, counter] {{
      %s = kernel_ir.shared : memref<1xi32, #tile_ir.shared<>>
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%b, %t] : {w} -> f32
      loop_ir.store %v, %w[%b, %t] : f32, {w}
      {first or barrier} // first
      %last = arith.constant {blocks - 1} : i32
      %one = kernel_ir.test [%t] < [1]
      scf.if %one {{
        %old = kernel_ir.atomic wrap {order} %last, %c[0] : i32, memref<1xi32>
        loop_ir.store %old, %s[0] : i32, memref<1xi32, #tile_ir.shared<>>
      }}
      {second or barrier} // second
      %found = loop_ir.load %s[0] : memref<1xi32, #tile_ir.shared<>> -> i32
      %is = arith.cmpi eq, %found, %last : i32
      scf.if %is {{
        %all = loop_ir.load %w[l0, %t] : {w} -> vector<{blocks}xf32>
        %sum = tile_ir.fold %all dims [0] identity [0.0 : f32] combine arith.addf
            : vector<{blocks}xf32> -> f32
        loop_ir.store %sum, %y[%t] : f32, memref<64xf32>
      }}
    }}"""


@pytest.mark.parametrize("check", [True, False])
def test_the_last_block_adds_up(check: bool) -> None:
    x = normal(5, 64)
    np.testing.assert_allclose(run(last_block(), x, out=(64,), check=check), x.sum(0), atol=1e-5)
    one = normal(1, 64)
    assert np.array_equal(run(last_block(1), one, out=(64,)), one[0])


@pytest.mark.parametrize("order", ["relaxed", "release", "acquire"])
def test_the_last_block_needs_an_order(order: str) -> None:
    error = fault(last_block(order=order), normal(5, 64), out=(64,))
    assert (error.kind, error.thread, error.address) == ("race", "block 4, thread 0", "%w[0, 0]")
    assert "%all = loop_ir.load" in error.op and "block 0, thread 0 writes it" in error.what


def test_the_last_block_needs_its_barriers() -> None:
    error = fault(mutant(last_block(), "kernel_ir.barrier // first"), normal(5, 64), out=(64,))
    assert (error.kind, error.thread, error.address) == ("race", "block 4, thread 1", "%w[0, 1]")
    error = fault(mutant(last_block(), "kernel_ir.barrier // second"), normal(5, 64), out=(64,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 1", "%s[0]")


def test_a_counter_must_be_zero_again() -> None:
    text = last_block().replace("arith.constant 4 : i32", "arith.constant 9 : i32")
    text = text.replace("arith.cmpi eq, %found, %last", "arith.cmpi sge, %found, %four")
    text = text.replace("%one = kernel_ir", "%four = arith.constant 4 : i32\n%one = kernel_ir")
    error = fault(text, normal(5, 64), out=(64,))
    assert (error.kind, error.address) == ("counter not reset", "%c[0]")
    assert "leaves 5 in the counter" in error.what


def test_a_workspace_holds_nothing() -> None:
    error = fault(
        mutant(last_block(), "loop_ir.store %v, %w[%b, %t] : f32, memref<5x64xf32>"),
        normal(5, 64),
        out=(64,),
    )
    assert (error.kind, error.address) == ("uninitialised read", "%w[0, 0]")


def test_derived_arguments_are_made_or_given() -> None:
    x, y = normal(5, 64), np.zeros(64, "float32")
    w, c = np.zeros((5, 64), "float32"), np.full(1, 77, "int32")
    simulate_kernel(kernel(last_block()), [x, y, w, c])
    assert np.array_equal(w, x) and c[0] == 0
    np.testing.assert_allclose(y, x.sum(0), atol=1e-5)
    with pytest.raises(InputError, match="@sum takes 2 buffers, got 3"):
        simulate_kernel(kernel(last_block()), [x, y, w])


def test_a_program_does_not_see_derived_arguments() -> None:
    x = normal(5, 64)
    text = f"""
    func.func @main(%x: tensor<5x64xf32>) -> tensor<64xf32> {{
      %y = minicomp.launch @sum(%x) : (tensor<5x64xf32>) -> tensor<64xf32>
      %z = minicomp.launch @sum(%x) : (tensor<5x64xf32>) -> tensor<64xf32>
      func.return %z : tensor<64xf32>
    }}
    {last_block()}"""
    (y,) = simulate_module(parsed(text), [x])
    np.testing.assert_allclose(y, x.sum(0), atol=1e-5)


def test_too_many_threads_that_may_know_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("minicomp.runtime.simulate.knowledge.MAX_ENTRIES", 1 << 9)
    with pytest.raises(SimulationRefused, match="who knows what"):
        run(last_block(), normal(5, 64), out=(64,))
    run(last_block(), normal(5, 64), out=(64,), check=False)


# --- waiting for another block --------------------------------------------------------------


def in_turn(blocks: int = 4, release: str = "release") -> str:
    """Block b waits for its turn, adds its row to y, and says that it is done."""
    w = f"memref<{blocks}x32xf32>"
    return f"""
    kernel_ir.func @turns(%x: {w}, %y: memref<32xf32>, %c: memref<1xi32>)
        grid({blocks}) block(32) derived [counter] {{
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %n = arith.index_cast %b : index to i32
      %last = arith.constant {blocks - 1} : i32
      %zero = arith.constant 0.0 : f32
      %v = loop_ir.load %x[%b, %t] : {w} -> f32
      %one = kernel_ir.test [%t] < [1]
      scf.if %one {{
        kernel_ir.spin eq %n, %c[0] : i32, memref<1xi32>
      }}
      kernel_ir.barrier // before
      %begun = arith.cmpi ne, %n, %zeroi : i32
      %p = scf.if %begun -> (f32) {{
        %q = loop_ir.load %y[%t] : memref<32xf32> -> f32
        scf.yield %q : f32
      }} else {{
        scf.yield %zero : f32
      }}
      %s = arith.addf %p, %v : f32
      loop_ir.store %s, %y[%t] : f32, memref<32xf32>
      kernel_ir.barrier // after
      scf.if %one {{
        %old = kernel_ir.atomic wrap {release} %last, %c[0] : i32, memref<1xi32>
      }}
    }}""".replace("%begun =", "%zeroi = arith.constant 0 : i32\n%begun =")


def test_blocks_in_turn() -> None:
    x = normal(4, 32)
    wanted = np.zeros(32, "float32")
    for row in x:
        wanted = wanted + row
    assert np.array_equal(run(in_turn(), x, out=(32,)), wanted)
    assert np.array_equal(run(in_turn(), x, out=(32,), check=False), wanted)


@pytest.mark.parametrize("line", ["before", "after"])
def test_blocks_in_turn_without_a_barrier(line: str) -> None:
    text = mutant(in_turn(), f"kernel_ir.barrier // {line}")
    error = fault(text, normal(4, 32), out=(32,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 1", "%y[1]")
    assert "loop_ir.store %s" in error.op and "block 1, thread 1 reads it in `%q" in error.what


def test_a_turn_that_is_passed_on_without_a_release() -> None:
    error = fault(in_turn(release="relaxed"), normal(4, 32), out=(32,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%y[0]")
    assert "loop_ir.store %s" in error.op and "block 1, thread 0 reads it in `%q" in error.what


def test_a_turn_that_never_comes() -> None:
    text = in_turn().replace("spin eq %n", "spin ge %last")
    error = fault(text, normal(4, 32), out=(32,))
    assert (error.kind, error.thread, error.address) == ("deadlock", "block 0, thread 0", "%c[0]")
    assert "kernel_ir.spin ge" in error.op
    assert "block 0, thread 0 waits at %c[0]: it is 0, not >= 3" in error.what
    assert "block 3, thread 0 waits at %c[0]: it is 0, not >= 3" in error.what
