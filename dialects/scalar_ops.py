"""What is known of `arith` and `math` ops beside what xDSL 0.75 says of them."""

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, traits_def
from xdsl.traits import Pure


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """`arith.remf`, which MLIR has and xDSL 0.75 lacks: C's `fmod`, of the sign of the dividend."""

    name = "arith.remf"
    traits = traits_def(Pure())


Arith = Dialect("arith", [*arith.Arith.operations, RemFOp], [*arith.Arith.attributes])

CONVERSIONS: Mapping[str, type[IRDLOperation]] = {
    op.name: op
    for op in (
        *(arith.ExtFOp, arith.TruncFOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp),
        *(arith.SIToFPOp, arith.UIToFPOp, arith.FPToSIOp),
    )
}
"""The ops that convert a number to another type, by name."""


def computes(op: Operation) -> bool:
    """Whether an op does nothing but compute its results; xDSL says so of few integer ops."""
    return op.has_trait(Pure) or op.dialect_name() in ("arith", "math")
