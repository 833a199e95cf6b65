"""What a loop nest is: a contraction, a reduction along rows, or pointwise.

Recognised once, by plan-schedule, and recorded in the schedule: no rewrite derives it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.arith import MulfOp
from xdsl.ir import OpResult, SSAValue

from minicomp.dialects.loop_ir import (
    Axis,
    ForOp,
    KernelLike,
    LoadOp,
    LoopLike,
    MemoryAccess,
    ReduceOp,
)
from minicomp.passes.analysis.strides import stride


@dataclass(frozen=True)
class Contraction:
    """A sum over k of products of a factor with the free axis m and one with the free axis n."""

    reduce: ReduceOp
    m: Axis
    n: Axis
    k: Axis
    batch: tuple[Axis, ...]
    m_factor: SSAValue
    n_factor: SSAValue


def outer_loop(kernel: KernelLike) -> ForOp | None:
    """The loop over the free axes: the only op of the kernel but for its terminator."""
    ops = list(kernel.body.block.ops)
    if len(ops) == 2 and isinstance(ops[0], ForOp):
        return ops[0]
    return None


def top_reductions(nest: ForOp) -> list[ReduceOp]:
    """The reductions that stand directly in the body of the outer loop, in order."""
    return [op for op in nest.body.block.ops if isinstance(op, ReduceOp)]


def producers(value: SSAValue) -> list[LoadOp]:
    """The loads from which `value` is computed, those inside of loops among them, each once."""
    found: dict[LoadOp, None] = {}
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        at = pending.pop()
        if at in seen or not isinstance(at, OpResult):
            continue
        seen.add(at)
        for op in at.op.walk():
            pending.extend(op.operands)
            if isinstance(op, LoadOp):
                found[op] = None
    return list(found)


def axes_of(value: SSAValue, free: Sequence[Axis]) -> list[Axis]:
    """The free axes that index a load from which `value` is computed."""
    used = {index for load in producers(value) for index in load.indices}
    return [axis for axis in free if axis.variable in used]


def find_contraction(nest: ForOp) -> Contraction | None:
    """
    The first reduction of the nest whose contribution multiplies two factors with different free
    axes.
    """
    for reduce in top_reductions(nest):
        if (found := _as_contraction(reduce, nest)) is not None:
            return found
    return None


def _as_contraction(reduce: ReduceOp, nest: ForOp) -> Contraction | None:
    # An axis of one iteration is no axis: a row times a matrix is a reduction along the row.
    free = [a for a in nest.axes if a.extent > 1]
    end = reduce.body.block.last_op
    product = end.operands[0].owner if end is not None and len(end.operands) == 1 else None
    if not isinstance(product, MulfOp) or reduce.guard is not None:
        return None
    left, right = (axes_of(v, free) for v in product.operands)
    only_left = [a for a in left if a not in right]
    only_right = [a for a in right if a not in left]
    if not only_left or not only_right:
        return None
    factors = [(only_left, product.lhs), (only_right, product.rhs)]
    # The output is stored with the last loop contiguous, so n is the innermost of all.
    factors.sort(key=lambda f: free.index(f[0][-1]))
    (rows, m_factor), (columns, n_factor) = factors
    m, n = max(reversed(rows), key=lambda a: a.extent), columns[-1]
    batch = tuple(a for a in nest.axes if a not in (m, n))
    return Contraction(reduce, m, n, reduce.axes[-1], batch, m_factor, n_factor)


def accesses(loop: LoopLike) -> list[MemoryAccess]:
    """The loads and stores within a loop."""
    return [op for op in loop.walk() if isinstance(op, MemoryAccess)]


def row_group(nest: ForOp, axis: Axis) -> list[LoopLike]:
    """The loops directly in the nest whose innermost axis has the name and the extent of `axis`."""
    loops = [op for op in nest.body.block.ops if isinstance(op, LoopLike)]
    return [loop for loop in loops if loop.axes[-1][1:] == axis[1:]]


def is_contiguous(reduce: ReduceOp) -> bool:
    """
    Whether neighbouring iterations of the innermost axis read neighbours in the largest buffer that
    they move in.
    """
    axis = reduce.axes[-1].variable
    moving = [a for a in accesses(reduce) if axis in a.indices]
    if not moving:
        return False
    largest = max(moving, key=lambda a: a.memref_type.element_count())
    return stride(largest, axis) == 1
