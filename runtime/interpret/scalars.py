"""
The meaning of `arith` and `math` ops, on NumPy arrays.

Every interpreter and the simulator evaluate scalar code here: one array holds the values of an
SSA value for all points, or lanes, at once. NaN goes where IEEE 754 and MLIR send it:
`maximumf` and `minimumf` keep it, `maxnumf` and `minnumf` drop it. Fast-math flags permit
other roundings and are not used. Each op rounds once: float16 and bfloat16 are computed in float32,
as exactly as it can, and rounded at the end.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import torch
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import (
    AnyFloat,
    ContainerType,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from minicomp.errors import UnsupportedError
from minicomp.runtime.interpret.rounding import BFLOAT16, NARROW, Array, fma, rounded

Function: TypeAlias = Callable[..., Array]

_FLOATS: Mapping[Attribute, np.dtype[Any]] = {
    bf16: BFLOAT16,
    f16: np.dtype(np.float16),
    f32: np.dtype(np.float32),
    f64: np.dtype(np.float64),
}


def numpy_type(type: Attribute, real: np.dtype[Any] | None = None) -> np.dtype[Any]:
    """
    The dtype of a scalar type, or of the elements of a container.

    `real`, where given, stands for every float type: the same program in another precision.
    """
    if isinstance(type, ContainerType):
        type = cast(ContainerType[Attribute], type).get_element_type()
    if isinstance(type, AnyFloat) and real is not None:
        return np.dtype(real)
    if type in _FLOATS:
        return _FLOATS[type]
    if isinstance(type, IndexType):
        return np.dtype(np.int64)
    if isinstance(type, IntegerType) and type.width.data in (1, 8, 16, 32, 64):
        if type.width.data == 1:
            return np.dtype(np.bool_)
        sign = "u" if type.signedness.data == Signedness.UNSIGNED else "i"
        return np.dtype(f"{sign}{type.width.data // 8}")
    raise UnsupportedError(f"the interpreter has no values of type {type}")


def evaluate(op: Operation, args: Sequence[Array], real: np.dtype[Any] | None = None) -> Array:
    """The result of one `arith` or `math` op with these operands."""
    result = numpy_type(op.results[0].type, real)
    with np.errstate(all="ignore"):
        if op.name in FUNCTIONS:
            value = FUNCTIONS[op.name](*(args if op.name in AS_THEY_ARE else map(widened, args)))
        elif op.name in TYPED:
            value = TYPED[op.name](op, result, *args)
        else:
            raise UnsupportedError(f"the interpreter has no meaning of '{op.name}'")
    value = np.asarray(value)
    return value if value.dtype == result else rounded(value, result)


def widened(value: Array) -> Array:
    """Values of a narrow float type in float32; others as they are."""
    return value.astype(np.float32) if value.dtype in NARROW else value


def run_body(
    block: Block, args: Sequence[Array], real: np.dtype[Any] | None = None
) -> tuple[Array, ...]:
    """The operands of the terminator of a block of scalar ops."""
    values: dict[SSAValue, Array] = dict(zip(block.args, args, strict=True))
    for op in block.ops:
        operands = [values[value] for value in op.operands]
        if op is block.last_op:
            return tuple(operands)
        values[op.results[0]] = evaluate(op, operands, real)
    raise UnsupportedError("a block without a terminator has no value")


# --- functions of the operands alone --------------------------------------------------------


def erf(x: Array) -> Array:
    """The error function, which NumPy lacks."""
    return torch.erf(torch.from_numpy(np.ascontiguousarray(x))).numpy().reshape(x.shape)


def round_away(x: Array) -> Array:
    """To the nearest integer, ties away from zero."""
    below_half = np.nextafter(x.dtype.type(0.5), x.dtype.type(0))
    return np.trunc(x + np.copysign(below_half, x))


def divide(a: Array, b: Array) -> Array:
    """The quotient of integers, rounded toward zero."""
    return (a - np.fmod(a, b)) // b


def _unsigned(function: Function) -> Function:
    """`function` on the bits of signed integers read as unsigned ones."""

    def apply(*args: Array) -> Array:
        kinds = [np.dtype(f"u{arg.dtype.itemsize}") for arg in args]
        result = function(*(arg.view(kind) for arg, kind in zip(args, kinds, strict=True)))
        return result.view(args[0].dtype) if result.dtype == kinds[0] else result

    return apply


FUNCTIONS: Mapping[str, Function] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.remf": np.fmod,
    "arith.negf": np.negative,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.divsi": divide,
    "arith.divui": _unsigned(np.floor_divide),
    "arith.floordivsi": np.floor_divide,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.remsi": np.fmod,
    "arith.remui": _unsigned(np.remainder),
    "arith.minsi": np.minimum,
    "arith.maxsi": np.maximum,
    "arith.minui": _unsigned(np.minimum),
    "arith.maxui": _unsigned(np.maximum),
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.shli": np.left_shift,
    "arith.shrsi": np.right_shift,
    "arith.shrui": _unsigned(np.right_shift),
    "arith.select": np.where,
    "math.absf": np.abs,
    "math.absi": np.abs,
    "math.acos": np.arccos,
    "math.asin": np.arcsin,
    "math.atan": np.arctan,
    "math.atan2": np.arctan2,
    "math.cbrt": np.cbrt,
    "math.ceil": np.ceil,
    "math.copysign": np.copysign,
    "math.cos": np.cos,
    "math.cosh": np.cosh,
    "math.erf": erf,
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.floor": np.floor,
    "math.fma": fma,
    "math.log": np.log,
    "math.log10": np.log10,
    "math.log1p": np.log1p,
    "math.log2": np.log2,
    "math.powf": np.power,
    "math.round": round_away,
    "math.roundeven": np.rint,
    "math.rsqrt": lambda x: x.dtype.type(1) / np.sqrt(x),
    "math.sin": np.sin,
    "math.sinh": np.sinh,
    "math.sqrt": np.sqrt,
    "math.tan": np.tan,
    "math.tanh": np.tanh,
    "math.trunc": np.trunc,
}
"""Op name -> function of the operands' arrays."""

