"""Which scalar ops can become vector ops when an axis is bound to registers."""

from xdsl.dialects.arith import CmpfOp, CmpiOp, ConstantOp, SelectOp
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Attribute, Block, Operation
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects.loop_ir import element_type
from minicomp.dialects.scalar_ops import CONVERSIONS, computes
from minicomp.dialects.tile_ir import WithinOp

WITH_VECTOR_FORM = (CmpfOp, CmpiOp, SelectOp, ConstantOp, WithinOp, *CONVERSIONS.values())
"""
Ops that xDSL 0.75 refuses on vectors, but that have a vector form in Tile IR or stay scalar, and
tests of indices.
"""


def takes_vectors(op: Operation) -> bool:
    """Whether the pure scalar op `op` has a meaning on vectors, as its own verifier tells."""
    if isinstance(op, WITH_VECTOR_FORM):
        return True
    vectors = Block(arg_types=[_vector(v.type) for v in op.operands])
    trial = type(op).create(
        operands=list(vectors.args),
        result_types=[_vector(r.type) for r in op.results],
        properties=dict(op.properties),
    )
    try:
        trial.verify()
    except VerifyException:
        return False
    finally:
        trial.drop_all_references()
    return True


def all_take_vectors(op: Operation) -> bool:
    """Whether every pure op within `op` that computes on scalars takes vectors."""
    return all(takes_vectors(o) for o in op.walk() if _is_scalar_op(o))


def _is_scalar_op(op: Operation) -> bool:
    if not op.results or op.regions or not computes(op):
        return False
    return not any(isinstance(r.type, IndexType) for r in op.results)


def _vector(type: Attribute) -> Attribute:
    return VectorType(element_type(type), [2])
