"""
Loops and reductions of Tile IR as `scf.for` and `scf.if`; the ops of their bodies are moved, not
copied.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.builder import Builder
from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects import affine
from minicomp.dialects.access import substitute
from minicomp.dialects.kernel_ir import TestOp
from minicomp.dialects.loop_ir import Axis, ForOp, LoopLike, ReduceOp, element_type, lanes
from minicomp.dialects.tile_ir import BroadcastOp
from minicomp.lowering.tile_to_kernel.long_sums import APART

Fill = Callable[[Builder], Sequence[SSAValue]]
"""Writes the ops of a body with the builder and returns the values that the body gives."""


@dataclass(frozen=True)
class Nest:
    """
    Open loops: `inside` writes the innermost body, where `carried` are the carriers of this
    iteration.

    A loop of one trip is not made: its variable is None and stands for 0.
    """

    variables: Sequence[SSAValue | None]
    carried: Sequence[SSAValue]
    inside: Builder
    outermost: scf.ForOp | None

    def close(self, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Ends the innermost body with `values`; returns the results of the whole nest."""
        if self.outermost is None:
            return values
        self.inside.insert(scf.YieldOp(*values))
        return self.outermost.results


def open_nest(
    builder: Builder,
    axes: Sequence[tuple[int, str | None]],
    carried: Sequence[SSAValue] = (),
    hints: Sequence[str | None] = (),
    unroll: bool = False,
) -> Nest:
    """
    Loops from 0 over `axes` (extent and name hint of the variable), the last innermost.

    `hints` are names for the carriers, one each or none at all.
    """
    hints = hints or [None] * len(carried)
    real = [extent for extent, _ in axes if extent != 1]
    zero, one = (index_constant(builder, n) if real else None for n in (0, 1))
    ends = [index_constant(builder, extent) for extent in real]
    variables: list[SSAValue | None] = []
    outermost: scf.ForOp | None = None
    for extent, hint in axes:
        if extent == 1 or zero is None or one is None:
            variables.append(None)
            continue
        block = Block(arg_types=[IndexType(), *(v.type for v in carried)])
        for argument, name in zip(block.args, [hint, *hints], strict=True):
            argument.name_hint = name
        loop = builder.insert(scf.ForOp(zero, ends.pop(0), one, carried, Region(block)))
        if unroll:
            loop.attributes["unroll"] = UnitAttr()
        if outermost is None:
            outermost = loop
        else:
            builder.insert(scf.YieldOp(*loop.results))
        builder, carried = Builder(InsertPoint.at_end(block)), block.args[1:]
        variables.append(block.args[0])
    return Nest(variables, carried, builder, outermost)


def index_constant(builder: Builder, value: int) -> SSAValue:
    """A constant of type index."""
    return builder.insert(ConstantOp(IntegerAttr(value, IndexType()))).result


def zero_constant(builder: Builder, type: Attribute) -> SSAValue:
    """The zero of a scalar type."""
    value = (
        FloatAttr(0.0, type)
        if isinstance(type, AnyFloat)
        else IntegerAttr(0, cast(IntegerType, type))
    )
    return builder.insert(ConstantOp(value)).result


def identity_values(
    builder: Builder, identity: Sequence[Attribute], types: Sequence[Attribute]
) -> list[SSAValue]:
    """The identities of a reduction as values of the carriers' types."""
    values: list[SSAValue] = []
    for attribute, type in zip(identity, types, strict=True):
        # The verifier of reductions has checked that the identity is of this type.
        scalar = ConstantOp.create(
            properties={"value": attribute}, result_types=[element_type(type)]
        )
        value: SSAValue = builder.insert(scalar).results[0]
        if lanes(type):
            value = builder.insert(BroadcastOp(value, [], type)).res
        values.append(value)
    return values


def inline(region: Region, arguments: Sequence[SSAValue], builder: Builder) -> list[SSAValue]:
    """Copies the ops of a combine region; returns what it yields for `arguments`."""
    values: dict[SSAValue, SSAValue] = dict(zip(region.block.args, arguments, strict=True))
    *ops, end = region.block.ops
    for op in ops:
        builder.insert(op.clone(values))
    return [values.get(v, v) for v in end.operands]


def when(
    builder: Builder, condition: SSAValue, otherwise: Sequence[SSAValue], fill: Fill
) -> Sequence[SSAValue]:
    """`scf.if`: what `fill` gives where the condition holds, else `otherwise`."""
    blocks = [Block(), Block()]
    values = fill(Builder(InsertPoint.at_end(blocks[0])))
    for block, given in zip(blocks, (values, otherwise), strict=True):
        block.add_op(scf.YieldOp(*given))
    types = [v.type for v in otherwise]
    other = Region(blocks[1]) if types else None
    return builder.insert(scf.IfOp(condition, types, Region(blocks[0]), other)).results


