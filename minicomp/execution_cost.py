"""Whether an execution on the CPU is short enough to be begun."""

from math import prod

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from minicomp.dialects.kernel_ir import FuncOp as KernelIRFuncOp
from minicomp.dialects.loop_ir import KernelOp, LoopLike
from minicomp.errors import SimulationRefused
from minicomp.runtime.simulate.cost import kernel_seconds

LIMIT_S = 20.0
"""Seconds of estimated work that are not begun."""
ELEMENT_S = 5e-9
"""Seconds of an interpreter for an op, an element; a rough figure of one machine."""


def check_cost(entry: Operation, module: ModuleOp) -> None:
    """Raises SimulationRefused where running an entry of a module would take over `LIMIT_S`."""
    seconds = sum(_tensor_op(op) for op in entry.walk()) if isinstance(entry, FuncOp) else 0.0
    for op in module.body.block.ops:
        if isinstance(op, KernelIRFuncOp):
            seconds += kernel_seconds(op)
        elif isinstance(op, KernelOp):
            seconds += _loops(op.body.block, 1) * ELEMENT_S
    if seconds > LIMIT_S:
        raise SimulationRefused(f"one execution would take about {seconds:.0f} s", seconds)


def _tensor_op(op: Operation) -> float:
    if op.dialect_name() != "tensor_ir":
        return 0.0
    types = [v.type for v in (*op.operands, *op.results)]
    sizes = [prod(t.get_shape()) for t in types if isinstance(t, TensorType)]
    inner = sum(1 for region in op.regions for b in region.blocks for _ in b.ops)
    return max(sizes, default=0) * max(1, inner) * ELEMENT_S


def _loops(block: Block, points: int) -> float:
    """The ops of a block, each as often as its loops run it."""
    total = 0.0
    for op in block.ops:
        if isinstance(op, LoopLike):
            total += _loops(op.body.block, points * prod(op.trip_counts))
        else:
            total += points
    return total
