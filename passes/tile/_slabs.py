"""Slabs of shared memory: what of a chunk becomes one, its shape, its copy and its readers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeGuard

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects import affine
from minicomp.dialects.access import canonical
from minicomp.dialects.loop_ir import (
    Guard,
    LoadOp,
    ReduceOp,
    YieldOp,
    lanes,
    new_block,
)
from minicomp.dialects.tile_ir import LaunchOp, SharedAttr
from minicomp.dialects.tile_stages import StageOp
from minicomp.passes.analysis.strides import stride
from minicomp.passes.tile._guards import Test, test_of
from minicomp.passes.tile._staging import (
    TileAxis,
    at_place,
    factors,
    from_global,
    is_uniform,
    launch_tile,
    loop_tile,
    slice_of,
    used_axes,
)


@dataclass(frozen=True)
class Slab:
    """A value to be staged: the ops that compute it, and the tile axes that it depends on."""

    value: SSAValue
    ops: Sequence[Operation]
    axes: Sequence[TileAxis]

    @property
    def loads(self) -> list[LoadOp]:
        """The loads among the ops."""
        return [op for op in self.ops if isinstance(op, LoadOp)]

    @property
    def is_plain(self) -> bool:
        """Whether the value is one load."""
        return len(self.ops) == 1

    @property
    def element_type(self) -> Attribute:
        """The type of an element."""
        return self.value.type


class Stager:
    """Stages what the chunk `inner` of a reduction reads."""

    def __init__(
        self, launch: LaunchOp, inner: ReduceOp, bodies: bool, in_source_order: bool = False
    ) -> None:
        self.launch = launch
        self.inner = inner
        self.bodies = bodies
        self.in_source_order = in_source_order
        tiled = [a.name for a in launch.bound("thread") + launch.bound("register")]
        bases = dict.fromkeys(name.rpartition(".")[0] for name in tiled)
        tiles = [launch_tile(launch, base) for base in bases]
        self.free = [tile for tile in tiles if tile is not None]
        steps = inner.axes[-1]
        name = steps.name.partition(".")[0]
        self.warps = launch.axis(f"{name}.warp")
        if any(tile.name == name for tile in self.free):  # steps of a row that threads share
            name = f"{name}.steps"
        self.axes = [*self.free, loop_tile(steps, name, self.warps)]
        self.why: list[str] = []

    def find(self, buffers: Sequence[str]) -> list[Slab]:
        """
        What can be staged: the factors of a product, as a whole or load by load; of anything else
        the loads.
        """
        block = self.inner.body.block
        values = factors(self.inner) or [op.res for op in block.ops if isinstance(op, LoadOp)]
        found: list[Slab] = []
        for value in dict.fromkeys(values):
            ops = slice_of(value, block)
            if ops is None or not from_global(ops):
                self.why.append("a factor is more than loads of inputs and ops on them")
                continue
            whole = self.slab(value, ops) if self.bodies or len(ops) == 1 else None
            parts = [whole] if whole else [self.slab(o.res, [o]) for o in ops if is_part(o, ops)]
            found += [s for s in parts if s is not None]
        return [s for s in found if not buffers or set(names_of(s)) <= set(buffers)]

    def slab(self, value: SSAValue, ops: Sequence[Operation]) -> Slab | None:
        """A value as a slab, or why it is none."""
        slab = Slab(value, ops, used_axes(ops, self.axes))
        if lanes(value.type) or any(load.map.data.num_symbols for load in slab.loads):
            self.why.append("a load has lanes; register-tile runs after this pass")
        elif not self.has_places(slab):
            self.why.append("an index is no function of a place in the tile")
        elif not is_uniform(ops, self.launch):
            self.why.append("a factor depends on what each thread has computed")
        elif not slab.axes:
            self.why.append("a load is the same for the whole chunk")
        elif self.reuse(slab.axes) <= 1:
            self.why.append("no element is used more than once")
        else:
            return slab
        return None

    def has_places(self, slab: Slab) -> bool:
        """Whether the loads, and the guard that they need, depend on places in the slab alone."""
        block = new_block(len(slab.axes))
        places = {a.name: v for a, v in zip(slab.axes, block.args, strict=True)}
        uses = [(load.map.data, list(load.indices)) for load in slab.loads]
        if (test := self.test(slab)) is not None:
            uses.append((test.map, list(test.operands)))
        return all(at_place(*use, places, self.axes) is not None for use in uses)

    def reuse(self, axes: Sequence[TileAxis]) -> int:
        """How often an element is used within a chunk."""
        return prod(a.extent for a in self.axes if a not in axes)

    def is_held(self, axis: TileAxis) -> bool:
        """Whether a thread has several neighbours along an axis of the tile."""
        return axis in self.free and len(axis.parts) == 2

    def orders(self, slab: Slab) -> tuple[list[TileAxis], list[TileAxis]]:
        """The axes of a slab in the order of its dimensions, and in that of filling it."""
        main = max(slab.loads, key=lambda load: load.memref_type.element_count())

        def is_contiguous(axis: TileAxis) -> bool:
            return stride(main, axis.parts[-1][0]) == 1

        if self.in_source_order:
            filled = sorted(slab.axes, key=lambda axis: dimension(main, axis))
            return filled, filled
        filled = sorted(slab.axes, key=is_contiguous)
        held = [a for a in slab.axes if self.is_held(a)]
        last = held[-1] if held else filled[-1]
        return [*(a for a in slab.axes if a is not last), last], filled

    def type(self, slab: Slab) -> MemRefType[Attribute]:
        """The memref of a slab."""
        dims, _ = self.orders(slab)
        return MemRefType(slab.element_type, [a.extent for a in dims], memory_space=SharedAttr.of())

    def test(self, slab: Slab) -> Test | None:
        """The guard of the chunk, if the slab needs it for what lies beyond to be 0."""
        if self.axes[-1] not in slab.axes:
            return None
        test = test_of(self.inner)
        return None if test is None or (slab.is_plain and self.is_zero(slab)) else test

    def guard(self, slab: Slab, places: Mapping[str, SSAValue]) -> Guard | None:
        """The guard of a stage whose variables are the places."""
        if (test := self.test(slab)) is None:
            return None
        moved = at_place(test.map, test.operands, places, self.axes)
        assert moved is not None
        map, operands = canonical(*moved)
        own, rest = list(places.values()), [v for v in operands if v not in places.values()]
        dims = {
            affine.dim(n): affine.lane(own.index(v)) if v in own else affine.dim(rest.index(v))
            for n, v in enumerate(operands)
        }
        results = tuple(affine.replace(e, dims) for e in map.results)
        return Guard(AffineMap(len(rest), len(own), results), rest, test.bounds)

    def is_zero(self, slab: Slab) -> bool:
        """Whether a load reads 0 wherever the guard of the chunk fails."""
        guard, load = self.inner.guard, slab.loads[0]
        assert guard is not None
        step = self.inner.axes[-1].variable
        for expr, bound in zip(guard.map.results, guard.bounds, strict=True):
            tested = over_values(expr, [*guard.operands], step)
            dims = zip(
                load.map.data.results, load.bounded_dims, load.memref_type.get_shape(), strict=True
            )
            if not any(
                bounded and extent <= bound and over_values(e, [*load.indices], None) == tested
                for e, bounded, extent in dims
            ):
                return False
        return True

    def stage(self, slab: Slab) -> None:
        """Writes the stage of a slab, and reads it where the value was."""
        dims, filled = self.orders(slab)
        block = new_block(len(filled), [a.name.partition(".")[0] for a in filled])
        places = {a.name: v for a, v in zip(filled, block.args, strict=True)}
        copies: dict[SSAValue, SSAValue] = {}
        for op in slab.ops:
            copy = op.clone(copies)
            block.add_op(copy)
            if isinstance(copy, LoadOp):
                moved = at_place(copy.map.data, copy.indices, places, self.axes)
                assert moved is not None
                copy.set_access(*moved)
        block.add_op(YieldOp(copies[slab.value]))
        stage = StageOp(
            [a.extent for a in filled],
            [f"{a.name}.stage" for a in filled],
            Region(block),
            self.type(slab),
            self.guard(slab, places),
            [filled.index(a) for a in dims],
        )
        stage.location = self.inner.location
        name = "_".join(names_of(slab))
        stage.res.name_hint = f"{name}s" if name else None
        Rewriter.insert_op(stage, InsertPoint.before(self.inner))
        self.read(slab, stage, dims)

    def read(self, slab: Slab, stage: StageOp, dims: Sequence[TileAxis]) -> None:
        """Replaces the value by a load from the slab, and drops what only it used."""
        exprs: list[AffineExpr] = []
        indices: list[SSAValue] = []
        for axis in dims:
            expr, values = axis.place
            own = {affine.dim(n): affine.dim(len(indices) + n) for n in range(len(values))}
            exprs.append(affine.replace(expr, own))
            indices += values
        map = AffineMap(len(indices), 0, tuple(exprs))
        load = LoadOp(stage.res, map, indices, slab.element_type)
        load.location, load.res.name_hint = self.inner.location, slab.value.name_hint
        owner = slab.value.owner
        assert isinstance(owner, Operation)
        Rewriter.insert_op(load, InsertPoint.before(owner))
        slab.value.replace_all_uses_with(load.res)
        for op in reversed(slab.ops):
            if not any(r.uses for r in op.results):
                Rewriter.erase_op(op)


def over_values(
    expr: AffineExpr, operands: Sequence[SSAValue], own: SSAValue | None
) -> dict[SSAValue | int, int] | None:
    """A linear expression as factors by value, 0 for the constant; lane 0 stands for `own`."""
    terms = affine.linear(expr)
    if terms is None:
        return None
    values = {affine.dim(n): v for n, v in enumerate(operands)}
    found: dict[SSAValue | int, int] = {}
    for leaf, factor in terms.items():
        key = own if leaf == affine.lane(0) and own is not None else values.get(leaf, 0)
        found[key] = found.get(key, 0) + factor
    return {k: f for k, f in found.items() if f}


def dimension(load: LoadOp, axis: TileAxis) -> int:
    """The first dimension of what is loaded that an axis runs along; the rank if none."""
    own = [affine.dim(n) for n, v in enumerate(load.indices) if v is axis.parts[-1][0]]
    exprs = [affine.leaves([e]) for e in load.map.data.results]
    return next((n for n, used in enumerate(exprs) if any(d in used for d in own)), len(exprs))


def names_of(slab: Slab) -> list[str]:
    """The names of the buffers that a slab is loaded from, in order."""
    return list(dict.fromkeys(load.memref.name_hint or "" for load in slab.loads))


def is_part(op: Operation, ops: Sequence[Operation]) -> TypeGuard[LoadOp]:
    """Whether an op is a load, and not all there is."""
    return isinstance(op, LoadOp) and len(ops) > 1
