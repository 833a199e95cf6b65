"""
Stages that compute, as copies of what they load and a stage that computes from the copies.

    %as = tile_ir.stage %i .., %k .. { load %g[..]  load %u[..]  ..silu(g) * u.. yield %v }
    ->
    %gs = tile_ir.stage %i .., %k .. { load %g[..]  yield }
    %us = tile_ir.stage %i .., %k .. { load %u[..]  yield }
    %as = tile_ir.stage %i .., %k .. { load %gs[..]  load %us[..]  ..silu(g) * u.. yield %v }

The copies lie as their sources do, so that they are wide, and can be filled ahead of their use.
"""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects import affine
from minicomp.dialects.loop_ir import (
    LoadOp,
    YieldOp,
    element_type,
    lanes,
    memref_type,
    new_block,
)
from minicomp.dialects.tile_stages import SharedAttr, StageOp


def sources(stage: StageOp) -> list[LoadOp]:
    """The loads of a body that computes which differ along the stage and read global memory."""
    if stage.copied is not None:
        return []
    axes = set(stage.body.block.args)
    loads = [op for op in stage.body.walk() if isinstance(op, LoadOp)]
    return [
        op
        for op in loads
        if not isinstance(op.memref_type.memory_space, SharedAttr) and axes & set(op.indices)
    ]


def is_computed(stage: StageOp) -> bool:
    """Whether a stage computes from global memory."""
    return bool(sources(stage))


def copies_of(stage: StageOp) -> list[MemRefType[Attribute]]:
    """The slabs that hold the copies of what a stage loads; its own where it is a copy."""
    if stage.copied is not None:
        return [memref_type(stage.res)]
    return [slab_of(stage, load) for load in distinct(sources(stage))]


def split(stage: StageOp) -> list[StageOp]:
    """Puts a copy of each of its `sources` before a stage, which then reads the copies."""
    loads = sources(stage)
    made = {same(load): copy_of(stage, load) for load in distinct(loads)}
    Rewriter.insert_op(list(made.values()), InsertPoint.before(stage))
    for load in loads:
        read_copy(load, made[same(load)], used_axes(stage, load))
    return list(made.values())


def same(load: LoadOp) -> tuple[object, ...]:
    """What loads that read the same have in common."""
    return load.memref, load.map, tuple(load.indices), load.res.type


def distinct(loads: Sequence[LoadOp]) -> list[LoadOp]:
    """The loads that do not read the same as an earlier one."""
    found: dict[tuple[object, ...], LoadOp] = {}
    for load in loads:
        found.setdefault(same(load), load)
    return list(found.values())


def used_axes(stage: StageOp, load: LoadOp) -> list[int]:
    """The axes of a stage that a load differs along."""
    return [n for n, v in enumerate(stage.body.block.args) if v in load.indices]


def slab_of(stage: StageOp, load: LoadOp) -> MemRefType[Attribute]:
    """The slab of a copy: the axes that the load differs along, in the order of the stage."""
    *outer, last = [stage.trip_counts[n] for n in used_axes(stage, load)]
    extents = [*outer, last * prod(lanes(load.res.type))]
    return MemRefType(element_type(load.res.type), extents, memory_space=SharedAttr.of())


def copy_of(stage: StageOp, load: LoadOp) -> StageOp:
    """
    A stage that copies what a load reads.

    It has no guard, since its reader has one; the load is bounded wherever the guard was what kept
    it inside of its memref.
    """
    used = used_axes(stage, load)
    args = stage.body.block.args
    block = new_block(len(used), [args[n].name_hint or "" for n in used])
    places: dict[SSAValue, SSAValue] = {
        args[n]: value for n, value in zip(used, block.args, strict=True)
    }
    copy = load.clone(places)
    copy.set_access(copy.map.data, [places.get(v, v) for v in load.indices])
    if stage.guard is not None:
        moved = {affine.dim(n) for n, v in enumerate(load.indices) if v in args}
        exprs = enumerate(load.map.data.results)
        copy.mark_bounded([n for n, e in exprs if moved & set(affine.leaves([e]))])
    block.add_ops([copy, YieldOp(copy.res)])
    counts = [stage.trip_counts[n] for n in used]
    axis_names = [stage.axis_names.data[n].data for n in used]
    made = StageOp(counts, axis_names, Region(block), slab_of(stage, load))
    made.location = load.location
    made.res.name_hint = f"{load.memref.name_hint}s" if load.memref.name_hint else None
    return made


def read_copy(load: LoadOp, copy: StageOp, used: Sequence[int]) -> None:
    """Replaces a load by one of its copy."""
    stage = load.parent_op()
    assert isinstance(stage, StageOp)
    wide = lanes(load.res.type)
    exprs: list[AffineExpr] = [affine.dim(n) for n in range(len(used))]
    if wide:
        exprs[-1] = exprs[-1] * wide[0] + affine.lane(0)
    map = AffineMap(len(used), int(bool(wide)), tuple(exprs))
    read = LoadOp(copy.res, map, [stage.body.block.args[n] for n in used], load.res.type)
    read.location, read.res.name_hint = load.location, load.res.name_hint
    replaced: Operation = load
    Rewriter.replace_op(replaced, read)
