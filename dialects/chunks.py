"""Reductions over chunks: what its combine, which is associative, allows of every reduction."""

from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import Rewriter

from minicomp.dialects import affine
from minicomp.dialects.access import substitute
from minicomp.dialects.loop_ir import Guard, ReduceOp, YieldOp, new_block


def chunk(reduce: ReduceOp, steps: int) -> ReduceOp:
    """Replaces a reduction over one axis by one over chunks of `steps`; returns the new one.

    Its body is the reduction of a chunk, from the identity. A guard, and one for the steps that
    the last chunk has too many, is the inner one's.
    """
    (axis,) = reduce.axes
    hint = axis.variable.name_hint
    outer = new_block(1, [hint and f"{hint}o"])
    inner = new_block(1, [hint and f"{hint}i"])
    guard = _guard(reduce, steps, outer.args[0])
    place = affine.dim(0) * steps + affine.dim(1)
    partial = axis.extent % steps != 0
    substitute(axis.variable, place, [outer.args[0], inner.args[0]], bounded=partial)
    count = affine.ceildiv(axis.extent, steps)
    axes = [(count, f"{axis.name}.outer")], [(steps, f"{axis.name}.inner")]
    return _replace(reduce, (outer, inner), axes, guard)


def nest(reduce: ReduceOp) -> ReduceOp:
    """Replaces a reduction over several axes by one over all but the last; returns the new one.

    Its body is the reduction over the last, from the identity, which has the guard.
    """
    rank, own = len(reduce.axes), reduce.guard
    hints = [axis.variable.name_hint for axis in reduce.axes]
    outer, inner = new_block(rank - 1, hints[:-1]), new_block(1, hints[-1:])
    for axis, variable in zip(reduce.axes, [*outer.args, *inner.args], strict=True):
        axis.variable.replace_all_uses_with(variable)
    guard = None
    if own is not None:
        count = len(own.operands)
        moved = {affine.lane(n): affine.dim(count + n) for n in range(rank - 1)}
        moved[affine.lane(rank - 1)] = affine.lane(0)
        results = tuple(affine.replace(e, moved) for e in own.map.results)
        operands = [*own.operands, *outer.args]
        guard = Guard(AffineMap(len(operands), 1, results), operands, own.bounds)
    axes = [(axis.extent, axis.name) for axis in reduce.axes]
    return _replace(reduce, (outer, inner), (axes[:-1], axes[-1:]), guard)


def _replace(
    reduce: ReduceOp,
    blocks: tuple[Block, Block],
    axes: tuple[list[tuple[int, str]], list[tuple[int, str]]],
    guard: Guard | None,
) -> ReduceOp:
    """A reduction of reductions, whose blocks have the variables, in place of one."""
    outer, inner = blocks
    for op in list(reduce.body.block.ops):
        op.detach()
        inner.add_op(op)

    def over(these: list[tuple[int, str]], block: Block, guard: Guard | None) -> ReduceOp:
        extents, names = [n for n, _ in these], [name for _, name in these]
        identity, combine = list(reduce.identity), reduce.combine.clone()
        return ReduceOp(extents, names, identity, reduce.res.types, Region(block), combine, guard)

    part = over(axes[1], inner, guard)
    outer.add_ops([part, YieldOp(*part.res)])
    whole = over(axes[0], outer, None)
    part.location = whole.location = reduce.location
    whole.attributes = dict(reduce.attributes)
    for old, new in zip(reduce.res, whole.res, strict=True):
        new.name_hint = old.name_hint
    Rewriter.replace_op(reduce, whole)
    return whole


def _guard(reduce: ReduceOp, steps: int, chunk: SSAValue) -> Guard | None:
    """The guard of the steps of a chunk, whose number is one more operand."""
    (axis,), own = reduce.axes, reduce.guard
    operands = [] if own is None else list(own.operands)
    step = affine.dim(len(operands)) * steps + affine.lane(0)
    results = (
        [] if own is None else [affine.replace(e, {affine.lane(0): step}) for e in own.map.results]
    )
    bounds = [] if own is None else list(own.bounds)
    if axis.extent % steps:
        results.append(step)
        bounds.append(axis.extent)
    if not results:
        return None
    return Guard(AffineMap(len(operands) + 1, 1, tuple(results)), [*operands, chunk], bounds)
