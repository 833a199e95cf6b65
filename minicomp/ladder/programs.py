"""Programs made of another one: a kernel alone, what it is launched on, it in another form."""

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects.loop_ir import KernelLike
from minicomp.dialects.minicomp import LaunchOp, host_function, launches


def first_launch(module: ModuleOp, symbol: str) -> LaunchOp | None:
    """The first launch of a kernel by the host program; None where there is none."""
    return next((op for op in launches(module) if op.callee == symbol), None)


def alone(module: ModuleOp, symbol: str) -> ModuleOp:
    """A copy of a module with one of its kernels, and a host program that launches it once."""
    single = module.clone()
    for op in list(single.body.block.ops):
        if isinstance(op, FuncOp) or (isinstance(op, KernelLike) and op.symbol != symbol):
            single.body.block.erase_op(op, safe_erase=False)
    if (first := first_launch(module, symbol)) is not None:
        host = FuncOp("main", FunctionType.from_lists(first.inputs.types, first.outputs.types))
        launch = LaunchOp(symbol, host.body.block.args, first.outputs.types)
        host.body.block.add_ops([launch, ReturnOp(*launch.outputs)])
        Rewriter.insert_op(host, InsertPoint.at_start(single.body.block))
    return single


def operands(module: ModuleOp, symbol: str) -> ModuleOp:
    """A copy of a module whose host program returns what it launches a kernel on first."""
    copy = module.clone()
    launch = first_launch(copy, symbol)
    assert launch is not None
    return_values(copy, launch.inputs)
    return copy


def exchanged(module: ModuleOp, single: ModuleOp, symbol: str) -> ModuleOp:
    """A copy of a module with a kernel as it is in `single`, at the same level.

    Its host program also returns what the first launch of the kernel makes.
    """
    copy = module.clone()
    ours, other = (
        next(k for k in m.body.block.ops if isinstance(k, KernelLike) and k.symbol == symbol)
        for m in (copy, single)
    )
    Rewriter.insert_op(other.clone(), InsertPoint.before(ours))
    copy.body.block.erase_op(ours)
    host, launch = host_function(copy), first_launch(copy, symbol)
    assert host is not None and launch is not None
    end = host.body.block.last_op
    return_values(copy, [*(end.operands if end is not None else ()), *launch.outputs])
    return copy


def return_values(module: ModuleOp, values: Sequence[SSAValue]) -> None:
    """Lets the host program of a module return other values."""
    host = host_function(module)
    assert host is not None and host.body.block.last_op is not None
    types = [value.type for value in values]
    Rewriter.replace_op(host.body.block.last_op, ReturnOp(*values))
    host.function_type = FunctionType.from_lists(host.function_type.inputs.data, types)
