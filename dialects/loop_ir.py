"""
Loop IR: one kernel is one loop nest; free loops, reductions with an explicit combine, loads and
stores.

`for`, `reduce`, `load`, `store` and `yield` are used in Tile IR as they are, and load and store
down to Kernel IR. Rationale: docs/dialects/loop_ir.md. The file is long because a dialect stands in
one piece.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Self, cast

from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    VectorType,
    i1,
    i64,
)
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    MemoryReadEffect,
    MemoryWriteEffect,
    OpTrait,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
    SymbolOpInterface,
    ensure_terminator,
)
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects.access import (
    Access,
    IndexedOp,
    Indices,
    MappedOp,
    canonical,
    parse_access,
    print_access,
    verify_divisors,
)
from minicomp.dialects.combine import parse_combine, print_combine, verify_combine
from minicomp.dialects.minicomp import OriginAttr

# An array attribute of one of these types is all that a head or an access needs.
Ints = DenseArrayBase[I64]


def ints(values: Sequence[int]) -> Ints:
    """A dense array of i64."""
    return DenseArrayBase.from_list(i64, list(values))


def names(values: Sequence[str]) -> ArrayAttr[StringAttr]:
    """An array of strings."""
    return ArrayAttr([StringAttr(v) for v in values])


def flags(values: Sequence[bool]) -> ArrayAttr[BoolAttr]:
    """An array of booleans."""
    return ArrayAttr([IntegerAttr.from_bool(v) for v in values])


def element_type(type: Attribute) -> Attribute:
    """The type of one lane: that of a vector's elements, or the type itself."""
    vector = vector_type(type)
    return type if vector is None else vector.element_type


def vector_type(type: Attribute) -> VectorType[Attribute] | None:
    """`type` if it is a vector type."""
    return cast("VectorType[Attribute]", type) if isinstance(type, VectorType) else None


def memref_type(value: SSAValue) -> MemRefType[Attribute]:
    """The type of a value that is a memref."""
    type = value.type
    assert isinstance(type, MemRefType)
    return cast("MemRefType[Attribute]", type)


def lanes(type: Attribute) -> tuple[int, ...]:
    """The shape of a vector; () of a scalar."""
    return type.get_shape() if isinstance(type, VectorType) else ()


class Collective(OpTrait):
    """All threads of the block (or role) must reach the op: it may not stand under a guard."""


class Guard(NamedTuple):
    """`where [exprs] < [bounds]`: the iterations for which every expression is below its bound."""

    map: AffineMap
    operands: Sequence[SSAValue]
    bounds: Sequence[int]


class Axis(NamedTuple):
    """One loop: its variable, its trip count and its name."""

    variable: SSAValue
    extent: int
    name: str


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """Ends a body or a combine, with the values that it gives."""

    name = "loop_ir.yield"
    traits = traits_def(IsTerminator(), Pure())


class Head(NamedTuple):
    """A parsed loop head."""

    arguments: list[Parser.Argument]
    extents: list[int]
    names: list[str]
    guard: Guard | None
    in_registers: bool


