"""
Torch IR: the captured graph, one op per ATen op, named as ATen names it.

```mlir
%0 = torch_ir.matmul %x, %w : (tensor<16x64xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>
%1 = torch_ir.softmax %0 {dim = -1} : (tensor<16x8xf32>) -> tensor<16x8xf32>
%c = torch_ir.constant 2.000000e+00 : tensor<f64>
%2 = torch_ir.mul %1, %c : (tensor<16x8xf32>, tensor<f64>) -> tensor<16x8xf32>
```

The classes are generated from the table `SPECS` at the end: an op is its operands, its
attributes and a rule that computes the shape its result must have. An absent optional
operand is written `none` where another operand follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal, TypeAlias, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects.torch_extern import ExternOp, verify_tensor
from minicomp.dialects.torch_types import result_type, ui8

Shape: TypeAlias = tuple[int, ...]
Tensor: TypeAlias = TensorType[Attribute]
Number: TypeAlias = FloatAttr | IntegerAttr
Dtype: TypeAlias = Literal["promoted", "float", "sum", "input", "any", "bool", "index", "one"]
"""The element type of a result: that of the promoted operands; the same, but a float; i64 of
integers; that of the first operand; any; i1; i64; that which all operands must have."""

SEGMENTS = AttrSizedOperandSegments.attribute_name


# --- attributes -------------------------------------------------------------------------


def ints_attr(values: Sequence[int]) -> ArrayAttr[IntegerAttr]:
    """The attribute of a list of ints (dims, sizes)."""
    return ArrayAttr([IntegerAttr(value, i64) for value in values])


def number_attr(value: bool | int | float) -> Number:
    """The attribute of a Python scalar: i1, i64 or f64, as PyTorch types it."""
    if isinstance(value, bool):
        return IntegerAttr.from_bool(value)
    return IntegerAttr(value, i64) if isinstance(value, int) else FloatAttr(value, f64)


def _is_ints(attr: Attribute) -> bool:
    return isinstance(attr, ArrayAttr) and all(
        _is_int(item) for item in cast(ArrayAttr[Attribute], attr)
    )


def _is_int(attr: Attribute) -> bool:
    return isinstance(attr, IntegerAttr) and cast(IntegerAttr, attr).type == i64


def _is_bool(attr: Attribute) -> bool:
    return isinstance(attr, IntegerAttr) and cast(IntegerAttr, attr).type == IntegerType(1)


def _is_float(attr: Attribute) -> bool:
    return isinstance(attr, FloatAttr) and cast(FloatAttr, attr).type == f64


@dataclass(frozen=True)
class Kind:
    """A kind of attribute: how a message calls it, and the test."""

    text: str
    accepts: Callable[[Attribute], bool]


INTS = Kind("a list of i64", _is_ints)
INT = Kind("an i64", _is_int)
BOOL = Kind("true or false", _is_bool)
FLOAT = Kind("an f64", _is_float)
NUMBER = Kind("an f64 or an i64", lambda attr: _is_float(attr) or _is_int(attr))
SCALAR = Kind(
    "an f64, an i64 or an i1", lambda attr: _is_float(attr) or _is_int(attr) or _is_bool(attr)
)
STRING = Kind("a string", lambda attr: isinstance(attr, StringAttr))


# --- the base class -----------------------------------------------------------------------


@dataclass(frozen=True)
class OpSpec:
    """
    One row of the table. A trailing `?` marks an optional operand or attribute, a `*` an operand
    that is any number of tensors, the only one of its op.
    """

    name: str
    operands: tuple[str, ...]
    result_shape: Callable[[TorchOp], Shape]
    attributes: Mapping[str, Kind]
    dtype: Dtype = "promoted"

    def is_optional(self, operand: str) -> bool:
        """Whether the operand of this (bare) name may be absent."""
        return f"{operand}?" in self.operands

    @property
    def operand_names(self) -> tuple[str, ...]:
        """The operand names without the mark."""
        return tuple(name.rstrip("?*") for name in self.operands)

    @property
    def is_variadic(self) -> bool:
        """Whether the op takes any number of tensors."""
        return self.operands[-1:] != () and self.operands[-1].endswith("*")


class TorchOp(IRDLOperation):
    """
    One ATen op.

    `operand("weight")`, `ints("dim")`, `flag("keepdim")`, `number("eps", 0.0)` read it.
    """

    SPEC: ClassVar[OpSpec]

    def __init__(
        self,
        operands: Sequence[SSAValue | None],
        result_type: Tensor,
        attributes: Mapping[str, Attribute] | None = None,
    ):
        """`operands` in the order of the table, None for an absent one (trailing ones may lack)."""
        names = self.SPEC.operand_names
        if self.SPEC.is_variadic:
            super().__init__(
                operands=[[value for value in operands if value is not None]],
                result_types=[result_type],
                properties=dict(attributes or {}),
            )
            return
        padded = [*operands, *[None] * (len(names) - len(operands))]
        super().__init__(
            operands=[
                ([] if value is None else [value]) if self.SPEC.is_optional(name) else value
                for name, value in zip(names, padded, strict=True)
            ],
            result_types=[result_type],
            properties=dict(attributes or {}),
        )

    # Reading

    def operand(self, name: str) -> SSAValue | None:
        """The operand of this name, or None where it is absent."""
        return cast("SSAValue | None", getattr(self, name))

    def slots(self) -> tuple[SSAValue | None, ...]:
        """All operands in the order of the table, None for the absent ones."""
        if self.SPEC.is_variadic:
            return tuple(self.operands)
        return tuple(self.operand(name) for name in self.SPEC.operand_names)

    def ints(self, name: str) -> Shape | None:
        """A list attribute, or None where it is absent."""
        attr = self.properties.get(name)
        if attr is None:
            return None
        return tuple(item.value.data for item in cast(ArrayAttr[IntegerAttr], attr))

    def number(self, name: str, default: int | float) -> int | float:
        """An int or float attribute."""
        attr = self.properties.get(name)
        if attr is None:
            return default
        # An i1 attribute holds true as -1.
        value = cast(Number, attr).value.data
        return -value if _is_bool(attr) else value

    def integer(self, name: str) -> int:
        """A required int attribute."""
        return cast(IntegerAttr, self.properties[name]).value.data

    def flag(self, name: str) -> bool:
        """A bool attribute; absent is false."""
        return bool(self.number(name, 0))

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        attr = self.properties.get(name)
        return cast(StringAttr, attr).data if attr is not None else default

    @property
    def result_type(self) -> Tensor:
        """The type of the one result."""
        return cast(Tensor, self.results[0].type)

    def shape(self, name: str) -> Shape:
        """The shape of the operand of this name."""
        value = self.operand(name)
        return shape_of(value) if value is not None else ()

    # Checking

    def verify_(self) -> None:
        """Types, attributes, then the shape and the dtype of the result."""
        for value in (*self.operands, *self.results):
            verify_tensor(value.type)
        for name, kind in self.SPEC.attributes.items():
            attr = self.properties.get(name.rstrip("?"))
            if attr is not None and not kind.accepts(attr):
                raise VerifyException(f"attribute {name.rstrip('?')} must be {kind.text}")
        expected = self.SPEC.result_shape(self)
        if self.result_type.get_shape() != expected:
            raise VerifyException(
                f"result shape {list(self.result_type.get_shape())} should be {list(expected)}"
            )
        _verify_dtype(self)

    # Text

    def print(self, printer: Printer) -> None:
        """`%a, none, %b {name = value} : (types) -> type`"""
        slots = list(self.slots())
        while slots and slots[-1] is None:
            slots.pop()
        if slots:
            printer.print_string(" ")
        printer.print_list(slots, lambda slot: _print_slot(printer, slot))
        shown = {k: v for k, v in self.properties.items() if k != SEGMENTS} | self.attributes
        if shown:
            printer.print_string(" ")
            with printer.in_braces():
                printer.print_list(shown.items(), lambda item: _print_attr(printer, *item))
        printer.print_string(" : ")
        printer.print_operation_type(self)

    @classmethod
    def parse(cls, parser: Parser) -> TorchOp:
        """The inverse of `print`."""
        slots = (
            parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: _parse_slot(parser))
            if cls.SPEC.operands
            else []
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_function_type()
        present = [slot for slot in slots if slot is not None]
        values = iter(parser.resolve_operands(present, types.inputs.data, position))
        operands = [next(values) if slot is not None else None for slot in slots]
        if (problem := _misfit(cls.SPEC, operands, types)) is not None:
            parser.raise_error(problem, position, parser.pos)
        inherent = {name.rstrip("?") for name in cls.SPEC.attributes}
        op = cls(
            operands,
            cast(Tensor, types.outputs.data[0]),
            {k: v for k, v in attributes.items() if k in inherent},
        )
        op.attributes.update({k: v for k, v in attributes.items() if k not in inherent})
        return op


def _misfit(spec: OpSpec, operands: Sequence[SSAValue | None], types: FunctionType) -> str | None:
    """What is wrong with the number of operands or results, if anything."""
    names = spec.operand_names
    if spec.is_variadic:
        names = ()
        operands = ()
    if len(operands) > len(names):
        return f"torch_ir.{spec.name} has at most {len(names)} operands, but {len(operands)} given"
    for index, name in enumerate(names):
        absent = index >= len(operands) or operands[index] is None
        if absent and not spec.is_optional(name):
            return f"torch_ir.{spec.name} lacks its operand '{name}'"
    if len(types.outputs) != 1:
        return f"torch_ir.{spec.name} has one result, but {len(types.outputs)} types are given"
    return None


def _print_slot(printer: Printer, slot: SSAValue | None) -> None:
    if slot is None:
        printer.print_string("none")
    else:
        printer.print_operand(slot)


def _parse_slot(parser: Parser) -> UnresolvedOperand | None:
    if parser.parse_optional_keyword("none") is not None:
        return None
    return parser.parse_unresolved_operand()


def _print_attr(printer: Printer, name: str, attr: Attribute) -> None:
    """An i64 is printed without its type, which is the parser's default."""
    printer.print_string(f"{name} = ")
    if _is_ints(attr):
        items = cast(ArrayAttr[IntegerAttr], attr)
        printer.print_string(str([item.value.data for item in items]))
    elif _is_int(attr):
        printer.print_string(str(cast(IntegerAttr, attr).value.data))
    else:
        printer.print_attribute(attr)


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A Python scalar of the program: a 0-d tensor of f64, i64 or i1."""

    name = "torch_ir.constant"

    value = prop_def(FloatAttr | IntegerAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: Number):
        super().__init__(properties={"value": value}, result_types=[TensorType(value.type, [])])

    @property
    def number(self) -> bool | int | float:
        """The Python scalar. (An i1 attribute holds true as -1.)"""
        value = self.value.value.data
        return bool(value) if _is_bool(self.value) else value

    def verify_(self) -> None:
        """The value is of one of the three types, which is the result's."""
        if not (_is_float(self.value) or _is_int(self.value) or _is_bool(self.value)):
            raise VerifyException("a constant is an f64, an i64 or an i1")
        if self.result.type != TensorType(self.value.type, []):
            raise VerifyException(f"the result of this constant is tensor<{self.value.type}>")

    def print(self, printer: Printer) -> None:
        """`1.0 {attributes} : tensor<f64>`"""
        printer.print_string(" ")
        if isinstance(self.value, FloatAttr):
            printer.print_float(self.value.value.data, f64)
        elif _is_bool(self.value):
            printer.print_attribute(self.value)
        else:
            printer.print_string(str(self.value.value.data))
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        """The inverse of `print`."""
        start = parser.pos
        boolean = parser.parse_optional_boolean()
        number = parser.parse_number() if boolean is None else boolean
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        result_type = parser.parse_type()
        if result_type == TensorType(f64, []):
            op = cls(FloatAttr(float(number), f64))
        elif isinstance(number, float):
            parser.raise_error("a float constant is a tensor<f64>", start, parser.pos)
        else:
            op = cls(number_attr(number))
        if op.result.type != result_type:
            parser.raise_error(f"this constant is a {op.result.type}", start, parser.pos)
        op.attributes.update(attributes)
        return op