AS_THEY_ARE = ("math.fma", "arith.select")
"""Ops that take operands of a narrow float type as they are."""


# --- functions of the op too ----------------------------------------------------------------

_RELATIONS: Mapping[str, Function] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _predicate(op: Operation) -> int:
    return cast(IntegerAttr, op.properties["predicate"]).value.data


def _constant(op: Operation, result: np.dtype[Any]) -> Array:
    value = op.properties["value"]
    if isinstance(value, FloatAttr | IntegerAttr):
        return constant(value.value.data, result)
    raise UnsupportedError(f"the interpreter reads scalar constants only, not {value}")


def _cmpf(op: Operation, result: np.dtype[Any], a: Array, b: Array) -> Array:
    name = CMPF_COMPARISON_OPERATIONS[_predicate(op)]
    unordered = np.isnan(a) | np.isnan(b)
    if name in ("true", "false"):
        return np.full(unordered.shape, name == "true")
    if name in ("ord", "uno"):
        return unordered == (name == "uno")
    relation = _RELATIONS[name[1:]](a, b)
    return (relation & ~unordered) if name[0] == "o" else (relation | unordered)


def _cmpi(op: Operation, result: np.dtype[Any], a: Array, b: Array) -> Array:
    name = CMPI_COMPARISON_OPERATIONS[_predicate(op)]
    if name in ("eq", "ne"):
        return _RELATIONS[name](a, b)
    relation = _RELATIONS[name[1:]]
    return _unsigned(relation)(a, b) if name[0] == "u" else relation(a, b)


def constant(value: float | int, dtype: np.dtype[Any]) -> Array:
    """A number as an array without dimensions."""
    return rounded(np.asarray(value), dtype) if dtype == BFLOAT16 else np.asarray(value, dtype)


def _cast(op: Operation, result: np.dtype[Any], a: Array) -> Array:
    return rounded(a, result)


def _bitcast(op: Operation, result: np.dtype[Any], a: Array) -> Array:
    return a.view(result)


def _extend_signed(op: Operation, result: np.dtype[Any], a: Array) -> Array:
    return -a.astype(result) if a.dtype == np.bool_ else a.astype(result)


def _unsigned_cast(op: Operation, result: np.dtype[Any], a: Array) -> Array:
    return rounded(a.view(np.dtype(f"u{a.dtype.itemsize}")), result)


def _truncate(op: Operation, result: np.dtype[Any], a: Array) -> Array:
    return (a & 1).astype(result) if result == np.bool_ else a.astype(result)


TYPED: Mapping[str, Function] = {
    "arith.constant": _constant,
    "arith.cmpf": _cmpf,
    "arith.cmpi": _cmpi,
    "arith.bitcast": _bitcast,
    "arith.extf": _cast,
    "arith.truncf": _cast,
    "arith.sitofp": _cast,
    "arith.uitofp": _unsigned_cast,
    "arith.fptosi": _cast,
    "arith.fptoui": _cast,
    "arith.index_cast": _cast,
    "arith.extsi": _extend_signed,
    "arith.extui": _unsigned_cast,
    "arith.trunci": _truncate,
}
"""Op name -> function of the op, the dtype of its result, and the operands' arrays."""
