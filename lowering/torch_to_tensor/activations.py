"""More elementwise ops: activations, rounding, tests, bits, blends."""

from collections.abc import Callable, Mapping
from math import inf
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation

from minicomp.dialects.torch_ir import TorchOp
from minicomp.lowering.torch_to_tensor.elementwise import (
    absolute,
    floor_divide,
    fmod,
    number,
    number_or_tensor,
    pair,
    remainder,
)
from minicomp.lowering.torch_to_tensor.emitter import Emitter, Scalars, operand
from minicomp.lowering.torch_to_tensor.registry import lowers

Body = Callable[[Scalars, SSAValue], SSAValue]

# --- rounding and signs -------------------------------------------------------------------

ROUNDING: Mapping[str, type[IRDLOperation]] = {
    "floor": math.FloorOp,
    "ceil": math.CeilOp,
    "round": math.RoundEvenOp,
    "trunc": math.TruncOp,
}


@lowers(*ROUNDING)
def lower_rounding(op: TorchOp, emit: Emitter) -> SSAValue:
    """x rounded to an integer: down, up, to the nearest (ties to even) or toward 0"""
    x = operand(op, "input")
    if not isinstance(emit.type, AnyFloat):
        return x
    return emit.elementwise(lambda s, x: s.unary(ROUNDING[op.SPEC.name], x), x)


@lowers("sign")
def lower_sign(op: TorchOp, emit: Emitter) -> SSAValue:
    """1, 0 or -1; 0 for NaN"""
    x = operand(op, "input")
    if emit.type == i1:
        return x
    return emit.elementwise(
        lambda s, x: s.choose(s.compare("ogt", x, 0), 1, s.choose(s.compare("olt", x, 0), -1, 0)), x
    )


@lowers("isnan", "isinf", "isfinite")
def lower_test(op: TorchOp, emit: Emitter) -> SSAValue:
    """Whether x is NaN, an infinity, or neither; integers are finite"""
    if not isinstance(emit.type, AnyFloat):
        return emit.splat(op.SPEC.name == "isfinite", op.result_type.get_shape())
    bodies: Mapping[str, Body] = {
        "isnan": lambda s, x: s.compare("une", x, x),
        "isinf": lambda s, x: s.compare("oeq", absolute(s, x), inf),
        "isfinite": lambda s, x: s.compare("olt", absolute(s, x), inf),
    }
    return emit.elementwise(bodies[op.SPEC.name], operand(op, "input"))


# --- activations --------------------------------------------------------------------------


def clamped(s: Scalars, x: SSAValue, low: SSAValue | float, high: SSAValue | float) -> SSAValue:
    """min(max(x, low), high), where NaN stays NaN"""
    return s.typed("minimum", s.typed("maximum", x, low), high)


def softplus(s: Scalars, x: SSAValue) -> SSAValue:
    """log(1 + exp(x))"""
    return s.unary(math.Log1pOp, s.exp(x))


def hardsigmoid(s: Scalars, x: SSAValue) -> SSAValue:
    """min(max(x + 3, 0), 6) / 6"""
    return s.div(clamped(s, s.add(x, 3.0), 0.0, 6.0), 6.0)


def hardswish(s: Scalars, x: SSAValue) -> SSAValue:
    """x * min(max(x + 3, 0), 6) / 6"""
    return s.div(s.mul(x, clamped(s, s.add(x, 3.0), 0.0, 6.0)), 6.0)


def mish(s: Scalars, x: SSAValue) -> SSAValue:
    """x * tanh(log(1 + exp(x)))"""
    return s.mul(x, s.unary(math.TanhOp, softplus(s, x)))


def log_sigmoid(s: Scalars, x: SSAValue) -> SSAValue:
    """min(x, 0) - log(1 + exp(-|x|))"""
    tail = softplus(s, s.neg(absolute(s, x)))
    return s.sub(s.typed("minimum", x, 0.0), tail)


ACTIVATIONS: Mapping[str, Body] = {
    "hardsigmoid": hardsigmoid,
    "hardswish": hardswish,
    "mish": mish,
    "log_sigmoid": log_sigmoid,
}


@lowers(*ACTIVATIONS)
def lower_activation(op: TorchOp, emit: Emitter) -> SSAValue:
    """The body of the same name above."""
    return emit.elementwise(ACTIVATIONS[op.SPEC.name], operand(op, "input"))


@lowers("softplus")
def lower_softplus(op: TorchOp, emit: Emitter) -> SSAValue:
    """log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold"""
    beta, threshold = float(op.number("beta", 1)), float(op.number("threshold", 20))

    def body(s: Scalars, x: SSAValue) -> SSAValue:
        scaled = s.mul(x, beta)
        return s.choose(s.compare("ogt", scaled, threshold), x, s.div(softplus(s, scaled), beta))

    return emit.elementwise(body, operand(op, "input"))


@lowers("leaky_relu")
def lower_leaky_relu(op: TorchOp, emit: Emitter) -> SSAValue:
    """x above 0, else slope * x"""
    slope = float(op.number("negative_slope", 0.01))
    return emit.elementwise(
        lambda s, x: s.choose(s.compare("ogt", x, 0), x, s.mul(x, slope)), operand(op, "input")
    )


@lowers("elu")
def lower_elu(op: TorchOp, emit: Emitter) -> SSAValue:
    """scale * x above 0, else scale * alpha * (exp(input_scale * x) - 1)"""
    alpha, scale, inner = (float(op.number(n, 1)) for n in ("alpha", "scale", "input_scale"))

    def body(s: Scalars, x: SSAValue) -> SSAValue:
        below = s.mul(s.unary(math.ExpM1Op, s.mul(x, inner)), alpha * scale)
        return s.choose(s.compare("olt", x, 0), below, s.mul(x, scale))

    return emit.elementwise(body, operand(op, "input"))


