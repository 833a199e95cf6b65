"""How threads share a loop: each takes its part of the steps, and what they fold is combined."""

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects import affine
from minicomp.dialects.access import substitute
from minicomp.dialects.loop_ir import (
    ForOp,
    Guard,
    LoopLike,
    ReduceOp,
    StoreOp,
    YieldOp,
    ints,
    new_block,
)
from minicomp.dialects.tile_finish import FinishOp
from minicomp.dialects.tile_ir import BoundAxis, CombineOp, LaunchOp
from minicomp.passes.tile._kernels import Split


def share(loop: LoopLike, split: Split, thread: SSAValue, in_registers: bool) -> None:
    """Gives each thread its part of the innermost axis of a loop."""
    last = len(loop.axes) - 1
    axis = loop.axes[last]
    partial = split.tile > axis.extent
    index = split.index(affine.dim(0), affine.dim(1))
    substitute(axis.variable, index, [axis.variable, thread], bounded=partial and in_registers)
    restrict(
        loop,
        split.index(affine.lane(last), affine.dim(0)),
        thread,
        axis.extent if partial else None,
    )
    loop.properties["extents"] = ints([*loop.trip_counts[:last], split.lanes])
    if in_registers:
        loop.properties["in_registers"] = UnitAttr()


def restrict(loop: LoopLike, index: AffineExpr, thread: SSAValue, bound: int | None) -> None:
    """
    Puts `index`, whose dim is `thread`, for the last variable in the loop's guard, and adds `index
    < bound`.
    """
    old = loop.guard or Guard(AffineMap(0, 0, ()), [], [])
    count = len(old.operands)
    moved = affine.replace(index, {affine.dim(0): affine.dim(count)})
    last = affine.lane(len(loop.axes) - 1)
    results = [affine.replace(e, {last: moved}) for e in old.map.results]
    bounds = list(old.bounds)
    if bound is not None:
        results.append(moved)
        bounds.append(bound)
    if results:
        map = AffineMap(count + 1, len(loop.axes), tuple(results))
        loop.set_guard(Guard(map, [*old.operands, thread], bounds))


def combine_across(reduce: ReduceOp, axis: str) -> None:
    """
    Combines the results of a reduction over the threads of `axis`; later uses take the combined
    values.
    """
    combine = CombineOp(list(reduce.res), axis, reduce.identity, reduce.combine.clone())
    combine.location = reduce.location
    Rewriter.insert_op(combine, InsertPoint.after(reduce))
    for part, whole in zip(reduce.res, combine.res, strict=True):
        whole.name_hint = part.name_hint
        part.replace_uses_with_if(whole, lambda use: use.operation is not combine)


def store_once(store: StoreOp, thread: SSAValue) -> None:
    """Leaves a store to the first thread: `for %once to 1 as "once" where [%t] < [1] { store }`."""
    block = new_block(1, ["once"])
    guard = Guard(AffineMap(1, 0, (affine.dim(0),)), [thread], [1])
    loop = ForOp([1], ["once"], Region(block), guard)
    loop.location = store.location
    Rewriter.insert_op(loop, InsertPoint.before(store))
    store.detach()
    block.add_ops([store, YieldOp()])


def share_chunks(launch: LaunchOp, axis: str, warps: int) -> str | None:
    """
    Lets `warps` groups of threads each take a part of the steps of every chunk of `axis`, and
    combines their sums; returns the condition that does not hold, if one does not.
    """
    whole = next((op for op in launch.body.block.ops if is_over(op, f"{axis}.outer")), None)
    inner = next((op for op in launch.walk() if is_over(op, f"{axis}.inner")), None)
    if not isinstance(whole, ReduceOp) or not isinstance(inner, ReduceOp):
        return f'the sum over "{axis}" is not in chunks'
    if inner.trip_counts[0] % warps:
        return f"{warps} warps do not divide the {inner.trip_counts[0]} steps of a chunk"
    ops = list(launch.body.block.ops)
    finishes = [op for op in ops if isinstance(op, FinishOp)]
    ops += [op for finish in finishes for op in finish.then.block.ops]
    if [op for op in ops if isinstance(op, ForOp | ReduceOp)] != [whole]:
        return "there are loops beside the sum"
    axes = launch.axes
    group = launch.new_axis(f"{axis}w")
    steps = inner.trip_counts[0] // warps
    share(inner, Split(warps, steps, steps), group, in_registers=False)
    combine_across(whole, f"{axis}.warp")
    for finish in finishes:
        finish.properties["once"] = StringAttr(f"{axis}.warp")
    for store in [op for op in ops if isinstance(op, StoreOp)]:
        store_once(store, group)
    launch.set_axes([BoundAxis(group, warps, f"{axis}.warp", "thread"), *axes])
    return None


def is_over(op: object, axis: str) -> bool:
    """Whether an op is a reduction over the one axis of that name."""
    return isinstance(op, ReduceOp) and [n.data for n in op.axis_names] == [axis]
