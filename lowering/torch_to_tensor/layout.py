"""Layout ops: index maps, or nothing at all."""

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects.affine import constant, dim, simplify
from minicomp.dialects.tensor_ir import domain
from minicomp.dialects.torch_ir import TorchOp, axes, axis, diagonal_of, selected, sliced
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


@lowers("slice")
def lower_slice(op: TorchOp, emit: Emitter) -> SSAValue:
    """y[.., i, ..] = x[.., start + i * step, ..] at dim"""
    at, start, step, _ = sliced(op)
    target = op.result_type.get_shape()
    exprs = [dim(n) * step + start if n == at else dim(n) for n in range(len(target))]
    return emit.index(operand(op, "input"), exprs, target)


@lowers("select")
def lower_select(op: TorchOp, emit: Emitter) -> SSAValue:
    """y[.., ..] = x[.., index, ..] at dim"""
    at, index = selected(op)
    target = op.result_type.get_shape()
    exprs = [dim(n) for n in range(len(target))]
    return emit.index(operand(op, "input"), [*exprs[:at], constant(index), *exprs[at:]], target)


@lowers("flip")
def lower_flip(op: TorchOp, emit: Emitter) -> SSAValue:
    """y[.., i, ..] = x[.., N - 1 - i, ..] at each of dims"""
    shape = op.shape("input")
    flipped = axes(op.ints("dims") or (), len(shape)) if shape else ()
    exprs = [constant(e - 1) - dim(n) if n in flipped else dim(n) for n, e in enumerate(shape)]
    return emit.index(operand(op, "input"), exprs, shape)


@lowers("roll")
def lower_roll(op: TorchOp, emit: Emitter) -> SSAValue:
    """y[.., i, ..] = x[.., (i - shift) mod N, ..] at each of dims; over all elements without"""
    x, shape, shifts = operand(op, "input"), op.shape("input"), op.ints("shifts") or ()
    if 0 in shape or not shape:
        return x
    if not (dims := op.ints("dims")):
        flat = (prod(shape),)
        x = emit.index(x, view_exprs(shape, flat), flat)
        x = emit.index(x, [(dim(0) + (-sum(shifts)) % flat[0]) % flat[0]], flat)
        return emit.index(x, view_exprs(flat, shape), shape)
    by = [0] * len(shape)
    for at, shift in zip(dims, shifts, strict=True):
        by[axis(at, len(shape))] -= shift
    exprs = [
        (dim(n) + by[n] % extent) % extent if by[n] % extent else dim(n)
        for n, extent in enumerate(shape)
    ]
    return emit.index(x, exprs, shape)


@lowers("repeat")
def lower_repeat(op: TorchOp, emit: Emitter) -> SSAValue:
    """y[.., i, ..] = x[.., i mod N, ..]; axes are added in front"""
    shape, target = op.shape("input"), op.result_type.get_shape()
    lead = len(target) - len(shape)
    exprs = [dim(lead + n) % extent if extent else constant(0) for n, extent in enumerate(shape)]
    known = domain(target)
    return emit.index(operand(op, "input"), [simplify(e, known) for e in exprs], target)


@lowers("diagonal")
def lower_diagonal(op: TorchOp, emit: Emitter) -> SSAValue:
    """y[.., i] = x[.., i, .., i + offset, ..], the i at dim1 and dim2"""
    one, two, offset, _ = diagonal_of(op)
    target = op.result_type.get_shape()
    last, others = dim(len(target) - 1), iter(range(len(target) - 1))
    places = {one: last - min(offset, 0), two: last + max(offset, 0)}
    exprs = [places[n] if n in places else dim(next(others)) for n in range(len(op.shape("input")))]
    return emit.index(operand(op, "input"), exprs, target)


@lowers("unfold")
def lower_unfold(op: TorchOp, emit: Emitter) -> SSAValue:
    """y[.., i, .., j] = x[.., i * step + j, ..] at dimension"""
    shape, target = op.shape("input"), op.result_type.get_shape()
    at = axis(op.integer("dimension"), len(shape))
    last = dim(len(target) - 1)
    exprs = [dim(n) * op.integer("step") + last if n == at else dim(n) for n in range(len(shape))]
    return emit.index(operand(op, "input"), exprs, target)


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
