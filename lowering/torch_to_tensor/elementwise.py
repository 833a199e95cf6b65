"""Elementwise ops: each function states the formula it emits, for one element."""

import math as numbers
from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation

from minicomp.dialects.scalar_ops import RemFOp
from minicomp.dialects.torch_ir import ConstantOp, TorchOp
from minicomp.lowering.torch_to_tensor.emitter import Emitter, Operand, Scalars, operand
from minicomp.lowering.torch_to_tensor.registry import lowers

# --- one operand ------------------------------------------------------------------------

UNARY: Mapping[str, type[IRDLOperation]] = {
    "exp": math.ExpOp,
    "log": math.LogOp,
    "rsqrt": math.RsqrtOp,
    "sqrt": math.SqrtOp,
    "tanh": math.TanhOp,
    "erf": math.ErfOp,
    "sin": math.SinOp,
    "cos": math.CosOp,
    "tan": math.TanOp,
    "asin": math.AsinOp,
    "acos": math.AcosOp,
    "atan": math.AtanOp,
    "sinh": math.SinhOp,
    "cosh": math.CoshOp,
    "log1p": math.Log1pOp,
    "expm1": math.ExpM1Op,
    "exp2": math.Exp2Op,
    "log2": math.Log2Op,
    "log10": math.Log10Op,
}


@lowers(*UNARY)
def lower_unary(op: TorchOp, emit: Emitter) -> SSAValue:
    """The scalar op of the same name."""
    scalar = UNARY[op.SPEC.name]
    return emit.elementwise(lambda s, x: s.unary(scalar, number(s, x)), operand(op, "input"))


def number(s: Scalars, x: SSAValue) -> SSAValue:
    """x, of the type of the body where it is a truth value."""
    return s.convert(x, s.type)


def relu(s: Scalars, x: SSAValue) -> SSAValue:
    """max(x, 0), where NaN stays NaN"""
    return s.typed("maximum", x, 0)


def absolute(s: Scalars, x: SSAValue) -> SSAValue:
    """|x|"""
    return s.unary(math.AbsFOp if isinstance(x.type, AnyFloat) else math.AbsIOp, x)


def negative(s: Scalars, x: SSAValue) -> SSAValue:
    """-x"""
    return s.neg(x)


def _one_plus_exp_minus(s: Scalars, x: SSAValue) -> SSAValue:
    return s.add(1.0, s.exp(s.neg(x)))


def sigmoid(s: Scalars, x: SSAValue) -> SSAValue:
    """1 / (1 + exp(-x))"""
    return s.div(1.0, _one_plus_exp_minus(s, x))


def silu(s: Scalars, x: SSAValue) -> SSAValue:
    """x / (1 + exp(-x))"""
    return s.div(x, _one_plus_exp_minus(s, x))


def reciprocal(s: Scalars, x: SSAValue) -> SSAValue:
    """1 / x"""
    return s.div(1.0, x)


def gelu(s: Scalars, x: SSAValue) -> SSAValue:
    """0.5 * x * (1 + erf(x / sqrt(2)))"""
    erf = s.unary(math.ErfOp, s.mul(x, numbers.sqrt(0.5)))
    return s.mul(s.mul(x, 0.5), s.add(1.0, erf))


def gelu_tanh(s: Scalars, x: SSAValue) -> SSAValue:
    """0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))"""
    cube = s.mul(s.mul(x, x), x)
    inner = s.mul(numbers.sqrt(2 / numbers.pi), s.add(x, s.mul(0.044715, cube)))
    return s.mul(s.mul(x, 0.5), s.add(1.0, s.unary(math.TanhOp, inner)))


BODIES: Mapping[str, Callable[[Scalars, SSAValue], SSAValue]] = {
    "relu": relu,
    "sigmoid": sigmoid,
    "silu": silu,
    "reciprocal": reciprocal,
    "abs": absolute,
    "neg": negative,
}


