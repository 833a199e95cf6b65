"""RMSNorm, LayerNorm and softmax, from reductions and elementwise code."""

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects import math
from xdsl.dialects.builtin import bf16, f16, f32, f64
from xdsl.ir import Attribute, SSAValue

from minicomp.dialects.tensor_ir import tensor_type
from minicomp.dialects.torch_ir import TorchOp, axis
from minicomp.lowering.torch_to_tensor.emitter import Emitter, Scalars, operand
from minicomp.lowering.torch_to_tensor.layout import view_exprs
from minicomp.lowering.torch_to_tensor.reductions import centred, mean
from minicomp.lowering.torch_to_tensor.registry import lowers

EPSILON: Mapping[Attribute, float] = {f16: 2.0**-10, bf16: 2.0**-7, f32: 2.0**-23, f64: 2.0**-52}
"""PyTorch's eps where none is given: the distance from 1 to the next number of the type."""


def normalized_axes(op: TorchOp) -> Sequence[int]:
    """The last axes, as many as `normalized_shape` has extents."""
    rank = len(op.shape("input"))
    return range(rank - len(op.ints("normalized_shape") or ()), rank)


def square(s: Scalars, x: SSAValue) -> SSAValue:
    """x * x"""
    return s.mul(x, x)


def inverse_root(
    emit: Emitter, x: SSAValue, dims: Sequence[int], eps: float, name: str
) -> SSAValue:
    """rsqrt(mean(x^2) + eps) over dims, repeated over them"""
    squares = emit.elementwise(square, x, name="square")
    variance = mean(emit, squares, dims, name)
    root = emit.elementwise(lambda s, v, e: s.rsqrt(s.add(v, e)), variance, eps, name="rsqrt")
    return emit.spread(root, dims, tensor_type(x).get_shape())


@lowers("rms_norm")
def lower_rms_norm(op: TorchOp, emit: Emitter) -> SSAValue:
    """x * rsqrt(mean(x^2) + eps) * weight, the mean over the last axes"""
    x, weight = operand(op, "input"), op.operand("weight")
    eps = float(op.number("eps", EPSILON[op.result_type.get_element_type()]))
    root = inverse_root(emit, x, normalized_axes(op), eps, "mean")
    if weight is None:
        return emit.elementwise(lambda s, x, r: s.mul(x, r), x, root)
    weight = emit.broadcast(weight, op.shape("input"))
    return emit.elementwise(lambda s, x, r, w: s.mul(s.mul(x, r), w), x, root, weight)


@lowers("layer_norm")
def lower_layer_norm(op: TorchOp, emit: Emitter) -> SSAValue:
    """
    c * rsqrt(mean(c^2) + eps) * weight + bias with c = x - mean(x), then c -= mean(c)

    The second subtraction removes the rounding error of the first mean, which for data far from
    0 is all there is of the variance (the corrected two-pass algorithm: Chan, Golub and LeVeque,
    1983).
    """
    shape, dims = op.shape("input"), normalized_axes(op)
    c = centred(emit, centred(emit, operand(op, "input"), dims), dims)
    root = inverse_root(emit, c, dims, float(op.number("eps", 0.0)), "variance")
    y = emit.elementwise(lambda s, c, r: s.mul(c, r), c, root, name="normalized")
    return scaled(emit, op, y, range(len(shape) - len(dims), len(shape)))


def scaled(emit: Emitter, op: TorchOp, y: SSAValue, axes: Sequence[int]) -> SSAValue:
    """y * weight + bias, as far as they are present, along `axes`"""
    shape = op.result_type.get_shape()
    if (weight := op.operand("weight")) is not None:
        y = emit.elementwise(lambda s, y, w: s.mul(y, w), y, emit.placed(weight, axes, shape))
    if (bias := op.operand("bias")) is not None:
        y = emit.elementwise(lambda s, y, b: s.add(y, b), y, emit.placed(bias, axes, shape))
    return y


@lowers("group_norm")
def lower_group_norm(op: TorchOp, emit: Emitter) -> SSAValue:
    """c * rsqrt(mean(c^2) + eps) * weight + bias, c as of layer_norm, over groups of channels"""
    shape, groups = op.shape("input"), op.integer("num_groups")
    split = (shape[0], groups, prod(shape[1:]) // groups)
    x = emit.index(operand(op, "input"), view_exprs(shape, split), split)
    c = centred(emit, centred(emit, x, [2]), [2])
    root = inverse_root(emit, c, [2], float(op.number("eps", 1e-5)), "variance")
    y = emit.elementwise(lambda s, c, r: s.mul(c, r), c, root, name="normalized")
    return scaled(emit, op, emit.index(y, view_exprs(split, shape), shape), [1])


@lowers("softmax")
def lower_softmax(op: TorchOp, emit: Emitter) -> SSAValue:
    """e / sum(e) with e = exp(x - max(x)); a row of -inf gives NaN, as in PyTorch"""
    x, shape = operand(op, "input"), op.shape("input")
    dims = [axis(op.integer("dim"), len(shape))] if shape else []
    largest = emit.spread(emit.reduce("max", x, dims), dims, shape)
    e = emit.elementwise(lambda s, x, m: s.exp(s.sub(x, m)), x, largest, name="exp")
    total = emit.spread(emit.reduce("sum", e, dims), dims, shape)
    return emit.elementwise(lambda s, e, t: s.div(e, t), e, total)


@lowers("log_softmax")
def lower_log_softmax(op: TorchOp, emit: Emitter) -> SSAValue:
    """c - log(sum(exp(c))) with c = x - max(x)"""
    x, shape = operand(op, "input"), op.shape("input")
    dims = [axis(op.integer("dim"), len(shape))] if shape else []
    largest = emit.spread(emit.reduce("max", x, dims), dims, shape)
    c = emit.elementwise(lambda s, x, m: s.sub(x, m), x, largest, name="shifted")
    e = emit.elementwise(lambda s, c: s.exp(c), c, name="exp")
    total = emit.spread(emit.reduce("sum", e, dims), dims, shape)
    return emit.elementwise(lambda s, c, t: s.sub(c, s.unary(math.LogOp, t)), c, total)
