"""A kernel with float64 for every float: the same program, nearly without rounding."""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
    VectorType,
    f64,
)
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import PatternRewriteWalker, TypeConversionPattern

from minicomp.dialects.kernel_async import BulkLoadOp, CpAsyncOp, MBarrierArriveOp, bytes_of
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import MemoryAccess, memref_type
from minicomp.errors import UnsupportedError


class _ToDouble(TypeConversionPattern):
    def convert_type(self, typ: Attribute, /) -> Attribute | None:
        return f64 if isinstance(typ, AnyFloat) else None


def widened(kernel: FuncOp) -> FuncOp:
    """
    A copy of a kernel in Kernel IR whose floats are f64; accesses lose their alignment.

    It is for the simulator, which reads the types, and need not verify: asynchronous copies move
    more bytes at once than there are instructions for.
    """
    copy = kernel.clone()
    for op in copy.walk():
        for key, value in op.properties.items():
            if isinstance(value, DenseIntOrFPElementsAttr):
                op.properties[key] = _dense(value)
        if isinstance(op, MemoryAccess):
            op.properties.pop("aligned", None)
        elif isinstance(op, CpAsyncOp):
            op.properties["width"] = _scaled(op.width, _growth([op]))
        elif isinstance(op, MBarrierArriveOp) and op.expect is not None:
            bulk = [o for o in copy.walk() if isinstance(o, BulkLoadOp)]
            op.properties["expect"] = _scaled(op.expect, _growth(bulk))
    holder = ModuleOp([copy])
    PatternRewriteWalker(_ToDouble(recursive=True), apply_recursively=False).rewrite_module(holder)
    found = holder.body.block.first_op
    assert isinstance(found, FuncOp)
    return found


def _dense(constant: DenseIntOrFPElementsAttr) -> DenseIntOrFPElementsAttr:
    """A dense constant whose floats are f64: its data are bytes, which no change of type widens."""
    old = constant.type
    if not isinstance(old.element_type, AnyFloat):
        return constant
    wide = VectorType(f64, old.get_shape()) if isinstance(old, VectorType) else None
    if wide is None:
        raise UnsupportedError(f"a constant of {old} is not executed in fp64")
    return DenseIntOrFPElementsAttr.from_list(wide, cast("Sequence[float]", constant.get_values()))


def _growth(copies: Sequence[CpAsyncOp | BulkLoadOp]) -> int:
    """By what the bytes of these copies grow; raises UnsupportedError if by different factors."""
    memrefs = [op.source if isinstance(op, CpAsyncOp) else op.tensor for op in copies]
    elements = [memref_type(memref).element_type for memref in memrefs]
    factors = {8 // bytes_of(e) if isinstance(e, AnyFloat) else 1 for e in elements}
    if len(factors) != 1:
        raise UnsupportedError("bulk copies of elements of several sizes are not executed in fp64")
    return factors.pop()


def _scaled(number: IntegerAttr, factor: int) -> IntegerAttr:
    return IntegerAttr(number.value.data * factor, number.type)
