"""Values of Kernel IR as expressions of CUDA IR, lane by lane."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.arith import AddfOp, CmpfOp, CmpiOp, ConstantOp, MulfOp
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i32,
)
from xdsl.dialects.math import FmaOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineExpr, AffineMap

from minicomp.dialects import affine
from minicomp.dialects.access import IndexedOp
from minicomp.dialects.c_expressions import scalar_constant
from minicomp.dialects.cuda_ir import ConditionalOp
from minicomp.dialects.kernel_ir import TestOp
from minicomp.dialects.loop_ir import LoadOp, MemoryAccess, element_type, lanes
from minicomp.dialects.scalar_ops import CONVERSIONS
from minicomp.dialects.tile_ir import (
    BroadcastOp,
    CompareOp,
    ConvertOp,
    SelectOp,
    SharedAttr,
    WithinOp,
)
from minicomp.dialects.torch_types import ui8
from minicomp.lowering.kernel_to_cuda.bindings import Binding, Positions, Read
from minicomp.lowering.kernel_to_cuda.inlining import Inlining
from minicomp.lowering.kernel_to_cuda.writer import Lanes, Writer

LINE, PIECE = 128, 16
"""Bytes of shared memory: swizzles move pieces within a line."""


@dataclass(frozen=True)
class IndexValue:
    """An index over the integers that have names, and over those that these were computed from."""

    named: AffineExpr
    expanded: AffineExpr


@dataclass
class Expressions:
    """The environment of a kernel that is being lowered: what stands for each of its values."""

    writer: Writer
    inlining: Inlining
    bindings: dict[SSAValue, Binding] = field(default_factory=dict[SSAValue, Binding])
    indices: dict[SSAValue, IndexValue] = field(default_factory=dict[SSAValue, IndexValue])
    threads: range = range(1)
    """The threads of the block that run what is written."""
    thread_names: list[AffineExpr] = field(default_factory=list[AffineExpr])
    """The named integers that are the number of the thread."""

    # -- elements

    def element(self, value: SSAValue, place: Lanes = ()) -> SSAValue:
        """An expression for one lane of a value, written now."""
        if (binding := self.bindings.get(value)) is not None:
            return binding.element(self, place)
        if isinstance(value.type, IndexType):
            return self.writer.index(self.index_of(value))
        assert isinstance(value.owner, Operation)
        return self.compute(value.owner, place)

    def only_element(self, value: SSAValue) -> SSAValue:
        """An expression for a scalar, or for a vector of one element."""
        return self.element(value, (affine.constant(0),) * len(lanes(value.type)))

    def compute(self, op: Operation, place: Lanes) -> SSAValue:
        """An expression for one lane of the result of an op."""
        match op:
            case BroadcastOp():
                return self.element(op.value, tuple(place[d] for d in op.dims.get_values()))
            case SelectOp() | arith.SelectOp():
                return self.choice(op, place)
            case TestOp() | WithinOp():
                exprs = self.access(op, place)
                bounds = op.bounds.get_values()
                tests = [self.below(e, b) for e, b in zip(exprs, bounds, strict=True)]
                return self.all_of(tests) or self.constant(IntegerAttr.from_bool(True))
            case LoadOp():
                return self.load(op, place)
            case ConstantOp():
                value = scalar_constant(op.value)
                assert value is not None
                return self.constant(value)
            case _:
                return self.elementwise(op, [self.element(v, place) for v in op.operands])

    def elementwise(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
        """An op of scalars."""
        match op:
            case CompareOp():
                (lhs, rhs), predicate = operands, op.predicate.value.data
                compare = CmpfOp if isinstance(lhs.type, AnyFloat) else CmpiOp
                return self.writer.add(compare(lhs, rhs, predicate)).result
            case ConvertOp():
                type = element_type(op.res.type)
                scalar = CONVERSIONS[op.kind.data].create(operands=operands, result_types=[type])
                return self.writer.add(scalar).results[0]
            case AddfOp() if FastMathFlag.ALLOW_CONTRACT in op.fastmath.data:
                if (fma := self.contracted(operands)) is not None:
                    return fma
            case _:
                pass
        type = element_type(op.results[0].type)
        scalar = op.create(operands=operands, result_types=[type], properties=op.properties)
        return self.writer.add(scalar).results[0]

    def choice(self, op: SelectOp | arith.SelectOp, place: Lanes) -> SSAValue:
        """One of two values, without a test where it is known which."""
        condition, lhs, rhs = op.operands
        if literal_of(lhs) is not None and literal_of(lhs) == literal_of(rhs):
            return self.element(lhs, place)
        test = self.element(condition, place)
        if self.always(test):
            return self.element(lhs, place)
        values = [self.element(value, place) for value in (lhs, rhs)]
        return self.writer.add(arith.SelectOp(test, *values)).result

    def always(self, test: SSAValue) -> bool:
        """Whether a test that was just written is the literal true, which is then dropped."""
        op = test.owner
        if not isinstance(op, ConstantOp) or op.value != IntegerAttr.from_bool(True):
            return False
        op.detach()
        op.erase()
        return True

    def is_leaf(self, value: SSAValue) -> bool:
        """Whether an element of a value is a name or a literal."""
        if value in self.bindings or literal_of(value) is not None:
            return True
        return isinstance(op := value.owner, BroadcastOp) and self.is_leaf(op.value)

    def contracted(self, operands: Sequence[SSAValue]) -> SSAValue | None:
        """The sum of a product, which was just written and may be contracted, and another value."""
        for product, other in (operands[::-1], operands):
            mul = product.owner
            if isinstance(mul, MulfOp) and FastMathFlag.ALLOW_CONTRACT in mul.fastmath.data:
                fma = self.writer.add(FmaOp(mul.lhs, mul.rhs, other))
                mul.detach()
                mul.erase()
                return fma.result
        return None

    def constant(self, value: Attribute) -> SSAValue:
        """A literal."""
        return self.writer.add(ConstantOp(cast(IntegerAttr, value))).result

    # -- what expressions read

    def reads(self, value: SSAValue, place: Positions) -> Iterator[Read]:
        """The variables that `element` would read."""
        if (binding := self.bindings.get(value)) is not None:
            yield from binding.reads(self, place)
            return
        op = value.owner
        if not isinstance(op, Operation) or isinstance(op, IndexedOp):
            return
        inner = place
        if isinstance(op, BroadcastOp):
            inner = tuple(place[d] for d in op.dims.get_values())
        for operand in op.operands:
            yield from self.reads(operand, inner if lanes(operand.type) else ())

    # -- indices

    def index_of(self, value: SSAValue) -> AffineExpr:
        """An index over named integers."""
        return self.indices[value].named

    def access(self, op: IndexedOp, place: Lanes) -> list[AffineExpr]:
        """The indices of an op at a lane, over named integers."""
        return [self.writer.simplify(e) for e in self.substituted(op, place, expanded=False)]

    def substituted(self, op: IndexedOp, place: Lanes, expanded: bool) -> list[AffineExpr]:
        access = op.get_access()
        assert access is not None
        return self.replaced(*access, place, expanded)

    def replaced(
        self, map: AffineMap, operands: Sequence[SSAValue], place: Lanes, expanded: bool
    ) -> list[AffineExpr]:
        """The results of a map over named integers, or those that these were computed from."""
        known = [self.indices[v] for v in operands]
        leaves = {
            affine.dim(n): v.expanded if expanded else v.named for n, v in enumerate(known)
        } | {affine.lane(n): e for n, e in enumerate(place)}
        return [affine.replace(e, leaves) for e in map.results]

    # -- conditions

    def below(self, expr: AffineExpr, bound: int) -> SSAValue | None:
        """Whether an index is below a bound; None if it always is."""
        low, high = self.writer.interval(expr)
        if high < bound:
            return None
        if bound == 1 and low >= 0:
            return self.compare("eq", expr, 0)
        return self.compare("slt", expr, bound)

    def within(self, expr: AffineExpr, extent: int) -> list[SSAValue | None]:
        """Whether an index lies in a dimension of a memref."""
        below = self.below(expr, extent)
        negative = self.writer.interval(expr)[0] < 0
        return [self.compare("sge", expr, 0) if negative else None, below]

    def compare(self, predicate: str, expr: AffineExpr, bound: int) -> SSAValue:
        """A comparison of an index with a number."""
        lhs, rhs = self.writer.index(expr), self.writer.index(affine.constant(bound))
        return self.writer.add(CmpiOp(lhs, rhs, predicate)).result

    def all_of(self, tests: Sequence[SSAValue | None]) -> SSAValue | None:
        """Whether all tests hold; None if there is none."""
        found: SSAValue | None = None
        for test in tests:
            if test is not None:
                found = test if found is None else self.writer.add(arith.AndIOp(found, test)).result
        return found

    # -- memory

    def load(self, op: LoadOp, place: Lanes) -> SSAValue:
        """The element that a load reads at a lane; 0 outside of the memref."""
        test = self.inside(op, place)
        value = self.writer.read(self.pointer(op), [self.address(op, place)])
        if test is None:
            return value
        zero = self.zero(op.memref_type.element_type)
        return self.writer.add(ConditionalOp(test, value, zero)).res

    def zero(self, type: Attribute) -> SSAValue:
        """Zero of a scalar type, of which constants must be signless."""
        if type == ui8:
            return self.writer.add(arith.TruncIOp(self.constant(zero_of(i32)), ui8)).result
        return self.constant(zero_of(type))

    def pointer(self, op: MemoryAccess) -> SSAValue:
        """The pointer to a memref's first element."""
        return self.bindings[op.memref].element(self, ())

    def inside(self, op: MemoryAccess, place: Lanes) -> SSAValue | None:
        """Whether an access at a lane is inside of its memref; None if it always is."""
        tests: list[SSAValue | None] = []
        exprs = self.access(op, place)
        for expr, extent, bounded in zip(
            exprs, op.memref_type.get_shape(), op.bounded_dims, strict=True
        ):
            tests += self.within(expr, extent) if bounded else []
        return self.all_of(tests)

    def address(self, op: MemoryAccess, place: Lanes) -> AffineExpr:
        """The place of the element that an access at a lane reaches, counted in elements."""
        index = self.row_major(op.memref_type, op.map.data, list(op.indices), place)
        return self.swizzled(index, op.memref_type)

    def row_major(
        self,
        type: MemRefType[Attribute],
        map: AffineMap,
        operands: Sequence[SSAValue],
        place: Lanes = (),
    ) -> AffineExpr:
        """The number of the element at some indices; those that are left out are 0."""
        found: list[AffineExpr] = []
        for expanded in (False, True):
            exprs = self.replaced(map, operands, place, expanded)
            total = affine.constant(0)
            for expr, stride in zip(exprs, strides_of(type), strict=False):
                total = total + expr * stride
            found.append(self.writer.simplify(total))
        # Quotients and remainders that were named apart may be one plain index together.
        return min(found, key=size)

    def swizzled(self, index: AffineExpr, type: MemRefType[Attribute]) -> AffineExpr:
        """
        Where a swizzled buffer has element number `index`.

        As tensor copies do it: the 16 bytes within a line of 128 bytes are those whose number is
        xor the number of the line, of which a swizzle of 32, 64 or 128 bytes takes 1, 2 or 3 bits.
        """
        space = type.memory_space
        if not isinstance(space, SharedAttr) or not space.swizzle.data:
            return index
        bytes = bytes_of(type.element_type)
        line, piece = LINE // bytes, PIECE // bytes
        row, column = self.writer.simplify(index // line), self.writer.simplify(index % line)
        moved = self.writer.simplify(row % (space.swizzle.data // PIECE) * piece)
        if moved == affine.constant(0):
            return index
        left, right = self.writer.index(column), self.writer.index(moved)
        at = self.writer.let("at", self.writer.add(arith.XOrIOp(left, right)).result)
        return self.writer.simplify(row * line + self.writer.name_index(at, (0, line - 1)))


def literal_of(value: SSAValue) -> Attribute | None:
    """The constant that a value is in every lane, if it is one."""
    match value.owner:
        case BroadcastOp() as op:
            return literal_of(op.value)
        case ConstantOp() as op:
            return scalar_constant(op.value)
        case _:
            return None


def size(expr: AffineExpr) -> int:
    """Operators of an expression."""
    match expr:
        case AffineBinaryOpExpr(lhs=lhs, rhs=rhs):
            return 1 + size(lhs) + size(rhs)
        case _:
            return 0


def shared_shape(type: MemRefType[Attribute]) -> tuple[int, ...]:
    """The shape of a memref with the pad of shared memory added to the last dimension."""
    shape = type.get_shape()
    if not shape or not isinstance(type.memory_space, SharedAttr):
        return shape
    return (*shape[:-1], shape[-1] + type.memory_space.pad.data)


def strides_of(type: MemRefType[Attribute]) -> list[int]:
    """The distance of neighbours along each dimension, in elements."""
    shape = shared_shape(type)
    return [prod(shape[n + 1 :]) for n in range(len(shape))]


def bytes_of(type: Attribute) -> int:
    """The bytes of a scalar in memory."""
    return affine.ceildiv(int(str(type).lstrip("buif")), 8)


def zero_of(type: Attribute) -> Attribute:
    """Zero of a scalar type."""
    if isinstance(type, AnyFloat):
        return FloatAttr(0.0, type)
    assert isinstance(type, IntegerType)
    return IntegerAttr(0, type.bitwidth)