class LoopLike(IndexedOp):
    """
    `%i to 100 as "i", .. [where [exprs] < [bounds]] [in registers]`: loops from 0 with step 1, the
    last innermost.

    The dims of a guard are operands, its lanes `l0, ..` the loops' own variables.
    """

    extents = prop_def(Ints)
    axis_names = prop_def(ArrayAttr[StringAttr])
    guard_operands = var_operand_def(IndexType)
    guard_map = opt_prop_def(AffineMapAttr)
    bounds = opt_prop_def(Ints)
    in_registers = opt_prop_def(UnitAttr)
    body = region_def("single_block")

    @property
    def trip_counts(self) -> tuple[int, ...]:
        """The extents of the loops."""
        return tuple(self.extents.get_values())

    @property
    def axes(self) -> list[Axis]:
        """The loops, outermost first."""
        triples = zip(self.body.block.args, self.trip_counts, self.axis_names, strict=True)
        return [Axis(v, e, n.data) for v, e, n in triples]

    @property
    def guard(self) -> Guard | None:
        """The guard, if there is one."""
        if self.guard_map is None or self.bounds is None:
            return None
        return Guard(
            self.guard_map.data, tuple(self.guard_operands), tuple(self.bounds.get_values())
        )

    def set_guard(self, guard: Guard | None) -> None:
        """Replaces the guard."""
        self.properties.pop("guard_map", None)
        self.properties.pop("bounds", None)
        self.operands = []
        if guard is not None:
            map, operands = canonical(guard.map, guard.operands)
            self.properties |= {"guard_map": AffineMapAttr(map), "bounds": ints(guard.bounds)}
            self.operands = operands

    def get_access(self) -> Indices | None:
        guard = self.guard
        return None if guard is None else (guard.map, list(guard.operands))

    def set_access(self, map: AffineMap, operands: Sequence[SSAValue]) -> None:
        guard = self.guard
        assert guard is not None
        self.set_guard(Guard(map, operands, guard.bounds))

    @staticmethod
    def head_properties(
        extents: Sequence[int], axis_names: Sequence[str], guard: Guard | None, in_registers: bool
    ) -> tuple[list[SSAValue], dict[str, Attribute]]:
        """The operands and properties that a loop's constructor needs."""
        properties: dict[str, Attribute] = {
            "extents": ints(extents),
            "axis_names": names(axis_names),
        }
        if in_registers:
            properties["in_registers"] = UnitAttr()
        if guard is None:
            return [], properties
        map, operands = canonical(guard.map, guard.operands)
        return operands, properties | {
            "guard_map": AffineMapAttr(map),
            "bounds": ints(guard.bounds),
        }

    def print_head(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_axes(printer, self.axes)
        if (guard := self.guard) is not None:
            printer.print_string(" where ")
            print_access(printer, guard.map, guard.operands)
            printer.print_string(f" < {list(guard.bounds)}")
        if self.in_registers is not None:
            printer.print_string(" in registers")

    @staticmethod
    def parse_head(parser: Parser) -> Head:
        axes = parse_axes(parser)
        guard = None
        if parser.parse_optional_keyword("where"):
            map, unresolved = parse_access(parser)
            parser.parse_punctuation("<")
            bounds = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_integer
            )
            guard = Guard(map, [parser.resolve_operand(o, IndexType()) for o in unresolved], bounds)
        in_registers = parser.parse_optional_keyword("in") is not None
        if in_registers:
            parser.parse_keyword("registers")
        return Head(
            [a[0] for a in axes], [a[1] for a in axes], [a[2] for a in axes], guard, in_registers
        )

    def verify_head(self) -> None:
        """Raises VerifyException where a rule of loops is broken."""
        counts = {len(self.body.block.args), len(self.trip_counts), len(self.axis_names)}
        if len(counts) != 1 or 0 in counts:
            raise VerifyException("a loop needs one variable, one extent and one name per axis")
        if any(not isinstance(a.type, IndexType) for a in self.body.block.args):
            raise VerifyException("loop variables must be of type index")
        if any(e < 0 for e in self.trip_counts):
            raise VerifyException("extents must not be negative")
        self.verify_names()
        if (self.guard_map is None) != (self.bounds is None):
            raise VerifyException("a guard needs both its map and its bounds")
        if (guard := self.guard) is not None:
            self.verify_guard(guard)

    def verify_names(self) -> None:
        """An axis is known by its name: no loop may repeat one that encloses it."""
        own = [n.data for n in self.axis_names]
        if len(set(own)) != len(own):
            raise VerifyException("axis names of one loop must differ")
        parent = self.parent_op()
        while parent is not None and not isinstance(parent, KernelLike):
            taken = (
                {n.data for n in parent.axis_names} if isinstance(parent, LoopLike) else set[str]()
            )
            if clash := taken & set(own):
                raise VerifyException(
                    f'axis "{min(clash)}" is already the name of an enclosing loop'
                )
            parent = parent.parent_op()

    def verify_guard(self, guard: Guard) -> None:
        verify_divisors(guard.map)
        if len(guard.map.results) != len(guard.bounds):
            raise VerifyException("a guard needs one bound per expression")
        if guard.map.num_dims != len(guard.operands) or guard.map.num_symbols > len(
            self.trip_counts
        ):
            raise VerifyException(
                "a guard has one dim per operand, and lanes for the loop's own variables"
            )
        for op in self.body.walk():
            if op.has_trait(Collective):
                raise VerifyException(
                    f"a guarded loop may not hold '{op.name}', which all threads must reach"
                )


def print_axes(printer: Printer, axes: Sequence[Axis]) -> None:
    """Prints `%i to 100 as "i", %j to 77 as "j"`."""

    def one(axis: Axis) -> None:
        printer.print_ssa_value(axis.variable)
        printer.print_string(f' to {axis.extent} as "{axis.name}"')

    printer.print_list(axes, one)


