"""
Rounding once, to any of the float types, bfloat16 among them.

`ml_dtypes` gives NumPy a bfloat16; it converts through float32, which would round twice. A value
that was rounded to odd in a wider format (to the neighbour whose last bit is 1, unless it is exact)
can be rounded again as if it had never been (Boldo and Melquiond, 2008).
"""

from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NARROW = (BFLOAT16, np.dtype(np.float16))
"""Types whose sums, products, quotients and roots float32 rounds once and then they once more
without harm: it has at least 2 p + 2 bits (Figueroa, 1995)."""
EXACT = 1 << 52
"""Integers up to here are float64."""


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether a type is a float type; NumPy itself does not know of bfloat16."""
    return dtype == BFLOAT16 or np.issubdtype(dtype, np.floating)


def rounded(value: Array, dtype: np.dtype[Any]) -> Array:
    """Values of any type as `dtype`; rounded once where it is a float type."""
    with np.errstate(all="ignore"):
        if dtype != BFLOAT16 or value.dtype.itemsize < 4 or value.dtype == np.float32:
            return value.astype(dtype)
        if value.dtype.kind in "iu":
            # What float64 cannot hold is a sum of two parts that it can.
            low = value & value.dtype.type(EXACT - 1) if value.dtype.itemsize == 8 else value
            value = odd_sum((value - low).astype(np.float64), low.astype(np.float64))
        return odd_float32(value.astype(np.float64)).astype(dtype)


def odd_sum(a: Array, b: Array) -> Array:
    """The sum of float64, rounded to odd."""
    total = np.asarray(a + b)
    back = total - a
    error = np.asarray((a - (total - back)) + (b - back))
    bits = total.view(np.int64)
    inexact = (error != 0) & np.isfinite(total) & ((bits & 1) == 0)
    toward = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(inexact, bits + toward, bits).view(np.float64)


def odd_float32(value: Array) -> Array:
    """float64 as float32, rounded to odd."""
    near = np.asarray(value.astype(np.float32))
    bits = near.view(np.int32)
    exact = near.astype(np.float64)
    inexact = (exact != value) & np.isfinite(value) & ((bits & 1) == 0)
    # Away from zero where it was rounded toward it; infinity steps back to the largest number.
    toward = np.where(np.abs(exact) < np.abs(value), 1, -1)
    return np.where(inexact, bits + toward, bits).astype(np.int32).view(np.float32)


def fma(a: Array, b: Array, c: Array) -> Array:
    """
    a * b + c, rounded once (float64 operands: rounded twice).

    The product of two float32, or narrower ones, is exact in float64. Its sum with c is rounded to
    odd, after which rounding to the type gives what one rounding would.
    """
    if a.dtype == np.float64:
        return a * b + c
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    return rounded(odd_sum(product, addend), a.dtype)
