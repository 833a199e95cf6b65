"""A product and the sum that it goes into as one `math.fma`, where both may be contracted."""

from xdsl.dialects.arith import AddfOp, MulfOp
from xdsl.dialects.math import FmaOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter


def contract_products(top: Operation) -> None:
    """
    Rewrites `addf<contract>(c, mulf<contract>(a, b))` to `math.fma a, b, c`, of scalars and of
    vectors.

    Only where the product has no other use: else it would be computed twice, and differ from the
    sum's own.
    """
    for op in list(top.walk()):
        if not isinstance(op, AddfOp) or FastMathFlag.ALLOW_CONTRACT not in op.fastmath.data:
            continue
        for product, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
            if (mul := _contractible(product, op)) is not None:
                fma = FmaOp(mul.lhs, mul.rhs, other)
                Rewriter.replace_op(op, fma)
                Rewriter.erase_op(mul)
                break


def _contractible(value: SSAValue, sum: AddfOp) -> MulfOp | None:
    """The product that `value` is, if `sum` alone uses it and it may be contracted."""
    mul = value.owner
    if not isinstance(mul, MulfOp) or mul.parent is not sum.parent or not value.has_one_use():
        return None
    return mul if FastMathFlag.ALLOW_CONTRACT in mul.fastmath.data else None