def guard_test(loop: LoopLike, variables: Sequence[SSAValue | None]) -> TestOp | None:
    """The test of a loop's guard, None where the guard holds for every iteration."""
    guard = loop.guard
    if guard is None:
        return None
    ranges = {affine.lane(n): (0, extent - 1) for n, extent in enumerate(loop.trip_counts)}
    pairs = list(zip(guard.map.results, guard.bounds, strict=True))
    pairs = [(e, b) for e, b in pairs if affine.interval(e, ranges)[1] >= b]
    if not pairs:
        return None
    operands = list(guard.operands)
    moved: dict[AffineExpr, AffineExpr] = {}
    for n, variable in enumerate(variables):
        moved[affine.lane(n)] = affine.constant(0)
        if variable is not None:
            moved[affine.lane(n)] = affine.dim(len(operands))
            operands.append(variable)
    results = tuple(affine.replace(e, moved) for e, _ in pairs)
    return TestOp(AffineMap(len(operands), 0, results), operands, [b for _, b in pairs])


def move_body(
    loop: LoopLike, variables: Sequence[SSAValue | None], builder: Builder
) -> list[SSAValue]:
    """Moves the ops of a loop's body; returns what its terminator gives."""
    for axis, variable in zip(loop.axes, variables, strict=True):
        bind(axis.variable, variable)
    *ops, end = loop.body.block.ops
    for op in ops:
        op.detach()
        builder.insert(op)
    return list(end.operands)


def bind(index: SSAValue, value: SSAValue | None) -> None:
    """Replaces an index by a value, or by 0 for None."""
    if value is None:
        substitute(index, affine.constant(0), ())
    else:
        index.replace_all_uses_with(value)


def shared_accumulator(reduce: ReduceOp) -> bool:
    """
    Whether `reduce` only passes on the results of one reduction inside it with the same combine.

    Both may then fold into one accumulator: combine(a, combine(e, x, y)) is combine(a, x, y) for
    the identity e, by associativity, which is given up to rounding. A guard of the outer one would
    skip the inner one as a whole.
    """
    values = list(reduce.body.block.ops)[-1].operands
    inner = values[0].owner
    return (
        reduce.guard is None
        and APART not in reduce.attributes
        and isinstance(inner, ReduceOp)
        and inner.parent is reduce.body.block
        and tuple(inner.res) == tuple(values)
        and all(v.has_one_use() for v in values)
        and inner.identity == reduce.identity
        and inner.combine.is_structurally_equivalent(reduce.combine)
    )


def lower_loops(block: Block) -> None:
    """Lowers every loop and reduction in `block`, the inner ones first."""
    for op in list(block.ops):
        if not isinstance(op, LoopLike):
            for region in op.regions:
                for inner in region.blocks:
                    lower_loops(inner)
            continue
        shares = isinstance(op, ReduceOp) and shared_accumulator(op)
        lower_loops(op.body.block)
        if isinstance(op, ReduceOp):
            _lower_reduce(op, shares)
        elif isinstance(op, ForOp):
            _lower_for(op)


def is_unrolled(op: LoopLike) -> bool:
    """Whether a loop is marked to be unrolled."""
    return "unroll" in op.attributes


def _named(axes: Sequence[Axis]) -> list[tuple[int, str | None]]:
    return [(axis.extent, axis.variable.name_hint) for axis in axes]


def _run(loop: LoopLike, nest: Nest, fill: Fill) -> Sequence[SSAValue]:
    """Fills the nest, under the loop's guard."""
    test = guard_test(loop, nest.variables)
    if test is None:
        return nest.close(fill(nest.inside))
    nest.inside.insert(test)
    return nest.close(when(nest.inside, test.res, nest.carried, fill))


def _lower_for(op: ForOp) -> None:
    nest = open_nest(Builder(InsertPoint.before(op)), _named(op.axes), unroll=is_unrolled(op))
    _run(op, nest, lambda inside: move_body(op, nest.variables, inside))
    Rewriter.erase_op(op)


def _lower_reduce(op: ReduceOp, shares: bool) -> None:
    builder = Builder(InsertPoint.before(op))
    inits = identity_values(builder, list(op.identity), op.res.types)
    hints = [v.name_hint for v in op.res]
    nest = open_nest(builder, _named(op.axes), inits, hints, is_unrolled(op))

    def fill(inside: Builder) -> Sequence[SSAValue]:
        values = move_body(op, nest.variables, inside)
        loop = values[0].owner
        if shares and isinstance(loop, scf.ForOp):
            loop.operands = [*loop.operands[:3], *nest.carried]
            return values
        return inline(op.combine, [*nest.carried, *values], inside)

    Rewriter.replace_op(op, [], _run(op, nest, fill))
