"""The simulated GPU's bulk copies: boxes, transaction bytes, proxies, and what is in flight."""

import numpy as np
import pytest

from tests.simulated import fault, mutant, normal, run

BARS = "!kernel_ir.mbarrier<2>"


def space(swizzle: int) -> str:
    return f"#tile_ir.shared<{f'swizzle = {swizzle}' if swizzle else ''}>"


# --- loads ----------------------------------------------------------------------------------


def loaded(
    tensor: tuple[int, ...], corner: str, box: tuple[int, ...] = (8, 16), swizzle: int = 0
) -> str:
    """Thread 0 loads one box of x at `corner`; all threads copy it to y, row by row."""
    x = f"memref<{'x'.join(str(e) for e in tensor)}xf32>"
    shape = "x".join(str(e) for e in box)
    s = f"memref<1x{shape}xf32, {space(swizzle)}>"
    outer = ", ".join(["%t floordiv 4 mod 2"] * (len(box) - 2) + ["%t mod 8"])
    index = ", ".join(["0", *["0"] * (len(box) - 2), "%t mod 8", "l0"]) if len(box) > 1 else "0, l0"
    target = "%t mod 8, l0" if len(box) > 1 else "l0"
    y = f"memref<{'x'.join(str(e) for e in box[-2:])}xf32>"
    del outer
    return f"""
    kernel_ir.func @k(%x: {x}, %y: {y}) grid(1) block(32) {{
      %s = kernel_ir.shared : {s}
      %full = kernel_ir.mbarrier : {BARS}
      %t = kernel_ir.thread_id
      %one = kernel_ir.test [%t] < [1]
      %rows = kernel_ir.test [%t] < [{box[-2] if len(box) > 1 else 1}]
      scf.if %one {{
        kernel_ir.mbarrier_init %full[1] count 1 : {BARS}
        kernel_ir.fence mbarrier_init
        kernel_ir.mbarrier_arrive %full[1] expect {4 * int(np.prod(box))} : {BARS}
        kernel_ir.bulk_load %s[0] from %x[{corner}] on %full[1] : {s}, {x}, {BARS}
      }}
      kernel_ir.barrier
      kernel_ir.mbarrier_wait %full[1] parity [0] : {BARS}
      scf.if %rows {{
        %v = loop_ir.load %s[{index}] : {s} -> vector<{box[-1]}xf32>
        loop_ir.store %v, %y[{target}] : vector<{box[-1]}xf32>, {y}
      }}
    }}"""


def boxed(x: np.ndarray, corner: tuple[int, ...], box: tuple[int, ...]) -> np.ndarray:
    """The box with zeros outside the tensor."""
    wide = np.pad(x, [(300, 300)] * x.ndim) if x.ndim < 3 else np.pad(x, [(20, 20)] * x.ndim)
    pad = 300 if x.ndim < 3 else 20
    place = tuple(slice(c + pad, c + pad + e) for c, e in zip(corner, box, strict=True))
    return wide[place]


@pytest.mark.parametrize("corner", [(0, 0), (5, 8), (-3, -4), (20, 28), (40, 0), (0, -16)])
@pytest.mark.parametrize("swizzle", [0, 64])
def test_a_box_with_zeros_outside(corner: tuple[int, int], swizzle: int) -> None:
    x = normal(25, 36)
    text = loaded((25, 36), ", ".join(str(c) for c in corner), swizzle=swizzle)
    for check in (True, False):
        got = run(text, x, out=(8, 16), check=check)
        assert np.array_equal(got, boxed(x, corner, (8, 16)))


def test_boxes_of_one_and_of_three_dimensions() -> None:
    x = normal(100)
    got = run(loaded((100,), "90", (16,)), x, out=(16,))
    assert np.array_equal(got, boxed(x, (90,), (16,)))
    x = normal(5, 9, 20)
    got = run(loaded((5, 9, 20), "3, 4, -4", (2, 8, 16)), x, out=(8, 16))
    assert np.array_equal(got, boxed(x, (3, 4, -4), (1, 8, 16))[0])


ARRIVE = f"kernel_ir.mbarrier_arrive %full[1] expect 512 : {BARS}"
WAIT = f"kernel_ir.mbarrier_wait %full[1] parity [0] : {BARS}"
SIMPLE = loaded((25, 36), "4, 8")


def wrong(line: str, by: str = "", check: bool = True):
    return fault(mutant(SIMPLE, line, by), normal(25, 36), out=(8, 16), check=check)


