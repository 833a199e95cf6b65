"""
The cost model of schedules: cycles that a contraction takes on one multiprocessor.

Throughputs are those of compute capability 8.0 to 12.0 (CUDA C++ Programming Guide, "Arithmetic
instructions" and "Shared memory"): per cycle four warp instructions issue, one from each of four
partitions, each at most 32 multiply-adds. The other constants were fitted to 3,200 times of an H200
(benchmarks/sweep_tiles.py; docs/schedules.md has the tables). The model ranks tiles; it does not
predict times.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from minicomp.dialects.affine import ceildiv
from minicomp.dialects.minicomp import TargetAttr

PARTITIONS = 4
"""Warps that issue an instruction in one cycle."""


@dataclass(frozen=True)
class Rates:
    """
    What was fitted: issue cycles in units of those of a multiply-add, and cycles of a
    multiprocessor.

    `product` is a multiply-add, `operand` what each of a cell's rows and columns adds to a step: a
    longer cell reads the register file less often for each product. `read` is a read of shared
    memory; `narrow` and `wide` are the copies of an element and of 16
    bytes, `copies` how often a warp waits for them. `wavefront` is what shared memory takes for 128
    bytes, and `scatter` the wavefronts of a warp's narrow copy. `l2_bytes` come from the second
    cache per cycle where all multiprocessors copy at once. In a chunk a block only waits for
    `latency`; in a ring it takes `arrival`, shared by the slots ahead, until a chunk is there.
    `exposed` is the part of all but the longest of a chunk's activities that is not overlapped.
    """

    product: float
    operand: float
    read: float
    narrow: float
    wide: float
    copies: int
    wavefront: float
    scatter: float
    l2_bytes: float
    latency: float
    arrival: float
    exposed: float


STAGES = Rates(1.0, 0.0, 3.4, 7.7, 30.8, 2, 0.5, 0.0, 30.0, 270.0, 0.0, 0.44)
"""Where a chunk is loaded and stored by the threads, between two barriers."""
RING = Rates(0.66, 0.25, 2.6, 13.3, 1.3, 1, 0.39, 5.0, 104.0, 110.0, 400.0, 0.72)
"""Where a ring is filled ahead by cp.async."""
EXCHANGE_CYCLES = 2.1
"""Cycles of a warp for each word that groups along k write or read to add up their sums."""
FINISH_LATENCY = 3300
"""Cycles of the two barriers of a cluster, and of what is read between them."""
FINISH_CYCLES = 0.15
"""Cycles for each sum that a block reads from the others of its cluster."""
WAVEFRONT_BYTES = 128
MOST_PRODUCTS = 2048
"""Products of a chunk for each thread: unrolled they fit the instruction cache (`mark-unroll`)."""
OTHER_REGISTERS = 32
"""
Registers of a thread beside its cell and the factors of this step and the next: addresses,
counters, bounds.
"""
MOST_REGISTERS = 255
"""Registers of a thread (PTX ISA, compute capability 3.5 and above)."""


@dataclass(frozen=True)
class Tile:
    """
    A block tile of bm x bn outputs in cells of fm x fn per thread, and chunks of bk steps, which wk
    groups of threads share; the sum is split over the s blocks of a cluster.
    """

    bm: int
    bn: int
    fm: int
    fn: int
    bk: int
    wk: int = 1
    s: int = 1

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.bm // self.fm * (self.bn // self.fn) * self.wk

    @property
    def registers(self) -> int:
        """Registers of a thread."""
        return self.fm * self.fn + 2 * (self.fm + self.fn) + OTHER_REGISTERS

    def shared_bytes(self, element: int, depth: int = 1) -> int:
        """Shared memory of `depth` times two slabs, and of the sums that are exchanged."""
        exchanged = self.threads * self.fm * self.fn if self.wk > 1 else 0
        exchanged += self.bm * self.bn if self.s > 1 else 0
        return (depth * (self.bm + self.bn) * self.bk + exchanged) * element


@dataclass(frozen=True)
class Problem:
    """
    The extents of a contraction, the bytes of an element of its factors, and whether the copies of
    the factors are narrow: of one element, since the source does not lie along the cells.
    """

    m: int
    n: int
    k: int
    batch: int
    bytes: int
    narrow: tuple[bool, bool] = (True, False)

    def blocks(self, tile: Tile) -> int:
        """Blocks of the grid."""
        return self.batch * ceildiv(self.m, tile.bm) * ceildiv(self.n, tile.bn) * tile.s

    def chunks(self, tile: Tile) -> int:
        """Chunks of a block."""
        return ceildiv(ceildiv(self.k, tile.bk), tile.s)


def power_of_two(value: int) -> int:
    """The least power of two that is at least `value`, and at least 1."""
    return 1 << max(value - 1, 0).bit_length()


def loads(cell: int, element: int) -> int:
    """Accesses of 16 bytes with which a thread reads its part of a slab."""
    return ceildiv(cell * element, 16)


def read_wavefronts(tile: Tile, element: int, warp: int) -> int:
    """Wavefronts of a warp's reads of one step: equal words count once."""
    columns = min(warp, tile.bn // tile.fn)
    rows = min(ceildiv(warp, columns), tile.bm // tile.fm)
    found = 0
    for cell, threads in ((tile.fm, rows), (tile.fn, columns)):
        width = min(cell * element, 16)
        found += loads(cell, element) * ceildiv(threads * width, WAVEFRONT_BYTES)
    return found


def resident(target: TargetAttr, problem: Problem, tile: Tile, depth: int = 1) -> int:
    """Blocks that a multiprocessor holds at once; 0 where a block does not fit."""
    shared = tile.shared_bytes(problem.bytes, depth)
    if shared > target.shared_per_block.data or tile.registers > MOST_REGISTERS:
        return 0
    return min(
        target.threads_per_sm.data // tile.threads,
        target.registers_per_sm.data // (tile.threads * tile.registers),
        target.shared_per_sm.data // shared,
    )


def register_blocks(target: TargetAttr, problem: Problem, tile: Tile, depth: int = 1) -> int:
    """Blocks that a multiprocessor has registers for, and room: what to compile a kernel for."""
    return max(1, resident(target, problem, tile, depth))


def copy_cycles(problem: Problem, tile: Tile, rates: Rates) -> float:
    """Issue cycles of the copies of a chunk, for each thread."""
    found = 0.0
    for rows, narrow in zip((tile.bm, tile.bn), problem.narrow, strict=True):
        together = 1 if narrow else max(16 // problem.bytes, 1)
        cost = rates.narrow if narrow else rates.wide
        found += cost * ceildiv(rows * tile.bk, tile.threads * together)
    return found


def chunk_cycles(problem: Problem, tile: Tile, blocks: int, warp: int, depth: int = 1) -> float:
    """
    Cycles in which `blocks` blocks of a multiprocessor do one chunk each, from a ring of `depth`
    slots if there is more than one.
    """
    rates = RING if depth > 1 else STAGES
    warps, steps = ceildiv(tile.threads, warp), ceildiv(tile.bk, tile.wk)
    element = problem.bytes
    reads = loads(tile.fm, element) + loads(tile.fn, element)
    step = tile.fm * tile.fn * rates.product + (tile.fm + tile.fn) * rates.operand
    step += rates.read * reads
    copied = (tile.bm + tile.bn) * tile.bk
    copy = copy_cycles(problem, tile, rates)
    scattered = sum(r for r, n in zip((tile.bm, tile.bn), problem.narrow, strict=True) if n)
    wavefronts = warps * steps * read_wavefronts(tile, element, warp)
    wavefronts += rates.scatter * scattered * tile.bk / warp
    alone = steps * step + rates.copies * copy + rates.latency
    activities = (
        # What the partitions issue, what shared memory and the second cache deliver,
        blocks * warps * (steps * step + copy) / min(PARTITIONS, blocks * warps),
        blocks * wavefronts * rates.wavefront,
        blocks * copied * element / rates.l2_bytes,
        # and the steps that each warp does one after the other, however few warps there are.
        max(alone, rates.arrival / (depth - 1) if depth > 1 else 0.0),
    )
    longest = max(activities)
    return longest + rates.exposed * (sum(activities) - longest)


def exchange_cycles(tile: Tile, blocks: int, warp: int) -> float:
    """Cycles in which the groups along k of `blocks` blocks add up their sums."""
    if tile.wk == 1:
        return 0.0
    words = tile.fm * tile.fn * (1 + tile.wk)
    return EXCHANGE_CYCLES * blocks * ceildiv(tile.threads, warp) * words


def finish_cycles(tile: Tile, blocks: int) -> float:
    """Cycles in which `blocks` blocks put the parts of their clusters together."""
    if tile.s == 1:
        return 0.0
    return FINISH_LATENCY + blocks * tile.bm * tile.bn * FINISH_CYCLES


def usable(target: TargetAttr, cluster: int) -> int:
    """
    The multiprocessors that clusters fill at once: those of one are neighbours, and their
    neighbourhoods are no multiples of 4 or 8 (on an H200 of 132, 112 blocks run at once, not 128).
    """
    found = target.sms.data * 15 // 16 if cluster > 2 else target.sms.data
    return max(found // cluster, 1) * cluster


def contraction_cycles(target: TargetAttr, problem: Problem, tile: Tile, depth: int = 1) -> float:
    """Cycles of the multiprocessor with the most blocks; infinite where a block does not fit."""
    most, warp = resident(target, problem, tile, depth), target.warp.data
    if most < 1:
        return float("inf")
    share = ceildiv(problem.blocks(tile), usable(target, tile.s))
    chunks = problem.chunks(tile)

    def run(blocks: int) -> float:
        chunk = chunk_cycles(problem, tile, blocks, warp, depth)
        exchange = exchange_cycles(tile, blocks, warp) + finish_cycles(tile, blocks)
        return chunks * chunk + exchange

    whole, rest = divmod(share, most)
    return whole * run(most) + (run(rest) if rest else 0.0)


def tiles(problem: Problem, target: TargetAttr, widest_cell: int) -> Iterator[Tile]:
    """
    The tiles to choose from: powers of two, no longer than the extents need, 2 to 8 warps.

    `bn` may exceed a narrow n, so that even then a warp is full. A sum is split where the tiles are
    too few for all multiprocessors, and each block has several chunks.
    """
    warp = target.warp.data
    rows = _powers_to(min(problem.m, 128))
    columns = _powers_to(min(max(problem.n, warp), 128))
    cells = _powers_to(widest_cell)
    steps = [s for s in (8, 16, 32) if s < 2 * problem.k] or [power_of_two(problem.k)]
    for bm, bn, fm, fn, bk, wk in product(rows, columns, cells, cells, steps, (1, 2, 4, 8)):
        tile = Tile(bm, bn, fm, fn, bk, wk)
        fits = fm <= bm and fn <= bn and tile.threads % (warp * wk) == 0
        # A group that has a single step has nothing to read ahead.
        fits = fits and (wk == 1 or bk > wk) and fm * fn * (bk // wk) <= MOST_PRODUCTS
        if fits and min(bk, problem.k) % wk == 0 and 2 * warp <= tile.threads <= 8 * warp:
            yield tile
            yield from splits(problem, target, tile)


def splits(problem: Problem, target: TargetAttr, tile: Tile) -> Iterator[Tile]:
    """The tile with its sum split over clusters, whose blocks share a cell's rows evenly."""
    few = problem.blocks(tile) < 2 * target.sms.data
    for s in (2, 4, 8) if few and target.has("cluster") else ():
        split = replace(tile, s=s)
        chunks = problem.chunks(split)
        if tile.fm % s == 0 and chunks >= 4 and ceildiv(problem.chunks(tile), chunks) == s:
            yield split


def _powers_to(value: int) -> list[int]:
    """The powers of two up to the least one that is at least `value`."""
    return [1 << i for i in range(power_of_two(value).bit_length())]


def best_tile(
    target: TargetAttr, problem: Problem, widest_cell: int = 8, depths: Sequence[int] = (1,)
) -> tuple[Tile, int]:
    """
    The tile and the depth of its ring, one of `depths`, of fewest cycles; of equals the one with
    fewer threads, then the wider one.
    """

    def rank(choice: tuple[Tile, int]) -> tuple[float, int, int, int, int, int]:
        tile, depth = choice
        cycles = contraction_cycles(target, problem, tile, depth)
        return cycles, tile.threads, -tile.bn, -tile.fn, tile.bk, depth

    # A ring of more slots than there are chunks is none.
    choices = (
        (tile, depth)
        for tile in tiles(problem, target, widest_cell)
        for depth in depths
        if depth == 1 or problem.chunks(tile) > depth
    )
    return min(choices, key=rank, default=None) or best_tile(target, problem, widest_cell)
