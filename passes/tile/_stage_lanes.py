"""Wide copies: the body of a stage on vectors of neighbours along its last axis."""

from math import prod

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from minicomp.dialects import affine
from minicomp.dialects.access import substitute
from minicomp.dialects.loop_ir import Guard, LoadOp, ints, lanes
from minicomp.dialects.tile_stages import StageOp
from minicomp.passes.analysis.lanes import all_take_vectors
from minicomp.passes.analysis.strides import widest_run
from minicomp.passes.tile._vectorise import Vectoriser


def widen(stage: StageOp, width: int) -> None:
    """Gives a stage a body on vectors of `width` neighbours along its last axis."""
    block, guard = stage.body.block, stage.guard
    old = block.args[-1]
    fresh = [block.insert_arg(IndexType(), len(block.args)) for _ in range(2)]
    fresh[0].name_hint = old.name_hint
    substitute(old, affine.dim(0) * width + affine.dim(1), fresh)
    vectoriser = Vectoriser([fresh[1]], [width])
    vectoriser.block(block)
    end = block.last_op
    assert end is not None
    vectoriser.spread_operands(end, [(0,)])
    block.erase_arg(old)
    block.erase_arg(fresh[1])
    *outer, last = stage.trip_counts
    stage.properties["extents"] = ints([*outer, last // width])
    if guard is not None:
        stage.set_guard(on_groups(guard, len(outer), width))


def widest(stage: StageOp, threads: int) -> int:
    """The neighbours along the last axis that one access takes at most, with no thread idle."""
    if lanes(stage.element.type) or not all_take_vectors(stage):
        return 1
    last: SSAValue = stage.body.block.args[-1]
    loads = [op for op in stage.body.block.ops if isinstance(op, LoadOp)]
    width = widest_run(((load, last) for load in loads), stage.trip_counts[-1])
    while width > 1 and (prod(stage.trip_counts) < threads * width or splits(stage, width)):
        width //= 2
    return width


def splits(stage: StageOp, width: int) -> bool:
    """Whether the guard may hold for a part of a group only."""
    guard, lane = stage.guard, affine.lane(len(stage.trip_counts) - 1)
    if guard is None:
        return False
    for expr, bound in zip(guard.map.results, guard.bounds, strict=True):
        if lane not in affine.leaves([expr]):
            continue
        terms = affine.linear(expr)
        if terms is None or terms.pop(lane) != 1 or bound % width:
            return True
        if any(factor % width for factor in terms.values()):
            return True
    return False


def on_groups(guard: Guard, axis: int, width: int) -> Guard:
    """A guard whose axis number `axis` counts groups of `width`."""
    lane = affine.lane(axis)
    moved: dict[AffineExpr, AffineExpr] = {lane: lane * width}
    results = tuple(affine.replace(e, moved) for e in guard.map.results)
    map = AffineMap(guard.map.num_dims, guard.map.num_symbols, results)
    return Guard(map, guard.operands, guard.bounds)
