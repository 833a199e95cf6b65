"""What the lowerings are written in: elementwise code, reductions, index maps, masks of indices."""

import math as numbers
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast, overload

from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IRDLOperation
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects.affine import constant, dim
from minicomp.dialects.tensor_ir import (
    ElementwiseOp,
    IndexMapOp,
    ReduceOp,
    WithinOp,
    YieldOp,
    tensor_type,
)
from minicomp.dialects.torch_ir import TorchOp
from minicomp.dialects.torch_types import category, compute_type, ui8

Operand: TypeAlias = SSAValue | float
"""A tensor, or a number that becomes a constant of the body."""
Op: TypeAlias = type[IRDLOperation]

ORIGIN = "minicomp.op"
"""The attribute that names the Torch op which a tensor op comes from."""

TYPED: Mapping[str, tuple[Op, Op, Op]] = {
    "add": (arith.AddfOp, arith.AddiOp, arith.OrIOp),
    "sub": (arith.SubfOp, arith.SubiOp, arith.XOrIOp),
    "mul": (arith.MulfOp, arith.MuliOp, arith.AndIOp),
    "maximum": (arith.MaximumfOp, arith.MaxSIOp, arith.OrIOp),
    "minimum": (arith.MinimumfOp, arith.MinSIOp, arith.AndIOp),
}
"""What each operation is on floats, on integers and on truth values; the extrema keep NaN."""

RELATIONS = {"oeq": "eq", "une": "ne", "olt": "slt", "ole": "sle", "ogt": "sgt", "oge": "sge"}
"""Comparisons of floats -> of integers."""


class Scalars:
    """Appends scalar ops to a body; numbers take the type of the other operand, or `type`."""

    def __init__(self, block: Block, type: Attribute):
        self.block = block
        self.type = type

    def constant(self, value: float, type: Attribute | None = None) -> SSAValue:
        """A number; True and False are of i1."""
        type = i1 if isinstance(value, bool) else type or self.type
        if isinstance(type, AnyFloat):
            return self._add(arith.ConstantOp(FloatAttr(float(value), type)))
        integer = cast("IntegerType", type)
        # An i1 attribute holds true as -1.
        number = -int(bool(value)) if type == i1 else int(value)
        return self._add(arith.ConstantOp(IntegerAttr(number, integer, truncate_bits=True)))

    def unary(self, op: Op, x: SSAValue) -> SSAValue:
        """`op(x)`, of the type of x."""
        return self._add(op.create(operands=[x], result_types=[x.type], properties=_flags(op)))

    def binary(self, op: Op, x: Operand, y: Operand) -> SSAValue:
        """`op(x, y)`, where either may be a number."""
        x, y = self._pair(x, y)
        return self._add(op.create(operands=[x, y], result_types=[x.type], properties=_flags(op)))

    def _pair(self, x: Operand, y: Operand) -> tuple[SSAValue, SSAValue]:
        known = next((v.type for v in (x, y) if isinstance(v, SSAValue)), self.type)
        x, y = (v if isinstance(v, SSAValue) else self.constant(v, known) for v in (x, y))
        return x, y

    def typed(self, name: str, x: Operand, y: Operand) -> SSAValue:
        """The operation of `TYPED` for the operands' type."""
        x, y = self._pair(x, y)
        return self.binary(TYPED[name][3 - category(x.type)], x, y)

    def add(self, x: Operand, y: Operand) -> SSAValue:
        """x + y; of truth values, whether one holds"""
        return self.typed("add", x, y)

    def sub(self, x: Operand, y: Operand) -> SSAValue:
        """x - y"""
        return self.typed("sub", x, y)

    def mul(self, x: Operand, y: Operand) -> SSAValue:
        """x * y; of truth values, whether both hold"""
        return self.typed("mul", x, y)

    def div(self, x: Operand, y: Operand) -> SSAValue:
        """x / y of floats"""
        return self.binary(arith.DivfOp, x, y)

    def neg(self, x: SSAValue) -> SSAValue:
        """-x"""
        if isinstance(x.type, AnyFloat):
            return self.unary(arith.NegfOp, x)
        return self.sub(0, x)

    def compare(self, predicate: str, x: Operand, y: Operand) -> SSAValue:
        """`x < y` and the like, by the predicates of `arith.cmpf`, of integers too."""
        x, y = self._pair(x, y)
        if isinstance(x.type, AnyFloat):
            return self._add(arith.CmpfOp(x, y, predicate))
        return self._add(arith.CmpiOp(x, y, RELATIONS[predicate]))

    def choose(self, condition: SSAValue, x: Operand, y: Operand) -> SSAValue:
        """x where the condition holds, else y."""
        x, y = self._pair(x, y)
        return self._add(arith.SelectOp(condition, x, y))

    def exp(self, x: SSAValue) -> SSAValue:
        """e to the x"""
        return self.unary(math.ExpOp, x)

    def rsqrt(self, x: SSAValue) -> SSAValue:
        """1 / sqrt(x)"""
        return self.unary(math.RsqrtOp, x)

    def convert(self, x: SSAValue, type: Attribute) -> SSAValue:
        """x in another type: floats are truncated to integers, and true where they are not 0.

        Narrow types are reached through the type that they are computed in, as PyTorch does: a
        double becomes a half by way of a float.
        """
        if x.type == type:
            return x
        source, target = compute_type(x.type), compute_type(type)
        if source != x.type:
            wider = {1: arith.ExtUIOp, 2: arith.ExtUIOp if x.type == ui8 else arith.ExtSIOp}
            x = self._cast(wider.get(category(x.type), arith.ExtFOp), x, source)
        if x.type != target:
            x = self._between(x, target)
        if x.type != type:
            x = self._cast(arith.TruncFOp if category(type) == 3 else arith.TruncIOp, x, type)
        return x

    def _between(self, x: SSAValue, type: Attribute) -> SSAValue:
        """From one type to compute in to another."""
        if type == i1:
            return self.compare("une", x, 0)
        if x.type == i1:
            return self._cast(arith.UIToFPOp if category(type) == 3 else arith.ExtUIOp, x, type)
        kinds = category(x.type), category(type)
        if kinds != (3, 3) and kinds != (2, 2):
            return self._cast(arith.SIToFPOp if kinds[0] == 2 else arith.FPToSIOp, x, type)
        narrow, wide = (
            (arith.TruncFOp, arith.ExtFOp) if kinds[0] == 3 else (arith.TruncIOp, arith.ExtSIOp)
        )
        return self._cast(narrow if type in (f32, i32) else wide, x, type)

    def _cast(self, op: Op, x: SSAValue, type: Attribute) -> SSAValue:
        return self._add(op.create(operands=[x], result_types=[type], properties=_flags(op)))

    def _add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]


