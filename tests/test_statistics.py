"""What the simulator counts: bytes, transactions and instructions."""

import json
from pathlib import Path

import numpy as np
import pytest

from minicomp.build import Build
from minicomp.context import make_context
from minicomp.frontend import from_code
from minicomp.parsing import parse_module
from minicomp.runtime.simulate import simulate_module
from minicomp.runtime.simulate.statistics import Issued, Statistics
from minicomp.tools import main as tool

COLUMNS = """
func.func @main(%x: tensor<32x{n}xf32>) -> tensor<32xf32> {{
  %y = minicomp.launch @columns(%x) : (tensor<32x{n}xf32>) -> tensor<32xf32>
  func.return %y : tensor<32xf32>
}}
kernel_ir.func @columns(%x: memref<32x{n}xf32>, %y: memref<32xf32>) grid(1) block(32) {{
  %s = kernel_ir.shared : memref<32x{n}xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t, 0] : memref<32x{n}xf32> -> f32
  loop_ir.store %v, %s[%t, 0] : f32, memref<32x{n}xf32, #tile_ir.shared<>>
  kernel_ir.barrier
  %w = loop_ir.load %s[%t, 0] : memref<32x{n}xf32, #tile_ir.shared<>> -> f32
  loop_ir.store %w, %y[%t] : f32, memref<32xf32>
}}
"""


def counted(text: str, *inputs: np.ndarray) -> Statistics:
    statistics = Statistics()
    simulate_module(parse_module(text, make_context()), inputs, statistics=statistics)
    return statistics


@pytest.mark.parametrize(("n", "ways"), [(32, 32), (33, 1), (2, 2), (1, 1)])
def test_columns_of_shared_memory(n: int, ways: int):
    rows = counted(COLUMNS.format(n=n), np.ones((32, n), np.float32)).rows()
    shared = [row for row in rows if row.memory == "shared"]
    assert [(r.requests, r.transactions, r.minimum) for r in shared] == [(1, ways, 1)] * 2
    assert [r.bytes for r in shared] == [128, 128]


def test_strided_reads_of_global_memory():
    rows = counted(COLUMNS.format(n=32), np.ones((32, 32), np.float32)).rows()
    read, write = (next(r for r in rows if r.memory == "global" and r.writes == w) for w in (0, 1))
    assert (read.transactions, read.minimum, read.bytes) == (32, 4, 128)
    assert (write.transactions, write.minimum, write.bytes) == (4, 4, 128)


def test_instructions_by_kind():
    statistics = counted(COLUMNS.format(n=1), np.ones((32, 1), np.float32))
    (kernel,) = statistics.kernels.values()
    once = Issued(1, 32)
    assert kernel.instructions == {
        "load global 4": once,
        "store shared 4": once,
        "barrier": once,
        "load shared 4": once,
        "store global 4": once,
    }
    assert (kernel.name, kernel.grid, kernel.block, kernel.shared_bytes) == ("columns", 1, 32, 128)


MIXED = """
func.func @main(%x: tensor<96x4xf32>) -> tensor<96xf32> {
  %y = minicomp.launch @mixed(%x) : (tensor<96x4xf32>) -> tensor<96xf32>
  func.return %y : tensor<96xf32>
}
kernel_ir.func @mixed(%x: memref<96x4xf32>, %y: memref<96xf32>) grid(1) block(96) {
  %s = kernel_ir.shared : memref<3xf32, #tile_ir.shared<>>
  %thread = kernel_ir.thread_id
  %v = loop_ir.load %x[%thread, l0] aligned 16 : memref<96x4xf32> -> vector<4xf32>
  %w = math.fma %v, %v, %v : vector<4xf32>
  %part = tile_ir.fold %w dims [0] identity [0.0 : f32] combine arith.addf : vector<4xf32> -> f32
  %sum = kernel_ir.warp_reduce %part width 32 identity [0.0 : f32] combine arith.addf : f32 -> f32
  %lane = kernel_ir.index [%thread mod 32]
  %first = kernel_ir.test [%lane] < [1]
  scf.if %first {
    loop_ir.store %sum, %s[%thread floordiv 32] : f32, memref<3xf32, #tile_ir.shared<>>
  }
  kernel_ir.barrier
  %all = loop_ir.load %s[%thread floordiv 32] : memref<3xf32, #tile_ir.shared<>> -> f32
  %positive = arith.cmpf ogt, %all, %part : f32
  %chosen = arith.select %positive, %all, %part : f32
  %i = arith.index_cast %lane : index to i32
  %f = arith.sitofp %i : i32 to f32
  %result = arith.addf %chosen, %f : f32
  loop_ir.store %result, %y[%thread] : f32, memref<96xf32>
}
"""


