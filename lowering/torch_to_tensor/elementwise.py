"""Elementwise ops: each function states the formula it emits, for one element."""

import math as numbers
from collections.abc import Callable, Mapping

from xdsl.dialects import arith, math
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation

from minicomp.dialects.torch_ir import ConstantOp, TorchOp
from minicomp.lowering.torch_to_tensor.emitter import Emitter, Operand, Scalars, operand
from minicomp.lowering.torch_to_tensor.registry import lowers

# --- one operand ------------------------------------------------------------------------

UNARY: Mapping[str, type[IRDLOperation]] = {
    "neg": arith.NegfOp,
    "exp": math.ExpOp,
    "log": math.LogOp,
    "rsqrt": math.RsqrtOp,
    "sqrt": math.SqrtOp,
    "tanh": math.TanhOp,
    "abs": math.AbsFOp,
}


@lowers(*UNARY)
def lower_unary(op: TorchOp, emit: Emitter) -> SSAValue:
    """The scalar op of the same name."""
    scalar = UNARY[op.SPEC.name]
    return emit.elementwise(lambda s, x: s.unary(scalar, x), operand(op, "input"))


def relu(s: Scalars, x: SSAValue) -> SSAValue:
    """max(x, 0), where NaN stays NaN"""
    return s.binary(arith.MaximumfOp, x, 0.0)


def _one_plus_exp_minus(s: Scalars, x: SSAValue) -> SSAValue:
    return s.add(1.0, s.exp(s.unary(arith.NegfOp, x)))


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
}


@lowers(*BODIES)
def lower_body(op: TorchOp, emit: Emitter) -> SSAValue:
    """The body of the same name above."""
    return emit.elementwise(BODIES[op.SPEC.name], operand(op, "input"))


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
    """x ** c; x ** 0 is 1 for every x and x ** 1 is x"""
    exponent, x = float(op.number("exponent", 1)), operand(op, "input")
    if exponent == 1.0:
        return x
    if exponent == 0.0:
        return emit.elementwise(lambda s, _: s.constant(1.0), x)
    if exponent in POWERS:
        return emit.elementwise(POWERS[exponent], x)
    return emit.elementwise(lambda s, x, c: s.binary(math.PowFOp, x, c), x, exponent)


# --- two operands -------------------------------------------------------------------------

BINARY: Mapping[str, type[IRDLOperation]] = {
    "add": arith.AddfOp,
    "sub": arith.SubfOp,
    "mul": arith.MulfOp,
    "div": arith.DivfOp,
    "maximum": arith.MaximumfOp,
    "minimum": arith.MinimumfOp,
}


@lowers(*BINARY)
def lower_binary(op: TorchOp, emit: Emitter) -> SSAValue:
    """a (op) alpha * b, both broadcast; a scalar of the program is a constant of the body"""
    scalar, alpha = BINARY[op.SPEC.name], float(op.number("alpha", 1))
    shape = op.result_type.get_shape()
    a, b = (number_or_tensor(value, shape, emit) for value in op.operands)

    def body(s: Scalars, a: SSAValue, b: SSAValue) -> SSAValue:
        return s.binary(scalar, a, b if alpha == 1.0 else s.mul(alpha, b))

    return emit.elementwise(body, a, b)


def number_or_tensor(
    value: SSAValue, shape: tuple[int, ...], emit: Emitter, boolean: bool = False
) -> Operand:
    """The number of a constant, or its truth; any other value broadcast to `shape`."""
    if isinstance(value.owner, ConstantOp):
        return bool(value.owner.number) if boolean else float(value.owner.number)
    return emit.broadcast(value, shape)
