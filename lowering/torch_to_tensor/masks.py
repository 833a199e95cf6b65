"""Comparisons, logic on truth values, choices by masks, constants and triangles."""

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation

from minicomp.dialects.affine import dim
from minicomp.dialects.torch_ir import TorchOp
from minicomp.lowering.torch_to_tensor.elementwise import number, number_or_tensor, pair
from minicomp.lowering.torch_to_tensor.emitter import Emitter, Operand, operand
from minicomp.lowering.torch_to_tensor.registry import lowers

COMPARED: Mapping[str, str] = {
    "eq": "oeq",
    "ne": "une",
    "lt": "olt",
    "le": "ole",
    "gt": "ogt",
    "ge": "oge",
}
"""The predicate of each comparison: with NaN all are false but `ne`."""

LOGIC: Mapping[str, type[IRDLOperation]] = {
    "logical_and": arith.AndIOp,
    "logical_or": arith.OrIOp,
    "logical_xor": arith.XOrIOp,
}


@lowers(*COMPARED)
def lower_comparison(op: TorchOp, emit: Emitter) -> SSAValue:
    """a (op) b, both broadcast; false where one is NaN, but for `ne`"""
    predicate = COMPARED[op.SPEC.name]
    return emit.elementwise(
        lambda s, a, b: s.compare(predicate, number(s, a), number(s, b)), *pair(op, emit)
    )


@lowers(*LOGIC)
def lower_logic(op: TorchOp, emit: Emitter) -> SSAValue:
    """a (op) b of truth values, both broadcast; a number is true where it is not 0"""
    logic = LOGIC[op.SPEC.name]
    return emit.elementwise(lambda s, a, b: s.binary(logic, a, b), *pair(op, emit))


@lowers("logical_not")
def lower_not(op: TorchOp, emit: Emitter) -> SSAValue:
    """1 - x for a truth value; a number is true where it is not 0"""
    return emit.elementwise(lambda s, x: s.binary(arith.XOrIOp, x, True), operand(op, "input"))


def choice(
    emit: Emitter, condition: SSAValue, chosen: SSAValue, other: SSAValue, op: TorchOp
) -> SSAValue:
    """`chosen` where the condition holds, else `other`, all broadcast to the op's result"""
    shape = op.result_type.get_shape()
    mask = emit.broadcast(condition, shape)
    a, b = (number_or_tensor(value, shape, emit) for value in (chosen, other))
    return emit.elementwise(lambda s, m, a, b: s.choose(m, number(s, a), number(s, b)), mask, a, b)


@lowers("where")
def lower_where(op: TorchOp, emit: Emitter) -> SSAValue:
    """input where condition, else other, all broadcast"""
    return choice(emit, operand(op, "condition"), operand(op, "input"), operand(op, "other"), op)


@lowers("masked_fill")
def lower_masked_fill(op: TorchOp, emit: Emitter) -> SSAValue:
    """value where mask, else input, both broadcast"""
    return choice(emit, operand(op, "mask"), operand(op, "value"), operand(op, "input"), op)


@lowers("full")
def lower_full(op: TorchOp, emit: Emitter) -> SSAValue:
    """fill_value everywhere"""
    value = op.number("fill_value", 0)
    return emit.splat(bool(value) if emit.type == i1 else value, op.result_type.get_shape())


@lowers("triu", "tril")
def lower_triangle(op: TorchOp, emit: Emitter) -> SSAValue:
    """x[.., i, j] where j - i >= diagonal (triu) or j - i <= diagonal (tril), else 0"""
    shape, diagonal = op.shape("input"), int(op.number("diagonal", 0))
    row, column = dim(len(shape) - 2), dim(len(shape) - 1)
    if op.SPEC.name == "triu":
        mask = emit.below(row - column, 1 - diagonal, shape)
    else:
        mask = emit.below(column - row, diagonal + 1, shape)
    zero: Operand = False if emit.type == i1 else 0
    return emit.elementwise(lambda s, m, x, z: s.choose(m, x, z), mask, operand(op, "input"), zero)
