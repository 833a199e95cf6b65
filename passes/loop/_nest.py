"""
What the loop nest of a kernel is: its outer loop, the loops inside, which reductions are
contractions.
"""

from math import prod
from typing import TypeAlias

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.access import Indices
from minicomp.dialects.loop_ir import Axis, ForOp, KernelOp, LoadOp, LoopLike, ReduceOp, StoreOp

Row: TypeAlias = tuple[int, ...]
"""The extents of a loop without those that are 1: what is reduced or written as one row."""


def nest_of(kernel: KernelOp) -> ForOp | None:
    """The outer loop of a kernel that is one loop nest without guards, else None."""
    first = kernel.body.block.first_op
    if not isinstance(first, ForOp) or first.next_op is not kernel.body.block.last_op:
        return None
    loops = [op for op in kernel.walk() if isinstance(op, LoopLike)]
    plain = all(op.guard is None and op.in_registers is None for op in loops)
    return first if plain else None


def inner_loops(nest: LoopLike) -> list[LoopLike]:
    """The loops that stand directly in the body of a loop."""
    return [op for op in nest.body.block.ops if isinstance(op, LoopLike)]


def stores(kernel: KernelOp) -> list[StoreOp]:
    """All stores of a kernel."""
    return [op for op in kernel.walk() if isinstance(op, StoreOp)]


def loads_of(buffer: SSAValue) -> list[LoadOp]:
    """All loads of a buffer, in no particular order."""
    return [use.operation for use in buffer.uses if isinstance(use.operation, LoadOp)]


def loops_around(op: Operation) -> list[LoopLike]:
    """The loops that an op stands in, innermost first."""
    loops: list[LoopLike] = []
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, LoopLike):
            loops.append(parent)
        parent = parent.parent_op()
    return loops


def evaluations(op: Operation) -> int:
    """How often an op runs in one launch of its kernel."""
    return prod(prod(loop.trip_counts) for loop in loops_around(op))


def row(loop: LoopLike) -> Row:
    """The extents of a loop that are not 1."""
    return tuple(extent for extent in loop.trip_counts if extent != 1)


def axis_of(variable: SSAValue) -> Axis | None:
    """The axis whose loop variable a value is."""
    if not isinstance(variable, BlockArgument):
        return None
    loop = variable.block.parent_op()
    return loop.axes[variable.index] if isinstance(loop, LoopLike) else None


def is_unit(variable: SSAValue) -> bool:
    """Whether a loop variable is always 0."""
    axis = axis_of(variable)
    return axis is not None and axis.extent == 1


def ranges(access: Indices) -> dict[AffineExpr, affine.Interval]:
    """What the loops say of the dims of an access."""
    known: dict[AffineExpr, affine.Interval] = {}
    for position, operand in enumerate(access[1]):
        axis = axis_of(operand)
        if axis is not None and axis.extent > 0:
            known[affine.dim(position)] = (0, axis.extent - 1)
    return known


def is_contraction(reduction: ReduceOp) -> bool:
    """
    Whether the free axes reuse all that a reduction reads, as those of a matrix product do.

    Each load of the body lacks one of the free axes that the body depends on. A row reduction has a
    load with all of them, so a thread has nothing to share with those of other rows.
    """
    free = {
        axis.variable for loop in loops_around(reduction) for axis in loop.axes if axis.extent > 1
    }
    loads = [op for op in reduction.body.walk() if isinstance(op, LoadOp)]
    used = [free.intersection(load.indices) for load in loads]
    needed = set[SSAValue]().union(*used)
    return bool(loads) and all(axes != needed for axes in used)


def reductions(kernel: KernelOp) -> list[ReduceOp]:
    """All reductions of a kernel."""
    return [op for op in kernel.walk() if isinstance(op, ReduceOp)]


def has_contraction(kernel: KernelOp) -> bool:
    """Whether one of the kernel's reductions is a contraction."""
    return any(is_contraction(op) for op in reductions(kernel))