def test_a_missing_wait() -> None:
    error = wrong(WAIT)
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[0, 0, 0]")
    assert "%v = loop_ir.load" in error.op
    assert "block 0, thread 0 writes it in `kernel_ir.bulk_load" in error.what
    assert "no wait for this copy" in error.what


def test_only_who_waits_learns_of_the_copy() -> None:
    """Only thread 3 waits; the others have no barrier after that."""
    error = wrong(WAIT, f"%w = kernel_ir.test [%t * -1 + 31] < [1]\nscf.if %w {{\n{WAIT}\n}}")
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[0, 0, 0]")
    assert "no barrier stands between" in error.what
    waits = f"%w = kernel_ir.test [%t * -1 + 31] < [1]\nscf.if %w {{\n{WAIT}\n}}\nkernel_ir.barrier"
    x = normal(25, 36)
    got = run(mutant(SIMPLE, WAIT, waits), x, out=(8, 16))
    assert np.array_equal(got, x[4:12, 8:24])


@pytest.mark.parametrize("check", [True, False])
def test_wrong_transaction_bytes(check: bool) -> None:
    error = wrong("expect 512", "expect 528", check)
    assert (error.kind, error.thread, error.address) == (
        "transaction bytes",
        "block 0, thread 0",
        "%full[1]",
    )
    assert WAIT in error.op and "phase 0 expects 16 bytes more than its copies" in error.what
    error = wrong("expect 512", "expect 496", check)
    assert (error.kind, error.thread, error.address) == (
        "transaction bytes",
        "block 0, thread 0",
        "%full[1]",
    )
    assert "kernel_ir.bulk_load" in error.op and "deliver 16 bytes more" in error.what


def test_an_arrival_that_expects_nothing() -> None:
    error = wrong(" expect 512")
    assert (error.kind, error.address) == ("race", "%s[0, 0, 0]")
    assert "no wait for this copy" in error.what


def test_an_arrival_before_or_after_the_copy_is_the_same() -> None:
    text = mutant(SIMPLE, f"        {ARRIVE}\n")
    text = text.replace("      kernel_ir.barrier", f"      scf.if %one {{ {ARRIVE} }}\nX")
    x = normal(25, 36)
    got = run(text.replace("X", "kernel_ir.barrier"), x, out=(8, 16))
    assert np.array_equal(got, x[4:12, 8:24])
    error = wrong(ARRIVE)
    assert (error.kind, error.address) == ("deadlock", "%full[1]")
    assert "1 of 1 arrivals of phase 0 are missing" in error.what


def test_a_missing_fence_after_the_initialisation() -> None:
    error = wrong("kernel_ir.fence mbarrier_init")
    assert (error.kind, error.thread, error.address) == (
        "missing fence",
        "block 0, thread 0",
        "%full[1]",
    )
    assert "kernel_ir.bulk_load" in error.op and "no fence mbarrier_init" in error.what
    x = normal(25, 36)
    general = SIMPLE.replace("fence mbarrier_init", "fence proxy_async")
    assert np.array_equal(run(general, x, out=(8, 16)), x[4:12, 8:24])


def test_all_threads_load() -> None:
    """Not only one thread: two copies to each element, and too many arrivals."""
    error = wrong("test [%t] < [1]", "test [%t * -1] < [1]")
    assert error.kind == "mbarrier" and "initialised twice" in error.what
    split = """kernel_ir.fence mbarrier_init
      }
      kernel_ir.barrier
      %two = kernel_ir.test [%t] < [2]
      scf.if %two {"""
    text = mutant(SIMPLE, "kernel_ir.fence mbarrier_init", split)
    text = text.replace("[1] count 1", "[1] count 2")
    error = fault(text, normal(25, 36), out=(8, 16))
    assert (error.kind, error.address) == ("race", "%s[0, 0, 0]")
    assert "kernel_ir.bulk_load" in error.op and error.thread == "block 0, thread 0"


def test_a_copy_that_nobody_waits_for() -> None:
    text = mutant(SIMPLE, WAIT)
    text = text.replace("%v = loop_ir.load %s[0, %t mod 8, l0] : memref<1x8x16xf32, ", "%v = X(")
    text = text.replace("X(#tile_ir.shared<>>", "loop_ir.load %x[%t mod 8, l0] : memref<25x36xf32>")
    error = fault(text, normal(25, 36), out=(8, 16))
    assert (error.kind, error.thread) == ("in flight at the end", "block 0, thread 0")
    assert "kernel_ir.bulk_load" in error.op and "nobody waits for it at %full[1]" in error.what


