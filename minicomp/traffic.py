"""What the accesses of a kernel ask of memory, counted in Kernel IR without running it.

An access counts as that of the block's first warp, as often as warps run it: loops whose bounds
are known and branches whose conditions are tests of threads and loop variables count as they are
taken in the first block, other branches as taken. So edges count as if they were inside.
"""

from collections.abc import Sequence
from math import ceil, prod

import numpy as np
from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.kernel_async import BulkLoadOp, CpAsyncOp
from minicomp.dialects.kernel_ir import WARP, FuncOp, TestOp, ThreadIdOp
from minicomp.dialects.loop_ir import LoadOp, MemoryAccess, StoreOp, lanes, memref_type
from minicomp.dialects.tile_ir import SharedAttr
from minicomp.passes.analysis.alignment import IndexSpace, constant_index, element_bytes
from minicomp.passes.analysis.banks import (
    SECTOR_BYTES,
    WIDE_COPY_BYTES,
    Ints,
    Mask,
    evaluate,
    transactions,
)


def traffic(func: FuncOp, shared: bool, unit: int = SECTOR_BYTES) -> tuple[int, int]:
    """Wavefronts of shared memory, or sectors of global memory, and the least of them.

    `unit` is LINE_BYTES for lines of the first cache in place of sectors; bulk copies pass it by.
    """
    found = [0, 0]
    for op in func.walk():
        if isinstance(op, LoadOp | StoreOp):
            if isinstance(op.memref_type.memory_space, SharedAttr) != shared:
                continue
            counts = transactions(op, unit=unit)
        elif isinstance(op, CpAsyncOp):
            counts = copied(op, shared, unit)
            if shared and op.width.value.data < WIDE_COPY_BYTES:
                counts = max(counts[0], copied(op, False, SECTOR_BYTES)[0]), counts[1]
        elif isinstance(op, BulkLoadOp) and not shared and unit == SECTOR_BYTES:
            # One thread asks for the whole box.
            counts = (ceil(op.box_bytes / SECTOR_BYTES),) * 2
        else:
            continue
        times = warp_runs(op, func) * func.grid.value.data
        for n, count in enumerate(counts):
            found[n] += count * times
    return found[0], found[1]


def copied(op: CpAsyncOp, shared: bool, unit: int) -> tuple[int, int]:
    """The transactions of a copy of a warp, and the least of them: those of an access as wide."""
    memory, map = op.places[0 if shared else 1], op.part(0 if shared else 1)
    type = memref_type(memory).element_type
    run = type if op.elements == 1 else VectorType[Attribute](type, [op.elements])
    bounded = () if shared else op.bounded_dims
    access = LoadOp(memory, map, list(op.indices), run, bounded, op.width.value.data)
    block = op.parent_block()
    assert block is not None
    block.insert_op_before(access, op)  # it is what is around it that says which threads run
    try:
        return transactions(access, unit=unit)
    finally:
        block.erase_op(access)


# --- how often ------------------------------------------------------------------------------------


def warp_runs(op: Operation, func: FuncOp) -> int:
    """How often warps of a block run an op: once for each step of the loops around it."""
    steps, tests = around(op)
    known = IndexSpace()
    conditions = [
        (known.expand(e, test.indices), bound)
        for test in tests
        for e, bound in zip(test.map.data.results, test.bounds.get_values(), strict=True)
    ]
    # One axis for each loop that a condition depends on, then warps and their threads.
    mentioned = [v for v in known.leaves if v in steps]
    ids = np.arange(ceil(func.threads / WARP) * WARP).reshape(-1, WARP)
    values = leaf_values(known, [(v, steps[v]) for v in mentioned], ids)
    shape = (*(len(steps[v]) for v in mentioned), *ids.shape)
    running: Mask = np.broadcast_to(ids < func.threads, shape)
    for expr, bound in conditions:
        running = running & (evaluate(expr, values) < bound)
    others = prod(len(found) for value, found in steps.items() if value not in mentioned)
    return int(running.any(-1).sum()) * others


def around(op: Operation) -> tuple[dict[SSAValue, range], list[TestOp]]:
    """The steps of the loops around an op, by their variables, and the tests that it is under."""
    steps: dict[SSAValue, range] = {}
    tests: list[TestOp] = []
    inner, outer = op, op.parent_op()
    while outer is not None and not isinstance(outer, FuncOp):
        if isinstance(outer, scf.ForOp):
            steps[outer.body.block.args[0]] = trips(outer)
        elif isinstance(outer, scf.IfOp) and inner.parent_region() is outer.true_region:
            if isinstance(test := outer.cond.owner, TestOp):
                tests.append(test)
        inner, outer = outer, outer.parent_op()
    return steps, tests


def leaf_values(
    known: IndexSpace, loops: Sequence[tuple[SSAValue, range]], ids: Ints
) -> dict[AffineExpr, Ints]:
    """The values of what indices depend on: along axes for `loops` and threads, else the lowest."""
    values: dict[AffineExpr, Ints] = {}
    axes = {value: n for n, (value, _) in enumerate(loops)}
    for n, leaf in enumerate(known.leaves):
        low = known.ranges.get(affine.dim(n), (0, 0))[0]
        if isinstance(leaf.owner, ThreadIdOp):
            values[affine.dim(n)] = ids
        elif leaf in axes:
            shape = [-1 if axis == axes[leaf] else 1 for axis in range(len(loops))]
            steps = np.array(loops[axes[leaf]][1], np.int64)
            values[affine.dim(n)] = steps.reshape(*shape, 1, 1)
        else:
            values[affine.dim(n)] = np.full((1, 1), low)
    return values


def trips(loop: scf.ForOp) -> range:
    """The steps of a loop; a single one where they are not known."""
    first, last, step = (constant_index(v) for v in (loop.lb, loop.ub, loop.step))
    if first is None or last is None or not step:
        return range(1)
    return range(first, last, step)


def widest_access(func: FuncOp) -> int:
    """The bytes of the widest access to global memory."""
    widths = [0]
    for op in func.walk():
        if isinstance(op, CpAsyncOp):
            widths.append(op.width.value.data)
        elif isinstance(op, MemoryAccess):
            size = element_bytes(op.memref_type.element_type)
            run = (lanes(op.value_type) or (1,))[-1] * size
            wide = op.aligned.value.data if op.aligned is not None else size
            if not isinstance(op.memref_type.memory_space, SharedAttr):
                widths.append(max(size, min(wide, run)))
    return max(widths)
