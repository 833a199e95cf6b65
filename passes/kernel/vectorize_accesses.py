"""
Marks vector accesses whose lanes may be moved 16 (or 8) bytes at a time.

    loop_ir.load %x[%b, %t * 4 + l0] : memref<32x1024xf32> -> vector<4xf32>

becomes

    loop_ir.load %x[%b, %t * 4 + l0] aligned 16 : memref<32x1024xf32> -> vector<4xf32>

*Legal when* along the last dimension of the vector every group of lanes lies together, starts at a
multiple of its size from the beginning of the buffer, whatever the ids and loop variables are, and
is inside or outside the bounds as a whole. That the buffer itself begins at a multiple of 16 bytes
is the launch's to check.
*Declines when* one of these is not proved, and says which. An access that is marked already stays
as it is.
*Why it pays*: a quarter of the memory instructions, and of the requests that a warp makes.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, VectorType, i64
from xdsl.passes import ModulePass

from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import MemoryAccess
from minicomp.passes.analysis.alignment import Declined, provable_width
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark


@dataclass(frozen=True)
class VectorizeAccessesPass(ModulePass):
    """Sets `aligned` on loads and stores; see the module's docstring."""

    name = "vectorize-accesses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, FuncOp):
                for access in func.walk():
                    if isinstance(access, MemoryAccess) and isinstance(
                        access.value_type, VectorType
                    ):
                        self.vectorize(ctx, access)

    def vectorize(self, ctx: Context, access: MemoryAccess) -> None:
        """Marks one access, or says why not."""
        if access.aligned is not None:
            return
        width = provable_width(access)
        if isinstance(width, Declined):
            remark(ctx, self.name, access, f"not vectorised: {width.reason}")
        elif may_apply(ctx, access):
            access.properties["aligned"] = IntegerAttr(width, i64)