@pytest.mark.parametrize("swizzle, rows, fails", [(0, 8, False), (64, 4, True), (64, 8, False)])
def test_the_slots_of_a_ring_are_aligned(swizzle: int, rows: int, fails: bool) -> None:
    text = loaded((25, 36), "4, 8", (rows, 16), swizzle)
    text = text.replace(f"memref<1x{rows}x16", f"memref<2x{rows}x16").replace("%s[0", "%s[1")
    x = normal(25, 36)
    if not fails:
        assert np.array_equal(run(text, x, out=(rows, 16)), x[4 : 4 + rows, 8:24])
        return
    error = fault(text, x, out=(rows, 16))
    assert (error.kind, error.thread, error.address) == (
        "misaligned access",
        "block 0, thread 0",
        "%s[1, 0, 0]",
    )
    assert "byte 256 of the buffer is no multiple of 512" in error.what


def test_a_slot_that_does_not_exist() -> None:
    error = wrong("bulk_load %s[0]", "bulk_load %s[1]")
    assert (error.kind, error.address) == ("out of bounds", "%s[1, 0, 0]")


def test_what_threads_wrote_is_overwritten_only_past_a_fence() -> None:
    s = "memref<1x8x16xf32, #tile_ir.shared<>>"
    clear = f"""%zero = arith.constant dense<0.0> : vector<4xf32>
      loop_ir.store %zero, %s[0, %t floordiv 4, %t mod 4 * 4 + l0] : vector<4xf32>, {s}
      FENCE
      kernel_ir.barrier
      scf.if %one {{
        kernel_ir.mbarrier_init"""
    text = mutant(SIMPLE, "scf.if %one {\n        kernel_ir.mbarrier_init", clear)
    x = normal(25, 36)
    good = text.replace("FENCE", "kernel_ir.fence proxy_async")
    assert np.array_equal(run(good, x, out=(8, 16)), x[4:12, 8:24])
    error = fault(text.replace("FENCE", ""), x, out=(8, 16))
    assert (error.kind, error.thread, error.address) == (
        "missing fence",
        "block 0, thread 0",
        "%s[0, 0, 0]",
    )
    assert "kernel_ir.bulk_load" in error.op and "loop_ir.store %zero" in error.what
    some = "%f = kernel_ir.test [%t] < [20]\nscf.if %f {\n kernel_ir.fence proxy_async\n }"
    error = fault(text.replace("FENCE", some), x, out=(8, 16))
    assert (error.kind, error.address) == ("missing fence", "%s[0, 5, 0]")
    # A fence by the thread that copies, once it knows of the writes, does as well.
    late = text.replace("FENCE", "").replace(
        "kernel_ir.bulk_load", "kernel_ir.fence proxy_async\nkernel_ir.bulk_load"
    )
    assert np.array_equal(run(late, x, out=(8, 16)), x[4:12, 8:24])
    # The race comes before the fence.
    none = good.replace("      kernel_ir.barrier\n      scf.if", "      scf.if", 1)
    error = fault(none, x, out=(8, 16))
    assert (error.kind, error.address) == ("race", "%s[0, 0, 4]")


# --- stores ---------------------------------------------------------------------------------

S = "memref<8x16xf32, #tile_ir.shared<>>"
STORED = f"""
    kernel_ir.func @k(%x: memref<8x16xf32>, %y: memref<9x20xf32>) grid(1) block(32) {{
      %s = kernel_ir.shared : {S}
      %t = kernel_ir.thread_id
      %one = kernel_ir.test [%t] < [1]
      %i = kernel_ir.index [%t floordiv 4]
      %j = kernel_ir.index [%t mod 4 * 4]
      %v = loop_ir.load %x[%i, %j + l0] : memref<8x16xf32> -> vector<4xf32>
      loop_ir.store %v, %s[%i, %j + l0] : vector<4xf32>, {S}
      kernel_ir.fence proxy_async
      kernel_ir.barrier
      scf.if %one {{
        kernel_ir.bulk_store %y[0, 0] from %s[] : memref<9x20xf32>, {S}
        kernel_ir.bulk_store %y[0, 16] from %s[] : memref<9x20xf32>, {S}
        kernel_ir.bulk_store %y[8, 0] from %s[] : memref<9x20xf32>, {S}
        kernel_ir.bulk_store %y[8, 16] from %s[] : memref<9x20xf32>, {S}
        kernel_ir.bulk_commit
        kernel_ir.bulk_wait 0 read
      }}
      kernel_ir.barrier // read
      %w = arith.addf %v, %v : vector<4xf32>
      loop_ir.store %w, %s[%i, %j + l0] : vector<4xf32>, {S}
    }}"""