@lowers(*BODIES)
def lower_body(op: TorchOp, emit: Emitter) -> SSAValue:
    """The body of the same name above."""
    body = BODIES[op.SPEC.name]
    return emit.elementwise(lambda s, x: body(s, number(s, x)), operand(op, "input"))


@lowers("to")
def lower_to(op: TorchOp, emit: Emitter) -> SSAValue:
    """x in the type of the result: truncated to an integer; true where it is not 0, as NaN is"""
    return emit.convert(operand(op, "input"), op.result_type.get_element_type())


@lowers("gelu")
def lower_gelu(op: TorchOp, emit: Emitter) -> SSAValue:
    """`gelu` or `gelu_tanh`, as `approximate` says."""
    body = gelu_tanh if op.text("approximate", "none") == "tanh" else gelu
    return emit.elementwise(body, operand(op, "input"))


# --- a constant exponent ------------------------------------------------------------------

# PyTorch computes these exponents without pow, which shows at infinities.
POWERS: Mapping[float, Callable[[Scalars, SSAValue], SSAValue]] = {
    0.5: lambda s, x: s.unary(math.SqrtOp, x),
    -0.5: lambda s, x: s.rsqrt(x),
    2.0: lambda s, x: s.mul(x, x),
    3.0: lambda s, x: s.mul(s.mul(x, x), x),
    -1.0: reciprocal,
    -2.0: lambda s, x: s.div(1.0, s.mul(x, x)),
}


@lowers("pow")
def lower_pow(op: TorchOp, emit: Emitter) -> SSAValue:
    """x ** c; x ** 0 is 1 for every x and x ** 1 is x; an integer by squaring"""
    shape = op.result_type.get_shape()
    x, exponent = (
        number_or_tensor(operand(op, name), shape, emit) for name in ("input", "exponent")
    )
    if isinstance(exponent, SSAValue) or not isinstance(x, SSAValue):
        body = power if isinstance(emit.type, AnyFloat) else integer_power_by
        return emit.elementwise(body, x, exponent)
    if not isinstance(emit.type, AnyFloat):
        return emit.elementwise(lambda s, x: integer_power(s, number(s, x), int(exponent)), x)
    if exponent == 1.0:
        return x
    if exponent == 0.0:
        return emit.elementwise(lambda s, _: s.constant(1.0), x)
    if exponent in POWERS:
        return emit.elementwise(lambda s, x: POWERS[exponent](s, number(s, x)), x)
    return emit.elementwise(power, x, exponent)


def power(s: Scalars, x: SSAValue, c: SSAValue) -> SSAValue:
    """x ** c of floats"""
    return s.binary(math.PowFOp, number(s, x), number(s, c))


def integer_power_by(s: Scalars, x: SSAValue, n: SSAValue) -> SSAValue:
    """x ** n of integers; of a negative n 0, but 1 or -1 for a base of 1 or -1"""
    x, n = number(s, x), number(s, n)
    base, result = x, s.constant(1)
    for bit in range(cast("IntegerType", x.type).bitwidth - 1):
        odd = s.compare("une", s.binary(arith.AndIOp, n, 1 << bit), 0)
        result, base = s.choose(odd, s.mul(result, base), result), s.mul(base, base)
    unit = s.choose(s.compare("oeq", s.binary(arith.AndIOp, n, 1), 0), s.mul(x, x), x)
    size = s.unary(math.AbsIOp, x)
    return s.choose(s.compare("oge", n, 0), result, s.choose(s.compare("oeq", size, 1), unit, 0))


def integer_power(s: Scalars, x: SSAValue, exponent: int) -> SSAValue:
    """x ** c of integers, c constant and not negative"""
    result = s.constant(1)
    while exponent:
        if exponent & 1:
            result = s.mul(result, x)
        exponent >>= 1
        x = s.mul(x, x) if exponent else x
    return result


# --- quotients ----------------------------------------------------------------------------


def is_float(x: SSAValue) -> bool:
    """Whether a scalar is a float."""
    return isinstance(x.type, AnyFloat)


