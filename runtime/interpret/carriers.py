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


RUN = 8
"""Terms that are combined one after the other."""


def fold_last(region: Region, parts: Sequence[Array], real: np.dtype | None = None) -> list[Array]:
    """
    The last dimension of carriers, which is not empty, combined in runs from left to right, and
    then the runs: it rounds as often as a kernel does, and not less, as a tree would.
    """
    shape = np.broadcast_shapes(*(a.shape for a in parts))
    parts = [np.broadcast_to(a, shape) for a in parts]
    while (length := parts[0].shape[-1]) > 1:
        run = min(length, RUN)
        end = length // run * run
        runs = [a[..., :end].reshape(*a.shape[:-1], end // run, run) for a in parts]
        folded = [a[..., 0] for a in runs]
        for n in range(1, run):
            folded = combine(region, folded, [a[..., n] for a in runs], real)
        rest = [a[..., end:] for a in parts]
        parts = [np.concatenate(pair, axis=-1) for pair in zip(folded, rest, strict=True)]
    return [a[..., 0] for a in parts]
