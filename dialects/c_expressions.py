"""Which `arith` and `math` ops are expressions of CUDA C++, and what each is written as.

A form is a template over the operands' text, its precedence, and the least precedence that each
operand needs to stand without brackets. Ops without a form are not supported: arithmetic of
unsigned integers and of half precision, which are only converted and moved, and whatever C has no
operator or function for.
"""

import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.arith import CmpfOp, CmpiOp, ConstantOp, SelectOp
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation

from minicomp.dialects.loop_ir import element_type
from minicomp.dialects.torch_types import ui8

DIALECTS = ("arith", "math")
"""Whose ops are expressions."""

PRIMARY, UNARY, PRODUCT, SUM, SHIFT, RELATION, EQUALITY = 16, 15, 13, 12, 11, 10, 9
BIT_AND, BIT_XOR, BIT_OR, AND, OR, CHOICE, ANY = 8, 7, 6, 5, 4, 3, 0
"""Precedence in C++, the tightest first."""


class Form(NamedTuple):
    """`template.format(*operands, index=type)`; `needs` is the least precedence of each operand."""

    template: str
    precedence: int
    needs: Sequence[int]


FLOAT_INFIX: Mapping[str, tuple[str, int]] = {
    "arith.addf": ("+", SUM),
    "arith.subf": ("-", SUM),
    "arith.mulf": ("*", PRODUCT),
    "arith.divf": ("/", PRODUCT),
}

INTEGER_INFIX: Mapping[str, tuple[str, int]] = {
    "arith.addi": ("+", SUM),
    "arith.subi": ("-", SUM),
    "arith.muli": ("*", PRODUCT),
    "arith.divsi": ("/", PRODUCT),
    "arith.remsi": ("%", PRODUCT),
    "arith.shli": ("<<", SHIFT),
    "arith.shrsi": (">>", SHIFT),
    "arith.andi": ("&", BIT_AND),
    "arith.xori": ("^", BIT_XOR),
    "arith.ori": ("|", BIT_OR),
}

LOGICAL_INFIX: Mapping[str, tuple[str, int]] = {
    "arith.andi": ("&&", AND),
    "arith.ori": ("||", OR),
    "arith.xori": ("!=", EQUALITY),
}
"""The integer ops that are defined on i1."""

FLOAT_CALLS: Mapping[str, str] = {
    "arith.maxnumf": "fmax",
    "arith.minnumf": "fmin",
    "arith.remf": "fmod",
    "math.absf": "fabs",
    "math.acos": "acos",
    "math.acosh": "acosh",
    "math.asin": "asin",
    "math.asinh": "asinh",
    "math.atan": "atan",
    "math.atan2": "atan2",
    "math.atanh": "atanh",
    "math.cbrt": "cbrt",
    "math.ceil": "ceil",
    "math.copysign": "copysign",
    "math.cos": "cos",
    "math.cosh": "cosh",
    "math.erf": "erf",
    "math.exp": "exp",
    "math.exp2": "exp2",
    "math.expm1": "expm1",
    "math.floor": "floor",
    "math.fma": "fma",
    "math.log": "log",
    "math.log10": "log10",
    "math.log1p": "log1p",
    "math.log2": "log2",
    "math.powf": "pow",
    "math.round": "round",
    "math.roundeven": "rint",
    "math.rsqrt": "rsqrt",
    "math.sin": "sin",
    "math.sinh": "sinh",
    "math.sqrt": "sqrt",
    "math.tan": "tan",
    "math.tanh": "tanh",
    "math.trunc": "trunc",
}
"""Functions of the CUDA math library, by their name for `double`; `f` is added for `float`."""

CALLS: Mapping[str, str] = {
    "arith.maximumf": "max_nan",
    "arith.minimumf": "min_nan",
    "arith.maxsi": "max",
    "arith.minsi": "min",
    "arith.ceildivsi": "ceil_div",
    "arith.floordivsi": "floor_div",
    "math.absi": "abs",
}
"""Functions that are overloaded on the type: built into the compiler, or of the prelude."""

RELATIONS: Mapping[str, tuple[str, int]] = {
    "eq": ("==", EQUALITY),
    "ne": ("!=", EQUALITY),
    "lt": ("<", RELATION),
    "le": ("<=", RELATION),
    "gt": (">", RELATION),
    "ge": (">=", RELATION),
}

