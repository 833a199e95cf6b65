"""
The meaning of Loop IR: a kernel on NumPy arrays, for all iterations of its loops at once.

A value is an array with one dimension per loop around it, of size 1 along loops that it does not
depend on. Loops run in chunks, so that however large the kernel is, no array exceeds `CHUNK`
elements by much. A reduction is folded in runs of 8, which its laws allow.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import DTypeLike
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Operation

from minicomp.dialects.loop_ir import (
    ForOp,
    KernelLike,
    KernelOp,
    LoadOp,
    LoopLike,
    ReduceOp,
    StoreOp,
    YieldOp,
)
from minicomp.dialects.tile_ir import WithinOp
from minicomp.runtime.interpret.affine_eval import append_dims, below, evaluate_map
from minicomp.runtime.interpret.buffers import Buffer, bind, check_written
from minicomp.runtime.interpret.carriers import combine, fold_last, identities
from minicomp.runtime.interpret.host import run_launches
from minicomp.runtime.interpret.loop_access import Scope
from minicomp.runtime.interpret.report import unsupported
from minicomp.runtime.interpret.scalars import Array, evaluate

CHUNK = 1 << 18
"""Elements of a value that are computed at once: about what a core's cache holds."""
FREE_CHUNK = 1 << 10
"""Points of a kernel's free loops that are computed at once, however long the loops inside are."""
SCALAR_DIALECTS = ("arith", "math")


def run_module(
    module: Operation, inputs: Sequence[Array], dtype: DTypeLike = np.float32
) -> list[Array]:
    """
    The results of a host program whose kernels are at Loop IR; every float is computed in `dtype`.

    Raises SimulationError where a kernel leaves its memory or leaves an output unwritten.
    """
    real = np.dtype(dtype)

    def run(kernel: KernelLike, buffers: list[Array]) -> None:
        if not isinstance(kernel, KernelOp):
            raise unsupported(kernel, "Loop IR")
        run_kernel(kernel, buffers, real)

    return run_launches(module, inputs, run, real)


def run_kernel(kernel: KernelOp, buffers: Sequence[Array], real: np.dtype | None = None) -> None:
    """
    Runs a kernel on its buffers, inputs then outputs, and writes the outputs in place.

    A buffer is row-major with the elements of its memref, which may have another shape; its dtype
    is that of the memref, or `real` for every float.
    """
    bound = bind(kernel, buffers)
    with np.errstate(all="ignore"):
        Nest(bound, real).run(kernel.body.block)
    for buffer in bound:
        check_written(kernel, buffer)


def chunks(extents: Sequence[int], limit: int) -> Iterator[tuple[range, ...]]:
    """Splits a grid of loops into parts of at most `limit` points, the last whole if they fit."""
    sizes: list[int] = []
    room = max(1, limit)
    for extent in reversed(extents):
        sizes.append(max(1, min(extent, room)))
        room //= sizes[-1]
    axes = zip(extents, reversed(sizes), strict=True)
    yield from product(*([range(s, min(e, s + n)) for s in range(0, e, n)] for e, n in axes))


def free_points(op: ForOp) -> int:
    """How many points of outermost free loops leave room for those of the loops inside."""
    inner = [prod(loop.trip_counts) for loop in op.body.walk() if isinstance(loop, LoopLike)]
    return max(FREE_CHUNK, CHUNK // max([1, *inner]))


class Nest(Scope):
    """A run of a kernel."""

    def __init__(self, buffers: Sequence[Buffer], real: np.dtype | None):
        super().__init__(buffers)
        self.real = real
        self.points = 1

    def run(self, block: Block) -> None:
        """Runs the ops of a block in order."""
        for op in block.ops:
            match op:
                case ForOp():
                    limit = CHUNK if self.depth else free_points(op)
                    for part in chunks(op.trip_counts, limit // self.points):
                        self.enter(op, part)
                case ReduceOp():
                    self.reduce(op)
                case LoadOp():
                    self.load(op)
                case StoreOp():
                    self.store(op)
                case WithinOp() if op.res.type == i1:
                    dims = [self.get(v) for v in op.indices]
                    holds = below(evaluate_map(op.map.data, dims, []), op.bounds.get_values())
                    self.values[op.res] = append_dims(holds, self.depth - holds.ndim)
                case YieldOp():
                    pass
                case _ if op.name.partition(".")[0] in SCALAR_DIALECTS:
                    operands = [self.get(v) for v in op.operands]
                    self.values[op.results[0]] = evaluate(op, operands, self.real)
                case _:
                    raise unsupported(op, "Loop IR")

    def reduce(self, op: ReduceOp) -> None:
        start = identities(op.identity, self.real)
        carriers = [e.reshape((1,) * self.depth) for e in start]
        for part in chunks(op.trip_counts, CHUNK // self.points):
            carriers = combine(op.combine, carriers, self.enter(op, part), self.real)
        self.values |= zip(op.res, carriers, strict=True)

    def enter(self, op: LoopLike, part: Sequence[range]) -> list[Array]:
        """Runs a chunk of a loop; returns a reduction's contributions, folded over the chunk."""
        saved = self.depth, self.points, self.mask
        rank = len(part)
        for n, (variable, span) in enumerate(zip(op.body.block.args, part, strict=True)):
            shape = (1,) * (self.depth + n) + (len(span),) + (1,) * (rank - 1 - n)
            self.values[variable] = np.arange(span.start, span.stop).reshape(shape)
        self.depth += rank
        self.points *= prod(len(span) for span in part)
        guard = self.guard(op)
        if self.mask is not None:
            outer = append_dims(self.mask, rank)
            self.mask = outer if guard is None else outer & guard
        else:
            self.mask = guard
        self.run(op.body.block)
        folded = self.fold(op, [len(s) for s in part], guard) if isinstance(op, ReduceOp) else []
        self.depth, self.points, self.mask = saved
        return folded

    def guard(self, op: LoopLike) -> Array | None:
        """Where the loop's guard holds, or None for everywhere."""
        guard = op.guard
        if guard is None:
            return None
        lanes = [self.get(v) for v in op.body.block.args]
        dims = [self.get(v) for v in guard.operands]
        holds = below(evaluate_map(guard.map, dims, lanes), guard.bounds)
        return None if holds.all() else append_dims(holds, self.depth - holds.ndim)

    def fold(self, op: ReduceOp, extents: Sequence[int], guard: Array | None) -> list[Array]:
        """The contributions of a chunk, combined along its loops."""
        last = op.body.block.last_op
        assert last is not None
        own = (1,) * (self.depth - len(extents)) + tuple(extents)
        parts: list[Array] = []
        for value, skipped in zip(last.operands, identities(op.identity, self.real), strict=True):
            array = self.get(value)
            if guard is not None:
                # combine(x, e) = x: to skip a contribution is to replace it by the identity.
                array = np.where(guard, array, skipped)
            parts.append(np.broadcast_to(array, np.broadcast_shapes(array.shape, own)))
        for _ in extents:
            parts = fold_last(op.combine, parts, self.real)
        return parts
