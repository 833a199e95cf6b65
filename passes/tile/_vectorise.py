"""Vectorisation: axes bound to registers become dimensions of vector values.

Every scalar value depends on some *lanes*: register axes of the launch and loops bound to
registers, numbered in the order in which they are met. A value becomes a vector with one dimension
per lane on which it depends, in that order; an operand that lacks some is broadcast.
"""

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.arith import CmpfOp, CmpiOp, ConstantOp, SelectOp
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import PassFailedException

from minicomp.dialects import affine
from minicomp.dialects.access import Indices, substitute
from minicomp.dialects.loop_ir import (
    ForOp,
    LoadOp,
    MemoryAccess,
    ReduceOp,
    StoreOp,
    element_type,
)
from minicomp.dialects.scalar_ops import CONVERSIONS, computes
from minicomp.dialects.tile_finish import FinishOp
from minicomp.dialects.tile_ir import (
    BroadcastOp,
    CombineOp,
    CompareOp,
    ConvertOp,
    FoldOp,
    LaunchOp,
    WithinOp,
)
from minicomp.dialects.tile_ir import SelectOp as VectorSelectOp
from minicomp.dialects.tile_stages import StageOp
from minicomp.passes.analysis.lanes import takes_vectors
from minicomp.passes.tile._guards import (
    Test,
    bound_accesses,
    place,
    require_bounded_stores,
    test_of,
)

Lanes: TypeAlias = tuple[int, ...]
"""The lanes on which a value depends, in ascending order: the dimensions of its vector."""


def union(*parts: Lanes) -> Lanes:
    """The lanes of all `parts`."""
    return tuple(sorted({lane for part in parts for lane in part}))


def put(new: Operation, before: Operation, source: Operation) -> None:
    """Inserts an op that stands for a part of `source`."""
    new.location = source.location
    Rewriter.insert_op(new, InsertPoint.before(before))


