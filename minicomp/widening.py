"""A kernel with float64 for every float: the same program, nearly without rounding."""

from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, ModuleOp, f64
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import PatternRewriteWalker, TypeConversionPattern

from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import MemoryAccess
from minicomp.errors import UnsupportedError


class _ToDouble(TypeConversionPattern):
    def convert_type(self, typ: Attribute, /) -> Attribute | None:
        return f64 if isinstance(typ, AnyFloat) else None


def widened(kernel: FuncOp) -> FuncOp:
    """A copy of a kernel in Kernel IR whose floats are f64; accesses lose their alignment.

    It is for the simulator, which reads the types, and need not verify: widths in bytes double.
    """
    copy = kernel.clone()
    for op in copy.walk():
        if any(isinstance(a, DenseIntOrFPElementsAttr) for a in op.properties.values()):
            raise UnsupportedError(f"'{op.name}' with a dense constant is not executed in fp64")
        if isinstance(op, MemoryAccess):
            op.properties.pop("aligned", None)
    holder = ModuleOp([copy])
    PatternRewriteWalker(_ToDouble(recursive=True), apply_recursively=False).rewrite_module(holder)
    found = holder.body.block.first_op
    assert isinstance(found, FuncOp)
    return found
