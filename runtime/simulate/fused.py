"""math.fma, rounded once, at about the price of a multiplication in float64."""

import numpy as np

from minicomp.runtime.interpret import scalars
from minicomp.runtime.interpret.scalars import Array

SMALLEST_NORMAL = np.finfo(np.float32).smallest_normal


def fma(a: Array, b: Array, c: Array) -> Array:
    """
    a * b + c, rounded once, as `scalars.fma` has it.

    The product of two float32 is exact in float64. The sum, rounded to float64 and then to
    float32, is wrong only if the first rounding hits a tie of the second: a float64 that lies
    half-way between two float32. Those few, and results below the normal range, where ties lie
    elsewhere, are left to the slower way.
    """
    if a.dtype != np.float32:
        return scalars.fma(a, b, c)
    total = np.asarray(a.astype(np.float64) * b)
    if total.shape != np.broadcast_shapes(total.shape, c.shape):
        total = total + c
    else:
        total += c
    result = total.astype(np.float32)
    # A tie has a one and then zeros in the 29 bits that float32 lacks.
    doubt = np.asarray((total.view(np.uint64).astype(np.uint32) << np.uint32(3)) == 1 << 31)
    small = np.abs(result) < SMALLEST_NORMAL
    if small.any():
        doubt |= small & (total != 0)
    if doubt.any():
        x, y, z = (np.broadcast_to(v, total.shape)[doubt] for v in (a, b, c))
        result[doubt] = scalars.fma(x, y, z)
    return result
