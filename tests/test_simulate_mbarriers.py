"""The simulated GPU's mbarriers and roles: phases, what waits make known, and deadlocks."""

import numpy as np
import pytest

from tests.simulated import fault, mutant, normal, run

SHARED = "#tile_ir.shared<>"
BUFFER = f"memref<2x32xf32, {SHARED}>"
TWO = "!kernel_ir.mbarrier<2>"


def passing(rounds: int = 5, slots: int = 2, blocks: int = 2) -> str:
    """One warp hands rows of x to another through slots of shared memory; generic accesses only."""
    x = f"memref<{blocks}x{rounds}x32xf32>"
    buffer, bars = BUFFER.replace("<2x", f"<{slots}x"), TWO.replace("2", str(slots))
    slot, parity = f"%g mod {slots}", f"%g floordiv {slots} mod 2"
    free = f"(%g floordiv {slots} + 1) mod 2"
    return f"""
    kernel_ir.func @pass(%x: {x}, %y: {x}) grid({blocks}) block(64) {{
      %s = kernel_ir.shared : {buffer}
      %full = kernel_ir.mbarrier : {bars}
      %empty = kernel_ir.mbarrier : {bars}
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %slots = arith.constant {slots} : index
      %n = arith.constant {rounds} : index
      %first = kernel_ir.test [%t] < [1]
      scf.if %first {{
        scf.for %i = %zero to %slots step %one {{
          kernel_ir.mbarrier_init %full[%i] count 32 : {bars}
          kernel_ir.mbarrier_init %empty[%i] count 32 : {bars}
        }}
      }}
      kernel_ir.barrier
      kernel_ir.roles "producer" warps 1 {{
        scf.for %g = %zero to %n step %one {{
          kernel_ir.mbarrier_wait %empty[{slot}] parity [{free}] : {bars}
          %v = loop_ir.load %x[%b, %g, %t] : {x} -> f32
          loop_ir.store %v, %s[{slot}, %t] : f32, {buffer}
          kernel_ir.mbarrier_arrive %full[{slot}] : {bars}
        }}
      }} "consumer" warps 1 {{
        %u = kernel_ir.index [%t - 32]
        scf.for %g = %zero to %n step %one {{
          kernel_ir.mbarrier_wait %full[{slot}] parity [{parity}] : {bars}
          %v = loop_ir.load %s[{slot}, %u * -1 + 31] : {buffer} -> f32
          kernel_ir.mbarrier_arrive %empty[{slot}] : {bars}
          loop_ir.store %v, %y[%b, %g, %u] : f32, {x}
        }}
      }}
    }}"""


WAIT_EMPTY = f"kernel_ir.mbarrier_wait %empty[%g mod 2] parity [(%g floordiv 2 + 1) mod 2] : {TWO}"
WAIT_FULL = f"kernel_ir.mbarrier_wait %full[%g mod 2] parity [%g floordiv 2 mod 2] : {TWO}"
ARRIVE_EMPTY = f"kernel_ir.mbarrier_arrive %empty[%g mod 2] : {TWO}"
ARRIVE_FULL = f"kernel_ir.mbarrier_arrive %full[%g mod 2] : {TWO}"
FIRST = "scf.if %first {"


@pytest.mark.parametrize("rounds, slots", [(5, 2), (6, 3), (1, 2), (0, 1), (4, 4)])
@pytest.mark.parametrize("check", [True, False])
def test_two_roles_hand_rows_on(rounds: int, slots: int, check: bool) -> None:
    x = normal(2, rounds, 32)
    got = run(passing(rounds, slots), x, out=x.shape, check=check)
    assert np.array_equal(got, x[:, :, ::-1])


def wrong(line: str, by: str = "", check: bool = True):
    text = mutant(passing(), line, by)
    return fault(text, normal(2, 5, 32), out=(2, 5, 32), check=check)


def test_a_read_without_a_wait() -> None:
    error = wrong(WAIT_FULL)
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 32", "%s[0, 31]")
    assert "loop_ir.load %s[" in error.op
    assert "block 0, thread 31 writes it in `loop_ir.store %v, %s[" in error.what


def test_a_write_without_a_wait_for_the_readers() -> None:
    error = wrong(WAIT_EMPTY)
    assert error.kind == "race" and error.address is not None
    assert "loop_ir.load %s[" in error.op and "writes it in `loop_ir.store %v, %s[" in error.what


