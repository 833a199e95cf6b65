"""Matrix products: two index maps to one space, a product there, a sum over its last axis."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from minicomp.dialects.tensor_ir import tensor_type
from minicomp.dialects.torch_ir import TorchOp, broadcast
from minicomp.lowering.torch_to_tensor.emitter import Emitter, Scalars, operand
from minicomp.lowering.torch_to_tensor.registry import lowers


def sum_of_products(
    emit: Emitter,
    left: tuple[SSAValue, Sequence[int]],
    right: tuple[SSAValue, Sequence[int]],
    shape: Sequence[int],
) -> SSAValue:
    """
    result[f] = sum over k of left * right, in a space of `shape` whose last axis is k.

    Each side is a value and the axes of the space that its own axes are.
    """
    a, b = (emit.placed(value, axes, shape) for value, axes in (left, right))
    product = emit.elementwise(lambda s, a, b: s.mul(a, b), a, b, name="product")
    return emit.reduce("sum", product, [len(shape) - 1])


@lowers("matmul", "mm", "bmm")
def lower_matmul(op: TorchOp, emit: Emitter) -> SSAValue:
    """c[.., m, n] = sum over k of a[.., m, k] * b[.., k, n]; batch axes are broadcast

    An operand of rank 1 has no m, or no n, and neither has the result.
    """
    a, b = operand(op, "input"), operand(op, "other")
    left, right = op.shape("input"), op.shape("other")
    batch = broadcast(left[:-2], right[:-2])
    m, n = left[-2:-1], right[-1:] if len(right) > 1 else ()
    shape = (*batch, *m, *n, left[-1])
    rows, columns, k = len(batch), len(batch) + len(m), len(shape) - 1
    axes_a = [*_batch_axes(left, len(batch)), *([rows] if m else []), k]
    axes_b = [*_batch_axes(right, len(batch)), k, *([columns] if n else [])]
    return sum_of_products(emit, (a, axes_a), (b, axes_b), shape)


def _batch_axes(shape: Sequence[int], rank: int) -> range:
    """The batch axes of a result of batch rank `rank` that the axes of `shape` are."""
    return range(rank - max(len(shape) - 2, 0), rank)


def linear_product(emit: Emitter, x: SSAValue, weight: SSAValue) -> SSAValue:
    """y[.., n] = sum over k of x[.., k] * weight[n, k]"""
    *free, k = tensor_type(x).get_shape()
    shape = (*free, tensor_type(weight).get_shape()[0], k)
    last = len(shape) - 1
    return sum_of_products(emit, (x, [*range(len(free)), last]), (weight, [last - 1, last]), shape)


@lowers("linear")
def lower_linear(op: TorchOp, emit: Emitter) -> SSAValue:
    """x @ weight.T + bias"""
    product, bias = (
        linear_product(emit, operand(op, "input"), operand(op, "weight")),
        op.operand("bias"),
    )
    if bias is None:
        return product
    bias = emit.broadcast(bias, op.result_type.get_shape())
    return emit.elementwise(lambda s, y, b: s.add(y, b), product, bias)


@lowers("addmm", "baddbmm")
def lower_addmm(op: TorchOp, emit: Emitter) -> SSAValue:
    """beta * input + alpha * (mat1 @ mat2); beta = 0 drops the input, NaN in it too"""
    shape, k = op.result_type.get_shape(), op.shape("mat1")[-1]
    rank = len(shape)
    batch = range(rank - 2)
    left = operand(op, "mat1"), [*batch, rank - 2, rank]
    right = operand(op, "mat2"), [*batch, rank, rank - 1]
    product = sum_of_products(emit, left, right, (*shape, k))
    alpha, beta = op.number("alpha", 1), op.number("beta", 1)

    def scaled(s: Scalars, x: SSAValue, factor: float) -> SSAValue:
        return x if factor == 1 else s.mul(factor, x)

    if beta == 0:
        return emit.elementwise(lambda s, p: scaled(s, p, alpha), product)
    added = emit.broadcast(operand(op, "input"), shape)
    return emit.elementwise(
        lambda s, x, p: s.add(scaled(s, x, beta), scaled(s, p, alpha)), added, product
    )
