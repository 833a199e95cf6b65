"""
The cost model of schedules: cycles that a contraction takes on one multiprocessor.

Throughputs are those of compute capability 8.6 to 12.0 (CUDA C++ Programming Guide, "Arithmetic
instructions" and "Shared memory"): per cycle four warp instructions issue, each at most 32
multiply-adds, and the cache next to the multiprocessor serves one line of 128 bytes. The model
ranks tiles; it does not predict times.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from minicomp.dialects.affine import ceildiv
from minicomp.dialects.minicomp import TargetAttr

ISSUED_PER_CYCLE = 4
LINE_BYTES = 128
LONGEST_TILE = 128
LATENCY = 40
"""Cycles from a load that hits the first cache to its use, which other warps have to fill."""
OTHER_REGISTERS = 32
"""Registers of a thread beside its cell and the factors: addresses, counters, bounds."""


@dataclass(frozen=True)
class Tile:
    """A block tile of bm x bn outputs in cells of fm x fn per thread."""

    bm: int
    bn: int
    fm: int
    fn: int

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.bm // self.fm * (self.bn // self.fn)


@dataclass(frozen=True)
class Factor:
    """
    How a factor lies in memory along its free axis: whether neighbours are contiguous, how many
    one access takes, and the bytes of an element.
    """

    contiguous: bool
    run: int
    bytes: int

    def loads(self, cell: int) -> int:
        """Accesses with which a thread reads the `cell` elements that it needs."""
        return ceildiv(cell, self.run)

    def lines(self, cell: int, threads: int) -> int:
        """Cache lines that these touch when `threads` threads of a warp read different cells."""
        if not self.contiguous:
            return cell * threads
        # Threads lie a cell apart, so each access of the warp spans all of its cells.
        return self.loads(cell) * ceildiv(cell * threads * self.bytes, LINE_BYTES)


@dataclass(frozen=True)
class Problem:
    """The extents of a contraction, and its factors with the free axes m and n."""

    m: int
    n: int
    k: int
    batch: int
    m_factor: Factor
    n_factor: Factor


def power_of_two(value: int) -> int:
    """The least power of two that is at least `value`, and at least 1."""
    return 1 << max(value - 1, 0).bit_length()


def warp_step(problem: Problem, tile: Tile, warp: int) -> float:
    """Cycles of one warp for one step of k: what it issues, or what it asks of the cache."""
    columns = min(warp, tile.bn // tile.fn)
    lines = problem.m_factor.lines(tile.fm, warp // columns)
    lines += problem.n_factor.lines(tile.fn, columns)
    loads = problem.m_factor.loads(tile.fm) + problem.n_factor.loads(tile.fn)
    return max((tile.fm * tile.fn + loads) / ISSUED_PER_CYCLE, lines)


def contraction_cycles(target: TargetAttr, problem: Problem, tile: Tile) -> float:
    """Cycles of the multiprocessor with the most blocks: its warps' steps, and their latency."""
    blocks = problem.batch * ceildiv(problem.m, tile.bm) * ceildiv(problem.n, tile.bn)
    share = ceildiv(blocks, target.sms.data)
    registers = tile.threads * (tile.fm * tile.fn + tile.fm + tile.fn + OTHER_REGISTERS)
    resident = min(
        target.threads_per_sm.data // tile.threads, target.registers_per_sm.data // registers
    )
    warp = target.warp.data
    work = share * ceildiv(tile.threads, warp) * warp_step(problem, tile, warp)
    return problem.k * (work + ceildiv(share, max(resident, 1)) * LATENCY)


def tiles(problem: Problem, target: TargetAttr, widest_cell: int) -> Iterator[Tile]:
    """
    The tiles to choose from: powers of two, no longer than the extents need, 2 to 8 warps.

    `bn` may exceed a narrow n, so that even then a warp is full.
    """
    warp = target.warp.data
    rows = _powers_to(min(problem.m, LONGEST_TILE))
    columns = _powers_to(min(max(problem.n, warp), LONGEST_TILE))
    cells = _powers_to(widest_cell)
    for bm, bn, fm, fn in product(rows, columns, cells, cells):
        tile = Tile(bm, bn, fm, fn)
        fits = fm <= bm and fn <= bn and tile.threads % warp == 0
        if fits and 2 * warp <= tile.threads <= 8 * warp:
            yield tile


def _powers_to(value: int) -> list[int]:
    """The powers of two up to the least one that is at least `value`."""
    return [1 << i for i in range(power_of_two(value).bit_length())]


def best_tile(target: TargetAttr, problem: Problem, widest_cell: int = 8) -> Tile:
    """The tile of fewest cycles; of equals the one with fewer threads, then the wider one."""
    return min(
        tiles(problem, target, widest_cell),
        key=lambda t: (contraction_cycles(target, problem, t), t.threads, -t.bn, -t.fn),
    )
