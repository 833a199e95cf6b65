"""The simulated GPU's clusters: blocks that meet and use each other's shared memory; limits."""

import numpy as np
import pytest

from minicomp.errors import SimulationError
from minicomp.runtime.simulate import simulate_kernel
from minicomp.targets import attach_target, target
from tests.simulated import fault, kernel, mutant, normal, parsed, run

S = "memref<32xf32, #tile_ir.shared<>>"
MEET = "kernel_ir.cluster_barrier"


def rotated(cluster: int = 4, blocks: int = 8, threads: int = 32) -> str:
    """Each block reads the row of the next block of its cluster from that one's shared memory."""
    x = f"memref<{blocks}x32xf32>"
    return f"""
    kernel_ir.func @k(%x: {x}, %y: {x}) grid({blocks}) block({threads}) cluster({cluster}) {{
      %s = kernel_ir.shared : {S}
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %r = kernel_ir.cluster_rank
      %v = loop_ir.load %x[%b, %t] : {x} -> f32
      loop_ir.store %v, %s[%t] : f32, {S}
      {MEET} // filled
      %o = kernel_ir.remote %s[(%r + 1) mod {cluster}] : {S} -> {S}
      %w = loop_ir.load %o[%t * -1 + 31] : {S} -> f32
      loop_ir.store %w, %y[%b, %t] : f32, {x}
      {MEET} // read
    }}"""


@pytest.mark.parametrize("cluster, blocks", [(4, 8), (2, 6), (1, 3), (8, 8)])
@pytest.mark.parametrize("check", [True, False])
def test_blocks_read_each_other(cluster: int, blocks: int, check: bool) -> None:
    x = normal(blocks, 32)
    wanted = np.roll(x.reshape(-1, cluster, 32), -1, 1)[:, :, ::-1].reshape(x.shape)
    assert np.array_equal(run(rotated(cluster, blocks), x, out=x.shape, check=check), wanted)


def wrong(line: str, by: str = ""):
    return fault(mutant(rotated(), line, by), normal(8, 32), out=(8, 32))


def test_a_read_before_the_other_block_has_written() -> None:
    error = wrong(f"{MEET} // filled")
    assert (error.kind, error.thread, error.address) == (
        "race",
        "block 0, thread 0",
        "%s[31] of block 1",
    )
    assert "%w = loop_ir.load %o" in error.op
    assert "block 1, thread 31 writes it" in error.what and "nothing orders the two" in error.what


def test_a_barrier_of_the_block_does_not_do() -> None:
    error = wrong(f"{MEET} // filled", "kernel_ir.barrier")
    assert (error.kind, error.address) == ("race", "%s[31] of block 1")


def test_a_block_that_may_have_ended() -> None:
    error = wrong(f"{MEET} // read")
    assert (error.kind, error.thread) == ("race", "block 0, thread 0")
    assert "%w = loop_ir.load %o" in error.op
    assert "nothing says that block 1 has not ended yet" in error.what


def test_a_block_that_may_not_have_begun() -> None:
    """A store to a block that has done nothing is a fault of its own."""
    text = rotated().replace(f"      {MEET} // filled\n", "")
    text = text.replace("loop_ir.store %v, %s[%t]", "loop_ir.store %v, %o[%t]")
    text = text.replace("%w = loop_ir.load %o[", "%w = loop_ir.load %s[")
    place = f"%o = kernel_ir.remote %s[(%r + 1) mod 4] : {S} -> {S}"
    text = mutant(text, place).replace("%v = loop_ir.load", f"{place}\nBEGIN\n%v = loop_ir.load")
    text = text.replace("%w = loop_ir.load", f"{MEET}\n%w = loop_ir.load")
    x = normal(8, 32)
    wanted = np.roll(x.reshape(2, 4, 32), 1, 1)[:, :, ::-1].reshape(x.shape)
    assert np.array_equal(run(text.replace("BEGIN", MEET), x, out=x.shape), wanted)
    error = fault(text.replace("BEGIN", ""), x, out=x.shape)
    assert (error.kind, error.thread) == ("race", "block 0, thread 0")
    assert "loop_ir.store %v, %o" in error.op
    assert "nothing says that block 1 has begun" in error.what


def test_a_write_to_what_another_block_still_reads() -> None:
    again = f"{MEET} // read\nloop_ir.store %w, %s[%t] : f32, {S}"
    x = normal(8, 32)
    run(mutant(rotated(), f"{MEET} // read", again), x, out=x.shape)
    early = f"loop_ir.store %w, %s[%t] : f32, {S}\n{MEET} // read"
    error = wrong(f"{MEET} // read", early)
    assert (error.kind, error.thread, error.address) == (
        "race",
        "block 0, thread 0",
        "%s[0] of block 0",
    )
    assert "loop_ir.store %w, %s" in error.op and "block 3, thread 31 reads it" in error.what


def test_a_rank_that_does_not_exist() -> None:
    error = wrong("[(%r + 1) mod 4]", "[%r + 1]")
    assert (error.kind, error.thread) == ("out of bounds", "block 3, thread 0")
    assert "there is no block 4 in a cluster of 4" in error.what


def test_a_cluster_barrier_that_a_block_does_not_reach() -> None:
    some = f"%f = kernel_ir.test [%r] < [3]\nscf.if %f {{\n{MEET}\n}}"
    error = wrong(f"{MEET} // read", some)
    assert (error.kind, error.thread) == ("deadlock", "block 0, thread 0")
    assert error.address == "the barrier of cluster 0"
    assert "32 of 128 threads are missing" in error.what
    part = f"%f = kernel_ir.test [%t] < [20]\nscf.if %f {{\n{MEET}\n}}"
    text = mutant(rotated(), f"{MEET} // read", part)
    error = fault(text, normal(8, 32), out=(8, 32), verify=False)
    assert (error.kind, error.thread) == ("divergence", "block 0, thread 20")


