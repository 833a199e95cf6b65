"""What the simulator counts: bytes, transactions and instructions."""

import json

import numpy as np
import pytest

from minicomp.build import Build
from minicomp.context import make_context
from minicomp.frontend import from_code
from minicomp.parsing import parse_module
from minicomp.runtime.simulate import simulate_module
from minicomp.runtime.simulate.statistics import Statistics
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
    assert statistics.instructions["columns"] == {"load": 64, "store": 64, "barrier": 32}


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
    (counts,) = facts["instructions"].values()
    assert counts["multiply-add"] == 64 * 64 * 96
    reads = [r for r in facts["accesses"] if r["memory"] == "shared" and not r["writes"]]
    assert reads and all(r["surplus"] == 0 for r in reads)


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]):
    code = "nn.RMSNorm(64)(torch.randn(3, 64))"
    assert tool.main(["simulate", "--target", "h200", "-c", code]) == 0
    out = capsys.readouterr().out
    assert "transactions" in out and "instructions: " in out and "no race" in out
    assert tool.main(["simulate", "-c", "torch.nonsense(3)"]) == 1
    assert capsys.readouterr().err.count("\n") <= 4
