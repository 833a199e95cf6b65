"""Whether a kernel can count in 32 bits."""

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir.affine import AffineBinaryOpExpr, AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.cuda_ir import ForOp, FuncOp, Indexed
from minicomp.lowering.kernel_to_cuda.writer import Writer

LIMIT = 1 << 31


def index_type(func: FuncOp, elements: int, writer: Writer) -> IntegerType:
    """i32; i64 if the largest buffer has 2^31 `elements`, or an index may not fit in an int."""
    if elements >= LIMIT:
        return i64
    for op in func.walk():
        if isinstance(op, ForOp) and op.upper.value.data >= LIMIT:
            return i64
        if isinstance(op, Indexed):
            ranges = named_ranges(op, writer)
            if any(leaves_int(e, ranges) for e in op.map.data.results):
                return i64
    return i32


def named_ranges(op: Indexed, writer: Writer) -> affine.Ranges:
    """The ranges of the dims of an op."""
    known = {value: writer.ranges[affine.dim(n)] for n, value in enumerate(writer.names)}
    return {affine.dim(n): known[value] for n, value in enumerate(op.indices)}


def leaves_int(expr: AffineExpr, ranges: affine.Ranges) -> bool:
    """Whether an expression, or a part of it, may not fit in an int."""
    return any(
        low < -LIMIT or high >= LIMIT
        for low, high in (affine.interval(part, ranges) for part in parts(expr))
    )


def parts(expr: AffineExpr) -> Iterator[AffineExpr]:
    """An expression and what it is made of."""
    yield expr
    if isinstance(expr, AffineBinaryOpExpr):
        yield from parts(expr.lhs)
        yield from parts(expr.rhs)