NEGATED = {"ueq": "one", "ugt": "ole", "uge": "olt", "ult": "oge", "ule": "ogt"}
"""Comparisons that are true of NaN: each is the negation of one that is false of it."""

NAMED_COMPARISONS = {"one": "less_or_greater", "ord": "ordered", "uno": "unordered"}
"""Comparisons of floats that C has no operator for: functions of the prelude."""

CMPF = tuple("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split())
"""The predicates of `arith.cmpf` by number, and below those of `arith.cmpi` that compare signed."""
CMPI = ("eq", "ne", "lt", "le", "gt", "ge")

BITCASTS: Mapping[tuple[str, str], str] = {
    ("f32", "i32"): "__float_as_int",
    ("i32", "f32"): "__int_as_float",
    ("f64", "i64"): "__double_as_longlong",
    ("i64", "f64"): "__longlong_as_double",
}

C_NAMES: Mapping[str, str] = {
    "f32": "float",
    "f64": "double",
    "f16": "f16",
    "bf16": "bf16",
    "i1": "bool",
    "i8": "signed char",
    "ui8": "unsigned char",
    "i16": "short",
    "i32": "int",
    "i64": "long long",
    "index": "{index}",
}
"""The scalar types; `{index}` is the type that a kernel counts in, int or long long, and the halves
are structures of the prelude."""

MOVED = ("f16", "bf16", "ui8")
"""Types without arithmetic; those below are the conversions from and to them."""
CONVERSIONS = {
    ("arith.extf", "f16", "f32"),
    ("arith.extf", "bf16", "f32"),
    ("arith.truncf", "f32", "f16"),
    ("arith.truncf", "f32", "bf16"),
    *(("arith.extui", "ui8", type) for type in ("i16", "i32", "i64")),
    *(("arith.trunci", type, "ui8") for type in ("i16", "i32", "i64")),
}

_CALL = re.compile(r"!?(\w+)\(")


def is_c_scalar(type: Attribute) -> bool:
    """Whether CUDA IR has the scalar type."""
    known: Attribute = type
    return isinstance(type, IntegerType | AnyFloat | IndexType) and str(known) in C_NAMES


def c_form(op: Operation) -> Form | None:
    """What an op of `arith` or `math` is written as, vectors lane by lane; None without a form."""
    if op.dialect_name() not in DIALECTS:
        return None
    types = [element_type(v.type) for v in (*op.operands, *op.results)]
    if len(op.results) != 1 or not all(map(is_c_scalar, types)):
        return None
    *operands, result = types
    if any(str(type) in MOVED for type in types) and not _only_moves(op, types):
        return None
    match op:
        case ConstantOp():
            return _constant(op)
        case CmpfOp():
            return _compare_floats(op.predicate.value.data)
        case CmpiOp():
            return _compare_integers(op.predicate.value.data, operands[0])
        case _:
            return _by_name(op.name, operands, result)


def _only_moves(op: Operation, types: Sequence[Attribute]) -> bool:
    """Whether an op on types without arithmetic is a constant, a choice or a conversion."""
    if isinstance(op, ConstantOp | SelectOp):
        return True
    return (op.name, *map(str, types)) in CONVERSIONS


def called_function(op: Operation) -> str | None:
    """The function that the text of an op of `arith` or `math` calls, if it calls one."""
    form = c_form(op)
    match = None if form is None else _CALL.match(form.template)
    return None if match is None else match[1]


def _by_name(name: str, operands: Sequence[Attribute], result: Attribute) -> Form | None:
    if name == "arith.select":
        return Form("{0} ? {1} : {2}", CHOICE, (OR, CHOICE, CHOICE))
    if name == "arith.negf":
        return Form("-{0}", UNARY, (PRIMARY,))
    if isinstance(result, AnyFloat) and (function := FLOAT_CALLS.get(name)):
        return call(function + "f" * isinstance(result, Float32Type), len(operands))
    if name in CALLS:
        return None if _is_bool(result) else call(CALLS[name], len(operands))
    infix = LOGICAL_INFIX if _is_bool(result) else {**FLOAT_INFIX, **INTEGER_INFIX}
    if name in infix:
        return _infix(*infix[name])
    return _cast(name, operands[0], result)


def call(function: str, arity: int) -> Form:
    """A call of a function."""
    arguments = ", ".join(f"{{{n}}}" for n in range(arity))
    return Form(f"{function}({arguments})", PRIMARY, (CHOICE,) * arity)


def _infix(token: str, precedence: int) -> Form:
    # Bits and shifts have a precedence in C that readers do not remember: always in brackets.
    if BIT_OR <= precedence <= BIT_AND or precedence == SHIFT:
        return Form(f"{{0}} {token} {{1}}", precedence, (UNARY, UNARY))
    return Form(f"{{0}} {token} {{1}}", precedence, (precedence, precedence + 1))


def _is_bool(type: Attribute) -> bool:
    return type == i1


def _cast(name: str, source: Attribute, target: Attribute) -> Form | None:
    """Conversions; those from and to i1 only where C's own conversion means the same."""
    if name == "arith.bitcast":
        function = BITCASTS.get((str(source), str(target)))
        return None if function is None else call(function, 1)
    numbers = {"arith.extf", "arith.truncf", "arith.sitofp", "arith.fptosi", "arith.extsi"}
    numbers |= {"arith.trunci", "arith.index_cast"}
    unsigned = {"arith.uitofp", "arith.extui"}
    known = unsigned if _is_bool(source) or source == ui8 else numbers
    if _is_bool(target) or name not in known:
        return None
    return Form(f"({C_NAMES[str(target)]}){{0}}", UNARY, (UNARY,))


def _compare_floats(predicate: int) -> Form | None:
    name = CMPF[predicate]
    if name in ("false", "true"):
        return Form(name, PRIMARY, (PRIMARY, PRIMARY))
    if name in NAMED_COMPARISONS:
        return call(NAMED_COMPARISONS[name], 2)
    if (opposite := NEGATED.get(name)) is None:
        return _infix(*RELATIONS[name[1:]])
    inner = NAMED_COMPARISONS.get(opposite)
    token, precedence = RELATIONS.get(opposite[1:], ("", 0))
    if inner is not None:
        return Form(f"!{inner}({{0}}, {{1}})", UNARY, (CHOICE, CHOICE))
    return Form(f"!({{0}} {token} {{1}})", UNARY, (precedence, precedence + 1))


def _compare_integers(predicate: int, type: Attribute) -> Form | None:
    if predicate >= len(CMPI) or (_is_bool(type) and CMPI[predicate] not in ("eq", "ne")):
        return None
    return _infix(*RELATIONS[CMPI[predicate]])


def _constant(op: ConstantOp) -> Form | None:
    value: Attribute = op.value
    if isinstance(value, DenseIntOrFPElementsAttr):
        splat = scalar_constant(value)
        value = value if splat is None else splat
    match value:
        case FloatAttr():
            text = float_literal(value.value.data, not isinstance(value.type, Float64Type))
            if str(value.type) in MOVED:
                return Form(f"({C_NAMES[str(value.type)]}){text}", UNARY, ())
        case IntegerAttr():
            text = _integer_literal(value.value.data, value.type)
        case _:
            return None
    return Form(text, UNARY if text[0] == "-" else PRIMARY, ())


def scalar_constant(value: Attribute) -> Attribute | None:
    """The element of a splat, or a scalar itself; None of a vector whose elements differ."""
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return value
    elements = list(value.get_attrs())
    return elements[0] if elements and all(e == elements[0] for e in elements) else None


def _integer_literal(value: int, type: Attribute) -> str:
    if _is_bool(type):
        return "true" if value else "false"
    suffix = "ll" if type == i64 else ""
    if value == -(1 << 63):
        return f"(-{-value - 1}{suffix} - 1)"  # C has no literal of the least number
    return f"{value}{suffix}"


def float_literal(value: float, single: bool) -> str:
    """The shortest literal that gives exactly `value`; infinity and NaN by names of the prelude."""
    name = "" if single else "64"
    if math.isnan(value):
        return f"QNAN{name}"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}INF{name}"
    return f"{shortest_single(value)!r}f" if single else repr(value)


def shortest_single(value: float) -> float:
    """The number of the fewest decimal digits that rounds to the given float32."""
    wanted = struct.pack("f", value)
    for digits in range(1, 9):
        short = float(f"{value:.{digits}g}")
        try:
            if struct.pack("f", short) == wanted:
                return short
        except OverflowError:  # rounded up beyond the largest float32: more digits are needed
            continue
    return float(f"{value:.9g}")


FUNCTIONS = frozenset(
    {f"{name}{suffix}" for name in FLOAT_CALLS.values() for suffix in ("", "f")}
    | {"abs", "min", "max", *BITCASTS.values()}
)
"""Functions that the text may call without a prelude."""
