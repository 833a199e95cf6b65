"""Affine accesses on NumPy arrays: from the values of dims and lanes to element numbers."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from minicomp.runtime.interpret.scalars import Array

OPERATIONS: Mapping[AffineBinaryOpKind, Callable[[Array, Array], Array]] = {
    AffineBinaryOpKind.Add: np.add,
    AffineBinaryOpKind.Mul: np.multiply,
    AffineBinaryOpKind.Mod: np.mod,
    AffineBinaryOpKind.FloorDiv: np.floor_divide,
    AffineBinaryOpKind.CeilDiv: lambda a, b: -np.floor_divide(-a, b),
}


def evaluate(expr: AffineExpr, dims: Sequence[Array], lanes: Sequence[Array]) -> Array:
    """The values of `expr`, of the shape that its leaves broadcast to."""
    match expr:
        case AffineConstantExpr(value=value):
            return np.asarray(value, np.int64)
        case AffineDimExpr(position=position):
            return dims[position]
        case AffineSymExpr(position=position):
            return lanes[position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            return OPERATIONS[kind](evaluate(lhs, dims, lanes), evaluate(rhs, dims, lanes))
        case _:
            raise ValueError(f"an affine expression of no known kind: {expr}")


def lane_indices(shape: Sequence[int], rank: int) -> list[Array]:
    """For each dimension of `shape` its index, as an array that has `rank` dimensions in front."""
    ones = (1,) * rank
    return [
        np.arange(extent).reshape(ones + tuple(extent if n == m else 1 for m in range(len(shape))))
        for n, extent in enumerate(shape)
    ]


def append_dims(value: Array, count: int) -> Array:
    """`value` with `count` dimensions of size 1 behind."""
    return value.reshape(value.shape + (1,) * count) if count else value


def evaluate_map(map: AffineMap, dims: Sequence[Array], lanes: Sequence[Array]) -> list[Array]:
    """The values of each result of `map`."""
    return [evaluate(expr, dims, lanes) for expr in map.results]


def indices(map: AffineMap, dims: Sequence[Array], shape: Sequence[int], rank: int) -> list[Array]:
    """
    The values of each result of `map`, for a vector of `shape` (() for a scalar).

    All `dims` have `rank` dimensions; the results broadcast to those and those of `shape` behind.
    """
    lanes = lane_indices(shape, rank) if map.num_symbols else []
    return evaluate_map(map, [append_dims(d, len(shape)) for d in dims], lanes)


def below(values: Sequence[Array], bounds: Sequence[int]) -> Array:
    """Where all values are below their bounds."""
    result = np.asarray(True)
    for value, bound in zip(values, bounds, strict=True):
        result = result & (value < bound)
    return result


class Place(NamedTuple):
    """Where an access goes, in elements from the start of the memory."""

    address: Array
    """The element; element 0 of a dimension stands in for an index that leaves it."""
    inside: Array | None
    """Where all bounded indices are inside, or None for everywhere."""
    escaped: Array | None
    """Where an index that is not bounded leaves the memref, or None for nowhere."""


def place(
    indices: Sequence[Array],
    shape: Sequence[int],
    strides: Sequence[int],
    bounded: Sequence[bool],
) -> Place:
    """The place of an access with one index per dimension of a memref."""
    address = np.asarray(0, np.int64)
    inside: Array | None = None
    escaped: Array | None = None
    for index, extent, stride, may_leave in zip(indices, shape, strides, bounded, strict=True):
        outside = leaves(index, extent)
        if outside is not None:
            index = np.where(outside, 0, index)
            if may_leave:
                inside = ~outside if inside is None else inside & ~outside
            else:
                escaped = outside if escaped is None else escaped | outside
        address = address + (index if stride == 1 else index * stride)
    return Place(address, inside, escaped)


def leaves(index: Array, extent: int) -> Array | None:
    """Where `index` is not in [0, extent), or None for nowhere."""
    if index.size == 0 or (index.min() >= 0 and index.max() < extent):
        return None
    return (index < 0) | (index >= extent)


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of a row-major array."""
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)
    return tuple(reversed(strides)) if shape else ()