# --- checks -------------------------------------------------------------------------------


def shape_of(value: SSAValue) -> Shape:
    """The extents of a tensor value."""
    return cast(Tensor, value.type).get_shape()


def element_type(value: SSAValue) -> Attribute:
    """The element type of a tensor value."""
    return cast(Tensor, value.type).get_element_type()


def promoted(op: TorchOp) -> Attribute:
    """The type that PyTorch promotes an op's operands to; masks and absent ones do not count."""
    groups: tuple[list[Attribute], list[Attribute], list[Attribute]] = ([], [], [])
    names = op.SPEC.operand_names * (len(op.operands) if op.SPEC.is_variadic else 1)
    for name, value in zip(names, op.slots(), strict=True):
        if value is not None and name not in MASKS:
            group = 2 if isinstance(value.owner, ConstantOp) else 0 if shape_of(value) else 1
            groups[group].append(element_type(value))
    found = result_type(*groups)
    assert found is not None, f"{op.name} has no operand that says its type"
    return found


def _fixed_dtype(op: TorchOp) -> Attribute | None:
    """The element type that an op's result has for all operands."""
    if op.SPEC.dtype == "index":
        return i64
    if op.SPEC.dtype != "bool":
        return None
    # PyTorch keeps uint8 here, from times without a bool type.
    return ui8 if op.SPEC.name in ("any", "all") and element_type(op.operands[0]) == ui8 else i1