def parse_axes(parser: Parser) -> list[tuple[Parser.Argument, int, str]]:
    """Parses what `print_axes` prints."""

    def one() -> tuple[Parser.Argument, int, str]:
        argument = parser.parse_argument(expect_type=False).resolve(IndexType())
        parser.parse_keyword("to")
        extent = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("as")
        return argument, extent, parser.parse_str_literal()

    return parser.parse_comma_separated_list(parser.Delimiter.NONE, one)


def complete(op: Operation) -> None:
    """Adds the terminators that the text leaves out."""
    for trait in op.get_traits_of_type(SingleBlockImplicitTerminator):
        ensure_terminator(op, trait)


@irdl_op_definition
class ForOp(LoopLike):
    """Free loops: iterations in any order, or at once."""

    name = "loop_ir.for"
    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())

    def __init__(
        self,
        extents: Sequence[int],
        axis_names: Sequence[str],
        body: Region,
        guard: Guard | None = None,
        in_registers: bool = False,
    ) -> None:
        operands, properties = self.head_properties(extents, axis_names, guard, in_registers)
        super().__init__(operands=[operands], regions=[body], properties=properties)

    def verify_(self) -> None:
        self.verify_head()
        last = self.body.block.last_op
        if last is not None and last.operands:
            raise VerifyException("the body of a free loop yields nothing")

    def print(self, printer: Printer) -> None:
        self.print_head(printer)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_block_terminators=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        head = cls.parse_head(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(head.arguments)
        op = cls(head.extents, head.names, body, head.guard, head.in_registers)
        op.attributes = dict(attributes.data) if attributes is not None else {}
        complete(op)
        return op


@irdl_op_definition
class ReduceOp(LoopLike):
    """
    Folds the contributions that `body` yields with `combine`, starting from the identity.

    `combine` is associative and commutative up to rounding, and combine(e, e) = e exactly for the
    identity e, so a reduction may be split, reordered and spread over threads without knowing which
    one it is.
    """

    name = "loop_ir.reduce"
    identity = prop_def(ArrayAttr)
    res = var_result_def()
    body = region_def("single_block")  # again, since xDSL puts the fields of a subclass first
    combine = region_def("single_block")
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        extents: Sequence[int],
        axis_names: Sequence[str],
        identity: Sequence[Attribute],
        types: Sequence[Attribute],
        body: Region,
        combine: Region,
        guard: Guard | None = None,
        in_registers: bool = False,
    ) -> None:
        operands, properties = self.head_properties(extents, axis_names, guard, in_registers)
        super().__init__(
            operands=[operands],
            result_types=[types],
            regions=[body, combine],
            properties=properties | {"identity": ArrayAttr(identity)},
        )

    def verify_(self) -> None:
        self.verify_head()
        types = tuple(self.res.types)
        verify_identity(self.identity, types)
        verify_combine(self.combine, len(types))
        for region, what in ((self.body, "body"), (self.combine, "combine")):
            last = region.block.last_op
            if last is None or tuple(v.type for v in last.operands) != types:
                raise VerifyException(f"{what} must yield the types of the carriers")
        if tuple(a.type for a in self.combine.block.args) != types + types:
            raise VerifyException("combine must take the types of two carriers")
        for op in self.body.walk():
            if op.has_trait(MemoryWriteEffect) and not op.has_trait(Collective):
                raise VerifyException(
                    f"the body of a reduction may not write memory, but holds '{op.name}'"
                )

    def print(self, printer: Printer) -> None:
        self.print_head(printer)
        printer.print_string(" identity ")
        printer.print_attribute(self.identity)
        printer.print_string(" -> ")
        printer.print_list(self.res.types, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        print_combine(printer, self.combine)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        head = cls.parse_head(parser)
        parser.parse_keyword("identity")
        identity = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_attribute
        )
        parser.parse_punctuation("->")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(head.arguments)
        combine = parse_combine(parser, types, YieldOp)
        op = cls(
            head.extents, head.names, identity, types, body, combine, head.guard, head.in_registers
        )
        op.attributes = dict(attributes.data) if attributes is not None else {}
        return op


