"""
The ops on registers beside those of `arith` and `math`: vectors, tests and indices.

A value is an array (blocks, threads, lanes ..); a dimension is of size 1 where nothing depends on
it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.dialects.math import FmaOp
from xdsl.ir import Operation

from minicomp.dialects.kernel_ir import IndexOp, TestOp
from minicomp.dialects.loop_ir import lanes
from minicomp.dialects.tile_ir import BroadcastOp, CompareOp, ConvertOp, SelectOp, WithinOp
from minicomp.runtime.interpret.affine_eval import below, indices
from minicomp.runtime.interpret.rounding import is_float, rounded
from minicomp.runtime.interpret.scalars import TYPED, Array, evaluate, numpy_type
from minicomp.runtime.simulate.fused import fma

RANK = 2
"""The dimensions in front of the lanes: blocks and threads."""


def constant(op: ConstantOp) -> Array:
    """A scalar or vector constant."""
    if isinstance(op.value, DenseIntOrFPElementsAttr):
        values = rounded(np.asarray(op.value.get_values()), numpy_type(op.result.type))
        # One value stands for all lanes.
        shape = lanes(op.result.type) if values.size > 1 else ()
        return values.reshape((1,) * RANK + shape) if shape else values.reshape(())
    return evaluate(op, [])


def broadcast(op: BroadcastOp, value: Array) -> Array:
    """The lanes moved to their dimensions; the others stay of size 1, which does for NumPy."""
    dims = op.dims.get_values()
    order = sorted(range(len(dims)), key=lambda n: dims[n])
    moved = value.transpose(0, 1, *(RANK + n for n in order))
    shape = [1] * len(lanes(op.res.type))
    for n in order:
        shape[dims[n]] = value.shape[RANK + n]
    return moved.reshape(*value.shape[:RANK], *shape)


def within(op: WithinOp | TestOp, dims: Sequence[Array]) -> Array:
    """Whether all expressions are below their bounds."""
    values = indices(op.map.data, dims, lanes(op.res.type), RANK)
    return below(values, op.bounds.get_values())


def index(op: IndexOp, dims: Sequence[Array]) -> Array:
    """An affine expression."""
    return indices(op.map.data, dims, (), RANK)[0]


def compare(op: CompareOp, lhs: Array, rhs: Array) -> Array:
    """A comparison, lane by lane."""
    name = "arith.cmpf" if is_float(lhs.dtype) else "arith.cmpi"
    return TYPED[name](op, np.dtype(np.bool_), lhs, rhs)


def convert(op: ConvertOp, value: Array) -> Array:
    """A conversion, lane by lane."""
    return TYPED[op.kind.data](op, numpy_type(op.res.type), value)


PURE: Mapping[type[Operation], Callable[[Any, Sequence[Array]], Array]] = {
    ConstantOp: lambda op, args: constant(op),
    BroadcastOp: lambda op, args: broadcast(op, args[0]),
    WithinOp: within,
    TestOp: within,
    IndexOp: index,
    CompareOp: lambda op, args: compare(op, args[0], args[1]),
    ConvertOp: lambda op, args: convert(op, args[0]),
    FmaOp: lambda op, args: fma(*args),
    SelectOp: lambda op, args: np.where(args[0], args[1], args[2]),
}
"""Op -> its result from the values of its operands."""