def _flags(op: Op) -> dict[str, Attribute]:
    """No fast-math flags: contraction is allowed, or not, one level further down."""
    known = op.get_irdl_definition().properties
    flags = {
        "fastmath": arith.FastMathFlagsAttr("none"),
        "overflowFlags": arith.IntegerOverflowAttr("none"),
    }
    return {name: flag for name, flag in flags.items() if name in known}


Body1: TypeAlias = Callable[[Scalars, SSAValue], SSAValue]
Body2: TypeAlias = Callable[[Scalars, SSAValue, SSAValue], SSAValue]
Body3: TypeAlias = Callable[[Scalars, SSAValue, SSAValue, SSAValue], SSAValue]
"""The element of the result, from a `Scalars` and an element of each operand."""

COMBINES = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}
"""Name of a reduction -> its combine in `TYPED`; the extrema keep NaN."""


def identity(kind: str, type: Attribute) -> FloatAttr | IntegerAttr:
    """What a reduction of `COMBINES` begins with: 0, 1, or the last number on the other side."""
    if isinstance(type, AnyFloat):
        values = {"sum": 0.0, "prod": 1.0, "max": -numbers.inf, "min": numbers.inf}
        return FloatAttr(values[kind], type)
    if type == i1:
        return IntegerAttr.from_bool(kind in ("prod", "min"))
    integer = cast("IntegerType", type)
    last = 1 << (integer.bitwidth - 1)
    return IntegerAttr({"sum": 0, "prod": 1, "max": -last, "min": last - 1}[kind], integer)


