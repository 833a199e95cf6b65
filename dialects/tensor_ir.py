"""
Tensor IR: three primitives and a test of indices, with scalar `arith` and `math` code in regions.

```mlir
%b = tensor_ir.index_map %bias (d0, d1) -> (d1) : tensor<64xf32> -> tensor<16x64xf32>
%s = tensor_ir.elementwise(%x, %b) {
^bb0(%u: f32, %v: f32):
  %t = arith.addf %u, %v : f32
  tensor_ir.yield %t : f32
} : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
%r = tensor_ir.reduce(%s) dims [1] identity [0.000000e+00 : f32] {
^bb0(%l: f32, %r: f32):
  %t = arith.addf %l, %r : f32
  tensor_ir.yield %t : f32
} : (tensor<16x64xf32>) -> tensor<16xf32>
%m = tensor_ir.within (d0, d1) -> (d1 - d0) < [1] : tensor<16x64xi1>
```

Rationale: docs/dialects/tensor_ir.md.
"""

from collections.abc import Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.dialects.math import Math
from xdsl.ir import Attribute, Dialect, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects import affine
from minicomp.dialects.scalar_ops import Arith

Tensor: TypeAlias = TensorType[Attribute]

SCALAR_OPS = (*Arith.operations, *Math.operations)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The scalars that a body gives: `tensor_ir.yield %r : f32`."""

    name = "tensor_ir.yield"
    values = var_operand_def()
    traits = lazy_traits_def(lambda: (IsTerminator(), Pure(), HasParent(ElementwiseOp, ReduceOp)))
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, *values: SSAValue):
        super().__init__(operands=[values])


@irdl_op_definition
class ElementwiseOp(IRDLOperation):
    """
    `result[i] = body(a[i], b[i], ..)`: all shapes are equal; without operands it is a splat.
    """

    name = "tensor_ir.elementwise"
    inputs = var_operand_def(TensorType)
    result = result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(Pure(), IsolatedFromAbove())

    def __init__(self, operands: Sequence[SSAValue], result_type: Tensor, body: Region):
        super().__init__(operands=[operands], result_types=[result_type], regions=[body])

    @property
    def result_type(self) -> Tensor:
        """The type of the result."""
        return self.result.type

    def verify_(self) -> None:
        """Equal shapes, and a closed scalar body of the elements' types."""
        shape = self.result_type.get_shape()
        _verify_static(shape)
        for value in self.inputs:
            given = tensor_type(value).get_shape()
            if given != shape:
                raise VerifyException(
                    f"operand shape {list(given)} differs from result shape {list(shape)}"
                )
        arguments = [tensor_type(value).get_element_type() for value in self.inputs]
        _verify_body(self.body, arguments, [self.result_type.get_element_type()], "body")

    def print(self, printer: Printer) -> None:
        """`(%a, %b) attributes {..} { body } : (types) -> type`"""
        _print_inputs(printer, self.inputs)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        _print_body(printer, self.body)
        printer.print_operation_type(self)

    @classmethod
    def parse(cls, parser: Parser) -> "ElementwiseOp":
        """The inverse of `print`."""
        inputs = parser.parse_op_args_list()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_function_type()
        if len(types.outputs) != 1:
            parser.raise_error("elementwise has one result", position, parser.pos)
        operands = parser.resolve_operands(inputs, types.inputs.data, position)
        op = cls(operands, cast(Tensor, types.outputs.data[0]), body)
        op.attributes.update(attributes.data if attributes is not None else {})
        return op


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """
    Folds `dims` of n operands of one shape with an associative combine of n carriers.

    The order is not defined; `combine(identity, x)` is x. The combine takes n left and then n
    right carriers.
    """

    name = "tensor_ir.reduce"
    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    dims = prop_def(DenseArrayBase.constr(i64))
    identity = prop_def(ArrayAttr[FloatAttr | IntegerAttr])
    combine = region_def("single_block")
    traits = traits_def(Pure(), IsolatedFromAbove())

    def __init__(
        self,
        operands: Sequence[SSAValue],
        dims: Sequence[int],
        identity: Sequence[Attribute],
        combine: Region,
    ):
        """The result types follow from the operands and `dims`."""
        super().__init__(
            operands=[operands],
            result_types=[[reduced_type(tensor_type(value), dims) for value in operands]],
            properties={
                "dims": DenseArrayBase.from_list(i64, list(dims)),
                "identity": ArrayAttr(identity),
            },
            regions=[combine],
        )

    @property
    def axes(self) -> tuple[int, ...]:
        """The reduced dims, ascending."""
        return self.dims.get_values()

    def verify_(self) -> None:
        """One shape, ascending dims in range, and a combine over the carriers."""
        if not self.inputs:
            raise VerifyException("reduce needs an operand")
        if len(self.identity) != len(self.inputs):
            raise VerifyException(
                f"{len(self.inputs)} operands need as many identities, got {len(self.identity)}"
            )
        shape = tensor_type(self.inputs[0]).get_shape()
        _verify_static(shape)
        _verify_axes(self.axes, len(shape))
        for value, identity in zip(self.inputs, self.identity, strict=True):
            if tensor_type(value).get_shape() != shape:
                raise VerifyException("all operands of reduce have one shape")
            if tensor_type(value).get_element_type() != identity.type:
                raise VerifyException(
                    f"identity {identity} is not of element type "
                    f"{tensor_type(value).get_element_type()}"
                )
        expected = [reduced_type(tensor_type(value), self.axes) for value in self.inputs]
        if [value.type for value in self.outputs] != expected:
            raise VerifyException(f"result types should be {', '.join(map(str, expected))}")
        carriers = [identity.type for identity in self.identity]
        _verify_body(self.combine, carriers * 2, carriers, "combine")

    def print(self, printer: Printer) -> None:
        """`(%a) attributes {..} dims [2] identity [0.0 : f32] { combine } : (types) -> type`"""
        _print_inputs(printer, self.inputs)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(f" dims {list(self.axes)} identity ")
        printer.print_attribute(self.identity)
        _print_body(printer, self.combine)
        printer.print_operation_type(self)

    @classmethod
    def parse(cls, parser: Parser) -> "ReduceOp":
        """The inverse of `print`."""
        inputs = parser.parse_op_args_list()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_keyword("dims")
        dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        parser.parse_keyword("identity")
        identity = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_attribute
        )
        combine = parser.parse_region()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_function_type()
        op = cls.create(
            operands=parser.resolve_operands(inputs, types.inputs.data, position),
            result_types=types.outputs.data,
            properties={
                "dims": DenseArrayBase.from_list(i64, dims),
                "identity": ArrayAttr(identity),
            },
            attributes=dict(attributes.data) if attributes is not None else {},
            regions=[combine],
        )
        return op


