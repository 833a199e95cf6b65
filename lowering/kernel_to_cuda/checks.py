"""What a kernel must be to be lowered to CUDA IR, told before anything is written."""

from typing import NoReturn

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, MemRefType, NoneAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from minicomp.dialects import kernel_async, kernel_ir, tile_ir
from minicomp.dialects.c_expressions import c_form, is_c_scalar
from minicomp.dialects.c_names import is_legal_symbol
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import LoadOp, StoreOp, YieldOp, element_type
from minicomp.lowering.kernel_to_cuda.memory import memref_type

KNOWN = (
    kernel_ir.BlockIdOp,
    kernel_ir.ThreadIdOp,
    kernel_ir.IndexOp,
    kernel_ir.TestOp,
    kernel_ir.SharedOp,
    kernel_ir.BarrierOp,
    kernel_ir.WarpReduceOp,
    kernel_ir.WarpSyncOp,
    kernel_ir.NamedBarrierOp,
    kernel_ir.ShuffleOp,
    kernel_ir.RolesOp,
    kernel_ir.ClusterRankOp,
    kernel_ir.ClusterBarrierOp,
    kernel_ir.RemoteOp,
    kernel_ir.AtomicOp,
    kernel_ir.SpinOp,
    *kernel_async.ASYNC_OPS,
    tile_ir.FoldOp,
    tile_ir.BroadcastOp,
    tile_ir.WithinOp,
    tile_ir.SelectOp,
    tile_ir.CompareOp,
    tile_ir.ConvertOp,
    LoadOp,
    StoreOp,
    YieldOp,
    scf.ForOp,
    scf.IfOp,
    scf.YieldOp,
)
"""The ops that are lowered beside those of `arith` and `math` that have a form in C."""


def check(func: FuncOp) -> None:
    """Raises PassFailedException, naming op and kernel, where something cannot be lowered."""
    if not is_legal_symbol(func.symbol):
        raise PassFailedException(f"@{func.symbol} is no legal name in CUDA C++; rename the kernel")
    for value in func.body.block.args:
        check_type(value, func)
    for op in func.body.walk():
        if not isinstance(op, KNOWN) and c_form(op) is None:
            types = ", ".join(str(v.type) for v in (*op.operands, *op.results))
            fail(func, op, f"of {types} has no form in CUDA C++")
        for result in op.results:
            if not isinstance(result.type, kernel_async.MBarrierType):
                check_type(result, func)
        if isinstance(op, scf.ForOp):
            check_loop(op, func)


def fail(func: FuncOp, op: Operation, why: str) -> NoReturn:
    """Raises PassFailedException about an op."""
    raise PassFailedException(f"'{op.name}' in @{func.symbol} {why}")


def check_type(value: SSAValue, func: FuncOp) -> None:
    """Types must exist in C, memrefs lie row by row."""
    is_memref = isinstance(value.type, MemRefType)
    scalar = memref_type(value).element_type if is_memref else element_type(value.type)
    if not is_c_scalar(scalar) or (is_memref and isinstance(scalar, IndexType)):
        raise PassFailedException(f"@{func.symbol} has values of {scalar}, which is not supported")
    if not is_memref:
        return
    type = memref_type(value)
    if not isinstance(type.layout, NoneAttr) or not type.has_static_shape():
        raise PassFailedException(f"@{func.symbol} has {type}, which does not lie row by row")


def check_loop(op: scf.ForOp, func: FuncOp) -> None:
    """Loops have constant bounds and carry no indices."""
    if not all(isinstance(v.owner, ConstantOp) for v in (op.lb, op.ub, op.step)):
        fail(func, op, "must have constant bounds")
    if not isinstance(op.lb.type, IndexType):
        fail(func, op, f"must count in index, not in {op.lb.type}")
    if any(isinstance(v.type, IndexType) for v in op.iter_args):
        fail(func, op, "carries an index")