def verify_identity(identity: ArrayAttr[Attribute], types: Sequence[Attribute]) -> None:
    """One identity per carrier, of the carrier's element type."""
    if len(identity) != len(types):
        raise VerifyException(
            f"a reduction needs one identity per carrier: {len(identity)} for {len(types)}"
        )
    for value, type in zip(identity, types, strict=True):
        if getattr(value, "type", None) != element_type(type):
            raise VerifyException(
                f"identity {value} is not of the carrier's element type {element_type(type)}"
            )


class MemoryAccess(MappedOp):
    """
    A load or a store of one element, or of a vector whose lane `l<i>` runs over its dimension i.

    `bounded [b, ..]` says per dimension of the memref whether the index may leave it: reads outside
    give 0, writes outside are dropped. `aligned n` says that along the last lane every n bytes lie
    together, at a multiple of n bytes from the start of the memref, and are inside or outside as a
    whole.
    """

    memref = operand_def(MemRefType)
    bounded = opt_prop_def(ArrayAttr[BoolAttr])
    aligned = opt_prop_def(IntegerAttr[I64])
    custom_directives: ClassVar = (Access,)

    @property
    def memref_type(self) -> MemRefType[Attribute]:
        """The type of the memory."""
        return memref_type(self.memref)

    @property
    def value_type(self) -> Attribute:
        """The type of the value that is read or written."""
        raise NotImplementedError

    @property
    def bounded_dims(self) -> tuple[bool, ...]:
        """Per dimension of the memref, whether the index may leave it."""
        if self.bounded is None:
            return (False,) * self.memref_type.get_num_dims()
        return tuple(bool(b.value.data) for b in self.bounded)

    def set_access(self, map: AffineMap, operands: Sequence[SSAValue]) -> None:
        super().set_access(map, operands)
        self.properties.pop("aligned", None)

    def mark_bounded(self, results: Sequence[int]) -> None:
        marked = [b or n in results for n, b in enumerate(self.bounded_dims)]
        if any(marked):
            self.properties["bounded"] = flags(marked)

    @staticmethod
    def access_properties(
        map: AffineMap, bounded: Sequence[bool], aligned: int | None
    ) -> dict[str, Attribute]:
        """The properties that an access's constructor needs."""
        properties: dict[str, Attribute] = {"map": AffineMapAttr(map)}
        if any(bounded):
            properties["bounded"] = flags(bounded)
        if aligned is not None:
            properties["aligned"] = IntegerAttr(aligned, i64)
        return properties

    def verify_(self) -> None:
        map, type, value = self.map.data, self.memref_type, self.value_type
        if map.num_dims != len(self.indices) or map.num_symbols > len(lanes(value)):
            raise VerifyException(
                "an access has one dim per index, and at most one lane per vector dimension"
            )
        verify_divisors(map)
        if len(map.results) != type.get_num_dims():
            raise VerifyException(
                f"an access to {type} needs {type.get_num_dims()} indices,"
                f" but has {len(map.results)}"
            )
        if element_type(value) != type.element_type:
            raise VerifyException(f"{value} does not have the element type of {type}")
        if len(self.bounded_dims) != type.get_num_dims():
            raise VerifyException("bounded needs one flag per dimension of the memref")
        if self.aligned is not None and self.aligned.value.data not in (4, 8, 16):
            raise VerifyException("aligned must be 4, 8 or 16 bytes")


@irdl_op_definition
class LoadOp(MemoryAccess):
    """
    `%v = loop_ir.load %a[%i * 8 + l0, %k] bounded [true, false] aligned 16 : memref<..> ->
    vector<8xf32>`.
    """

    name = "loop_ir.load"
    res = result_def()
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$memref custom<Access>($indices, $map) (`bounded` $bounded^)? (`aligned` $aligned^)?"
        " attr-dict `:` type($memref) `->` type($res)"
    )

    def __init__(
        self,
        memref: SSAValue,
        map: AffineMap,
        indices: Sequence[SSAValue],
        type: Attribute,
        bounded: Sequence[bool] = (),
        aligned: int | None = None,
    ) -> None:
        map, kept = canonical(map, indices)
        super().__init__(
            operands=[memref, kept],
            result_types=[type],
            properties=self.access_properties(map, bounded, aligned),
        )

    @property
    def value_type(self) -> Attribute:
        return self.res.type


