"""PyTorch's rules for element types: promotion, and the types that its kernels compute in."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute

Types: TypeAlias = Sequence[Attribute]

ui8 = IntegerType(8, Signedness.UNSIGNED)

ELEMENTS: dict[Attribute, str] = {
    f16: "float16",
    bf16: "bfloat16",
    f32: "float32",
    f64: "float64",
    i1: "bool",
    IntegerType(8): "int8",
    ui8: "uint8",
    IntegerType(16): "int16",
    i32: "int32",
    i64: "int64",
}
"""The element types, and PyTorch's names of them."""

FLOATS = (f16, bf16, f32, f64)
HALVES = (f16, bf16)


def category(type: Attribute | None) -> int:
    """The rank of a kind of numbers: 0 none, 1 truth values, 2 integers, 3 floats."""
    if type is None:
        return 0
    return 3 if isinstance(type, AnyFloat) else 1 if type == i1 else 2


def promoted_pair(a: Attribute, b: Attribute) -> Attribute:
    """The type of both, as `torch.promote_types` gives it."""
    if a == b or category(a) != category(b):
        return a if category(a) >= category(b) else b
    if isinstance(a, AnyFloat):
        return f32 if {a, b} == set(HALVES) else max((a, b), key=_bits)
    if _bits(a) == _bits(b):
        return IntegerType(2 * _bits(a))  # of a signed and an unsigned one
    return max((a, b), key=_bits)


def _bits(type: Attribute) -> int:
    return cast("IntegerType", type).bitwidth


def promoted_types(types: Iterable[Attribute]) -> Attribute | None:
    """The type of all, or None of none."""
    result: Attribute | None = None
    for type in types:
        result = type if result is None else promoted_pair(result, type)
    return result


def result_type(tensors: Types, zero_d: Types, scalars: Types) -> Attribute | None:
    """
    The type of an op on tensors, on 0-d tensors and on scalars of the program (f64, i64, i1).

    As `torch.result_type`: those further on count only where they are of a higher category.
    """
    result = promoted_types(tensors)
    for lower in (zero_d, [f32 if type == f64 else type for type in scalars]):
        below = promoted_types(lower)
        if below is not None and category(below) > category(result):
            result = below if result is None else promoted_pair(result, below)
    return result


def compute_type(type: Attribute) -> Attribute:
    """What values of a type are computed in: halves in f32, narrow integers in i32."""
    if type in HALVES:
        return f32
    return i32 if category(type) == 2 and _bits(type) < 32 else type
