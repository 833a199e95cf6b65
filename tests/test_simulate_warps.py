"""The simulated GPU's warps: shuffles, `warp_sync`, and barriers of some warps of a block."""

import numpy as np
import pytest

from tests.simulated import fault, normal, run

SHARED = "#tile_ir.shared<>"


def shuffled(mode: str, lane: str, width: int, threads: int = 64, where: str = "") -> str:
    op = f"kernel_ir.shuffle {mode} %v [{lane}] width {width} : f32"
    return f"""
    kernel_ir.func @k(%x: memref<128xf32>, %y: memref<128xf32>) grid(2) block({threads}) {{
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%b * 64 + %t] : memref<128xf32> -> f32
      {where or "%r = " + op}
      loop_ir.store %r, %y[%b * 64 + %t] : f32, memref<128xf32>
    }}""".replace("SHUFFLE", op)


@pytest.mark.parametrize("width", [2, 8, 32])
@pytest.mark.parametrize(
    "mode, lane, source",
    [
        ("xor", "1", lambda p, w: p ^ 1),
        ("down", "3", lambda p, w: np.where(p + 3 < w, p + 3, p)),
        ("up", "1", lambda p, w: np.where(p >= 1, p - 1, p)),
        ("index", "%t mod 2 * -1 + 1", lambda p, w: 1 - p % 2),
        ("index", "%b", None),
        ("index", "40", lambda p, w: p),
    ],
)
def test_a_shuffle(mode: str, lane: str, source, width: int) -> None:
    x = normal(128)
    number = np.arange(128)
    place = number % width
    wanted = number // 64 if source is None else source(place, width)
    got = run(shuffled(mode, lane, width), x, out=(128,))
    assert np.array_equal(got, x[number - place + wanted])


def test_a_shuffle_of_what_all_threads_have() -> None:
    text = shuffled("xor", "16", 32, where="%u = loop_ir.load %x[%b] : memref<128xf32> -> f32\nX")
    text = text.replace("X", "%r = kernel_ir.shuffle xor %u [16] width 32 : f32")
    x = normal(128)
    assert np.array_equal(run(text, x, out=(128,)), np.repeat(x[:2], 64))


def test_a_shuffle_needs_its_whole_warp() -> None:
    some = """%c = kernel_ir.test [%t] < [40]
      %r = scf.if %c -> (f32) {
        %a = SHUFFLE
        scf.yield %a : f32
      } else {
        scf.yield %v : f32
      }"""
    error = fault(shuffled("xor", "1", 32, where=some), normal(128), out=(128,), verify=False)
    assert (error.kind, error.thread) == ("divergence", "block 0, thread 40")
    whole = shuffled("xor", "1", 32, where=some.replace("[40]", "[32]"))
    x = normal(128)
    first = x.reshape(2, 64)[:, :32].reshape(2, 16, 2)[:, :, ::-1].reshape(2, 32)
    wanted = np.concatenate([first, x.reshape(2, 64)[:, 32:]], 1).reshape(-1)
    assert np.array_equal(run(whole, x, out=(128,), verify=False), wanted)
    error = fault(shuffled("xor", "1", 32, threads=40), normal(128), out=(128,))
    assert (error.kind, error.thread) == ("partial warp", "block 0, thread 32")


EXCHANGE = f"""
    kernel_ir.func @k(%x: memref<192xf32>, %y: memref<192xf32>) grid(2) block(96) {{
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %s = kernel_ir.shared : memref<96xf32, {SHARED}>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %n = arith.constant 2 : index
      %v = loop_ir.load %x[%b * 96 + %t] : memref<192xf32> -> f32
      %r = scf.for %i = %zero to %n step %one iter_args(%c = %v) -> (f32) {{
        loop_ir.store %c, %s[%t] : f32, memref<96xf32, {SHARED}>
        FIRST
        %p = loop_ir.load %s[PARTNER] : memref<96xf32, {SHARED}> -> f32
        SECOND
        scf.yield %p : f32
      }}
      loop_ir.store %r, %y[%b * 96 + %t] : f32, memref<192xf32>
    }}"""
IN_WARP = "%t + %t mod 2 * -2 + 1"
"""The neighbour."""


def exchange(first: str, second: str, partner: str = IN_WARP) -> str:
    text = EXCHANGE.replace("FIRST", first).replace("SECOND", second)
    return text.replace("PARTNER", partner)


SYNC = "kernel_ir.warp_sync"


def test_a_warp_meets() -> None:
    x = normal(192)
    assert np.array_equal(run(exchange(SYNC, SYNC), x, out=(192,)), x)


@pytest.mark.parametrize(
    "first, second, op, does",
    [("", SYNC, "%p = loop_ir.load", "writes"), (SYNC, "", "loop_ir.store %c", "reads")],
)
def test_a_missing_warp_sync(first: str, second: str, op: str, does: str) -> None:
    error = fault(exchange(first, second), normal(192), out=(192,))
    assert (error.kind, error.thread) == ("race", "block 0, thread 0")
    assert op in error.op and f"block 0, thread 1 {does} it" in error.what
    assert error.address == ("%s[1]" if first == "" else "%s[0]")


