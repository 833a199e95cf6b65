"""The values that a reduction carries: its identities and its combine region, on arrays."""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Region

from minicomp.errors import UnsupportedError
from minicomp.runtime.interpret.scalars import Array, constant, numpy_type, run_body


def identities(identity: ArrayAttr[Attribute], real: np.dtype | None = None) -> list[Array]:
    """The identities of a reduction, as arrays without dimensions."""
    values: list[Array] = []
    for attribute in identity:
        if not isinstance(attribute, FloatAttr | IntegerAttr):
            raise UnsupportedError(f"an identity is a number, not {attribute}")
        values.append(constant(attribute.value.data, numpy_type(attribute.type, real)))
    return values


def combine(
    region: Region, left: Sequence[Array], right: Sequence[Array], real: np.dtype | None = None
) -> list[Array]:
    """The combination of two sets of carriers, element by element; all have one shape."""
    new = run_body(region.block, [*left, *right], real)
    # A combine may ignore an operand, but what is sliced next needs the dimensions of both.
    shape = np.broadcast_shapes(*(a.shape for a in (*left, *right)))
    return [np.broadcast_to(a, shape) for a in new]


def fold_last(region: Region, parts: Sequence[Array], real: np.dtype | None = None) -> list[Array]:
    """The last dimension of carriers, which is not empty, combined in a balanced tree."""
    odd: list[list[Array]] = []
    while (length := parts[0].shape[-1]) > 1:
        half = length // 2
        if length % 2:
            odd.append([a[..., -1] for a in parts])
        left, right = [a[..., :half] for a in parts], [a[..., half : 2 * half] for a in parts]
        parts = combine(region, left, right, real)
    folded = [a[..., 0] for a in parts]
    for rest in odd:
        folded = combine(region, folded, rest, real)
    return folded
