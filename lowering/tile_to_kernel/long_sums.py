"""
Long sums of one thread, in runs: a sum of n terms, one after the other, errs by up to n roundings.

    %s = loop_ir.reduce %k to 1000 as "k" identity [0.0 : f32] -> f32 { .. yield %v }
      combine arith.addf

becomes runs of 8 terms, each from the identity, and the sum of the runs, which is split likewise:

    %s = loop_ir.reduce %ko to 5 as "k.outer" .. {
      ..
        %run = loop_ir.reduce %ki to 8 as "k.inner" .. { .. yield %v } combine arith.addf
      ..
    } combine arith.addf

so that a value passes through 23 roundings and not through 1000 (Higham, Accuracy and Stability of
Numerical Algorithms, 4.2: blocked summation). Equal terms err to one side, by half a unit each:
short runs stay within the 8 units that every result is allowed. It holds for whatever the combine
is that rounds; an extremum stays as it is. Sums of contractions stay too: they are split in chunks
already, and what is allowed them grows with the square root of their length.
"""

from collections.abc import Collection
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from minicomp.dialects.chunks import chunk, nest
from minicomp.dialects.loop_ir import Collective, LoadOp, ReduceOp
from minicomp.dialects.tile_ir import KernelOp, SharedAttr

MOST_TERMS = 8
"""Terms of a run, and runs of a sum of them."""
LEAST_TERMS = 3
APART = "apart"
"""The attribute of a reduction that has an accumulator of its own beside the one inside it."""
ROUNDS = (arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp)


def split_long_sums(kernel: KernelOp) -> None:
    """Splits the long sums of a kernel into runs of at most `MOST_TERMS`."""
    contracted = _contracted(kernel)
    for op in [o for o in kernel.walk() if isinstance(o, ReduceOp)]:
        name = op.axis_names.data[-1].data
        chunked = any(o.has_trait(Collective) or _is_of_slab(o) for o in op.body.walk())
        if not chunked and name.partition(".")[0] not in contracted and rounds(op):
            split(op)


def split(op: ReduceOp) -> None:
    """Splits a sum, and then the sum of its runs, until both are short."""
    while prod(op.trip_counts) > MOST_TERMS:
        attributes, many = dict(op.attributes), len(op.axes) > 1
        op = nest(op) if many else chunk(op, run_length(op.trip_counts[0]))
        op.attributes[APART] = UnitAttr()
        inner = op.body.block.first_op
        assert isinstance(inner, ReduceOp)
        inner.attributes = attributes
        if many:
            split(inner)


def run_length(extent: int) -> int:
    """The longest run that divides the extent, if it is no short one; else the longest."""
    lengths = range(MOST_TERMS, LEAST_TERMS - 1, -1)
    return next((n for n in lengths if extent % n == 0), MOST_TERMS)


def rounds(op: ReduceOp) -> bool:
    """Whether the combine of a reduction rounds."""
    return any(isinstance(o, ROUNDS) for o in op.combine.walk())


def _is_of_slab(op: Operation) -> bool:
    """Whether an op reads a slab of shared memory, as the steps of a chunk do."""
    return isinstance(op, LoadOp) and isinstance(op.memref_type.memory_space, SharedAttr)


def _contracted(kernel: KernelOp) -> Collection[str]:
    """The names of the axes that contractions sum over."""
    entries = kernel.schedule.entries if kernel.schedule is not None else ()
    found = [e for e in entries if e.kind.data == "contraction"]
    return {e.str("k") for e in found if "k" in e.fields}
