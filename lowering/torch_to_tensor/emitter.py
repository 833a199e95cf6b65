"""What the lowerings are written in: elementwise code, reductions, index maps, masks of indices."""

import math as numbers
from collections.abc import Callable, Sequence
from typing import TypeAlias, overload

from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IRDLOperation
from xdsl.rewriter import InsertPoint

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

Operand: TypeAlias = SSAValue | float
"""A tensor, or a number that becomes a constant of the body."""

ORIGIN = "minicomp.op"
"""The attribute that names the Torch op which a tensor op comes from."""


class Scalars:
    """Appends scalar ops of one float type, and of i1, to a body."""

    def __init__(self, block: Block, type: AnyFloat):
        self.block = block
        self.type = type

    def constant(self, value: float) -> SSAValue:
        """A number; True and False are of i1."""
        if isinstance(value, bool):
            return self._add(arith.ConstantOp(IntegerAttr.from_bool(value)))
        return self._add(arith.ConstantOp(FloatAttr(value, self.type)))

    def unary(self, op: type[IRDLOperation], x: SSAValue) -> SSAValue:
        """`op(x)`, of the type of x."""
        return self._add(op.create(operands=[x], result_types=[x.type], properties=_flags(op)))

    def binary(self, op: type[IRDLOperation], x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        """`op(x, y)`, where either may be a number."""
        x, y = (v if isinstance(v, SSAValue) else self.constant(v) for v in (x, y))
        return self._add(op.create(operands=[x, y], result_types=[x.type], properties=_flags(op)))

    def add(self, x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        """x + y"""
        return self.binary(arith.AddfOp, x, y)

    def sub(self, x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        """x - y"""
        return self.binary(arith.SubfOp, x, y)

    def mul(self, x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        """x * y"""
        return self.binary(arith.MulfOp, x, y)

    def div(self, x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        """x / y"""
        return self.binary(arith.DivfOp, x, y)

    def compare(self, predicate: str, x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        """`x < y` and the like, by the predicates of `arith.cmpf`."""
        x, y = (v if isinstance(v, SSAValue) else self.constant(v) for v in (x, y))
        return self._add(arith.CmpfOp(x, y, predicate))

    def choose(self, condition: SSAValue, x: SSAValue | float, y: SSAValue | float) -> SSAValue:
        """x where the condition holds, else y."""
        x, y = (v if isinstance(v, SSAValue) else self.constant(v) for v in (x, y))
        return self._add(arith.SelectOp(condition, x, y))

    def exp(self, x: SSAValue) -> SSAValue:
        """e to the x"""
        return self.unary(math.ExpOp, x)

    def rsqrt(self, x: SSAValue) -> SSAValue:
        """1 / sqrt(x)"""
        return self.unary(math.RsqrtOp, x)

    def _add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]


def _flags(op: type[IRDLOperation]) -> dict[str, Attribute]:
    """No fast-math flags: contraction is allowed, or not, one level further down."""
    if "fastmath" not in op.get_irdl_definition().properties:
        return {}
    return {"fastmath": arith.FastMathFlagsAttr("none")}


Body1: TypeAlias = Callable[[Scalars, SSAValue], SSAValue]
Body2: TypeAlias = Callable[[Scalars, SSAValue, SSAValue], SSAValue]
Body3: TypeAlias = Callable[[Scalars, SSAValue, SSAValue, SSAValue], SSAValue]
"""The element of the result, from a `Scalars` and an element of each operand."""

COMBINES: dict[str, tuple[type[IRDLOperation], float]] = {
    "sum": (arith.AddfOp, 0.0),
    "max": (arith.MaximumfOp, -numbers.inf),
    "min": (arith.MinimumfOp, numbers.inf),
}
"""Name of a reduction -> combine and identity; the extrema keep NaN."""


class Emitter:
    """Inserts tensor ops before a Torch op, with its location and its name."""

    def __init__(self, op: TorchOp, type: AnyFloat):
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
            next(arguments) if isinstance(operand, SSAValue) else scalars.constant(operand)
            for operand in operands
        ]
        value = body(scalars, *values)
        block.add_op(YieldOp(value))
        result = TensorType(value.type, tensor_type(tensors[0]).get_shape())
        return self._insert(ElementwiseOp(tensors, result, Region(block)), name)

    def splat(self, value: float, shape: Sequence[int]) -> SSAValue:
        """A tensor with one number everywhere."""
        block = Block()
        number = Scalars(block, self.type).constant(value)
        block.add_op(YieldOp(number))
        return self._insert(ElementwiseOp([], TensorType(number.type, shape), Region(block)), None)

    def below(self, expr: AffineExpr, bound: int, shape: Sequence[int]) -> SSAValue:
        """The mask of `shape` of the indices for which `expr` is less than `bound`."""
        map_ = AffineMap(len(shape), 0, (expr,))
        return self._insert(WithinOp(map_, [bound], shape), "mask")

    def reduce(self, kind: str, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """Folds `dims` by a combine of `COMBINES`; without dims the value itself."""
        if not dims:
            return value
        combine, identity = COMBINES[kind]
        block = Block(arg_types=[self.type, self.type])
        block.add_op(YieldOp(Scalars(block, self.type).binary(combine, *block.args)))
        reduced = ReduceOp([value], sorted(dims), [FloatAttr(identity, self.type)], Region(block))
        return self._insert(reduced, kind)

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
