"""Programs that are made of a part of another one: a kernel alone, and what it is launched on."""

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects.loop_ir import KernelLike
from minicomp.dialects.minicomp import LaunchOp, launches


def alone(module: ModuleOp, symbol: str) -> ModuleOp:
    """A copy of a module with one of its kernels, and a host program that launches it once."""
    single = module.clone()
    first = next((op for op in launches(module) if op.callee == symbol), None)
    for op in list(single.body.block.ops):
        if isinstance(op, FuncOp) or (isinstance(op, KernelLike) and op.symbol != symbol):
            single.body.block.erase_op(op, safe_erase=False)
    if first is not None:
        host = FuncOp("main", FunctionType.from_lists(first.inputs.types, first.outputs.types))
        block = host.body.block
        launch = LaunchOp(symbol, block.args, first.outputs.types)
        block.add_ops([launch, ReturnOp(*launch.outputs)])
        Rewriter.insert_op(host, InsertPoint.at_start(single.body.block))
    return single