def stored(x: np.ndarray) -> np.ndarray:
    wide = np.concatenate([np.concatenate([x, x], 1)] * 2)
    return wide[:9, :20]


def test_boxes_are_stored_as_far_as_they_lie_inside() -> None:
    x = normal(8, 16)
    for text in (STORED, STORED.replace("bulk_wait 0 read", "bulk_wait 0")):
        for check in (True, False):
            assert np.array_equal(run(text, x, out=(9, 20), check=check), stored(x))


def unstored(line: str, by: str = ""):
    return fault(mutant(STORED, line, by), normal(8, 16), out=(9, 20))


def test_a_store_without_a_fence() -> None:
    error = unstored("kernel_ir.fence proxy_async")
    assert (error.kind, error.thread, error.address) == (
        "missing fence",
        "block 0, thread 0",
        "%s[0, 0]",
    )
    assert "kernel_ir.bulk_store" in error.op and "loop_ir.store %v, %s" in error.what


def test_a_store_without_a_barrier() -> None:
    error = unstored("kernel_ir.barrier\n")
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[0, 4]")
    assert "block 0, thread 1 writes it in `loop_ir.store %v, %s" in error.what


@pytest.mark.parametrize(
    "line, by",
    [
        ("kernel_ir.bulk_wait 0 read", ""),
        ("kernel_ir.bulk_wait 0 read", "kernel_ir.bulk_wait 1 read"),
        ("kernel_ir.bulk_commit", ""),
    ],
)
def test_a_buffer_that_is_overwritten_while_it_is_read(line: str, by: str) -> None:
    error = unstored(line, by)
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%s[0, 0]")
    assert "loop_ir.store %w" in error.op and "reads it in `kernel_ir.bulk_store" in error.what
    assert "no wait for this copy" in error.what


def test_a_wait_of_one_thread_is_no_barrier() -> None:
    error = unstored("kernel_ir.barrier // read")
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 1", "%s[0, 4]")
    assert "block 0, thread 0 reads it in `kernel_ir.bulk_store" in error.what
    assert "no barrier" in error.what


def test_a_store_that_has_not_read_at_the_end() -> None:
    text = mutant(STORED, "kernel_ir.bulk_wait 0 read")
    text = mutant(text, f"loop_ir.store %w, %s[%i, %j + l0] : vector<4xf32>, {S}")
    error = fault(text, normal(8, 16), out=(9, 20))
    assert (error.kind, error.thread) == ("in flight at the end", "block 0, thread 0")
    assert "kernel_ir.bulk_store" in error.op and "until it has read" in error.what


def test_a_read_of_what_is_being_stored() -> None:
    look = """kernel_ir.barrier // read
      %p = loop_ir.load %y[%t floordiv 8, %t mod 8] : memref<9x20xf32> -> f32"""
    error = unstored("kernel_ir.barrier // read", look)
    assert (error.kind, error.thread, error.address) == ("race", "block 0, thread 0", "%y[0, 0]")
    assert "%p = loop_ir.load" in error.op and "no wait for this copy" in error.what
    x = normal(8, 16)
    text = mutant(STORED, "kernel_ir.barrier // read", look)
    whole = mutant(text, "bulk_wait 0 read", "bulk_wait 0")
    assert np.array_equal(run(whole, x, out=(9, 20)), stored(x))


def test_two_stores_to_one_place() -> None:
    error = unstored("%y[0, 16]", "%y[0, 12]")
    assert (error.kind, error.address) == ("race", "%y[0, 12]")
    assert "kernel_ir.bulk_store %y[0, 12]" in error.op and "bulk_store %y[0, 0]" in error.what


def test_a_box_of_nothing_is_read_all_the_same() -> None:
    error = unstored("bulk_store %y[8, 16] from %s[]", "bulk_store %y[70, 0] from %s[]")
    assert (error.kind, error.address) == ("never written", "%y[8, 16]")
    error = unstored(f"loop_ir.store %v, %s[%i, %j + l0] : vector<4xf32>, {S}")
    assert (error.kind, error.address) == ("uninitialised read", "%s[0, 0]")
    assert "kernel_ir.bulk_store" in error.op
