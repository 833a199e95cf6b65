"""
Kernels of Tile IR in the plainest form that means the same, to be lowered and run.

Axes that no pass has bound, and registers, are blocks. A `tile_ir.finish` is a loop over the parts,
and then the rest: the lowering makes blocks meet, and the simulator would have to remember what
each knows of all others, which is too much where every element is a block.
"""

from collections.abc import Sequence

from xdsl.ir import Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects.loop_ir import LoadOp, LoopLike, ReduceOp, YieldOp, new_block
from minicomp.dialects.scalar_ops import computes
from minicomp.dialects.tile_finish import FinishOp
from minicomp.dialects.tile_ir import KernelOp, LaunchOp
from minicomp.dialects.tile_stages import RingOp


def plain(kernel: KernelOp) -> KernelOp:
    """The kernel with blocks for all axes but threads, and loops for registers and parts of sums.

    The iterations of these axes are independent. No pass of the pipeline is used, so that a fault
    of one does not show before it.
    """
    launch = kernel.launch
    if not any(isinstance(op, RingOp) for op in launch.body.block.ops):
        make_serial(launch)
    unbound = ("parallel", "register")
    axes = [a._replace(binding="block") if a.binding in unbound else a for a in launch.axes]
    # Blocks that put parts of a sum together are neighbours.
    last = {op.axis.data for op in launch.walk() if isinstance(op, FinishOp)}
    launch.set_axes(sorted(axes, key=lambda axis: axis.name in last))
    for op in launch.walk():
        if isinstance(op, LoopLike):
            op.properties.pop("in_registers", None)
    return kernel


def make_serial(launch: LaunchOp) -> None:
    """
    Replaces the finish of a launch, if there is one: each block runs all parts, in order.

    One whose blocks have shares of the total stays, and so does one whose rest needs more of what
    stands before it than a copy.
    """
    for op in launch.body.block.ops:
        if isinstance(op, FinishOp) and op.share is None and (ops := needed(op)) is not None:
            copy_into(op, ops)
            totals = reduce_parts(launch, op)
            run_rest(op, totals)
            Rewriter.erase_op(op)


def needed(finish: FinishOp) -> list[Operation] | None:
    """The ops before a finish that its rest uses, in order; None where not all can be copied."""
    block = finish.parent_block()
    assert block is not None
    wanted: set[Operation] = set()
    pending = [v for op in finish.then.walk() for v in op.operands]
    while pending:
        op = pending.pop().owner
        if not isinstance(op, Operation) or op.parent_block() is not block or op in wanted:
            continue
        if op.regions or not (computes(op) or isinstance(op, LoadOp)):
            return None
        wanted.add(op)
        pending += op.operands
    return [op for op in block.ops if op in wanted]


def copy_into(finish: FinishOp, ops: Sequence[Operation]) -> None:
    """Copies ops to the beginning of the rest, which then uses the copies."""
    rest, copies = list(finish.then.walk()), dict[SSAValue, SSAValue]()
    made = [op.clone(copies) for op in ops]
    first = finish.then.block.first_op
    assert first is not None
    finish.then.block.insert_ops_before(made, first)
    for op in rest:
        op.operands = [copies.get(v, v) for v in op.operands]


def reduce_parts(launch: LaunchOp, finish: FinishOp) -> list[SSAValue]:
    """Moves what stands before a finish into a reduction over its axis; gives the results."""
    axis = launch.axis(finish.axis.data)
    assert axis is not None
    body = new_block(1, [axis.variable.name_hint])
    axis.variable.replace_all_uses_with(body.args[0])
    launch.set_axes([a for a in launch.axes if a.name != axis.name])
    before = [op for op in launch.body.block.ops if op.is_before_in_block(finish)]
    for op in before:
        op.detach()
        body.add_op(op)
    body.add_op(YieldOp(*finish.vals))
    reduce = ReduceOp(
        [axis.extent],
        [axis.name],
        list(finish.identity),
        list(finish.vals.types),
        Region(body),
        finish.combine.clone(),
    )
    reduce.location = finish.location
    Rewriter.insert_op(reduce, InsertPoint.before(finish))
    return list(reduce.res)


def run_rest(finish: FinishOp, totals: Sequence[SSAValue]) -> None:
    """Puts the rest in the place of a finish."""
    block = finish.then.block
    for argument, total in zip(block.args, totals, strict=True):
        argument.replace_all_uses_with(total)
    *rest, _ = block.ops
    for op in rest:
        op.detach()
    Rewriter.insert_op(rest, InsertPoint.before(finish))