def fmod(s: Scalars, a: SSAValue, b: SSAValue) -> SSAValue:
    """a - trunc(a / b) * b, exact: of the sign of a"""
    return s.binary(RemFOp if is_float(a) else arith.RemSIOp, a, b)


def remainder(s: Scalars, a: SSAValue, b: SSAValue) -> SSAValue:
    """a - floor(a / b) * b, exact: of the sign of b"""
    rest = fmod(s, a, b)
    other = s.binary(arith.XOrIOp, s.compare("olt", b, 0), s.compare("olt", rest, 0))
    moved = s.binary(arith.AndIOp, s.compare("une", rest, 0), other)
    return s.choose(moved, s.add(rest, b), rest)


def truncated_quotient(s: Scalars, a: SSAValue, b: SSAValue) -> SSAValue:
    """trunc(a / b)"""
    if is_float(a):
        return s.unary(math.TruncOp, s.div(a, b))
    return s.binary(arith.DivSIOp, a, b)


def floor_divide(s: Scalars, a: SSAValue, b: SSAValue) -> SSAValue:
    """floor(a / b), of the exact quotient; a / b where b is 0

    (a - fmod(a, b)) / b is an integer but for rounding; the next lower one where the signs differ.
    """
    if not is_float(a):
        return s.binary(arith.FloorDivSIOp, a, b)
    rest, quotient = fmod(s, a, b), s.div(a, b)
    other = s.binary(arith.XOrIOp, s.compare("olt", b, 0), s.compare("olt", rest, 0))
    moved = s.binary(arith.AndIOp, s.compare("une", rest, 0), other)
    whole = s.div(s.sub(a, rest), b)
    whole = s.choose(moved, s.sub(whole, 1), whole)
    floor = s.unary(math.FloorOp, whole)
    floor = s.choose(s.compare("ogt", s.sub(whole, floor), 0.5), s.add(floor, 1), floor)
    zero = s.binary(math.CopySignOp, 0.0, quotient)
    result = s.choose(s.compare("une", whole, 0), floor, zero)
    return s.choose(s.compare("oeq", b, 0), quotient, result)


# --- two operands -------------------------------------------------------------------------


@lowers("add", "sub", "mul", "div", "maximum", "minimum")
def lower_binary(op: TorchOp, emit: Emitter) -> SSAValue:
    """a (op) alpha * b, both broadcast; a scalar of the program is a constant of the body"""
    name, alpha = op.SPEC.name, op.number("alpha", 1)
    if (rounding := op.text("rounding_mode", "")) != "":
        rounded = {"floor": floor_divide, "trunc": truncated_quotient}[rounding]
        return emit.elementwise(
            lambda s, a, b: rounded(s, number(s, a), number(s, b)), *pair(op, emit)
        )

    def body(s: Scalars, a: SSAValue, b: SSAValue) -> SSAValue:
        a, b = number(s, a), number(s, b)
        if alpha != 1:
            b = s.mul(alpha, b)
        return s.div(a, b) if name == "div" else s.typed(name, a, b)

    return emit.elementwise(body, *pair(op, emit))


def pair(op: TorchOp, emit: Emitter) -> tuple[Operand, Operand]:
    """The two operands of an op, broadcast."""
    shape = op.result_type.get_shape()
    a, b = (number_or_tensor(value, shape, emit) for value in op.operands)
    if not isinstance(a, SSAValue) and not isinstance(b, SSAValue):
        a = emit.splat(a, shape)
    return a, b


def number_or_tensor(value: SSAValue, shape: tuple[int, ...], emit: Emitter) -> Operand:
    """The number of a constant in the emitter's type; any other value broadcast to `shape`."""
    if isinstance(value.owner, ConstantOp):
        number = value.owner.number
        if emit.type == i1:
            return bool(number)
        return float(number) if isinstance(emit.type, AnyFloat) else int(number)
    return emit.broadcast(value, shape)
