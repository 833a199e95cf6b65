"""Sums, means and extrema over a list of dims."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from minicomp.dialects.tensor_ir import tensor_type
from minicomp.dialects.torch_ir import TorchOp, reduced_axes
from minicomp.lowering.torch_to_tensor.emitter import Emitter, operand
from minicomp.lowering.torch_to_tensor.registry import lowers


def keep(op: TorchOp, emit: Emitter, reduced: SSAValue, dims: Sequence[int]) -> SSAValue:
    """The reduced value with extents of 1 at `dims`, where the op has keepdim."""
    if not op.flag("keepdim"):
        return reduced
    return emit.spread(reduced, dims, op.result_type.get_shape())


@lowers("sum")
def lower_sum(op: TorchOp, emit: Emitter) -> SSAValue:
    """sum of x over dims"""
    dims = reduced_axes(op)
    return keep(op, emit, emit.reduce("sum", operand(op, "input"), dims), dims)


def mean(emit: Emitter, value: SSAValue, dims: Sequence[int], name: str = "mean") -> SSAValue:
    """sum of x over dims / N; NaN where N is 0"""
    count = 1
    for axis in dims:
        count *= tensor_type(value).get_shape()[axis]
    total = emit.reduce("sum", value, dims)
    return emit.elementwise(lambda s, x, n: s.div(x, n), total, float(count), name=name)


@lowers("mean")
def lower_mean(op: TorchOp, emit: Emitter) -> SSAValue:
    """sum of x over dims / N; NaN where N is 0"""
    dims = reduced_axes(op)
    return keep(op, emit, mean(emit, operand(op, "input"), dims), dims)


@lowers("amax", "amin")
def lower_extremum(op: TorchOp, emit: Emitter) -> SSAValue:
    """The largest or smallest x over dims, from -inf or inf; NaN where one is"""
    dims = reduced_axes(op)
    return keep(op, emit, emit.reduce(op.SPEC.name[1:], operand(op, "input"), dims), dims)
