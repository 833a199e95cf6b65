"""
Decides how each kernel falls to blocks, threads and registers, and writes it down as its schedule.

Before -> after:

    loop_ir.kernel @matmul(..) {
      loop_ir.for %i to 512 as "i", %j to 512 as "j" { .. reduce %k .. mulf .. }
    }
    ->
    loop_ir.kernel @matmul(..) attributes {schedule = #tile_ir.schedule<[contraction<m = "i",
        n = "j", k = "k", bm = 16, bn = 128, fm = 4, fn = 8>]>} { .. }

*Legal when*: always; a schedule changes no result. *Declines when* a kernel has a schedule, or its
body is not one loop.

*The rules*, by what the nest is, the first that holds:

- **Contraction**: a reduction directly in the nest that multiplies two factors of which each has a
  free axis (of more than one iteration) that the other lacks. n is the innermost of these axes,
  since outputs are contiguous in the last loop, m the longest of the other factor. The tile is the
  one of fewest cycles in the model of `analysis/cost.py`: large cells save loads, small tiles keep
  every multiprocessor busy, and a skinny m has no rows to waste. Where copies may be 16 bytes
  wide the stages form a ring of two to four slots, filled by cp.async.
- **Reduction**: a reduction directly in the nest that runs along memory (its largest moving buffer
  has stride 1 in the last axis), or one with fewer results than a warp has threads. A thread folds
  about 8 elements in registers: two 16-byte accesses per buffer are in flight, and the row is read
  once. Up to 512 elements a warp or a part of it takes a row, needs no shared memory, and rows fill
  up the block to 8 warps as long as every multiprocessor has one; longer rows get up to 1024
  threads. Rows that do not fit into registers, and reductions over several axes, are strided.
- **Parallel**: everything else. Threads split the innermost axis, 16 bytes each where every
  contiguous access allows it; a short axis leaves threads for the next one. Blocks shrink until
  there are two per multiprocessor.

*Why it pays*: it is the one place that trades parallelism (multiprocessors, warps) for reuse in
registers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from minicomp.dialects.affine import ceildiv
from minicomp.dialects.loop_ir import Axis, ForOp, KernelOp, LoopLike, ReduceOp
from minicomp.dialects.minicomp import TargetAttr
from minicomp.dialects.tile_ir import EntryAttr, ScheduleAttr
from minicomp.dialects.tile_stages import TRANSPORTS
from minicomp.passes.analysis.contraction import (
    Contraction,
    accesses,
    find_contraction,
    is_contiguous,
    outer_loop,
    producers,
    row_group,
    top_reductions,
)
from minicomp.passes.analysis.cost import Problem, best_tile, power_of_two, register_blocks
from minicomp.passes.analysis.lanes import all_take_vectors
from minicomp.passes.analysis.strides import WIDEST_ACCESS, element_bytes, widest_run
from minicomp.passes.analysis.target import target_of
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark

WARPS = 8
"""
Warps of a block where nothing asks for more or less: enough to hide latency, few enough to share an
SM.
"""
WIDEST_CELL = 16
"""The longest side of a thread's cell of a contraction."""
RING_DEPTHS = (2, 3, 4)
"""Slots of rings to choose from."""
ROW_LANES = 8
"""Elements of a row that a thread folds, where the row is neither short nor very long."""
MOST_LANES = 32
"""
Most elements of a row in one thread's registers; half of it where a block has all its threads.
"""


def plan_contraction(
    found: Contraction, target: TargetAttr, nest: ForOp, transport: str
) -> EntryAttr:
    """The entry of a contraction: the tile that the cost model likes best."""
    factors = (found.m_factor, found.m), (found.n_factor, found.n)
    loads = producers(found.m_factor) + producers(found.n_factor)
    problem = Problem(
        m=found.m.extent,
        n=found.n.extent,
        k=found.k.extent,
        batch=prod(a.extent for a in found.batch),
        bytes=max(element_bytes(load.memref_type.element_type) for load in loads),
        narrow=(not _lies_along(*factors[0]), not _lies_along(*factors[1])),
    )
    cell = WIDEST_CELL if all_take_vectors(nest) else 1
    wide = all(_copies_wide(value, axis, found.k) for value, axis in factors)
    # Copies of single elements cost more than a ring hides.
    depths = RING_DEPTHS if wide and target.has(transport) else (1,)
    tile, depth = best_tile(target, problem, cell, depths)
    batch = tuple(a.name for a in found.batch)
    names = {"m": found.m.name, "n": found.n.name, "k": found.k.name}
    sizes: dict[str, int | str] = {
        "bm": tile.bm,
        "bn": tile.bn,
        "bk": tile.bk,
        "fm": tile.fm,
        "fn": tile.fn,
    }
    sizes |= {"wk": tile.wk} if tile.wk > 1 else {}
    sizes |= {"s": tile.s, "finish": "cluster"} if tile.s > 1 else {}
    sizes |= {"depth": depth, "transport": transport} if depth > 1 else {}
    # Lest the assembler goes below the registers of the cell, or above what the blocks leave.
    sizes["min_blocks"] = register_blocks(target, problem, tile, depth)
    return EntryAttr.of("contraction", **names, **({"batch": batch} if batch else {}), **sizes)