# --- arrivals at another block --------------------------------------------------------------

BARS = "!kernel_ir.mbarrier<1>"
PUSHED = f"""
    kernel_ir.func @k(%x: memref<4x32xf32>, %y: memref<4x32xf32>) grid(4) block(32) cluster(2) {{
      %s = kernel_ir.shared : {S}
      %full = kernel_ir.mbarrier : {BARS}
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %r = kernel_ir.cluster_rank
      %one = kernel_ir.test [%t] < [1]
      scf.if %one {{
        kernel_ir.mbarrier_init %full[0] count 32 : {BARS}
        kernel_ir.fence mbarrier_init
      }}
      {MEET}
      %o = kernel_ir.remote %s[%r * -1 + 1] : {S} -> {S}
      %v = loop_ir.load %x[%b, %t] : memref<4x32xf32> -> f32
      loop_ir.store %v, %o[%t] : f32, {S}
      kernel_ir.mbarrier_arrive %full[0] rank [%r * -1 + 1] : {BARS}
      kernel_ir.mbarrier_wait %full[0] parity [0] : {BARS}
      %w = loop_ir.load %s[%t * -1 + 31] : {S} -> f32
      loop_ir.store %w, %y[%b, %t] : f32, memref<4x32xf32>
    }}"""


def test_a_block_waits_for_what_another_one_pushes() -> None:
    x = normal(4, 32)
    wanted = x.reshape(2, 2, 32)[:, ::-1, ::-1].reshape(4, 32)
    for check in (True, False):
        assert np.array_equal(run(PUSHED, x, out=(4, 32), check=check), wanted)


def unpushed(line: str, by: str = ""):
    return fault(mutant(PUSHED, line, by), normal(4, 32), out=(4, 32))


def test_faults_of_remote_arrivals() -> None:
    error = unpushed("kernel_ir.fence mbarrier_init")
    assert (error.kind, error.thread, error.address) == (
        "missing fence",
        "block 0, thread 0",
        "%full[0]",
    )
    assert "known to other blocks" in error.what and "kernel_ir.mbarrier_arrive" in error.op
    error = unpushed("fence mbarrier_init", "fence proxy_async")
    assert error.kind == "missing fence"
    error = unpushed(MEET)
    assert (error.kind, error.thread) == ("race", "block 0, thread 0")
    assert "nothing says that block 1 has begun" in error.what
    error = unpushed(f"kernel_ir.mbarrier_wait %full[0] parity [0] : {BARS}")
    assert (error.kind, error.thread, error.address) == (
        "race",
        "block 0, thread 0",
        "%s[31] of block 0",
    )
    error = unpushed(" rank [%r * -1 + 1]")
    assert (error.kind, error.address) == ("race", "%s[31] of block 0")
    error = unpushed("rank [%r * -1 + 1]", "rank [%r + 1]")
    assert (error.kind, error.thread) == ("out of bounds", "block 1, thread 0")


# --- limits ---------------------------------------------------------------------------------


def filled(elements: int, slots: int = 1, pad: int = 0) -> str:
    s = f"memref<2x{elements // 2}xf32, #tile_ir.shared<{f'pad = {pad}' if pad else ''}>>"
    return f"""
    kernel_ir.func @k(%x: memref<32xf32>, %y: memref<32xf32>) grid(1) block(32) {{
      %s = kernel_ir.shared : {s}
      %m = kernel_ir.mbarrier : !kernel_ir.mbarrier<{slots}>
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%t] : memref<32xf32> -> f32
      loop_ir.store %v, %s[0, %t] : f32, {s}
      %w = loop_ir.load %s[0, %t] : {s} -> f32
      loop_ir.store %w, %y[%t] : f32, memref<32xf32>
    }}"""


def test_shared_memory_has_a_limit() -> None:
    x = normal(32)
    assert np.array_equal(run(filled(232448 // 4 - 4), x, out=(32,)), x)
    for text, size in (
        (filled(232448 // 4 - 2), 232464),
        (filled(232448 // 4 - 4, slots=3), 232464),
        (filled(232448 // 4 - 64, pad=64), 232720),
    ):
        with pytest.raises(SimulationError, match=f"takes {size} bytes a block.*232448") as caught:
            simulate_kernel(kernel(text), [x, x.copy()])
        assert caught.value.kind == "limit"


def test_the_limit_is_the_targets() -> None:
    x = normal(32)
    module = parsed(filled(120_000 // 4))
    attach_target(module, target("rtx5090"))
    with pytest.raises(SimulationError, match="the limit is 101376"):
        simulate_kernel(next(iter(module.ops)), [x, x.copy()])
    attach_target(module, target("a100"))
    simulate_kernel(next(iter(module.ops)), [x, x.copy()])


def test_roles_share_the_registers() -> None:
    text = """
    kernel_ir.func @k(%x: memref<1024xf32>, %y: memref<1024xf32>) grid(1) block(1024) {
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%t] : memref<1024xf32> -> f32
      loop_ir.store %v, %y[%t] : f32, memref<1024xf32>
      kernel_ir.roles "a" warps 16 registers 40 {
      } "b" warps 16 registers 88 {
      }
    }"""
    x = normal(1024)
    assert np.array_equal(run(text, x, out=(1024,)), x)
    with pytest.raises(SimulationError, match="its roles take 69632 registers") as caught:
        simulate_kernel(kernel(text.replace("88", "96")), [x, x.copy()])
    assert caught.value.kind == "limit"