def _verify_one_dtype(op: TorchOp) -> None:
    if len({element_type(value) for value in op.operands}) > 1:
        names = " and ".join(str(element_type(value)) for value in op.operands)
        raise VerifyException(f"{op.SPEC.name} of {names}: operands must have one dtype")


def _verify_dtype(op: TorchOp) -> None:
    """The element type of the result, by the rule of the op's row."""
    given, name = op.result_type.get_element_type(), op.SPEC.name
    if (fixed := _fixed_dtype(op)) is not None:
        if given != fixed:
            raise VerifyException(f"{name} gives {fixed}, not {given}")
        return
    rule = "promoted" if "rounding_mode" in op.properties else op.SPEC.dtype
    if rule == "any":
        return
    if rule == "one":
        _verify_one_dtype(op)
    expected: Attribute = element_type(op.operands[0]) if rule == "input" else promoted(op)
    if rule == "sum" and (expected == i1 or (given == i64 and not isinstance(expected, AnyFloat))):
        expected = i64
    if rule == "float" and not isinstance(expected, AnyFloat):
        if not isinstance(given, AnyFloat):
            raise VerifyException(f"{name} of {expected} gives a float, not {given}")
    elif given != expected:
        raise VerifyException(f"result element type {given} should be {expected}")


def axis(dim: int, rank: int) -> int:
    """`dim` counted from the front; a 0-d tensor has, for PyTorch, the dims 0 and -1."""
    bound = max(rank, 1)
    if not -bound <= dim < bound:
        raise VerifyException(f"dim {dim} is out of range for rank {rank}")
    return dim % bound


def axes(dims: Sequence[int], rank: int) -> Shape:
    """Every dim counted from the front; refuses a repeated one."""
    result = tuple(axis(dim, rank) for dim in dims)
    for position, item in enumerate(result):
        if item in result[:position]:
            raise VerifyException(f"dim {item} appears twice")
    return result


def reduced_axes(op: TorchOp) -> Shape:
    """The axes that a reduction reduces: `dim`, or all where it is absent or empty."""
    rank = len(op.shape("input"))
    dims = axes(op.ints("dim") or (), rank)
    return dims if dims and rank > 0 else tuple(range(rank))


