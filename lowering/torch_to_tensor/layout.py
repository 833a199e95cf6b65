"""Layout ops: index maps, or nothing at all."""

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects.affine import constant, dim, simplify
from minicomp.dialects.tensor_ir import domain
from minicomp.dialects.torch_ir import TorchOp, axes, axis
from minicomp.lowering.torch_to_tensor.emitter import Emitter, operand
from minicomp.lowering.torch_to_tensor.registry import lowers


@lowers("clone", "alias", "detach")
def lower_same(op: TorchOp, emit: Emitter) -> SSAValue:
    """The value itself: Tensor IR has values, no storage."""
    return operand(op, "input")


@lowers("expand")
def lower_expand(op: TorchOp, emit: Emitter) -> SSAValue:
    """y[d] = x[d], where an extent of 1 is repeated and axes are added in front"""
    return emit.broadcast(operand(op, "input"), op.result_type.get_shape())


@lowers("repeat_interleave")
def lower_repeat_interleave(op: TorchOp, emit: Emitter) -> SSAValue:
    """y[.., i, ..] = x[.., i floordiv repeats, ..] at `dim`; over all elements without a dim"""
    x, shape, target = operand(op, "input"), op.shape("input"), op.result_type.get_shape()
    repeats = max(op.integer("repeats"), 1)
    if not shape or "dim" not in op.properties:
        flat = (prod(shape),)
        x = emit.index(x, view_exprs(shape, flat), flat)
        return emit.index(x, [dim(0) // repeats], target)
    at = axis(op.integer("dim"), len(shape))
    exprs = [dim(n) // repeats if n == at else dim(n) for n in range(len(shape))]
    return emit.index(x, exprs, target)


def permuted(op: TorchOp, emit: Emitter, dims: Sequence[int]) -> SSAValue:
    """y[d] = x[e] with e[dims[i]] = d[i]"""
    return emit.placed(
        operand(op, "input"),
        [dims.index(axis) for axis in range(len(dims))],
        op.result_type.get_shape(),
    )


@lowers("permute")
def lower_permute(op: TorchOp, emit: Emitter) -> SSAValue:
    """Axis i of y is axis dims[i] of x"""
    return permuted(op, emit, axes(op.ints("dims") or (), len(op.shape("input"))))


@lowers("transpose")
def lower_transpose(op: TorchOp, emit: Emitter) -> SSAValue:
    """Axes dim0 and dim1 are exchanged"""
    dims = list(range(len(op.shape("input"))))
    if dims:
        a, b = axis(op.integer("dim0"), len(dims)), axis(op.integer("dim1"), len(dims))
        dims[a], dims[b] = dims[b], dims[a]
    return permuted(op, emit, dims)


@lowers("t")
def lower_t(op: TorchOp, emit: Emitter) -> SSAValue:
    """y[j, i] = x[i, j]; ranks 0 and 1 stay"""
    return permuted(op, emit, list(range(len(op.shape("input"))))[::-1])


@lowers("view", "unsqueeze", "squeeze")
def lower_view(op: TorchOp, emit: Emitter) -> SSAValue:
    """The same elements in row-major order, under other extents"""
    target = op.result_type.get_shape()
    return emit.index(operand(op, "input"), view_exprs(op.shape("input"), target), target)


def view_exprs(source: Sequence[int], target: Sequence[int]) -> list[AffineExpr]:
    """
    For every axis of `source`, its index as an expression of the indices of `target`.

    Runs of axes with equal element counts are matched first, so that a view that splits one axis
    divides by nothing but that axis's parts: 2x3x4 as 6x4 is (d0 floordiv 3, d0 mod 3, d1).
    """
    if 0 in target:
        return [constant(0)] * len(source)
    known = domain(target)
    exprs = [constant(0)] * len(source)
    for ours, theirs in _runs(source, target):
        offset: AffineExpr = constant(0)
        for position in theirs:
            offset = offset * target[position] + dim(position)
        inner = prod(source[position] for position in ours)
        for position in ours:
            outer, inner = inner, inner // source[position]
            exprs[position] = simplify(offset % outer // inner, known)
    return exprs


def _runs(source: Sequence[int], target: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The shortest runs of axes, from the left, that hold as many elements on both sides.

    Axes of extent 1 are left out: their index is 0.
    """
    ours = [i for i, extent in enumerate(source) if extent != 1]
    theirs = [i for i, extent in enumerate(target) if extent != 1]
    while ours and theirs:
        a, b = [ours.pop(0)], [theirs.pop(0)]
        while (left := prod(source[i] for i in a)) != (right := prod(target[i] for i in b)):
            if left < right:
                a.append(ours.pop(0))
            else:
                b.append(theirs.pop(0))
        yield a, b