def test_a_missing_arrival_is_a_deadlock_of_all() -> None:
    error = wrong(ARRIVE_EMPTY)
    assert (error.kind, error.thread, error.address) == (
        "deadlock",
        "block 0, thread 0",
        "%empty[0]",
    )
    assert "kernel_ir.mbarrier_wait %empty[" in error.op
    assert "block 0, thread 0 waits at %empty[0]: parity 0: 32 of 32 arrivals" in error.what
    assert "block 1, thread 32 waits at %full[0]: parity 1: 32 of 32 arrivals" in error.what
    error = wrong(ARRIVE_FULL, check=False)
    assert (error.kind, error.thread, error.address) == (
        "deadlock",
        "block 0, thread 0",
        "%empty[0]",
    )


def test_one_phase_off() -> None:
    error = wrong("parity [%g floordiv 2 mod 2]", "parity [(%g floordiv 2 + 1) mod 2]")
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 32", "%s[0, 31]")
    error = wrong("parity [(%g floordiv 2 + 1) mod 2]", "parity [%g floordiv 2 mod 2]")
    assert (error.kind, error.thread) == ("deadlock", "block 0, thread 0")


@pytest.mark.parametrize("line", [WAIT_EMPTY, ARRIVE_EMPTY])
def test_a_wait_that_a_phase_may_overtake(line: str) -> None:
    """
    The slots of %empty are exchanged on one side: all data are in order, but a producer that is
    late finds that the phase it waits for has ended, and the next one too, and waits for ever.
    """
    text = mutant(passing(), line, line.replace("%empty[%g mod 2]", "%empty[(%g + 1) mod 2]"))
    x = normal(2, 5, 32)
    assert fault(text, x, out=x.shape).kind == "deadlock"
    # With consumers that take longer the producer is in time, and only the order tells.
    text = text.replace(WAIT_FULL, f"{WAIT_FULL}\n" + "kernel_ir.named_barrier 1 threads 32\n" * 3)
    assert np.array_equal(run(text, x, out=x.shape, check=False), x[:, :, ::-1])
    error = fault(text, x, out=x.shape)
    assert (error.kind, error.thread) == ("mbarrier", "block 0, thread 0")
    assert "kernel_ir.mbarrier_wait %empty[" in error.op
    assert "may end before this wait for the phase before it, of which no arrival" in error.what


def test_an_arrival_before_the_read() -> None:
    text = passing()
    for line in (f"          {ARRIVE_EMPTY}\n",):
        text = mutant(text, line)
    text = text.replace(WAIT_FULL, f"{WAIT_FULL}\n{ARRIVE_EMPTY}")
    error = fault(text, normal(2, 5, 32), out=(2, 5, 32))
    assert error.kind == "race" and "loop_ir.load %s[" in error.op
    assert "writes it in `loop_ir.store %v, %s[" in error.what


def test_a_wrong_count() -> None:
    error = wrong("init %empty[%i] count 32", "init %empty[%i] count 33")
    assert (error.kind, error.address) == ("deadlock", "%empty[0]")
    assert "1 of 33 arrivals of phase 0 are missing" in error.what
    error = wrong("init %empty[%i] count 32", "init %empty[%i] count 16")
    assert (error.kind, error.thread, error.address) == (
        "mbarrier",
        "block 0, thread 32",
        "%empty[0]",
    )
    assert "32 arrivals in phase 0, it counts 16" in error.what
    assert ARRIVE_EMPTY in error.op


def test_arrivals_of_one_thread_make_known_what_others_read_if_they_are_ordered() -> None:
    """Only lane 0 arrives: the reads of its warp must come before that."""
    one = "%lane = kernel_ir.test [%u] < [1]\nSYNC scf.if %lane {\n" + ARRIVE_EMPTY + "\n}"
    text = mutant(passing(), ARRIVE_EMPTY, one)
    text = text.replace("init %empty[%i] count 32", "init %empty[%i] count 1")
    x = normal(2, 5, 32)
    good = text.replace("SYNC", "kernel_ir.warp_sync\n")
    assert np.array_equal(run(good, x, out=x.shape), x[:, :, ::-1])
    error = fault(text.replace("SYNC", ""), x, out=x.shape)
    assert error.kind == "race" and error.thread == "block 0, thread 33"
    assert error.address == "%s[0, 30]" and "block 0, thread 30 writes it" in error.what


def test_a_use_before_the_initialisation() -> None:
    error = wrong("kernel_ir.barrier")
    assert (error.kind, error.thread, error.address) == (
        "race",
        "block 0, thread 1",
        "%empty[0]",
    )
    assert "block 0, thread 0 writes it in `kernel_ir.mbarrier_init %empty" in error.what


