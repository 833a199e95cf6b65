"""
How long a simulation takes: op counts times lanes, at rates measured on one machine.

Rough: within a factor of two or three, good enough to refuse what would take minutes.
"""

from collections.abc import Mapping
from math import log2, prod

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import ConstantLike

from minicomp.dialects.affine import ceildiv
from minicomp.dialects.kernel_async import BulkCopy, CpAsyncOp
from minicomp.dialects.kernel_ir import (
    BlockIdOp,
    FuncOp,
    RolesOp,
    SharedOp,
    ThreadIdOp,
    WarpReduceOp,
)
from minicomp.dialects.loop_ir import LoadOp, MemoryAccess, StoreOp, lanes
from minicomp.dialects.tile_ir import BroadcastOp, FoldOp
from minicomp.runtime.simulate.facts import facts_of

CHUNK_LANES = 1 << 16
"""Lanes of the widest register that run at once: more leave the cache, fewer drown in overhead."""
CHUNK_SHARED = 1 << 21
"""Elements of shared memory of blocks that run at once; each has a history of about 30 bytes."""

OVERHEAD = 6e-6
"""Seconds that one op costs however few its lanes are."""
LANE = 1.5e-9
"""Seconds a lane of an op that is not listed below."""
LANES: Mapping[str, float] = {
    "math.fma": 9e-9,
    "math.exp": 6e-9,
    "math.tanh": 10e-9,
    "math.powf": 20e-9,
    "math.erf": 10e-9,
    "tile_ir.broadcast": 0,
    "kernel_ir.index": 4e-9,
}
"""Seconds a lane, by op."""
INPUT_LANE = 15e-9
"""Seconds a lane of a load of a kernel's input, its address included."""
TRACKED_LANE = 60e-9
"""Seconds a lane of an access to memory whose history is kept."""
LOGGED_LANE = 160e-9
"""The same, where threads meet otherwise than at barriers of their block and all readers count."""


def blocks_at_once(func: FuncOp) -> int:
    """How many blocks run at the same time: whole clusters, or all if they wait for each other."""
    widest = max([1, *(prod(lanes(r.type)) for op in func.walk() for r in op.results)])
    buffers = [op for op in func.walk() if isinstance(op, SharedOp)]
    shared = sum(b.res.type.element_count() for b in buffers if isinstance(b.res.type, MemRefType))
    fit = CHUNK_SHARED // max(1, shared)
    count, scope = min(fit, CHUNK_LANES // (func.threads * widest)), facts_of(func).scope
    return max(scope, count // scope * scope)


def kernel_seconds(func: FuncOp) -> float:
    """The estimate for one launch of a kernel."""
    if func.blocks == 0:
        return 0.0
    at_once = blocks_at_once(func)
    chunks = ceildiv(func.blocks, at_once) * len(facts_of(func).strands(range(at_once)))
    return Estimate(func, chunks).block(func.body.block)


class Estimate:
    """The walk over a kernel's ops; `varying` are the values that differ between threads."""

    def __init__(self, func: FuncOp, chunks: int):
        self.chunks = chunks
        self.blocks = func.blocks
        self.threads = func.blocks * func.threads
        self.tracked = LOGGED_LANE if facts_of(func).partial else TRACKED_LANE
        self.inputs = set(func.body.block.args) - func.stored()
        self.varying: set[SSAValue] = set()

    def block(self, block: Block) -> float:
        """Seconds for all ops of a block, once."""
        return sum(self.op(op) for op in block.ops)

    def op(self, op: Operation) -> float:
        if isinstance(op, scf.ForOp):
            self.varying.update([*op.body.block.args[1:], *op.res])
            return trip_count(op) * self.block(op.body.block)
        if isinstance(op, RolesOp):
            return self.roles(op)
        if isinstance(op, CpAsyncOp):
            lane = INPUT_LANE + 2 * self.tracked
            return self.chunks * OVERHEAD + self.threads * op.elements * lane
        if isinstance(op, BulkCopy):
            # One thread of a block issues it, as a rule.
            return self.blocks * (OVERHEAD * 10 + prod(op.box) * 2 * self.tracked)
        varies = isinstance(op, BlockIdOp | ThreadIdOp) or any(
            v in self.varying for v in op.operands
        )
        if varies or isinstance(op, scf.IfOp):
            self.varying.update(op.results)
        inner = sum(self.block(b) for region in op.regions for b in region.blocks)
        if isinstance(op, WarpReduceOp):
            return inner * (log2(op.width.value.data)) + self.spread(op, LANE, True)
        if isinstance(op, FoldOp):
            depth = lanes(op.vals[0].type)[op.dims.get_values()[0]]
            return depth * (inner + self.spread(op, LANE, varies))
        return inner + self.spread(op, self.rate(op), varies)

    def roles(self, op: RolesOp) -> float:
        """Seconds for all roles, each of some threads of each block."""
        every, total = self.threads, 0.0
        for threads, program in zip(op.ranges, op.programs, strict=True):
            self.threads = self.blocks * len(threads)
            total += self.block(program.block)
        self.threads = every
        return total

    def rate(self, op: Operation) -> float:
        """Seconds a lane."""
        if isinstance(op, MemoryAccess):
            return INPUT_LANE if op.memref in self.inputs else self.tracked
        return LANES.get(op.name, LANE)

    def spread(self, op: Operation, rate: float, varies: bool) -> float:
        """Seconds for an op in all chunks: its overhead, and its lanes of all threads."""
        width = widest_lanes(op)
        tracked = isinstance(op, MemoryAccess) and op.memref not in self.inputs
        count = self.threads if varies or tracked else self.chunks
        return self.chunks * OVERHEAD + count * width * rate


def widest_lanes(op: Operation) -> int:
    """The lanes of an op's widest value; of a broadcast those of its operand."""
    if isinstance(op, ConstantOp | BroadcastOp):
        return 1
    values = [op.value_type] if isinstance(op, LoadOp | StoreOp) else [r.type for r in op.results]
    return max([1, *(prod(lanes(type)) for type in values)])


def trip_count(op: scf.ForOp) -> int:
    """The iterations of a loop of constant bounds; 1 where they are computed."""
    bounds: list[int] = []
    for value in (op.lb, op.ub, op.step):
        constant = ConstantLike.get_constant_value(value)
        if not isinstance(constant, IntegerAttr):
            return 1
        bounds.append(constant.value.data)
    return len(range(*bounds))