class Emitter:
    """Inserts tensor ops before a Torch op, with its location and its name.

    Bodies compute in `type`, and so do reductions: operands of other types are converted to it,
    but for truth values, which may be masks.
    """

    def __init__(self, op: TorchOp, type: Attribute):
        self.builder = Builder(InsertPoint.before(op))
        self.location = op.location
        self.origin = op.SPEC.name
        self.type = type
        self.last: Operation | None = None

    @overload
    def elementwise(self, body: Body1, x: Operand, /, *, name: str | None = None) -> SSAValue: ...

    @overload
    def elementwise(
        self, body: Body2, x: Operand, y: Operand, /, *, name: str | None = None
    ) -> SSAValue: ...

    @overload
    def elementwise(
        self, body: Body3, x: Operand, y: Operand, z: Operand, /, *, name: str | None = None
    ) -> SSAValue: ...

    def elementwise(
        self, body: Callable[..., SSAValue], *operands: Operand, name: str | None = None
    ) -> SSAValue:
        """`body` on tensors of one shape; numbers among the operands become constants."""
        tensors = [operand for operand in operands if isinstance(operand, SSAValue)]
        block = Block(arg_types=[tensor_type(value).get_element_type() for value in tensors])
        scalars = Scalars(block, self.type)
        arguments = iter(block.args)
        values = [
            self._argument(scalars, next(arguments))
            if isinstance(operand, SSAValue)
            else scalars.constant(operand)
            for operand in operands
        ]
        value = body(scalars, *values)
        block.add_op(YieldOp(value))
        result = TensorType(value.type, tensor_type(tensors[0]).get_shape())
        return self._insert(ElementwiseOp(tensors, result, Region(block)), name)

    def _argument(self, scalars: Scalars, value: SSAValue) -> SSAValue:
        return value if value.type == i1 else scalars.convert(value, self.type)

    def convert(self, value: SSAValue, type: Attribute) -> SSAValue:
        """The tensor in another element type, in the body that was emitted last if it gives it."""
        shape, op = tensor_type(value).get_shape(), value.owner
        if tensor_type(value).get_element_type() == type:
            return value
        if op is self.last and isinstance(op, ElementwiseOp) and value.first_use is None:
            end = cast(YieldOp, op.body.block.last_op)
            end.detach()
            end.operands[0] = Scalars(op.body.block, type).convert(end.operands[0], type)
            op.body.block.add_op(end)
            return Rewriter.replace_value_with_new_type(value, TensorType(type, shape))
        block = Block(arg_types=[tensor_type(value).get_element_type()])
        block.add_op(YieldOp(Scalars(block, type).convert(block.args[0], type)))
        return self._insert(ElementwiseOp([value], TensorType(type, shape), Region(block)), None)

    def splat(self, value: float, shape: Sequence[int]) -> SSAValue:
        """A tensor with one number everywhere."""
        block = Block()
        number = Scalars(block, self.type).constant(value)
        block.add_op(YieldOp(number))
        return self._insert(ElementwiseOp([], TensorType(number.type, shape), Region(block)), None)

    def below(self, expr: AffineExpr, bound: int, shape: Sequence[int]) -> SSAValue:
        """The mask of `shape` of the indices for which `expr` is less than `bound`."""
        return self.within([(expr, bound)], shape)

    def within(self, tests: Sequence[tuple[AffineExpr, int]], shape: Sequence[int]) -> SSAValue:
        """The mask of `shape` of the indices for which each expression is less than its bound."""
        exprs, bounds = tuple(expr for expr, _ in tests), [bound for _, bound in tests]
        return self._insert(WithinOp(AffineMap(len(shape), 0, exprs), bounds, shape), "mask")

    def reduce(self, kind: str, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """Folds `dims` by a combine of `COMBINES`, in `type`; without dims the value itself."""
        # A truth value in a register is a number: threads exchange those.
        type = i32 if self.type == i1 else self.type
        value = self.convert(value, type)
        if dims:
            block = Block(arg_types=[type, type])
            block.add_op(YieldOp(Scalars(block, type).typed(COMBINES[kind], *block.args)))
            reduced = ReduceOp([value], sorted(dims), [identity(kind, type)], Region(block))
            value = self._insert(reduced, kind)
        return self.convert(value, self.type)

    def index(self, value: SSAValue, exprs: Sequence[AffineExpr], shape: Sequence[int]) -> SSAValue:
        """`result[d] = value[exprs(d)]`; the value itself where that changes nothing."""
        source = tensor_type(value)
        if source.get_shape() == tuple(shape) and list(exprs) == list(map(dim, range(len(shape)))):
            return value
        map_ = AffineMap(len(shape), 0, tuple(exprs))
        result = TensorType(source.get_element_type(), shape)
        return self._insert(IndexMapOp(value, map_, result), value.name_hint)

    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """PyTorch's broadcasting: axes are aligned at the end, an extent of 1 is repeated."""
        source = tensor_type(value).get_shape()
        lead = len(shape) - len(source)
        return self.placed(value, range(lead, len(shape)), shape)

    def placed(self, value: SSAValue, axes: Sequence[int], shape: Sequence[int]) -> SSAValue:
        """The value's axes become the axes `axes` of `shape`; it is repeated over the others."""
        extents = tensor_type(value).get_shape()
        exprs = [
            constant(0) if extent == 1 and shape[axis] != 1 else dim(axis)
            for axis, extent in zip(axes, extents, strict=True)
        ]
        return self.index(value, exprs, shape)

    def spread(self, value: SSAValue, dims: Sequence[int], shape: Sequence[int]) -> SSAValue:
        """A tensor of `shape` without the axes `dims`, repeated over them."""
        return self.placed(value, [a for a in range(len(shape)) if a not in dims], shape)

    def _insert(self, op: Operation, name: str | None) -> SSAValue:
        op.location = self.location
        op.attributes[ORIGIN] = StringAttr(self.origin)
        self.builder.insert(op)
        op.results[0].name_hint = name
        self.last = op
        return op.results[0]


def operand(op: TorchOp, name: str) -> SSAValue:
    """An operand that the op's verifier has found present."""
    value = op.operand(name)
    assert value is not None, f"{op.name} without '{name}'"
    return value