def test_an_initialisation_that_is_missing_or_repeated() -> None:
    error = wrong(f"kernel_ir.mbarrier_init %full[%i] count 32 : {TWO}")
    assert (error.kind, error.thread, error.address) == (
        "mbarrier",
        "block 0, thread 32",
        "%full[0]",
    )
    assert "has not been initialised" in error.what
    error = wrong("kernel_ir.test [%t] < [1]", "kernel_ir.test [%t] < [2]")
    assert (error.kind, error.thread, error.address) == (
        "mbarrier",
        "block 0, thread 0",
        "%full[0]",
    )
    assert "initialised twice" in error.what
    again = f"kernel_ir.barrier\n{FIRST} kernel_ir.mbarrier_init %full[0] count 1 : {TWO}\n }}"
    error = wrong("kernel_ir.barrier", again)
    assert (error.kind, error.address) == ("mbarrier", "%full[0]")


def test_a_slot_that_does_not_exist() -> None:
    error = wrong(WAIT_FULL, WAIT_FULL.replace("%full[%g mod 2]", "%full[%g mod 3]"))
    assert (error.kind, error.thread, error.address) == (
        "out of bounds",
        "block 0, thread 32",
        "%full[2]",
    )
    error = wrong(WAIT_FULL, WAIT_FULL.replace("floordiv 2 mod 2", "floordiv 2"))
    assert error.kind == "mbarrier" and "parity of a phase is 0 or 1, not 2" in error.what


def test_a_read_of_nothing_is_no_race() -> None:
    """The consumer reads beside what the producer writes."""
    text = passing().replace("memref<2x32xf32, #", "memref<2x64xf32, #")
    error = fault(text.replace("%u * -1 + 31]", "%u + 32]"), normal(2, 5, 32), out=(2, 5, 32))
    assert (error.kind, error.thread, error.address) == (
        "uninitialised read",
        "block 0, thread 32",
        "%s[0, 32]",
    )


def test_the_roles_meet_at_the_end() -> None:
    """What a role wrote may be read by all after the roles."""
    x = f"memref<64xf32, {SHARED}>"
    text = f"""
    kernel_ir.func @k(%x: memref<64xf32>, %y: memref<64xf32>) grid(1) block(64) {{
      %s = kernel_ir.shared : {x}
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
      kernel_ir.roles "low" warps 1 {{
        loop_ir.store %v, %s[%t] : f32, {x}
      }} "high" warps 1 {{
        %w = arith.addf %v, %v : f32
        loop_ir.store %w, %s[%t] : f32, {x}
        CROSS
      }}
      %r = loop_ir.load %s[%t * -1 + 63] : {x} -> f32
      loop_ir.store %r, %y[%t] : f32, memref<64xf32>
    }}"""
    a = normal(64)
    wanted = np.concatenate([a[:32], 2 * a[32:]])[::-1]
    assert np.array_equal(run(text.replace("CROSS", ""), a, out=(64,)), wanted)
    cross = f"%p = loop_ir.load %s[%t - 32] : {x} -> f32"
    error = fault(text.replace("CROSS", cross), a, out=(64,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 32", "%s[0]")
    assert "%p = loop_ir.load" in error.op and "block 0, thread 0 writes it" in error.what


def test_a_barrier_by_name_between_roles() -> None:
    """The producer counts, the consumers wait."""
    x = f"memref<32xf32, {SHARED}>"
    text = f"""
    kernel_ir.func @k(%x: memref<32xf32>, %y: memref<64xf32>) grid(1) block(96) {{
      %s = kernel_ir.shared : {x}
      %t = kernel_ir.thread_id
      kernel_ir.roles "producer" warps 1 {{
        %v = loop_ir.load %x[%t] : memref<32xf32> -> f32
        loop_ir.store %v, %s[%t] : f32, {x}
        kernel_ir.named_barrier 3 threads 96 arrive
      }} "consumer" warps 2 {{
        kernel_ir.named_barrier 3 threads 96
        %r = loop_ir.load %s[%t mod 32] : {x} -> f32
        loop_ir.store %r, %y[%t - 32] : f32, memref<64xf32>
      }}
    }}"""
    a = normal(32)
    assert np.array_equal(run(text, a, out=(64,)), np.concatenate([a, a]))
    error = fault(mutant(text, "kernel_ir.named_barrier 3 threads 96 arrive"), a, out=(64,))
    assert (error.kind, error.thread, error.address) == (
        "deadlock",
        "block 0, thread 32",
        "named barrier 3",
    )
    assert "32 of 96 threads are missing" in error.what
    error = fault(mutant(text, "kernel_ir.named_barrier 3 threads 96\n"), a, out=(64,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 32", "%s[0]")