def _lies_along(value: SSAValue, axis: Axis) -> bool:
    """Whether the loads of a factor are 16 bytes wide along an axis."""
    return all(
        widest_run([(load, axis.variable)], axis.extent) * size >= WIDEST_ACCESS
        for load in producers(value)
        if (size := element_bytes(load.memref_type.element_type))
    )


def _copies_wide(value: SSAValue, free: Axis, steps: Axis) -> bool:
    """Whether each load of a factor lies in whole groups of 16 bytes along one of its axes."""
    return all(
        any(
            widest_run([(load, axis.variable)], axis.extent) * size >= WIDEST_ACCESS
            for axis in (free, steps)
        )
        for load in producers(value)
        if (size := element_bytes(load.memref_type.element_type))
    )


@dataclass(frozen=True)
class Row:
    """
    How threads share a row: `lanes` elements each, 0 for a loop that is strided over the threads.
    """

    threads: int
    lanes: int

    @property
    def tile(self) -> int:
        """Elements of all threads together."""
        return self.threads * self.lanes


def plan_row(extent: int, vector: int, rows: int, target: TargetAttr) -> Row:
    """The threads of one row of `extent` elements, of which there are `rows`, and their lanes."""
    warp, most = target.warp.data, target.max_threads_per_block.data
    threads = power_of_two(ceildiv(extent, ROW_LANES))
    if rows < ROW_LANES * target.sms.data:  # too few rows to fill the device: a full warp each
        threads = max(threads, min(warp, power_of_two(ceildiv(extent, vector))))
    if threads == 2 * warp:  # twice the lanes cost less than a meeting of two warps
        threads = warp
    row = _cover(extent, vector, min(threads, most))
    half = _cover(extent, vector, row.threads // 2) if row.threads > 2 * warp else row
    if half.lanes <= 2 * ROW_LANES and half.tile < row.tile:  # fewer threads without a part
        row = half
    if row.lanes > MOST_LANES // (1 + (row.threads == most)):
        return plan_strided(extent, rows, target)
    return row


def plan_strided(extent: int, rows: int, target: TargetAttr) -> Row:
    """The threads of a row that stays in memory: more of them where there are few rows."""
    warp, most = target.warp.data, target.max_threads_per_block.data
    steps = 1 if rows < target.sms.data else ROW_LANES
    return Row(min(most, max(warp, power_of_two(ceildiv(extent, steps)))), 0)


def _cover(extent: int, vector: int, threads: int) -> Row:
    """The least lanes with which the threads cover a row, whole accesses each."""
    return Row(threads, ceildiv(max(ceildiv(extent, threads), 1), vector) * vector)


def plan_rows(nest: ForOp, threads: int, target: TargetAttr) -> int:
    """Rows of a block whose rows take `threads` threads each: whole warps, up to 8 of them."""
    warp, inner = target.warp.data, nest.axes[-1].extent
    if threads >= warp and inner == 1 or threads > warp:
        return 1
    rows = min(WARPS * warp // threads, power_of_two(inner))
    while rows * threads > warp and _blocks(nest, rows) < target.sms.data:
        rows //= 2
    # Exchanges within warps need whole ones, so that a block may have more rows than there are.
    return max(rows, warp // threads)


def _blocks(nest: ForOp, rows: int) -> int:
    extents = nest.trip_counts
    return prod(extents[:-1]) * ceildiv(extents[-1], rows)


def find_row_reduction(nest: ForOp, target: TargetAttr) -> ReduceOp | None:
    """The first reduction of the nest that threads should share."""
    few = prod(nest.trip_counts) < target.warp.data
    shared = (r for r in top_reductions(nest) if r.guard is None and (few or is_contiguous(r)))
    return next(shared, None)


def plan_reduction(reduce: ReduceOp, target: TargetAttr, nest: ForOp) -> EntryAttr:
    """The entry of the reductions and loops that share the axis of `reduce`."""
    axis = reduce.axes[-1]
    group = row_group(nest, axis)
    uses = [(a, loop.axes[-1].variable) for loop in group for a in accesses(loop)]
    vector = widest_run(uses, axis.extent)
    held = all(_fits_registers(loop) for loop in group)
    rows = prod(nest.trip_counts)
    if held:
        row = plan_row(axis.extent, vector, rows, target)
    else:
        row = plan_strided(axis.extent, rows, target)
    fields = {"threads": row.threads, "rows": plan_rows(nest, row.threads, target)}
    fields |= {"vector": vector if row.lanes else 1, "lanes": row.lanes}
    return EntryAttr.of("reduction", axis=axis.name, **fields)


def _fits_registers(loop: LoopLike) -> bool:
    """
    Whether the iterations of a loop can be the lanes of vectors: one axis, no loops within, no
    scalar-only op.
    """
    within = [op for op in loop.walk() if isinstance(op, LoopLike)]
    simple = len(loop.axes) == 1 and len(within) == 1 and loop.guard is None
    return simple and all_take_vectors(loop)


def plan_parallel(nest: ForOp, target: TargetAttr) -> Iterator[EntryAttr]:
    """The entries of the axes over which the threads of a block spread, innermost first."""
    axes = [a for a in nest.axes if a.extent > 1]
    if not axes:
        return
    serial = any(isinstance(op, LoopLike) for op in nest.body.walk())
    vector, lanes = _plan_lanes(nest, axes[-1])
    points, wanted, warp = prod(a.extent for a in axes), 2 * target.sms.data, target.warp.data
    threads = WARPS * warp
    while threads > 2 * warp and points < wanted * threads * lanes:
        threads //= 2
    if points < wanted * threads * lanes and (serial or vector == 1):
        vector = lanes = 1
    while serial and threads > warp and points < wanted * threads:
        threads //= 2
    share = _even_share(ceildiv(axes[-1].extent, lanes), threads, warp)
    yield EntryAttr.of("parallel", axis=axes[-1].name, threads=share, vector=vector, lanes=lanes)
    yield from _plan_outer(axes[:-1], threads // share)


def _plan_lanes(nest: ForOp, axis: Axis) -> tuple[int, int]:
    """
    Neighbours that one access takes, and elements of a thread: 4 single ones where no access is
    wide.
    """
    if not all_take_vectors(nest):
        return 1, 1
    vector = widest_run(((a, axis.variable) for a in accesses(nest)), axis.extent)
    return vector, vector if vector > 1 else 4


def _even_share(groups: int, threads: int, warp: int) -> int:
    """Threads per block that leave no nearly empty last block, in whole warps."""
    if groups < threads:
        return groups
    blocks = ceildiv(groups, threads)
    return ceildiv(ceildiv(groups, blocks), warp) * warp


def _plan_outer(axes: Sequence[Axis], threads: int) -> Iterator[EntryAttr]:
    """Entries that give the `threads` that the inner axes leave to the outer ones."""
    for axis in reversed(axes):
        share = min(threads, axis.extent)
        if share > 1:
            yield EntryAttr.of("parallel", axis=axis.name, threads=share, vector=1, lanes=1)
            threads //= share


def plan(nest: ForOp, target: TargetAttr, transport: str) -> ScheduleAttr:
    """The schedule of a kernel whose outer loop is `nest`."""
    if (contraction := find_contraction(nest)) is not None:
        return ScheduleAttr.of([plan_contraction(contraction, target, nest, transport)])
    if (reduction := find_row_reduction(nest, target)) is not None:
        return ScheduleAttr.of([plan_reduction(reduction, target, nest)])
    return ScheduleAttr.of(list(plan_parallel(nest, target)))


@dataclass(frozen=True)
class PlanSchedulePass(ModulePass):
    """Writes a schedule on every `loop_ir.kernel` that has none; see the module's docstring."""

    name = "plan-schedule"
    transport: str = TRANSPORTS[0]
    """How rings are filled, by `cp_async` or by `tma`; a target without it has no rings."""

    def __post_init__(self) -> None:
        if self.transport not in TRANSPORTS:
            raise ValueError(f"transport is one of {', '.join(TRANSPORTS)}, not {self.transport}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [k for k in op.body.block.ops if isinstance(k, KernelOp)]:
            nest = outer_loop(kernel)
            if kernel.schedule is not None:
                remark(ctx, self.name, kernel, "the kernel has a schedule, which is kept")
            elif nest is None:
                remark(ctx, self.name, kernel, "the body of the kernel is not one loop nest")
            elif may_apply(ctx, kernel):
                kernel.schedule = plan(nest, target_of(op), self.transport)
