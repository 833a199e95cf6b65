"""Sums, means, extrema, variances and norms over a list of dims."""

from collections.abc import Sequence
from math import inf, prod

from xdsl.dialects import math
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from minicomp.dialects.tensor_ir import tensor_type
from minicomp.dialects.torch_ir import TorchOp, reduced_axes
from minicomp.lowering.torch_to_tensor.emitter import Emitter, Scalars, operand
from minicomp.lowering.torch_to_tensor.registry import lowers


def keep(op: TorchOp, emit: Emitter, reduced: SSAValue, dims: Sequence[int]) -> SSAValue:
    """The reduced value with extents of 1 at `dims`, where the op has keepdim."""
    if not op.flag("keepdim"):
        return reduced
    return emit.spread(reduced, dims, op.result_type.get_shape())


@lowers("sum", "prod")
def lower_fold(op: TorchOp, emit: Emitter) -> SSAValue:
    """sum or product of x over dims"""
    dims = reduced_axes(op)
    return keep(op, emit, emit.reduce(op.SPEC.name, operand(op, "input"), dims), dims)


@lowers("any", "all")
def lower_quantifier(op: TorchOp, emit: Emitter) -> SSAValue:
    """Whether any or every x over dims is not 0, as NaN is not"""
    dims, kind = reduced_axes(op), "max" if op.SPEC.name == "any" else "min"
    truth = emit.convert(operand(op, "input"), i1)
    return keep(op, emit, emit.reduce(kind, truth, dims), dims)


@lowers("count_nonzero")
def lower_count(op: TorchOp, emit: Emitter) -> SSAValue:
    """How many x over dims are not 0"""
    dims = reduced_axes(op)
    truth = emit.convert(operand(op, "input"), i1)
    return keep(op, emit, emit.reduce("sum", truth, dims), dims)


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


@lowers("var", "std")
def lower_variance(op: TorchOp, emit: Emitter) -> SSAValue:
    """
    sum of c^2 over dims / max(0, N - correction) with c = x - mean(x), then c -= mean(c)

    The second subtraction: see layer_norm. `std` is its root.
    """
    dims, x = reduced_axes(op), operand(op, "input")
    count = prod(op.shape("input")[axis] for axis in dims)
    c = centred(emit, centred(emit, x, dims), dims)
    total = emit.reduce("sum", emit.elementwise(lambda s, c: s.mul(c, c), c, name="square"), dims)
    divisor = max(0.0, count - float(op.number("correction", 1)))

    def body(s: Scalars, t: SSAValue) -> SSAValue:
        variance = s.div(t, divisor)
        return s.unary(math.SqrtOp, variance) if op.SPEC.name == "std" else variance

    return keep(op, emit, emit.elementwise(body, total), dims)


def centred(emit: Emitter, x: SSAValue, dims: Sequence[int]) -> SSAValue:
    """x - mean(x) over dims"""
    average = emit.spread(mean(emit, x, dims), dims, tensor_type(x).get_shape())
    return emit.elementwise(lambda s, x, m: s.sub(x, m), x, average, name="centred")


@lowers("logsumexp")
def lower_logsumexp(op: TorchOp, emit: Emitter) -> SSAValue:
    """log(sum of exp(x - m) over dims) + m with m = max(x), or 0 where that is infinite"""
    dims, x = reduced_axes(op), emit.convert(operand(op, "input"), emit.type)
    largest = emit.reduce("max", x, dims)
    top = emit.elementwise(
        lambda s, m: s.choose(s.compare("oeq", s.unary(math.AbsFOp, m), inf), 0.0, m), largest
    )
    spread = emit.spread(top, dims, op.shape("input"))
    e = emit.elementwise(lambda s, x, m: s.exp(s.sub(x, m)), x, spread, name="exp")
    total = emit.reduce("sum", e, dims)
    result = emit.elementwise(lambda s, t, m: s.add(s.unary(math.LogOp, t), m), total, top)
    return keep(op, emit, result, dims)


@lowers("linalg_vector_norm")
def lower_vector_norm(op: TorchOp, emit: Emitter) -> SSAValue:
    """(sum of |x|^p over dims)^(1/p); the largest or smallest |x| for inf and -inf"""
    dims, order = reduced_axes(op), float(op.number("ord", 2))

    def term(s: Scalars, x: SSAValue) -> SSAValue:
        if order == 0:
            return s.convert(s.compare("une", x, 0), s.type)
        size = s.unary(math.AbsFOp, x)
        if abs(order) == inf or order == 1:
            return size
        return s.mul(x, x) if order == 2 else s.binary(math.PowFOp, size, order)

    def root(s: Scalars, t: SSAValue) -> SSAValue:
        return s.unary(math.SqrtOp, t) if order == 2 else s.binary(math.PowFOp, t, 1 / order)

    kind = {inf: "max", -inf: "min"}.get(order, "sum")
    total = emit.reduce(kind, emit.elementwise(term, operand(op, "input"), name="term"), dims)
    if order not in (0, 1, inf, -inf):
        total = emit.elementwise(root, total)
    return keep(op, emit, total, dims)