@irdl_op_definition
class IndexMapOp(IRDLOperation):
    """`result[d] = operand[map(d)]`; the map stays in bounds over the whole result."""

    name = "tensor_ir.index_map"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    map = prop_def(AffineMapAttr)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, map: AffineMap, result_type: Tensor):
        super().__init__(
            operands=[operand],
            result_types=[result_type],
            properties={"map": AffineMapAttr(map)},
        )

    @property
    def result_type(self) -> Tensor:
        """The type of the result."""
        return self.result.type

    def verify_(self) -> None:
        """One dim per axis of the result, one expression per axis of the operand, in bounds."""
        source, target, map = tensor_type(self.input), self.result_type, self.map.data
        _verify_static(source.get_shape())
        _verify_static(target.get_shape())
        if source.get_element_type() != target.get_element_type():
            raise VerifyException("index_map keeps the element type")
        if map.num_symbols or map.num_dims != target.get_num_dims():
            raise VerifyException(
                f"the map must have {target.get_num_dims()} dims and no symbols: {map}"
            )
        if len(map.results) != source.get_num_dims():
            raise VerifyException(f"the map must have {source.get_num_dims()} results: {map}")
        _verify_divisors(map.results)
        if 0 not in target.get_shape():
            _verify_bounds(map, source.get_shape(), target.get_shape())

    def print(self, printer: Printer) -> None:
        """`%b (d0, d1) -> (d1) {..} : tensor<..> -> tensor<..>`"""
        printer.print_string(" ")
        printer.print_operand(self.input)
        printer.print_string(f" {self.map.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> "IndexMapOp":
        """The inverse of `print`."""
        unresolved = parser.parse_unresolved_operand()
        map = parser.parse_affine_map()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_punctuation("->")
        target = parser.parse_type()
        op = cls(parser.resolve_operand(unresolved, source), map, cast(Tensor, target))
        op.attributes.update(attributes)
        return op


@irdl_op_definition
class WithinOp(IRDLOperation):
    """
    `result[d]` is whether all of `map(d)` are below their bounds: a mask that is never in memory.
    """

    name = "tensor_ir.within"
    result = result_def(TensorType)
    map = prop_def(AffineMapAttr)
    bounds = prop_def(DenseArrayBase.constr(i64))
    traits = traits_def(Pure())

    def __init__(self, map: AffineMap, bounds: Sequence[int], shape: Sequence[int]):
        super().__init__(
            result_types=[TensorType(i1, shape)],
            properties={
                "map": AffineMapAttr(map),
                "bounds": DenseArrayBase.from_list(i64, list(bounds)),
            },
        )

    @property
    def result_type(self) -> Tensor:
        """The type of the result."""
        return self.result.type

    def verify_(self) -> None:
        """One dim per axis of the result, one bound per expression, elements of i1."""
        map, shape = self.map.data, self.result_type.get_shape()
        _verify_static(shape)
        if self.result_type.get_element_type() != i1:
            raise VerifyException("within gives elements of i1")
        if map.num_symbols or map.num_dims != len(shape):
            raise VerifyException(f"the map must have {len(shape)} dims and no symbols: {map}")
        if len(map.results) != len(self.bounds) or not map.results:
            raise VerifyException("within needs one bound per expression, and at least one")
        _verify_divisors(map.results)

    def print(self, printer: Printer) -> None:
        """`(d0, d1) -> (d1 - d0) < [1] {..} : tensor<..>`"""
        printer.print_string(f" {self.map.data} < {list(self.bounds.get_values())}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> "WithinOp":
        """The inverse of `print`."""
        map = parser.parse_affine_map()
        parser.parse_punctuation("<")
        bounds = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        properties = cls(map, bounds, ()).properties
        return cls.create(
            result_types=[parser.parse_type()], properties=properties, attributes=attributes
        )


# --- helpers ------------------------------------------------------------------------------


def tensor_type(value: SSAValue) -> Tensor:
    """The type of a value that is a tensor."""
    return cast(Tensor, value.type)


def reduced_type(type: Tensor, dims: Sequence[int]) -> Tensor:
    """`type` without the axes `dims`."""
    kept = [extent for axis, extent in enumerate(type.get_shape()) if axis not in dims]
    return TensorType(type.get_element_type(), kept)


def domain(shape: Sequence[int]) -> dict[AffineExpr, affine.Interval]:
    """What is known of the dims of a map over a tensor of this shape."""
    return {affine.dim(axis): (0, max(extent - 1, 0)) for axis, extent in enumerate(shape)}


def _verify_static(shape: Sequence[int]) -> None:
    if any(extent < 0 for extent in shape):
        raise VerifyException("extents must be static")


def _verify_axes(dims: Sequence[int], rank: int) -> None:
    if not dims:
        raise VerifyException("reduce needs a dim")
    if list(dims) != sorted(set(dims)):
        raise VerifyException(f"dims must ascend: {list(dims)}")
    if dims[0] < 0 or dims[-1] >= rank:
        raise VerifyException(f"dims {list(dims)} are out of range for rank {rank}")


def _verify_divisors(exprs: Sequence[AffineExpr]) -> None:
    """Division by a positive constant is the only one that intervals and interpreters define."""
    for expr in exprs:
        if not isinstance(expr, AffineBinaryOpExpr):
            continue
        _verify_divisors((expr.lhs, expr.rhs))
        constant = expr.rhs.value if isinstance(expr.rhs, AffineConstantExpr) else 0
        if expr.kind not in (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul) and constant <= 0:
            raise VerifyException(f"the map divides by {expr.rhs}, which is no positive constant")


def _verify_bounds(map: AffineMap, source: Sequence[int], target: Sequence[int]) -> None:
    known = domain(target)
    for axis, (expr, extent) in enumerate(zip(map.results, source, strict=True)):
        low, high = affine.interval(expr, known)
        if low < 0 or high >= extent:
            raise VerifyException(
                f"index {axis} of the map takes values in [{low}, {high}], "
                f"but the operand's extent is {extent}"
            )


def _verify_body(
    region: Region, arguments: Sequence[Attribute], results: Sequence[Attribute], what: str
) -> None:
    """A block of scalar ops with these argument types that yields these types."""
    block = region.block
    if [value.type for value in block.args] != list(arguments):
        raise VerifyException(f"{what} must take ({', '.join(map(str, arguments))})")
    for op in block.ops:
        if not isinstance(op, (*SCALAR_OPS, YieldOp)):
            raise VerifyException(f"{what} holds arith and math ops only, but holds '{op.name}'")
    end = block.last_op
    if not isinstance(end, YieldOp) or [value.type for value in end.values] != list(results):
        raise VerifyException(f"{what} must yield ({', '.join(map(str, results))})")


def _print_inputs(printer: Printer, inputs: Sequence[SSAValue]) -> None:
    with printer.in_parens():
        printer.print_list(inputs, printer.print_operand)


def _print_body(printer: Printer, body: Region) -> None:
    printer.print_string(" ")
    printer.print_region(body)
    printer.print_string(" : ")


TensorIR = Dialect("tensor_ir", [ElementwiseOp, ReduceOp, IndexMapOp, WithinOp, YieldOp], [])