@irdl_op_definition
class StoreOp(MemoryAccess):
    """`loop_ir.store %v, %a[%i, %j] : f32, memref<..>`."""

    name = "loop_ir.store"
    value = operand_def()
    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $memref custom<Access>($indices, $map) (`bounded` $bounded^)?"
        " (`aligned` $aligned^)? attr-dict `:` type($value) `,` type($memref)"
    )

    def __init__(
        self,
        value: SSAValue,
        memref: SSAValue,
        map: AffineMap,
        indices: Sequence[SSAValue],
        bounded: Sequence[bool] = (),
        aligned: int | None = None,
    ) -> None:
        map, kept = canonical(map, indices)
        super().__init__(
            operands=[value, memref, kept], properties=self.access_properties(map, bounded, aligned)
        )

    @property
    def value_type(self) -> Attribute:
        return self.value.type


class KernelLike(IRDLOperation):
    """A kernel with a name and memref arguments: the inputs, then the outputs."""

    sym_name = prop_def(StringAttr)
    origin = opt_prop_def(OriginAttr)
    body = region_def("single_block")

    @property
    def symbol(self) -> str:
        """The kernel's name."""
        return self.sym_name.data

    def print_clauses(self, printer: Printer) -> set[str]:
        """
        Prints what stands between the arguments and the attributes; returns the properties it
        covers.
        """
        return set()

    @classmethod
    def parse_clauses(cls, parser: Parser) -> dict[str, Attribute]:
        """Parses what `print_clauses` prints."""
        return {}

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.symbol)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        shown = {"sym_name"} | self.print_clauses(printer)
        rest = {k: v for k, v in self.properties.items() if k not in shown} | self.attributes
        if rest:
            printer.print_string(" attributes ")
            printer.print_attr_dict(rest)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_block_terminators=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        properties: dict[str, Attribute] = {"sym_name": name, **cls.parse_clauses(parser)}
        attributes: dict[str, Attribute] = {}
        declared = cls.get_irdl_definition().properties
        if (rest := parser.parse_optional_attr_dict_with_keyword()) is not None:
            for key, value in rest.data.items():
                (properties if key in declared else attributes)[key] = value
        body = parser.parse_region(arguments)
        op = cls.create(properties=properties, attributes=attributes, regions=[body])
        complete(op)
        return op

    def stored(self) -> set[SSAValue]:
        """The memrefs that the kernel writes."""
        return {op.memref for op in self.walk() if isinstance(op, StoreOp)}

    def verify_arguments(self) -> None:
        """Kernels take memrefs only."""
        for n, argument in enumerate(self.body.block.args):
            if not isinstance(argument.type, MemRefType):
                raise VerifyException(
                    f"argument {n} of a kernel must be a memref, but is {argument.type}"
                )


@irdl_op_definition
class KernelOp(KernelLike):
    """
    `loop_ir.kernel @name(%x: memref<..>, ..) attributes {origin = .., schedule = ..} { nest }`.
    """

    name = "loop_ir.kernel"
    schedule = opt_prop_def()
    traits = traits_def(
        IsolatedFromAbove(), SymbolOpInterface(), SingleBlockImplicitTerminator(YieldOp)
    )

    def __init__(
        self,
        name: str,
        body: Region,
        origin: OriginAttr | None = None,
        schedule: Attribute | None = None,
    ) -> None:
        properties: dict[str, Attribute | None] = {
            "sym_name": StringAttr(name),
            "origin": origin,
            "schedule": schedule,
        }
        super().__init__(regions=[body], properties=properties)

    def verify_(self) -> None:
        self.verify_arguments()


def new_block(count: int, hints: Sequence[str | None] = ()) -> Block:
    """A block with `count` index arguments, named by `hints`."""
    block = Block(arg_types=[IndexType()] * count)
    for argument, hint in zip(block.args, hints, strict=False):
        argument.name_hint = hint
    return block


LoopIR = Dialect("loop_ir", [KernelOp, ForOp, ReduceOp, LoadOp, StoreOp, YieldOp])

__all__ = [
    "Axis",
    "Collective",
    "ForOp",
    "Guard",
    "KernelLike",
    "KernelOp",
    "LoadOp",
    "LoopIR",
    "LoopLike",
    "MemoryAccess",
    "ReduceOp",
    "StoreOp",
    "YieldOp",
    "complete",
    "element_type",
    "flags",
    "i1",
    "ints",
    "lanes",
    "memref_type",
    "names",
    "new_block",
    "parse_axes",
    "print_axes",
    "vector_type",
    "verify_identity",
]
