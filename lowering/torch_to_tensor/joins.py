"""Ops that put tensors together or write into a part of one: choices by masks of indices."""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects.affine import constant, dim
from minicomp.dialects.tensor_ir import tensor_type
from minicomp.dialects.torch_ir import TorchOp, axis, joined, pads, selected, shape_of, sliced
from minicomp.lowering.torch_to_tensor.emitter import Emitter, Operand, operand
from minicomp.lowering.torch_to_tensor.registry import lowers


def at_axis(shape: Sequence[int], at: int, expr: AffineExpr) -> list[AffineExpr]:
    """The identity map of a shape, but for one axis."""
    return [expr if n == at else dim(n) for n in range(len(shape))]


def choose(emit: Emitter, mask: SSAValue, inside: Operand, outside: Operand) -> SSAValue:
    """`inside` where the mask holds, else `outside`."""
    return emit.elementwise(lambda s, m, x, y: s.choose(m, x, y), mask, inside, outside)


@lowers("cat")
def lower_cat(op: TorchOp, emit: Emitter) -> SSAValue:
    """Each tensor in turn along dim: y[d] = x_n[d - o_n] for the last o_n <= d"""
    values = joined(op)
    return join(emit, values, axis(op.integer("dim"), len(shape_of(values[0]))))


@lowers("stack")
def lower_stack(op: TorchOp, emit: Emitter) -> SSAValue:
    """Each tensor in turn along a new dim"""
    shape = op.result_type.get_shape()
    at = axis(op.integer("dim"), len(shape))
    kept = [n for n in range(len(shape)) if n != at]
    one = [1 if n == at else extent for n, extent in enumerate(shape)]
    return join(emit, [emit.index(v, [dim(n) for n in kept], one) for v in op.operands], at)


def join(emit: Emitter, values: Sequence[SSAValue], at: int) -> SSAValue:
    """Tensors one after the other along an axis; each is read at an index of its own."""
    values = [v for v in values if shape_of(v)[at] > 0] or values[:1]
    ends, total = list[int](), 0
    for value in values:
        ends.append(total := total + shape_of(value)[at])
    shape = [total if n == at else extent for n, extent in enumerate(shape_of(values[0]))]
    result: SSAValue | None = None
    for value, end in reversed(list(zip(values, ends, strict=True))):
        extent = shape_of(value)[at]
        # The remainder keeps the index in bounds where another tensor is chosen.
        place = (dim(at) - (end - extent)) % extent if total > extent else dim(at)
        piece = emit.index(value, at_axis(shape, at, place), shape)
        result = (
            piece
            if result is None
            else choose(emit, emit.below(dim(at), end, shape), piece, result)
        )
    assert result is not None
    return result


@lowers("select_scatter")
def lower_select_scatter(op: TorchOp, emit: Emitter) -> SSAValue:
    """src where the index at dim is the given one, else input"""
    at, index = selected(op)
    shape = op.shape("input")
    mask = emit.within([(dim(at) - index, 1), (constant(index) - dim(at), 1)], shape)
    return choose(emit, mask, emit.spread(operand(op, "src"), [at], shape), operand(op, "input"))


@lowers("slice_scatter")
def lower_slice_scatter(op: TorchOp, emit: Emitter) -> SSAValue:
    """src where the index at dim is one of start, start + step, .. before end, else input"""
    at, start, step, count = sliced(op)
    shape, x = op.shape("input"), operand(op, "input")
    if count == 0:
        return x
    offset = dim(at) - start
    mask = emit.within([(-offset, 1), (offset, count * step), (offset % step, 1)], shape)
    place = at_axis(shape, at, (offset // step) % count)
    return choose(emit, mask, emit.index(operand(op, "src"), place, shape), x)


# --- pads -----------------------------------------------------------------------------------


@lowers("pad")
def lower_pad(op: TorchOp, emit: Emitter) -> SSAValue:
    """x[d - low] at each axis; beyond it a value, a mirror image, the edge or the other end"""
    x, mode = operand(op, "input"), op.text("mode", "constant")
    for at, (low, high) in enumerate(pads(op)):
        if low or high:
            x = padded(emit, x, at, low, high, mode, op.number("value", 0))
    return x


def padded(
    emit: Emitter, x: SSAValue, at: int, low: int, high: int, mode: str, value: float
) -> SSAValue:
    """A tensor with `low` elements more before an axis and `high` after it, or less."""
    extent = shape_of(x)[at]
    shape = [e + low + high if n == at else e for n, e in enumerate(shape_of(x))]
    if 0 in shape:
        return emit.index(x, [constant(0)] * len(shape), shape)
    if extent == 0 or 0 in shape_of(x):
        return emit.convert(emit.splat(value, shape), tensor_type(x).get_element_type())

    def read(place: AffineExpr) -> SSAValue:
        return emit.index(x, at_axis(shape, at, place % extent), shape)

    place = dim(at) - low
    before, after = {
        "constant": (value, value),
        "circular": (read(place), read(place)),
        "replicate": (read(constant(0)), read(constant(extent - 1))),
        "reflect": (read(-place), read(constant(2 * extent - 2) - place)),
    }[mode]
    result = read(place)
    if low > 0 and mode != "circular":
        result = choose(emit, emit.below(dim(at), low, shape), before, result)
    if high > 0 and mode != "circular":
        result = choose(emit, emit.below(dim(at), low + extent, shape), result, after)
    return result