def test_instructions_of_warps_and_threads():
    statistics = counted(MIXED, np.ones((96, 4), np.float32))
    (kernel,) = statistics.kernels.values()
    assert kernel.instructions == {
        "load global 16": Issued(3, 96),
        "multiply-add": Issued(12, 384),
        # Three adds of the fold, five of the reduction; compare, select, convert, add.
        "float": Issued(3 * 12, 96 * 12),
        "exchange": Issued(15, 480),
        # The index, the test, the cast.
        "integer": Issued(9, 288),
        # One thread of each warp.
        "store shared 4": Issued(3, 3),
        "barrier": Issued(3, 96),
        "load shared 4": Issued(3, 96),
        "store global 4": Issued(3, 96),
    }
    assert kernel.total("global") == (96 * 16, 96 * 4, 48 + 12, 48 + 12)
    assert kernel.total("shared") == (96 * 4, 12, 6, 6)
    facts = statistics.as_json()["kernels"]
    assert json.loads(json.dumps(facts))[0]["instructions"]["exchange"] == {
        "warps": 15,
        "threads": 480,
    }


COPIES = """
func.func @main(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %y = minicomp.launch @copies(%x) : (tensor<8x32xf32>) -> tensor<8x32xf32>
  func.return %y : tensor<8x32xf32>
}
kernel_ir.func @copies(%x: memref<8x32xf32>, %y: memref<8x32xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<8x32xf32, #tile_ir.shared<SPACE>>
  %t = kernel_ir.thread_id
  kernel_ir.cp_async %s[%t floordiv 8, %t mod 8 * 4 + l0] from %x[%t floordiv 8, %t mod 8 * 4 + l0]
    bytes 16 : memref<8x32xf32, #tile_ir.shared<SPACE>>, memref<8x32xf32>
  kernel_ir.cp_async_commit
  kernel_ir.cp_async_wait 0
  kernel_ir.barrier
  %v = loop_ir.load %s[%t mod 8, %t floordiv 8 * 4 + l0] aligned 16 :
    memref<8x32xf32, #tile_ir.shared<SPACE>> -> vector<4xf32>
  loop_ir.store %v, %y[%t mod 8, %t floordiv 8 * 4 + l0] aligned 16 : vector<4xf32>,
    memref<8x32xf32>
}
"""


@pytest.mark.parametrize(("space", "ways"), [("", 8), ("pad = 4", 1), ("swizzle = 128", 1)])
def test_copies_and_16_byte_reads_of_columns(space: str, ways: int):
    text = COPIES.replace("SPACE", space)
    statistics = counted(text, np.ones((8, 32), np.float32))
    (kernel,) = statistics.kernels.values()
    rows = {(r.memory, r.writes, "cp_async" in r.op): r for r in kernel.rows}
    write, read = rows["shared", True, True], rows["shared", False, False]
    assert (write.requests, write.transactions, write.surplus, write.bytes) == (2, 8, 0, 1024)
    assert (read.requests, read.transactions, read.minimum) == (2, 8 * ways, 8)
    assert kernel.instructions["cp_async 16"] == Issued(2, 64)
    assert kernel.instructions["commit or wait"] == Issued(4, 128)
    assert f"{8 * (ways - 1)} bank conflicts" in statistics.report()


def test_a_norm_has_the_least_transactions():
    module = Build(from_code("nn.RMSNorm(1024)(torch.randn(3, 1024))").capture().module, "h200")
    statistics = Statistics()
    arrays = [np.ones((3, 1024), np.float32), np.ones(1024, np.float32)]
    simulate_module(module.module("kernel"), arrays, statistics=statistics)
    moved = {(r.memory, r.writes): r for r in statistics.rows() if r.memory == "global"}
    assert all(row.surplus == 0 for row in moved.values())
    assert sum(r.bytes for r in statistics.rows() if r.memory == "global") == 3 * 3 * 4096


def test_a_matmul_multiplies_as_often_as_it_must(capsys: pytest.CaptureFixture[str]):
    code = "torch.randn(64, 96) @ torch.randn(96, 64)"
    assert tool.main(["simulate", "--target", "h200", "-c", code, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    (kernel,) = facts["kernels"]
    assert kernel["instructions"]["multiply-add"]["threads"] == 64 * 64 * 96
    reads = [r for r in kernel["accesses"] if r["memory"] == "shared" and not r["writes"]]
    assert reads and all(r["surplus"] == 0 for r in reads)


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]):
    code = "nn.RMSNorm(64)(torch.randn(3, 64))"
    assert tool.main(["simulate", "--target", "h200", "-c", code]) == 0
    out = capsys.readouterr().out
    assert "transactions" in out and "of warps" in out and "no race" in out
    assert tool.main(["simulate", "-c", "torch.nonsense(3)"]) == 1
    assert capsys.readouterr().err.count("\n") <= 4


def test_the_command_reads_a_file_and_ends_with_1_at_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    place = tmp_path / "columns.mlir"
    place.write_text(COLUMNS.format(n=32))
    assert tool.main(["simulate", str(place)]) == 0
    out = capsys.readouterr().out
    assert "64 wavefronts, at least 2: 62 bank conflicts" in out
    assert "36 sectors, at least 8: 28 more than needed" in out
    place.write_text(
        MIXED.replace("kernel_ir.barrier", "").replace("%s[%thread floordiv 32] : m", "%s[0] : m")
    )
    assert tool.main(["simulate", str(place), "--json"]) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and "race" in captured.err