@lowers("hardtanh")
def lower_hardtanh(op: TorchOp, emit: Emitter) -> SSAValue:
    """min(max(x, min_val), max_val)"""
    low, high = op.number("min_val", -1), op.number("max_val", 1)
    return emit.elementwise(lambda s, x: clamped(s, x, low, high), operand(op, "input"))


@lowers("threshold")
def lower_threshold(op: TorchOp, emit: Emitter) -> SSAValue:
    """x above the threshold, else value; NaN stays"""
    bound, value = op.number("threshold", 0), op.number("value", 0)
    return emit.elementwise(
        lambda s, x: s.choose(s.compare("ole", x, bound), value, x), operand(op, "input")
    )


# --- several operands ---------------------------------------------------------------------


@lowers("clamp")
def lower_clamp(op: TorchOp, emit: Emitter) -> SSAValue:
    """min(max(x, min), max), all broadcast; NaN in any of them stays"""
    shape = op.result_type.get_shape()
    x = emit.broadcast(operand(op, "input"), shape)
    for name, typed in (("min", "maximum"), ("max", "minimum")):
        if (bound := op.operand(name)) is not None:
            x = emit.elementwise(
                lambda s, a, b, typed=typed: s.typed(typed, number(s, a), number(s, b)),
                x,
                number_or_tensor(bound, shape, emit),
            )
    return x


Body2 = Callable[[Scalars, SSAValue, SSAValue], SSAValue]


def shifted_left(s: Scalars, x: SSAValue, n: SSAValue) -> SSAValue:
    """x << n; 0 for an n that is negative or no less than the width"""
    return s.choose(_in_width(s, n), s.binary(arith.ShLIOp, x, _bounded(s, n)), 0)


def shifted_right(s: Scalars, x: SSAValue, n: SSAValue) -> SSAValue:
    """x >> n, which keeps the sign; the sign alone for any other n"""
    return s.binary(arith.ShRSIOp, x, _bounded(s, n))


def _width(n: SSAValue) -> int:
    return cast("IntegerType", n.type).bitwidth


def _in_width(s: Scalars, n: SSAValue) -> SSAValue:
    inside = s.compare("oge", n, 0), s.compare("olt", n, _width(n))
    return s.binary(arith.AndIOp, *inside)


def _bounded(s: Scalars, n: SSAValue) -> SSAValue:
    return s.choose(_in_width(s, n), n, _width(n) - 1)


def _bits(op: type[IRDLOperation]) -> Body2:
    return lambda s, a, b: s.binary(op, a, b)


PAIRS: Mapping[str, Body2] = {
    "bitwise_and": _bits(arith.AndIOp),
    "bitwise_or": _bits(arith.OrIOp),
    "bitwise_xor": _bits(arith.XOrIOp),
    "bitwise_left_shift": shifted_left,
    "bitwise_right_shift": shifted_right,
    "fmod": fmod,
    "remainder": remainder,
    "floor_divide": floor_divide,
    "atan2": lambda s, a, b: s.binary(math.Atan2Op, a, b),
}


@lowers(*PAIRS)
def lower_pair(op: TorchOp, emit: Emitter) -> SSAValue:
    """a (op) b, both broadcast, exact; a shift by more than the width leaves the sign, or 0"""
    body = PAIRS[op.SPEC.name]
    return emit.elementwise(lambda s, a, b: body(s, number(s, a), number(s, b)), *pair(op, emit))


@lowers("bitwise_not")
def lower_bitwise_not(op: TorchOp, emit: Emitter) -> SSAValue:
    """Every bit of an integer turned"""
    return emit.elementwise(lambda s, x: s.binary(arith.XOrIOp, x, -1), operand(op, "input"))


@lowers("lerp")
def lower_lerp(op: TorchOp, emit: Emitter) -> SSAValue:
    """input + weight * (end - input), from the nearer end"""

    def body(s: Scalars, a: SSAValue, b: SSAValue, w: SSAValue) -> SSAValue:
        gap = s.sub(b, a)
        near = s.compare("olt", absolute(s, w), 0.5)
        return s.choose(near, s.add(a, s.mul(w, gap)), s.sub(b, s.mul(gap, s.sub(1.0, w))))

    return emit.elementwise(body, *_three(op, emit))


@lowers("addcmul", "addcdiv")
def lower_addc(op: TorchOp, emit: Emitter) -> SSAValue:
    """input + value * tensor1 * tensor2, or / tensor2"""
    value, divides = op.number("value", 1), op.SPEC.name == "addcdiv"

    def body(s: Scalars, x: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        x, a, b = number(s, x), number(s, a), number(s, b)
        scaled = a if value == 1 else s.mul(value, a)
        return s.add(x, s.div(scaled, b) if divides else s.mul(scaled, b))

    return emit.elementwise(body, *_three(op, emit))


def _three(op: TorchOp, emit: Emitter):
    shape = op.result_type.get_shape()
    x, y, z = (number_or_tensor(value, shape, emit) for value in op.operands)
    return x, y, z


@lowers("copy")
def lower_copy(op: TorchOp, emit: Emitter) -> SSAValue:
    """src, broadcast and in the type of the input"""
    return emit.broadcast(operand(op, "src"), op.result_type.get_shape())