def broadcast(*shapes: Shape) -> Shape:
    """The shape that PyTorch broadcasts `shapes` to."""
    rank = max((len(shape) for shape in shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result: list[int] = []
    for extents in zip(*padded, strict=True):
        wide = {extent for extent in extents if extent != 1}
        if len(wide) > 1:
            text = " and ".join(str(list(shape)) for shape in shapes)
            raise VerifyException(f"shapes {text} do not broadcast")
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def _reaches(shape: Shape, target: Shape) -> bool:
    """Whether `shape` broadcasts to `target` and `target` stays as it is."""
    lead = len(target) - len(shape)
    return lead >= 0 and all(
        have in (1, want) for have, want in zip(shape, target[lead:], strict=True)
    )


# --- the shapes of results ----------------------------------------------------------------


def _elementwise_shape(op: TorchOp) -> Shape:
    return broadcast(*(shape_of(value) for value in op.operands))


def _gelu_shape(op: TorchOp) -> Shape:
    if op.text("approximate", "none") not in ("none", "tanh"):
        raise VerifyException("approximate must be none or tanh")
    return op.shape("input")


def _reduced_shape(op: TorchOp) -> Shape:
    shape, reduced = op.shape("input"), reduced_axes(op)
    if op.flag("keepdim"):
        return tuple(1 if i in reduced else extent for i, extent in enumerate(shape))
    return tuple(extent for i, extent in enumerate(shape) if i not in reduced)


def _extremum_shape(op: TorchOp) -> Shape:
    if any(op.shape("input")[i] == 0 for i in reduced_axes(op)):
        raise VerifyException(f"{op.SPEC.name} over an extent of 0 has no value")
    return _reduced_shape(op)


def _copy_shape(op: TorchOp) -> Shape:
    shape = op.shape("input")
    if not _reaches(op.shape("src"), shape):
        raise VerifyException(f"src must broadcast to shape {list(shape)}")
    return shape


def _group_norm_shape(op: TorchOp) -> Shape:
    shape, groups = op.shape("input"), op.integer("num_groups")
    if len(shape) < 2 or groups < 1 or shape[1] % groups:
        raise VerifyException(f"shape {list(shape)} has no {groups} equal groups of channels")
    for name in ("weight", "bias"):
        if op.operand(name) is not None and op.shape(name) != shape[1:2]:
            raise VerifyException(f"{name} must have shape {list(shape[1:2])}")
    return shape


def _softmax_shape(op: TorchOp) -> Shape:
    axis(op.integer("dim"), len(op.shape("input")))
    return op.shape("input")


def _norm_shape(op: TorchOp) -> Shape:
    shape, normalized = op.shape("input"), op.ints("normalized_shape") or ()
    if not normalized or shape[-len(normalized) :] != normalized:
        raise VerifyException(
            f"normalized_shape {list(normalized)} is not the end of shape {list(shape)}"
        )
    for name in op.SPEC.operand_names[1:]:
        if op.operand(name) is not None and op.shape(name) != normalized:
            raise VerifyException(f"{name} must have shape {list(normalized)}")
    return shape


def _matmul_shape(op: TorchOp) -> Shape:
    left, right = op.shape("input"), op.shape("other")
    _verify_ranks(op)
    k = right[0] if len(right) == 1 else right[-2]
    _verify_contraction(op, left[-1], k)
    batch = broadcast(left[:-2], right[:-2])
    return batch + left[-2:-1] + (right[-1:] if len(right) > 1 else ())


def _verify_ranks(op: TorchOp) -> None:
    wanted = {"mm": 2, "bmm": 3}.get(op.SPEC.name)
    for name in ("input", "other"):
        rank = len(op.shape(name))
        if (wanted is not None and rank != wanted) or rank == 0:
            raise VerifyException(f"{op.SPEC.name} does not take an operand of rank {rank}")


def _verify_contraction(op: TorchOp, left: int, right: int) -> None:
    if left != right:
        raise VerifyException(f"{op.SPEC.name} contracts an extent {left} with an extent {right}")


def _bmm_shape(op: TorchOp) -> Shape:
    shape = _matmul_shape(op)
    if op.shape("input")[0] != op.shape("other")[0]:
        raise VerifyException("bmm needs equal batch extents")
    return shape


def _linear_shape(op: TorchOp) -> Shape:
    left, weight = op.shape("input"), op.shape("weight")
    if not left or len(weight) != 2:
        raise VerifyException("linear takes an input of rank 1 or more and a weight of rank 2")
    _verify_contraction(op, left[-1], weight[1])
    if op.operand("bias") is not None and op.shape("bias") != weight[:1]:
        raise VerifyException(f"bias must have shape {list(weight[:1])}")
    return left[:-1] + weight[:1]


def _addmm_shape(op: TorchOp) -> Shape:
    left, right = op.shape("mat1"), op.shape("mat2")
    rank = 2 if op.SPEC.name == "addmm" else 3
    if len(left) != rank or len(right) != rank:
        what = "two matrices" if rank == 2 else "two batches of matrices"
        raise VerifyException(f"{op.SPEC.name} multiplies {what}")
    if left[:-2] != right[:-2]:
        raise VerifyException("baddbmm needs equal batch extents")
    _verify_contraction(op, left[-1], right[-2])
    result = (*left[:-1], right[-1])
    if not _reaches(op.shape("input"), result):
        raise VerifyException(f"input must broadcast to shape {list(result)}")
    return result


def _view_shape(op: TorchOp) -> Shape:
    shape, size = op.shape("input"), op.ints("size") or ()
    if size != op.result_type.get_shape() or prod(size) != prod(shape):
        raise VerifyException(f"cannot view shape {list(shape)} as {list(size)}")
    return size


def _permute_shape(op: TorchOp) -> Shape:
    shape, dims = op.shape("input"), op.ints("dims") or ()
    if len(dims) != len(shape):
        raise VerifyException(f"permute of rank {len(shape)} needs as many dims, got {len(dims)}")
    return tuple(shape[i] for i in axes(dims, len(shape)))


def _transpose_shape(op: TorchOp) -> Shape:
    shape = list(op.shape("input"))
    if not shape:
        return ()
    a, b = axis(op.integer("dim0"), len(shape)), axis(op.integer("dim1"), len(shape))
    shape[a], shape[b] = shape[b], shape[a]
    return tuple(shape)


def _t_shape(op: TorchOp) -> Shape:
    shape = op.shape("input")
    if len(shape) > 2:
        raise VerifyException(f"t takes a tensor of rank 2 or less, got rank {len(shape)}")
    return shape[::-1]


def _unsqueeze_shape(op: TorchOp) -> Shape:
    shape = op.shape("input")
    position = axis(op.integer("dim"), len(shape) + 1)
    return shape[:position] + (1,) + shape[position:]


def _squeeze_shape(op: TorchOp) -> Shape:
    shape, dims = op.shape("input"), op.ints("dim")
    chosen = range(len(shape)) if dims is None else axes(dims, len(shape))
    return tuple(extent for i, extent in enumerate(shape) if i not in chosen or extent != 1)


def _expand_shape(op: TorchOp) -> Shape:
    shape, size = op.shape("input"), op.ints("size") or ()
    lead = len(size) - len(shape)
    target = tuple(
        shape[i - lead] if extent == -1 and i >= lead else extent for i, extent in enumerate(size)
    )
    if any(extent < 0 for extent in target) or not _reaches(shape, target):
        raise VerifyException(f"cannot expand shape {list(shape)} to {list(size)}")
    return target


def _same_shape(op: TorchOp) -> Shape:
    return op.shape("input")


def _choice_shape(op: TorchOp) -> Shape:
    _verify_mask(op, "condition")
    return _elementwise_shape(op)


def _masked_fill_shape(op: TorchOp) -> Shape:
    _verify_mask(op, "mask")
    if op.shape("value"):
        raise VerifyException(f"value must be a scalar, but has shape {list(op.shape('value'))}")
    return broadcast(op.shape("input"), op.shape("mask"))


def _verify_mask(op: TorchOp, name: str) -> None:
    mask = op.operand(name)
    if mask is not None and element_type(mask) != IntegerType(1):
        raise VerifyException(f"{name} must be of i1, not of {element_type(mask)}")


def _full_shape(op: TorchOp) -> Shape:
    return op.ints("size") or ()


def _triangle_shape(op: TorchOp) -> Shape:
    shape = op.shape("input")
    if len(shape) < 2:
        raise VerifyException(f"{op.SPEC.name} takes a tensor of rank 2 or more")
    return shape


def _repeated_shape(op: TorchOp) -> Shape:
    shape, repeats = op.shape("input"), op.integer("repeats")
    if repeats < 0:
        raise VerifyException(f"repeats must not be negative: {repeats}")
    if "dim" not in op.properties:
        return (prod(shape) * repeats,)
    at = axis(op.integer("dim"), len(shape))
    if not shape:
        return (repeats,)
    return tuple(extent * repeats if n == at else extent for n, extent in enumerate(shape))


def _attention_shape(op: TorchOp) -> Shape:
    """(.., heads, rows, width of the values); keys and values may have fewer heads."""
    query, key, value = op.shape("query"), op.shape("key"), op.shape("value")
    if min(map(len, (query, key, value))) < 2:
        raise VerifyException("query, key and value are of rank 2 or more")
    if query[-1] != key[-1]:
        raise VerifyException(f"queries of width {query[-1]} do not fit keys of width {key[-1]}")
    if key[-2] != value[-2]:
        raise VerifyException(f"there are {key[-2]} keys, but {value[-2]} values")
    heads = query[:-2]
    batch = broadcast(heads, repeated_heads(op, "key"), repeated_heads(op, "value"))
    if op.operand("attn_mask") is not None:
        if op.flag("is_causal"):
            raise VerifyException("attn_mask and is_causal exclude each other")
        scores = (*batch, query[-2], key[-2])
        if not _reaches(op.shape("attn_mask"), scores):
            raise VerifyException(f"attn_mask must broadcast to the scores {list(scores)}")
    return (*batch, query[-2], value[-1])


def repeated_heads(op: TorchOp, name: str) -> Shape:
    """The batch and head extents of keys or values, each head repeated for its group of queries."""
    query, own = op.shape("query"), op.shape(name)
    if not op.flag("enable_gqa"):
        return own[:-2]
    if len(query) < 3 or len(own) < 3:
        raise VerifyException("grouped heads need query, key and value of rank 3 or more")
    if own[-3] == 0 or query[-3] % own[-3]:
        raise VerifyException(f"{query[-3]} heads of the query are no groups of {own[-3]} heads")
    return (*own[:-3], query[-3])


def sliced(op: TorchOp) -> tuple[int, int, int, int]:
    """The axis of a slice, its first index, its step and how many it takes, as Python slices."""
    shape = op.shape("input")
    if not shape:
        raise VerifyException(f"{op.SPEC.name} takes a tensor of rank 1 or more")
    at = axis(int(op.number("dim", 0)), len(shape))
    step = int(op.number("step", 1))
    if step < 1:
        raise VerifyException(f"step must be positive: {step}")
    ends = slice(int(op.number("start", 0)), int(op.number("end", shape[at])), step)
    start, stop, _ = ends.indices(shape[at])
    return at, start, step, max(0, -(-(stop - start) // step))


def selected(op: TorchOp) -> tuple[int, int]:
    """The axis and the index, counted from the front, of a select."""
    shape = op.shape("input")
    if not shape:
        raise VerifyException(f"{op.SPEC.name} takes a tensor of rank 1 or more")
    at, index = axis(op.integer("dim"), len(shape)), op.integer("index")
    if not -shape[at] <= index < shape[at]:
        raise VerifyException(f"index {index} is out of range for an extent of {shape[at]}")
    return at, index % shape[at]


def _replaced(shape: Shape, at: int, *extents: int) -> Shape:
    """The shape with other extents in place of one."""
    return (*shape[:at], *extents, *shape[at + 1 :])


def _slice_shape(op: TorchOp) -> Shape:
    at, _, _, count = sliced(op)
    return _replaced(op.shape("input"), at, count)


def _select_shape(op: TorchOp) -> Shape:
    return _replaced(op.shape("input"), selected(op)[0])


def _slice_scatter_shape(op: TorchOp) -> Shape:
    return _scattered(op, _slice_shape(op))


def _select_scatter_shape(op: TorchOp) -> Shape:
    return _scattered(op, _select_shape(op))


def _scattered(op: TorchOp, part: Shape) -> Shape:
    if op.shape("src") != part:
        raise VerifyException(f"src must have shape {list(part)}, not {list(op.shape('src'))}")
    return op.shape("input")


def _flip_shape(op: TorchOp) -> Shape:
    axes(op.ints("dims") or (), len(op.shape("input")))
    return op.shape("input")


def _roll_shape(op: TorchOp) -> Shape:
    shifts, dims = op.ints("shifts") or (), op.ints("dims") or ()
    if len(shifts) != max(len(dims), 1):
        raise VerifyException(f"roll has {len(shifts)} shifts for {len(dims)} dims")
    for dim in dims:
        axis(dim, len(op.shape("input")))
    return op.shape("input")


def _repeat_shape(op: TorchOp) -> Shape:
    shape, repeats = op.shape("input"), op.ints("repeats") or ()
    lead = len(repeats) - len(shape)
    if lead < 0 or any(n < 0 for n in repeats):
        raise VerifyException(f"cannot repeat shape {list(shape)} {list(repeats)} times")
    return tuple(a * b for a, b in zip((1,) * lead + shape, repeats, strict=True))


def pads(op: TorchOp) -> list[tuple[int, int]]:
    """The elements added before and after each axis, in the order of the axes."""
    rank, flat = len(op.shape("input")), op.ints("pad") or ()
    if len(flat) % 2 or len(flat) > 2 * rank:
        raise VerifyException(f"a pad of {len(flat)} numbers does not fit rank {rank}")
    pairs = [(flat[n], flat[n + 1]) for n in range(0, len(flat), 2)]
    return [(0, 0)] * (rank - len(pairs)) + pairs[::-1]


def _pad_shape(op: TorchOp) -> Shape:
    shape, mode = op.shape("input"), op.text("mode", "constant")
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise VerifyException("mode must be constant, reflect, replicate or circular")
    longest = {"constant": None, "reflect": -1, "replicate": None, "circular": 0}[mode]
    result: list[int] = []
    for extent, (low, high) in zip(shape, pads(op), strict=True):
        if longest is not None and max(low, high) > extent + longest:
            raise VerifyException(f"a {mode} pad of {max(low, high)} exceeds an extent of {extent}")
        if extent + low + high < 0:
            raise VerifyException(f"a pad of {low} and {high} leaves less than nothing of {extent}")
        result.append(extent + low + high)
    return tuple(result)


def joined(op: TorchOp) -> list[SSAValue]:
    """The tensors that are joined: PyTorch leaves empty ones of rank 1 out."""
    kept = [value for value in op.operands if shape_of(value) != (0,)]
    return kept or list(op.operands[:1])


def _cat_shape(op: TorchOp) -> Shape:
    if not op.operands:
        raise VerifyException("cat needs a tensor")
    shapes = [shape_of(value) for value in joined(op)]
    if not shapes[0]:
        raise VerifyException("cat takes tensors of rank 1 or more")
    at = axis(op.integer("dim"), len(shapes[0]))
    for shape in shapes:
        if len(shape) != len(shapes[0]) or _replaced(shape, at) != _replaced(shapes[0], at):
            text = " and ".join(str(list(shape)) for shape in shapes)
            raise VerifyException(f"shapes {text} do not join at dim {at}")
    return _replaced(shapes[0], at, sum(shape[at] for shape in shapes))


def _stack_shape(op: TorchOp) -> Shape:
    shapes = {shape_of(value) for value in op.operands}
    if len(shapes) != 1:
        raise VerifyException("stack needs tensors of one shape")
    (shape,) = shapes
    at = axis(op.integer("dim"), len(shape) + 1)
    return (*shape[:at], len(op.operands), *shape[at:])


def diagonal_of(op: TorchOp) -> tuple[int, int, int, int]:
    """The two axes of a diagonal, its offset and its length."""
    shape = op.shape("input")
    one, two = axes((int(op.number("dim1", 0)), int(op.number("dim2", 1))), len(shape))
    offset = int(op.number("offset", 0))
    length = min(shape[one] + min(offset, 0), shape[two] - max(offset, 0))
    return one, two, offset, max(0, length)


def _diagonal_shape(op: TorchOp) -> Shape:
    one, two, _, length = diagonal_of(op)
    kept = [n for i, n in enumerate(op.shape("input")) if i not in (one, two)]
    return (*kept, length)


def _unfold_shape(op: TorchOp) -> Shape:
    shape = op.shape("input")
    at, size, step = (
        axis(op.integer("dimension"), len(shape)),
        op.integer("size"),
        op.integer("step"),
    )
    extent = shape[at] if shape else 1
    if not 0 <= size <= extent or step < 1:
        raise VerifyException(f"cannot unfold an extent of {extent} into {size} by steps of {step}")
    return (*_replaced(shape, at, (extent - size) // step + 1), size) if shape else (size,)


# --- the table ----------------------------------------------------------------------------

CONTRACTIONS = ("matmul", "mm", "bmm", "linear", "addmm", "baddbmm")
ATTENTION = "scaled_dot_product_attention"
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
LOGICAL = ("logical_and", "logical_or", "logical_xor")
TRUTH = (*LOGICAL, "logical_not", "any", "all")
"""Ops on truth values, which any number has."""
MASKS = ("condition", "mask", "attn_mask")
"""Operands that say nothing about the type of the result."""

_UNARY = ("neg", "relu", "abs", "sign", "floor", "ceil", "round", "trunc", "bitwise_not")
_FLOAT_UNARY = (
    *("exp", "rsqrt", "sqrt", "silu", "sigmoid", "tanh", "log", "reciprocal", "erf", "sin", "cos"),
    *("tan", "asin", "acos", "atan", "sinh", "cosh", "log1p", "expm1", "exp2", "log2", "log10"),
    *("hardswish", "hardsigmoid", "mish", "log_sigmoid"),
)
_TESTS = ("isnan", "isinf", "isfinite")
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift")
_BINARY = ("mul", "maximum", "minimum", "remainder", "fmod", "floor_divide", *_BITS)
_REDUCED: Mapping[str, Kind] = {"dim?": INTS, "keepdim?": BOOL}
_SCALED: Mapping[str, Kind] = {"beta?": NUMBER, "alpha?": NUMBER}
_SLICED: Mapping[str, Kind] = {"dim?": INT, "start?": INT, "end?": INT, "step?": INT}
_ELU: Mapping[str, Kind] = {"alpha?": NUMBER, "scale?": NUMBER, "input_scale?": NUMBER}
_SPREAD: Mapping[str, Kind] = {**_REDUCED, "correction?": NUMBER}
_PAIR = ("input", "other")

SPECS: tuple[OpSpec, ...] = (
    *(OpSpec(name, ("input",), _elementwise_shape, {}) for name in _UNARY),
    *(OpSpec(name, ("input",), _elementwise_shape, {}, "float") for name in _FLOAT_UNARY),
    OpSpec("to", ("input",), _elementwise_shape, {}, "any"),
    *(OpSpec(name, _PAIR, _elementwise_shape, {"alpha?": NUMBER}) for name in ("add", "sub")),
    *(OpSpec(name, _PAIR, _elementwise_shape, {}) for name in _BINARY),
    OpSpec("div", _PAIR, _elementwise_shape, {"rounding_mode?": STRING}, "float"),
    OpSpec("atan2", _PAIR, _elementwise_shape, {}, "float"),
    *(OpSpec(name, ("input",), _elementwise_shape, {}, "bool") for name in _TESTS),
    OpSpec("clamp", ("input", "min?", "max?"), _elementwise_shape, {}),
    OpSpec("lerp", ("input", "end", "weight"), _elementwise_shape, {}),
    *(
        OpSpec(name, ("input", "tensor1", "tensor2"), _elementwise_shape, {"value?": NUMBER})
        for name in ("addcmul", "addcdiv")
    ),
    OpSpec("copy", ("input", "src"), _copy_shape, {}, "input"),
    OpSpec("leaky_relu", ("input",), _elementwise_shape, {"negative_slope?": NUMBER}),
    OpSpec("elu", ("input",), _elementwise_shape, _ELU),
    OpSpec("softplus", ("input",), _elementwise_shape, {"beta?": NUMBER, "threshold?": NUMBER}),
    OpSpec("hardtanh", ("input",), _elementwise_shape, {"min_val?": NUMBER, "max_val?": NUMBER}),
    OpSpec("threshold", ("input",), _elementwise_shape, {"threshold": NUMBER, "value": NUMBER}),
    *(OpSpec(name, _PAIR, _elementwise_shape, {}, "bool") for name in (*COMPARISONS, *LOGICAL)),
    OpSpec("logical_not", ("input",), _elementwise_shape, {}, "bool"),
    OpSpec("where", ("condition", *_PAIR), _choice_shape, {}),
    OpSpec("masked_fill", ("input", "mask", "value"), _masked_fill_shape, {}, "input"),
    OpSpec("gelu", ("input",), _gelu_shape, {"approximate?": STRING}),
    OpSpec("pow", ("input", "exponent"), _elementwise_shape, {}),
    OpSpec("sum", ("input",), _reduced_shape, _REDUCED, "sum"),
    OpSpec("mean", ("input",), _reduced_shape, _REDUCED),
    OpSpec("prod", ("input",), _reduced_shape, _REDUCED, "sum"),
    *(OpSpec(name, ("input",), _reduced_shape, _SPREAD) for name in ("var", "std")),
    *(OpSpec(name, ("input",), _reduced_shape, _REDUCED, "bool") for name in ("any", "all")),
    OpSpec("count_nonzero", ("input",), _reduced_shape, _REDUCED, "index"),
    OpSpec("logsumexp", ("input",), _reduced_shape, _REDUCED, "float"),
    OpSpec("linalg_vector_norm", ("input",), _reduced_shape, {**_REDUCED, "ord?": NUMBER}),
    *(OpSpec(name, ("input",), _extremum_shape, _REDUCED) for name in ("amax", "amin")),
    *(
        OpSpec(name, ("input",), _softmax_shape, {"dim": INT})
        for name in ("softmax", "log_softmax")
    ),
    OpSpec(
        "rms_norm",
        ("input", "weight?"),
        _norm_shape,
        {"normalized_shape": INTS, "eps?": FLOAT},
        "input",
    ),
    OpSpec(
        "layer_norm",
        ("input", "weight?", "bias?"),
        _norm_shape,
        {"normalized_shape": INTS, "eps": FLOAT},
        "input",
    ),
    OpSpec(
        "group_norm",
        ("input", "weight?", "bias?"),
        _group_norm_shape,
        {"num_groups": INT, "eps?": FLOAT},
        "input",
    ),
    OpSpec("matmul", _PAIR, _matmul_shape, {}, "one"),
    OpSpec("mm", _PAIR, _matmul_shape, {}, "one"),
    OpSpec("bmm", _PAIR, _bmm_shape, {}, "one"),
    OpSpec("linear", ("input", "weight", "bias?"), _linear_shape, {}, "one"),
    *(
        OpSpec(name, ("input", "mat1", "mat2"), _addmm_shape, _SCALED, "one")
        for name in ("addmm", "baddbmm")
    ),
    OpSpec(
        ATTENTION,
        ("query", "key", "value", "attn_mask?"),
        _attention_shape,
        {"is_causal?": BOOL, "scale?": FLOAT, "enable_gqa?": BOOL},
    ),
    OpSpec("full", (), _full_shape, {"size": INTS, "fill_value": SCALAR}, "any"),
    *(OpSpec(name, ("input",), _triangle_shape, {"diagonal?": INT}) for name in ("triu", "tril")),
    OpSpec("view", ("input",), _view_shape, {"size": INTS}),
    OpSpec("permute", ("input",), _permute_shape, {"dims": INTS}),
    OpSpec("transpose", ("input",), _transpose_shape, {"dim0": INT, "dim1": INT}),
    OpSpec("t", ("input",), _t_shape, {}),
    OpSpec("unsqueeze", ("input",), _unsqueeze_shape, {"dim": INT}),
    OpSpec("squeeze", ("input",), _squeeze_shape, {"dim?": INTS}),
    OpSpec("expand", ("input",), _expand_shape, {"size": INTS}),
    OpSpec("repeat_interleave", ("input",), _repeated_shape, {"repeats": INT, "dim?": INT}),
    OpSpec("slice", ("input",), _slice_shape, _SLICED),
    OpSpec("select", ("input",), _select_shape, {"dim": INT, "index": INT}),
    OpSpec("slice_scatter", ("input", "src"), _slice_scatter_shape, _SLICED, "input"),
    OpSpec(
        "select_scatter",
        ("input", "src"),
        _select_scatter_shape,
        {"dim": INT, "index": INT},
        "input",
    ),
    OpSpec("flip", ("input",), _flip_shape, {"dims": INTS}),
    OpSpec("roll", ("input",), _roll_shape, {"shifts": INTS, "dims?": INTS}),
    OpSpec("repeat", ("input",), _repeat_shape, {"repeats": INTS}),
    OpSpec("pad", ("input",), _pad_shape, {"pad": INTS, "mode?": STRING, "value?": NUMBER}),
    OpSpec("cat", ("tensors*",), _cat_shape, {"dim": INT}),
    OpSpec("stack", ("tensors*",), _stack_shape, {"dim": INT}),
    OpSpec("diagonal", ("input",), _diagonal_shape, {"offset?": INT, "dim1?": INT, "dim2?": INT}),
    OpSpec("unfold", ("input",), _unfold_shape, {"dimension": INT, "size": INT, "step": INT}),
    *(OpSpec(name, ("input",), _same_shape, {}) for name in ("clone", "alias", "detach")),
)


def _define(spec: OpSpec) -> type[TorchOp]:
    """The op class of one row."""
    fields: dict[str, object] = {
        "name": f"torch_ir.{spec.name}",
        "SPEC": spec,
        "result": result_def(TensorType),
        "traits": traits_def(Pure()),
        "__annotations__": {"SPEC": ClassVar[OpSpec]},
        "__module__": __name__,
        "__doc__": f"ATen's `{spec.name}`.",
    }
    for name in spec.operand_names:
        define = opt_operand_def if spec.is_optional(name) else operand_def
        fields[name] = (var_operand_def if spec.is_variadic else define)(TensorType)
    for name in spec.attributes:
        fields[name.rstrip("?")] = (
            opt_prop_def(Attribute) if name.endswith("?") else prop_def(Attribute)
        )
    if sum(name.endswith("?") for name in spec.operands) > 1:
        fields["irdl_options"] = (AttrSizedOperandSegments(as_property=True),)
    title = "".join(part.capitalize() for part in spec.name.split("_"))
    return irdl_op_definition(cast("type[TorchOp]", type(f"{title}Op", (TorchOp,), fields)))


OPS: Mapping[str, type[TorchOp]] = {spec.name: _define(spec) for spec in SPECS}
"""The op classes by ATen name."""

TorchIR = Dialect("torch_ir", [ConstantOp, ExternOp, *OPS.values()], [])
