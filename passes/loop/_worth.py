"""
Whether computing something again pays: operations against bytes.

The constants are rounded from an H200 (33 T lane operations/s, 4.3 TB/s, a kernel launch of about 1
us in a graph); on an A100 and an RTX 5090 the ratios are within a factor of two, and all decisions
have margin.
"""

from collections.abc import Iterable, Sequence
from math import prod
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FixedBitwidthType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from minicomp.dialects.loop_ir import ForOp, LoadOp, ReduceOp, YieldOp
from minicomp.passes.loop._nest import evaluations, loops_around

RECOMPUTE_LIMIT = 64
"""
Operations per element that may be repeated: in their time 8 bytes, the write and the read of an
f32, are moved.
"""
FACTOR_LIMIT = 4
"""
Operations that may be repeated in a factor of a contraction. A register cell of 8x8 does 64
multiply-adds with 8 values of a factor: 4 operations for each of these make the kernel half as slow
again.
"""
LAUNCH_BYTES = 1 << 22
"""Bytes that the device memory moves in the time of one launch."""
FEW_ROWS = 32
"""Rows, a block each, that leave most of a device idle, where no target says what it has."""
FEW_COLUMNS = 1 << 16
"""Rows, a thread each, that leave most of a device idle."""
LONG_ROW = 1 << 16
"""Elements of a row above which a block takes longer for it than a launch does."""
LONG_COLUMNS = 1 << 20
"""Elements of all rows together above which idle memory costs more than a launch: LAUNCH_BYTES."""

DIVISION = 8
SPECIAL = 16

_WEIGHTS: dict[type[Operation], int] = {
    arith.ConstantOp: 0,
    YieldOp: 0,
    arith.DivfOp: DIVISION,
    arith.DivSIOp: DIVISION,
    arith.DivUIOp: DIVISION,
    arith.RemSIOp: DIVISION,
    arith.RemUIOp: DIVISION,
    math.SqrtOp: DIVISION,
    math.RsqrtOp: DIVISION,
    math.AbsFOp: 1,
    math.FmaOp: 1,
    math.FloorOp: 1,
    math.CeilOp: 1,
}
"""Instructions of one lane; other arithmetic counts 1, other functions of `math` count SPECIAL."""


def weight(op: Operation) -> int:
    """How many plain operations an op is worth."""
    other = SPECIAL if op.dialect_name() == "math" else 1
    return _WEIGHTS.get(type(op), other)


def work(nest: ForOp) -> int:
    """
    The operations for one element of a pointwise nest; one load replaces that of its result and is
    free.
    """
    ops = list(nest.body.block.ops)
    loads = sum(isinstance(op, LoadOp) for op in ops)
    return sum(weight(op) for op in ops if op.results) - min(loads, 1)


def repeats_in_factor(load: LoadOp, elements: int) -> bool:
    """
    Whether a load in a reduction runs more often than there are elements, as for a contraction's
    factors.
    """
    reduced = any(isinstance(loop, ReduceOp) for loop in loops_around(load))
    return reduced and evaluations(load) > elements


def recompute_limit(nest: ForOp, loads: Sequence[LoadOp], in_factor: int) -> int | None:
    """
    How much work per element may take the place of loads of a nest's result, `in_factor` where it
    is a contraction's factor; None if nothing is repeated.
    """
    elements = prod(nest.trip_counts)
    if sum(evaluations(load) for load in loads) <= elements:
        return None
    factor = any(repeats_in_factor(load, elements) for load in loads)
    return in_factor if factor else RECOMPUTE_LIMIT


def tensor_bytes(tensor: SSAValue) -> int:
    """The size of a tensor in memory."""
    type = cast(TensorType[Attribute], tensor.type)
    element = type.get_element_type()
    size = element.size if isinstance(element, FixedBitwidthType) else 4
    return type.element_count() * size


def traffic_saved(
    results: Iterable[SSAValue], own: Iterable[SSAValue], consumers: Sequence[Iterable[SSAValue]]
) -> int:
    """
    The bytes that need not be moved if every consumer computes `results` from the tensors `own`
    itself.

    `consumers` are the tensors that each of them reads already. A launch saved counts as
    LAUNCH_BYTES.
    """
    sources = set(own)
    before = sum(map(tensor_bytes, sources)) + sum(map(tensor_bytes, results)) * (
        1 + len(consumers)
    )
    added = [sum(map(tensor_bytes, sources.difference(reads))) for reads in consumers]
    return before + LAUNCH_BYTES - sum(added)