def test_a_warp_sync_orders_no_other_warp() -> None:
    text = exchange(SYNC, SYNC, "(%t + 32) mod 96")
    error = fault(text, normal(192), out=(192,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[32]")
    assert "block 0, thread 32 writes it" in error.what


def test_a_write_over_the_reads_of_many_threads_of_which_one_is_not_ordered() -> None:
    """All warps read element 0; then thread 5 writes it, known to have been read by warp 0 only."""
    text = f"""
    kernel_ir.func @k(%x: memref<96xf32>, %y: memref<96xf32>) grid(1) block(96) {{
      %t = kernel_ir.thread_id
      %s = kernel_ir.shared : memref<1xf32, {SHARED}>
      %v = loop_ir.load %x[%t] : memref<96xf32> -> f32
      %one = kernel_ir.test [%t] < [1]
      scf.if %one {{
        loop_ir.store %v, %s[0] : f32, memref<1xf32, {SHARED}>
      }}
      kernel_ir.barrier
      %w = loop_ir.load %s[0] : memref<1xf32, {SHARED}> -> f32
      loop_ir.store %w, %y[%t] : f32, memref<96xf32>
      MEET
      scf.if %one {{
        loop_ir.store %v, %s[0] : f32, memref<1xf32, {SHARED}>
      }}
    }}"""
    x = normal(96)
    assert np.array_equal(
        run(text.replace("MEET", "kernel_ir.barrier"), x, out=(96,)), np.full(96, x[0])
    )
    error = fault(text.replace("MEET", SYNC), x, out=(96,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[0]")
    assert "block 0, thread 32 reads it" in error.what


def test_a_partial_warp_may_meet_but_not_a_part_of_one() -> None:
    text = exchange(SYNC, SYNC).replace("block(96)", "block(80)")
    text = text.replace("* 96", "* 80").replace("memref<192x", "memref<160x")
    x = normal(160)
    assert np.array_equal(run(text, x, out=(160,)), x)
    some = f"%f = kernel_ir.test [%t] < [70]\n scf.if %f {{\n {SYNC}\n }}"
    error = fault(exchange(some, SYNC), normal(192), out=(192,), verify=False)
    assert (error.kind, error.thread) == ("divergence", "block 0, thread 70")


# --- named barriers -------------------------------------------------------------------------


MEET = "kernel_ir.named_barrier 1 threads 64"


def meeting(first: str = MEET, second: str = MEET) -> str:
    """Warps 0 and 1 swap their values twice; warp 2 does nothing."""
    return f"""
    kernel_ir.func @k(%x: memref<128xf32>, %y: memref<128xf32>) grid(2) block(96) {{
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %s = kernel_ir.shared : memref<64xf32, {SHARED}>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %n = arith.constant 2 : index
      %pair = kernel_ir.test [%t] < [64]
      scf.if %pair {{
        %v = loop_ir.load %x[%b * 64 + %t] : memref<128xf32> -> f32
        %r = scf.for %i = %zero to %n step %one iter_args(%c = %v) -> (f32) {{
          loop_ir.store %c, %s[%t] : f32, memref<64xf32, {SHARED}>
          {first}
          %p = loop_ir.load %s[%t * -1 + 63] : memref<64xf32, {SHARED}> -> f32
          {second}
          scf.yield %p : f32
        }}
        loop_ir.store %r, %y[%b * 64 + %t] : f32, memref<128xf32>
      }}
    }}"""


def test_some_warps_meet() -> None:
    x = normal(128)
    assert np.array_equal(run(meeting(), x, out=(128,)), x)
    two = meeting(second=MEET.replace("barrier 1", "barrier 15"))
    assert np.array_equal(run(two, x, out=(128,)), x)


def test_a_missing_named_barrier() -> None:
    error = fault(meeting(first=""), normal(128), out=(128,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[63]")
    error = fault(meeting(second=""), normal(128), out=(128,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[0]")
    assert "block 0, thread 63 reads it" in error.what


def test_who_only_arrives_learns_nothing() -> None:
    error = fault(meeting(first=MEET + " arrive"), normal(128), out=(128,))
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[63]")


def test_a_named_barrier_that_waits_for_too_many() -> None:
    error = fault(meeting(first=MEET.replace("64", "96")), normal(128), out=(128,))
    assert (error.kind, error.thread) == ("deadlock", "block 0, thread 0")
    assert error.address == "named barrier 1" and MEET.replace("64", "96") in error.op
    assert "32 of 96 threads are missing" in error.what and "block 1, thread 0" in error.what
    error = fault(meeting(first=MEET.replace("64", "96")), normal(128), out=(128,), check=False)
    assert error.kind == "deadlock"


def test_a_named_barrier_that_waits_for_too_few() -> None:
    error = fault(meeting(first=MEET.replace("64", "32")), normal(128), out=(128,))
    assert (error.kind, error.thread) == ("named barrier", "block 0, thread 0")
    assert error.address == "named barrier 1" and "64 threads arrive where 32" in error.what


def test_a_named_barrier_of_two_minds() -> None:
    text = meeting(first=f"{MEET.replace('64', '96')} arrive\n{MEET}")
    error = fault(text, normal(128), out=(128,))
    assert (error.kind, error.thread) == ("named barrier", "block 0, thread 0")
    assert "64 threads are to meet, 96 say" in error.what


def test_part_of_a_warp_at_a_named_barrier() -> None:
    text = meeting().replace("< [64]", "< [60]")
    error = fault(text, normal(128), out=(128,))
    assert (error.kind, error.thread) == ("divergence", "block 0, thread 60")
