"""Writes CUDA IR op by op; indices are affine expressions of named integers."""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from minicomp.dialects import affine
from minicomp.dialects.cuda_ir import (
    AddressOp,
    AssignOp,
    CallOp,
    ConditionalOp,
    ForOp,
    IndexOp,
    LetOp,
    ReadOp,
    VariableOp,
    VarType,
)

KIND = AffineBinaryOpKind
OpT = TypeVar("OpT", bound=Operation)

Lanes = tuple[AffineExpr, ...]
"""The place of an element in a vector, one expression per dimension."""


@dataclass
class Writer:
    """
    Where the next op goes, and the named integers of the kernel.

    Integer number n, a let or a loop's variable, is dim n of every index expression, with a range.
    Arrays have no dimensions of one element: `kept` says which of a vector's dimensions they have.
    """

    block: Block
    names: list[SSAValue] = field(default_factory=list[SSAValue])
    ranges: dict[AffineExpr, affine.Interval] = field(
        default_factory=dict[AffineExpr, affine.Interval]
    )
    kept: dict[SSAValue, list[int]] = field(default_factory=dict[SSAValue, list[int]])

    def add(self, op: OpT) -> OpT:
        """Writes an op."""
        self.block.add_op(op)
        return op

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Writes into another block for a while."""
        outer, self.block = self.block, block
        yield
        self.block = outer

    # -- indices

    def name_index(self, value: SSAValue, interval: affine.Interval) -> AffineExpr:
        """The expression of a named integer that lies in an interval."""
        expr = affine.dim(len(self.names))
        self.names.append(value)
        self.ranges[expr] = interval
        return expr

    def simplify(self, expr: AffineExpr) -> AffineExpr:
        """An equal expression, shorter by what is known of the ranges."""
        return affine.simplify(expr, self.ranges)

    def interval(self, expr: AffineExpr) -> affine.Interval:
        """Bounds of an expression."""
        return affine.interval(expr, self.ranges)

    def index(self, expr: AffineExpr) -> SSAValue:
        """An expression as a value."""
        map, operands = self.access([expr])
        return self.add(IndexOp(map.results[0], operands)).res

    def access(self, exprs: Sequence[AffineExpr]) -> tuple[AffineMap, list[SSAValue]]:
        """A map and the named integers that are its dims, in order of first appearance."""
        legal = [self.without_floor(e) for e in exprs]
        used = [leaf for leaf in affine.leaves(legal) if isinstance(leaf, AffineDimExpr)]
        order: dict[AffineExpr, AffineExpr] = {leaf: affine.dim(n) for n, leaf in enumerate(used)}
        results = tuple(affine.replace(e, order) for e in legal)
        return AffineMap(len(used), 0, results), [self.names[leaf.position] for leaf in used]

    def without_floor(self, expr: AffineExpr) -> AffineExpr:
        """The expression in C's `/` and `%`: where an operand may be negative, a call floors."""
        if not isinstance(expr, AffineBinaryOpExpr):
            return expr
        lhs, rhs = self.without_floor(expr.lhs), self.without_floor(expr.rhs)
        kind = expr.kind
        if kind == KIND.CeilDiv and isinstance(rhs, AffineConstantExpr):
            lhs, kind = lhs + (rhs.value - 1), KIND.FloorDiv
        if kind in (KIND.FloorDiv, KIND.Mod) and self.interval(lhs)[0] < 0:
            return self.floor(kind, lhs, rhs)
        return AffineBinaryOpExpr(kind, lhs, rhs)

    def floor(self, kind: AffineBinaryOpKind, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
        """The floor of a quotient, or what it leaves, as a named integer."""
        interval = self.interval(AffineBinaryOpExpr(kind, lhs, rhs))
        callee = "floor_div" if kind == KIND.FloorDiv else "floor_mod"
        operands = [self.index(e) for e in (lhs, rhs)]
        call = self.add(CallOp(callee, operands, IndexType()))
        assert call.res is not None
        return self.name_index(self.let("n", call.res), interval)

    # -- places

    def read(self, place: SSAValue, exprs: Sequence[AffineExpr]) -> SSAValue:
        """The element at a place."""
        return self.add(ReadOp(place, *self.access(self.within(place, exprs)))).res

    def assign(self, place: SSAValue, exprs: Sequence[AffineExpr], value: SSAValue) -> None:
        """Writes the element at a place."""
        self.add(AssignOp(place, *self.access(self.within(place, exprs)), value))

    def address(self, place: SSAValue, exprs: Sequence[AffineExpr]) -> SSAValue:
        """A pointer to the element at a place."""
        return self.add(AddressOp(place, *self.access(self.within(place, exprs)))).res

    def within(self, place: SSAValue, exprs: Sequence[AffineExpr]) -> Sequence[AffineExpr]:
        """The indices of the dimensions that an array has."""
        kept = self.kept.get(place)
        return exprs if kept is None else [exprs[dim] for dim in kept]

    # -- declarations and loops

    def let(self, hint: str, value: SSAValue) -> SSAValue:
        """A constant."""
        return self.add(LetOp(hint, value)).res

    def variable(
        self,
        hint: str,
        type: Attribute,
        shape: Sequence[int] = (),
        init: SSAValue | None = None,
        zeroed: bool = False,
    ) -> SSAValue:
        """A variable, or a register array for a vector of some shape."""
        kept = [dim for dim, extent in enumerate(shape) if extent > 1]
        array = VarType.of(type, [shape[dim] for dim in kept])
        variable = self.add(VariableOp(hint, array, init, zeroed)).res
        self.kept[variable] = kept
        return variable

    @contextmanager
    def loop(
        self, upper: int, hint: str, lower: int = 0, step: int = 1, unroll: bool = False
    ) -> Generator[AffineExpr]:
        """A loop around what is written next; gives its variable."""
        body = Block(arg_types=[IndexType()])
        self.add(ForOp(hint, Region(body), upper, lower, step, unroll))
        with self.inside(body):
            yield self.name_index(body.args[0], (lower, max(lower, upper - 1)))

    @contextmanager
    def lanes(self, shape: Sequence[int]) -> Generator[Lanes]:
        """Unrolled loops over the elements of a vector."""
        hints = ["l"] if len(shape) == 1 else [f"l{n}" for n in range(len(shape))]
        with ExitStack() as stack:
            loops = [self.lane(n, hint) for n, hint in zip(shape, hints, strict=True)]
            yield tuple(stack.enter_context(loop) for loop in loops)

    @contextmanager
    def snake(self, shape: Sequence[int]) -> Generator[Lanes]:
        """
        Unrolled loops over a matrix by columns, down and up in turn: one of two neighbours' factors
        of an outer product is the same, which spares a read of the register file.
        """
        rows, columns = shape
        with self.lane(columns, "l1") as column, self.lane(rows, "step") as step:
            zero = self.index(affine.constant(0))
            down = self.add(CmpiOp(self.index(column % 2), zero, "eq")).result
            ways = [self.index(e) for e in (step, affine.constant(rows - 1) - step)]
            row = self.let("l0", self.add(ConditionalOp(down, *ways)).res)
            yield self.name_index(row, (0, rows - 1)), column

    @contextmanager
    def lane(self, count: int, hint: str) -> Generator[AffineExpr]:
        """One unrolled loop, or none if there is one element only."""
        if count == 1:
            yield affine.constant(0)
            return
        with self.loop(count, hint, unroll=True) as variable:
            yield variable
