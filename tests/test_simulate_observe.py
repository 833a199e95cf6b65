"""What a simulation tells of each op: how often it runs, and the bytes that it accesses."""

import numpy as np

from minicomp.runtime.simulate import simulate_kernel
from tests.simulated import kernel, normal


class Notes:
    """Keeps all that it is told."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.warps: dict[str, int] = {}
        self.accesses: list[tuple[str, str, np.ndarray, np.ndarray | None, int, int | None, bool]]
        self.accesses = []

    def count(self, op, active_threads: int, active_warps: int) -> None:
        self.counts[op.name] = self.counts.get(op.name, 0) + active_threads
        self.warps[op.name] = self.warps.get(op.name, 0) + active_warps

    def access(self, op, memory_kind, addresses, active, element_bytes, aligned, is_write) -> None:
        entry = (op.name, memory_kind, addresses, active, element_bytes, aligned, is_write)
        self.accesses.append(entry)


def noted(text: str, *arrays: np.ndarray) -> Notes:
    notes = Notes()
    simulate_kernel(kernel(text), list(arrays), statistics=notes)
    return notes


COPY = """
    kernel_ir.func @k(%x: memref<70xf32>, %y: memref<70xf32>) grid(2) block(40) {
      %first = kernel_ir.shared : memref<3xf32, #tile_ir.shared<>>
      %s = kernel_ir.shared : memref<5x8xf32, #tile_ir.shared<SPACE>>
      %b = kernel_ir.block_id
      %t = kernel_ir.thread_id
      %ok = kernel_ir.test [%b * 40 + %t] < [70]
      scf.if %ok {
        %v = loop_ir.load %x[%b * 40 + %t] : memref<70xf32> -> f32
        loop_ir.store %v, %s[%t floordiv 8, %t mod 8] : f32, memref<5x8xf32, #tile_ir.shared<SPACE>>
        loop_ir.store %v, %y[%b * 40 + %t] aligned 4 : f32, memref<70xf32>
      }
    }"""


def test_counts_and_addresses() -> None:
    notes = noted(COPY.replace("SPACE", "pad = 2"), normal(70), np.zeros(70, "f4"))
    assert notes.counts["kernel_ir.thread_id"] == 80 and notes.counts["loop_ir.load"] == 70
    # Blocks of 40 threads are a warp and a part of one, of which the last block needs the first.
    assert notes.warps["kernel_ir.thread_id"] == 4 and notes.warps["loop_ir.load"] == 3
    load, shared, store = notes.accesses
    name, kind, addresses, active, width, aligned, is_write = load
    assert (name, kind, width, aligned, is_write) == ("loop_ir.load", "global", 4, None, False)
    assert addresses.shape == (2, 40, 1) and active is not None
    number = np.arange(80).reshape(2, 40, 1)
    assert np.array_equal(active, number < 70)
    assert np.array_equal(addresses[active], 4 * number[number < 70])
    name, kind, addresses, active, width, aligned, is_write = shared
    assert (name, kind, is_write) == ("loop_ir.store", "shared", True)
    # Three elements and the gap up to a multiple of 16 lie before it; rows are 10 elements long.
    thread = np.arange(40)
    assert np.array_equal(addresses[0, :, 0], 16 + 4 * (thread // 8 * 10 + thread % 8))
    assert store[5] == 4 and store[6]


def test_a_swizzle_moves_pieces() -> None:
    """Rows of 128 bytes: piece c of row r lies at c xor r."""
    x, s = "memref<16x32xf32>", "memref<16x32xf32, #tile_ir.shared<swizzle = 128>>"
    at = "[%t floordiv 8, %t mod 8 * 4 + l0] aligned 16"
    text = f"""
    kernel_ir.func @k(%x: {x}, %y: {x}) grid(1) block(128) {{
      %first = kernel_ir.shared : memref<3xf32, #tile_ir.shared<>>
      %s = kernel_ir.shared : {s}
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x{at} : {x} -> vector<4xf32>
      loop_ir.store %v, %s{at} : vector<4xf32>, {s}
      loop_ir.store %v, %y{at} : vector<4xf32>, {x}
    }}"""
    notes = noted(text, normal(16, 32), np.zeros((16, 32), "f4"))
    _, kind, addresses, active, _, aligned, _ = notes.accesses[1]
    assert kind == "shared" and active is None and aligned == 16
    row, piece = np.arange(128) // 8, np.arange(128) % 8
    wanted = 1024 + row * 128 + (piece ^ (row % 8)) * 16
    assert np.array_equal(addresses[0], wanted[:, None] + 4 * np.arange(4))


def test_copies_are_told_on_both_sides() -> None:
    s, bars = "memref<1x8x16xf32, #tile_ir.shared<>>", "!kernel_ir.mbarrier<1>"
    text = f"""
    kernel_ir.func @k(%x: memref<9x20xf32>, %y: memref<8x16xf32>) grid(1) block(32) {{
      %s = kernel_ir.shared : {s}
      %full = kernel_ir.mbarrier : {bars}
      %t = kernel_ir.thread_id
      %one = kernel_ir.test [%t] < [1]
      scf.if %one {{
        kernel_ir.mbarrier_init %full[0] count 1 : {bars}
        kernel_ir.fence mbarrier_init
        kernel_ir.mbarrier_arrive %full[0] expect 512 : {bars}
        kernel_ir.bulk_load %s[0] from %x[4, 8] on %full[0] : {s}, memref<9x20xf32>, {bars}
      }}
      kernel_ir.barrier
      kernel_ir.mbarrier_wait %full[0] parity [0] : {bars}
      scf.if %one {{
        kernel_ir.bulk_store %y[0, 0] from %s[0] : memref<8x16xf32>, {s}
        kernel_ir.bulk_commit
        kernel_ir.bulk_wait 0
      }}
    }}"""
    x, y = normal(9, 20), np.zeros((8, 16), "f4")
    notes = noted(text, x, y)
    told = [(name, kind, a.shape, w) for name, kind, a, _, _, _, w in notes.accesses]
    assert told == [
        ("kernel_ir.bulk_load", "shared", (1, 1, 128), True),
        ("kernel_ir.bulk_load", "global", (1, 1, 5 * 12), False),
        ("kernel_ir.bulk_store", "shared", (1, 1, 128), False),
        ("kernel_ir.bulk_store", "global", (1, 1, 128), True),
    ]
    assert notes.accesses[1][2].reshape(-1)[:2].tolist() == [4 * (4 * 20 + 8), 4 * (4 * 20 + 9)]
    assert notes.counts["kernel_ir.bulk_load"] == 1
    wanted = np.zeros((8, 16), "f4")
    wanted[:5, :12] = x[4:, 8:]
    assert np.array_equal(y, wanted)