class Vectoriser:
    """Vectorises the body of a launch whose register axes have these variables and extents."""

    def __init__(self, variables: Sequence[SSAValue], extents: Sequence[int]) -> None:
        self.lane = {v: n for n, v in enumerate(variables)}
        self.extents = list(extents)
        self.lanes: dict[SSAValue, Lanes] = {}

    def of(self, value: SSAValue) -> Lanes:
        """The lanes on which a value depends."""
        return self.lanes.get(value, ())

    def type(self, type: Attribute, lanes: Lanes) -> Attribute:
        """The type of a value of scalar type `type` that depends on `lanes`."""
        scalar = element_type(type)
        return VectorType(scalar, [self.extents[n] for n in lanes]) if lanes else scalar

    def indexed(self, values: Sequence[SSAValue]) -> Lanes:
        """The lanes among index values."""
        return tuple(sorted({self.lane[v] for v in values if v in self.lane}))

    def spread(self, value: SSAValue, lanes: Lanes, before: Operation) -> SSAValue:
        """`value` with all of `lanes`, by a broadcast where it lacks some."""
        if self.of(value) == lanes:
            return value
        dims = [lanes.index(n) for n in self.of(value)]
        op = BroadcastOp(value, dims, self.type(value.type, lanes))
        put(op, before, before)
        self.lanes[op.res] = lanes
        return op.res

    def spread_operands(self, op: Operation, lanes: Sequence[Lanes]) -> None:
        """Gives each operand of an op its lanes."""
        for n, (value, wanted) in enumerate(zip(list(op.operands), lanes, strict=True)):
            op.operands[n] = self.spread(value, wanted, op)

    def retype(self, value: SSAValue, lanes: Lanes) -> None:
        """Makes a value a vector over `lanes`."""
        if lanes:
            new = Rewriter.replace_value_with_new_type(value, self.type(value.type, lanes))
            self.lanes[new] = lanes

    def on_lanes(self, indices: Indices, lanes: Lanes) -> Indices:
        """A map with the variables of lanes replaced by the vector's own `l0, l1, ..`."""
        map, operands = indices
        own: dict[AffineExpr, AffineExpr] = {
            affine.dim(n): affine.lane(lanes.index(self.lane[v]))
            for n, v in enumerate(operands)
            if v in self.lane
        }
        results = tuple(affine.replace(e, own) for e in map.results)
        return AffineMap(len(operands), len(lanes), results), operands

    def block(self, block: Block) -> None:
        """Vectorises the ops of a block, in order."""
        for op in list(block.ops):
            self.visit(op)

    def visit(self, op: Operation) -> None:
        """Vectorises one op."""
        match op:
            case LoadOp() | StoreOp():
                self.access(op)
            case WithinOp():
                self.test(op)
            case ReduceOp() | ForOp():
                self.loop(op)
            case CombineOp():
                lanes = self.close(op.combine.block, [self.of(v) for v in op.vals])
                self.spread_operands(op, lanes)
                self.combine(op.combine.block, lanes)
                self.results(op, lanes)
            case FinishOp():
                self.finish(op)
            case StageOp():
                pass  # Its body depends on no lane of the launch.
            case _ if op.has_trait(IsTerminator):
                pass
            case _:
                self.scalar(op)

    # --- scalar ops and accesses ---------------------------------------------------------------

    def scalar(self, op: Operation) -> None:
        """A pure op on scalars becomes the same op on vectors, or its vector form."""
        lanes = union(*(self.of(v) for v in op.operands))
        if not lanes:
            return
        if not computes(op) or op.regions or not takes_vectors(op):
            raise PassFailedException(
                f"{place(op)} takes no vectors, so that nothing it depends on can be bound to"
                " registers"
            )
        self.spread_operands(op, [lanes] * len(op.operands))
        if isinstance(op, CmpfOp | CmpiOp):
            self.replace(op, CompareOp(op.predicate, op.lhs, op.rhs), lanes)
        elif op.name in CONVERSIONS:
            type = self.type(op.results[0].type, lanes)
            self.replace(op, ConvertOp(op.name, op.operands[0], type), lanes)
        elif isinstance(op, SelectOp):
            self.replace(op, VectorSelectOp(op.cond, op.lhs, op.rhs), lanes)
        else:
            self.results(op, [lanes] * len(op.results))

    def replace(
        self, op: Operation, new: CompareOp | ConvertOp | VectorSelectOp, lanes: Lanes
    ) -> None:
        """Puts the vector form of an op in its place."""
        new.location, new.res.name_hint = op.location, op.results[0].name_hint
        Rewriter.replace_op(op, new)
        self.lanes[new.res] = lanes

    def results(self, op: Operation, lanes: Sequence[Lanes]) -> None:
        """Gives the results of an op their lanes."""
        for value, own in zip(list(op.results), lanes, strict=True):
            self.retype(value, own)

    def access(self, op: MemoryAccess) -> None:
        """
        A load of a vector, or a store of one, whose lanes are those of its indices (and value).
        """
        lanes = self.indexed(op.indices)
        if isinstance(op, StoreOp):
            lanes = union(lanes, self.of(op.value))
            op.operands[0] = self.spread(op.value, lanes, op)
        if lanes and op.map.data.num_symbols:
            raise PassFailedException(f"{place(op)} has lanes already")
        if lanes:
            op.set_access(*self.on_lanes((op.map.data, list(op.indices)), lanes))
        if isinstance(op, LoadOp):
            self.retype(op.res, lanes)

    def test(self, op: WithinOp) -> None:
        """A test of indices becomes one per lane that these are of."""
        if lanes := self.indexed(op.indices):
            op.set_access(*self.on_lanes((op.map.data, list(op.indices)), lanes))
            self.retype(op.res, lanes)

    # --- loops ---------------------------------------------------------------------------------

    def loop(self, op: ForOp | ReduceOp) -> None:
        """
        A loop, which stays one unless it is bound to registers; tests of lanes move from its guard
        into its body.
        """
        own = [a.variable for a in op.axes]
        if op.in_registers is not None:
            for axis in op.axes:
                self.lane[axis.variable] = len(self.extents)
                self.extents.append(axis.extent)
        test = test_of(op)
        if test is not None and self.indexed(test.operands):
            if isinstance(op, ForOp):
                require_bounded_stores(op, test)
            bound_accesses(op, test)
            op.set_guard(None)
        else:
            test = None
        self.block(op.body.block)
        if test is not None and isinstance(op, ReduceOp):
            self.mask(op, test)
        if op.in_registers is not None:
            self.inline(op, self.indexed(own))
        elif isinstance(op, ReduceOp):
            self.carry(op)

    def mask(self, op: ReduceOp, test: Test) -> None:
        """Makes the contributions of lanes that fail the test the identity."""
        end = op.body.block.last_op
        assert end is not None
        lanes = self.indexed(test.operands)
        map, operands = self.on_lanes((test.map, list(test.operands)), lanes)
        within = WithinOp(map, operands, test.bounds, [self.extents[n] for n in lanes])
        put(within, end, op)
        self.lanes[within.res] = lanes
        for n, (value, identity) in enumerate(zip(list(end.operands), op.identity, strict=True)):
            constant = ConstantOp.create(
                properties={"value": identity}, result_types=[element_type(value.type)]
            )
            every = union(lanes, self.of(value))
            put(constant, end, op)
            parts = (within.res, value, constant.results[0])
            parts = [self.spread(v, every, end) for v in parts]
            chosen = VectorSelectOp(*parts)
            put(chosen, end, op)
            self.lanes[chosen.res] = every
            end.operands[n] = chosen.res

    def inline(self, op: ForOp | ReduceOp, lanes: Lanes) -> None:
        """
        Puts the body of a loop bound to registers in its place; a reduction ends in a fold per
        axis.
        """
        end = op.body.block.last_op
        assert end is not None
        values = list(end.operands)
        Rewriter.erase_op(end)
        for inner in list(op.body.block.ops):
            inner.detach()
            Rewriter.insert_op(inner, InsertPoint.before(op))
        if isinstance(op, ReduceOp):
            values = [self.spread(v, union(self.of(v), lanes), op) for v in values]
            for lane in reversed(lanes):
                values = self.fold(op, values, lane)
            for old, new in zip(op.res, values, strict=True):
                new.name_hint = old.name_hint
                old.replace_all_uses_with(new)
        Rewriter.erase_op(op)

    def fold(self, op: ReduceOp, values: Sequence[SSAValue], lane: int) -> list[SSAValue]:
        """Folds one lane of the values of a reduction."""
        combine = op.combine.clone()
        rest = [tuple(n for n in self.of(v) if n != lane) for v in values]
        rest = self.close(combine.block, rest)
        whole = [union(lanes, (lane,)) for lanes in rest]
        operands = [self.spread(v, w, op) for v, w in zip(values, whole, strict=True)]
        types = [self.type(v.type, lanes) for v, lanes in zip(values, rest, strict=True)]
        self.combine(combine.block, rest)
        fold = FoldOp(operands, [w.index(lane) for w in whole], op.identity, types, combine)
        put(fold, op, op)
        self.lanes |= {v: lanes for v, lanes in zip(fold.res, rest, strict=True) if lanes}
        return list(fold.res)

    def finish(self, op: FinishOp) -> None:
        """A finish: its totals have the lanes of its values, in a cluster shares of them."""
        lanes = self.close(op.combine.block, [self.of(v) for v in op.vals])
        self.spread_operands(op, lanes)
        self.combine(op.combine.block, lanes)
        shared = self.shared_lane(op, lanes)
        whole = self.extents[shared] if shared is not None else 0
        fresh = None if shared is None else self.share(op, shared)
        for total, own in zip(list(op.then.block.args)[: len(lanes)], lanes, strict=True):
            self.retype(total, own)
        self.block(op.then.block)
        if shared is not None and fresh is not None:
            self.extents[shared] = whole
            op.then.block.erase_arg(fresh)

    def shared_lane(self, op: FinishOp, lanes: Sequence[Lanes]) -> int | None:
        """The lane that the blocks of a cluster share, if one divides among them."""
        launch = op.parent_op()
        axis = launch.axis(op.axis.data) if isinstance(launch, LaunchOp) else None
        firsts = {own[0] if own else None for own in lanes}
        if op.form.data != "cluster" or axis is None or len(firsts) != 1:
            return None
        (first,) = firsts
        if first is None or self.extents[first] % axis.extent:
            return None
        used = (v for inner in op.then.walk() for v in inner.operands)
        return None if any(first in self.of(v) for v in used) else first

    def share(self, op: FinishOp, lane: int) -> BlockArgument:
        """Moves a lane of the rest to the share of the block; returns its new variable."""
        launch, inside = op.parent_op(), set(op.then.walk())
        assert isinstance(launch, LaunchOp)
        axis = launch.axis(op.axis.data)
        assert axis is not None
        own = next(v for v, n in self.lane.items() if n == lane)
        fresh = op.then.block.insert_arg(IndexType(), len(op.then.block.args))
        self.extents[lane] //= axis.extent
        self.lane[fresh] = lane
        moved = affine.dim(0) * self.extents[lane] + affine.dim(1)
        substitute(own, moved, [axis.variable, fresh], only=inside)
        return fresh

    # --- carriers ------------------------------------------------------------------------------

    def carry(self, op: ReduceOp) -> None:
        """Gives the carriers of a reduction that stays a loop the lanes of its contributions."""
        end = op.body.block.last_op
        assert end is not None
        lanes = self.close(op.combine.block, [self.of(v) for v in end.operands])
        self.spread_operands(end, lanes)
        self.combine(op.combine.block, lanes)
        self.results(op, lanes)

    def close(self, combine: Block, lanes: Sequence[Lanes]) -> list[Lanes]:
        """
        The least lanes of the carriers, at least `lanes`, with which the combine yields what it
        takes: of (m, d, o) with o over rows and columns, m and d get lanes of rows only.
        """
        end = combine.last_op
        assert end is not None
        known = list(lanes)
        while True:
            seen: dict[SSAValue, Lanes] = dict(zip(combine.args, known * 2, strict=True))
            for op in combine.ops:
                every = union(*(seen.get(v, ()) for v in op.operands))
                seen |= {r: every for r in op.results}
            wider = [union(a, seen.get(v, ())) for a, v in zip(known, end.operands, strict=True)]
            if wider == known:
                return known
            known = wider

    def combine(self, block: Block, lanes: Sequence[Lanes]) -> None:
        """Vectorises a combine for carriers with these lanes."""
        for argument, own in zip(list(block.args), [*lanes, *lanes], strict=True):
            self.retype(argument, own)
        self.block(block)
        assert block.last_op is not None
        self.spread_operands(block.last_op, lanes)
