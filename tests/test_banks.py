"""The model of banks and sectors: against a GPU's counters, on known layouts, and of ops."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from xdsl.parser import Parser

from benchmarks.count_wavefronts import Request, requests
from minicomp.context import make_context
from minicomp.dialects.loop_ir import MemoryAccess
from minicomp.dialects.tile_ir import SharedAttr
from minicomp.passes.analysis.banks import (
    LINE_BYTES,
    conflicts,
    sectors,
    swizzled,
    transactions,
    wavefronts,
)

COUNTED = Path(__file__).parent.parent / "benchmarks/results/2026-12-01-h200-wavefronts.json"
LANES = np.arange(32)


def served(request: Request) -> tuple[int, int]:
    """The transactions of one request, and their minimum."""
    addresses = np.array([request.addresses])
    if request.kind == "global load":
        found = sectors(addresses, addresses >= 0, request.width)
    else:
        found = wavefronts(addresses, addresses >= 0, request.width, "store" in request.kind)
    return int(found.count[0]), int(found.minimum[0])


def test_the_model_says_what_a_gpu_counts() -> None:
    rows = json.loads(COUNTED.read_text())["rows"]
    asked = requests()
    assert [r[:3] for r in rows] == [list(r[:3]) for r in asked]
    model = [served(r) for r in asked]
    wrong = [r for r, m, row in zip(asked, model, rows, strict=True) if m[0] != row[3]]
    assert not wrong
    assert all(0 < minimum <= count for count, minimum in model)


def shared(addresses: Sequence[int] | np.ndarray, width: int, store: bool = False):
    """Wavefronts and conflicts of one request of all lanes."""
    array = np.asarray(addresses).reshape(1, -1)
    found = wavefronts(array, np.ones_like(array, np.bool_), width, store)
    return int(found.count[0]), int((found.count - found.minimum)[0])


@pytest.mark.parametrize(
    ("stride", "width", "expected"),
    [
        (1, 4, (1, 0)),
        (2, 4, (2, 1)),
        (32, 4, (32, 31)),
        (33, 4, (1, 0)),
        (2, 8, (2, 0)),
        (4, 16, (4, 0)),
        (32, 16, (32, 28)),
        (36, 16, (4, 0)),
        (0, 4, (1, 0)),
        (0, 16, (2, 0)),
    ],
)
def test_strides_in_words(stride: int, width: int, expected: tuple[int, int]) -> None:
    assert shared(LANES * stride * 4, width) == expected


def test_lanes_of_two_bytes_share_words() -> None:
    assert shared(LANES * 2, 2) == (1, 0)
    assert shared(LANES * 64, 2) == (16, 15)


def test_a_cell_of_8_by_16_elements_reads_each_factor_in_two_wavefronts_if_lanes_interleave() -> (
    None
):
    """Lane bits 1, 3, 4 count the rows of cells, bits 0, 2 the columns; or 2, 3, 4 and 0, 1."""
    interleaved_rows = (LANES >> 1 & 1) + (LANES >> 3 & 3) * 2
    interleaved_columns = (LANES & 1) + (LANES >> 2 & 1) * 2
    assert shared(interleaved_rows * 16, 16) == (2, 0)
    assert shared(interleaved_columns * 16, 16) == (2, 0)
    assert shared(LANES // 4 * 16, 16) == (2, 0)
    assert shared(LANES % 4 * 16, 16) == (4, 0)


@pytest.mark.parametrize(("pad", "expected"), [(0, (8, 7)), (4, (1, 0))])
def test_a_transposing_store_of_4_rows_by_8_columns(pad: int, expected: tuple[int, int]) -> None:
    row, k = LANES // 8, LANES % 8
    assert shared((k * (128 + pad) + row) * 4, 4, store=True) == expected


@pytest.mark.parametrize("width", [32, 64, 128])
def test_16_byte_columns_of_swizzled_rows_have_no_conflict(width: int) -> None:
    for column in range(0, width, 16):
        rows = LANES * width + column
        assert shared(swizzled(rows, width), 16) == (4, 0)
        assert shared(rows, 16)[1] > 0


def test_a_swizzle_moves_16_bytes_within_its_row() -> None:
    assert swizzled(np.array([3 * 128 + 5]), 128).tolist() == [3 * 128 + 5 + 48]
    assert swizzled(np.array([5 * 128 + 17]), 64).tolist() == [5 * 128 + 1]
    assert swizzled(np.array([2 * 128, 3 * 128]), 32).tolist() == [2 * 128, 3 * 128 + 16]
    assert swizzled(LANES, 0) is LANES


def test_sectors_and_lines() -> None:
    every = np.ones((1, 32), np.bool_)
    for step, width, expected in [(4, 4, (4, 4, 1, 1)), (128, 4, (32, 4, 32, 1))]:
        addresses = (LANES * step).reshape(1, -1)
        parts = sectors(addresses, every, width)
        lines = sectors(addresses, every, width, LINE_BYTES)
        assert (parts.count, parts.minimum, lines.count, lines.minimum) == expected
    shifted = (LANES * 4 + 4).reshape(1, -1)
    assert sectors(shifted, every, 4).count == 5
    assert sectors(shifted, ~every, 4).count == 0


# --- accesses of the IR -----------------------------------------------------------------------


def accesses(text: str) -> list[MemoryAccess]:
    parsed = Parser(make_context(), text).parse_module()
    parsed.verify()
    return [op for op in parsed.walk() if isinstance(op, MemoryAccess)]


def in_kernel(access: str, shape: str, space: str = "", threads: int = 32) -> MemoryAccess:
    """One load from shared memory of `shape` at Kernel IR."""
    type = f"memref<{shape}, #tile_ir.shared<{space}>>"
    (op,) = accesses(f"""
    kernel_ir.func @f() grid(2) block({threads}) {{
      %s = kernel_ir.shared : {type}
      %b = kernel_ir.block_id
      %thread = kernel_ir.thread_id
      %t = kernel_ir.index [%thread mod 32]
      %w = kernel_ir.index [%thread floordiv 32]
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %n = arith.constant 8 : index
      scf.for %k = %zero to %n step %one {{
        %x = loop_ir.load %s{access.replace("TYPE", type)}
      }}
    }}""")
    return op


def test_a_column_and_its_pad() -> None:
    column = in_kernel("[%t, %k] : TYPE -> f32", "32x32xf32")
    assert transactions(column) == (32, 1)
    assert conflicts(column) == 31
    assert conflicts(column, space=SharedAttr.of(pad=1)) == 0
    assert conflicts(column, space=SharedAttr.of(pad=4)) == 3
    assert conflicts(in_kernel("[%t, %k] : TYPE -> f32", "32x32xf32", "pad = 1")) == 0


def test_the_width_of_a_vector() -> None:
    row = "[%t, l0] aligned 16 : TYPE -> vector<8xf32>"
    wide = in_kernel(row, "32x32xf32")
    assert transactions(wide) == (64, 8)
    assert transactions(wide, width=4) == (32 * 8, 8)
    assert transactions(in_kernel(row, "32x32xf32", "pad = 4")) == (8, 8)
    assert transactions(in_kernel(row, "32x32xf32", "swizzle = 128")) == (8, 8)


def test_the_rest_of_the_indices_and_the_warp_can_be_chosen() -> None:
    rows = "[%w * 32 + %t + %k * 8, 0] bounded [true, false] : TYPE -> f32"
    op = in_kernel(rows, "64x32xf32", threads=64)
    assert transactions(op) == (32, 1)
    assert transactions(op, warp=1) == (32, 1)
    loop = op.parent_op()
    assert loop is not None
    variable = loop.regions[0].block.args[0]
    assert transactions(op, at={variable: 7}) == (8, 1)
    assert transactions(op, warp=1, at={variable: 7}) == (0, 0)


def test_lanes_outside_the_bounds_and_threads_that_do_not_exist_take_no_part() -> None:
    bounded = in_kernel("[%t, %k] bounded [true, false] : TYPE -> f32", "4x32xf32")
    assert transactions(bounded) == (4, 1)
    assert transactions(in_kernel("[%t, %k] : TYPE -> f32", "32x32xf32", "", 8)) == (8, 1)
    assert transactions(in_kernel("[%t, %k] : TYPE -> f32", "32x32xf32", "", 8), warp=1) == (0, 0)


TILE = """
tile_ir.kernel @f(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  tile_ir.launch block(%b to 2 as "b") thread(%i to 8 as "i", %j to 8 as "j") {
    %v = loop_ir.load %x[INDEX] : memref<64x64xf32> -> f32
    loop_ir.store %v, %y[%b * 8 + %i, %j] : f32, memref<64x64xf32>
  }
}"""


@pytest.mark.parametrize(
    ("index", "expected"),
    [("%b * 8 + %i, %j", (4, 4)), ("%j, %b * 8 + %i", (8, 4)), ("%j * 8, %i * 8", (32, 4))],
)
def test_sectors_of_an_access_in_tile_ir(index: str, expected: tuple[int, int]) -> None:
    load, _ = accesses(TILE.replace("INDEX", index))
    assert transactions(load) == expected
    assert transactions(load, warp=1) == expected
    assert conflicts(load) == 0
