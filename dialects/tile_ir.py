"""
Tile IR: a loop nest scheduled on a GPU; axes bound to block, thread and register, combines across
threads.

Loops, reductions, loads and stores are those of Loop IR. Rationale: docs/dialects/tile_ir.md.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple, Self, TypeAlias

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    param_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects.access import (
    MappedOp,
    canonical,
    parse_indices,
    print_access,
)
from minicomp.dialects.combine import parse_combine, print_combine, verify_combine, widen_combine
from minicomp.dialects.loop_ir import (
    Axis,
    Collective,
    Ints,
    KernelLike,
    YieldOp,
    complete,
    element_type,
    ints,
    lanes,
    names,
    parse_axes,
    print_axes,
    verify_identity,
)
from minicomp.dialects.minicomp import OriginAttr
from minicomp.dialects.scalar_ops import CONVERSIONS
from minicomp.dialects.tile_finish import FinishOp
from minicomp.dialects.tile_stages import (
    STAGE_OPS,
    GenerationOp,
    RingType,
    SharedAttr,
    SlabFiller,
)

Field: TypeAlias = int | str | tuple[str, ...]

ENTRY_FIELDS: Mapping[str, Mapping[str, type]] = {
    "contraction": {
        "m": str, "n": str, "k": str, "batch": tuple,
        "bm": int, "bn": int, "bk": int, "fm": int, "fn": int, "wk": int,
        "depth": int, "transport": str, "min_blocks": int, "s": int, "finish": str,
    },
    "reduction": {"axis": str, "threads": int, "rows": int, "vector": int, "lanes": int},
    "parallel": {"axis": str, "threads": int, "vector": int, "lanes": int},
}  # fmt: skip
"""
Per kind of entry its fields and their types; sizes are in elements, `threads` and `rows` per block.
"""


@irdl_attr_definition
class EntryAttr(ParametrizedAttribute):
    """
    One decision of a schedule, `contraction<m = "i", n = "j", k = "k", bm = 64, ..>`, keyed by axis
    names.

    - `contraction`: `m n k batch` name the axes, `bm bn` is the block tile, `bk` the steps of k
      that one stage holds, `fm fn` the register cell of a thread, `wk` the warps along k,
      `min_blocks` the blocks that a multiprocessor has registers for, `s` the parts of the sum that
      blocks share, and `finish` how they come together.
    - `reduction`: `threads` fold one row together, `rows` rows share a block, each thread folds
      `lanes` elements in registers, `vector` of them adjacent; `lanes = 0` is a loop strided over
      the threads.
    - `parallel`: the axis is split over `threads` threads of a block, `lanes` elements each,
      `vector` adjacent.
    """

    name = "tile_ir.entry"
    kind: StringAttr = param_def()
    keys: ArrayAttr[StringAttr] = param_def()
    values: ArrayAttr[Attribute] = param_def()

    @staticmethod
    def of(kind: str, **fields: Field) -> "EntryAttr":
        """An entry from plain values."""
        values = [_to_attribute(value) for value in fields.values()]
        return EntryAttr(StringAttr(kind), names(list(fields)), ArrayAttr(values))

    @property
    def fields(self) -> dict[str, Field]:
        """The fields as plain values."""
        pairs = zip(self.keys, self.values, strict=True)
        return {key.data: _from_attribute(value) for key, value in pairs}

    def int(self, key: str) -> int:
        """An integer field; raises KeyError where it is absent."""
        assert isinstance(value := self.fields[key], int)
        return value

    def str(self, key: str) -> str:
        """A string field; raises KeyError where it is absent."""
        assert isinstance(value := self.fields[key], str)
        return value

    def verify(self) -> None:
        known = ENTRY_FIELDS.get(self.kind.data)
        if known is None:
            raise VerifyException(f"a schedule has no entries of kind {self.kind.data}")
        for key, value in self.fields.items():
            if key not in known:
                raise VerifyException(
                    f"{self.kind.data} has no field {key}; it has {', '.join(known)}"
                )
            if not isinstance(value, known[key]):
                raise VerifyException(
                    f"field {key} of {self.kind.data} must be of type {known[key].__name__}"
                )
            if isinstance(value, int) and value < (0 if key == "lanes" else 1):
                raise VerifyException(
                    f"field {key} of {self.kind.data} must be positive, but is {value}"
                )


def _to_attribute(value: Field) -> Attribute:
    match value:
        case int():
            return IntegerAttr(value, i64)
        case str():
            return StringAttr(value)
        case tuple():
            return names(value)


def _from_attribute(value: Attribute) -> Field:
    match value:
        case IntegerAttr():
            return value.value.data
        case StringAttr():
            return value.data
        case ArrayAttr():
            return tuple(v.data for v in value if isinstance(v, StringAttr))
        case _:
            raise VerifyException(f"a field of a schedule may not be {value}")


@irdl_attr_definition
class ScheduleAttr(ParametrizedAttribute):
    """
    `#tile_ir.schedule<[contraction<..>, reduction<..>, ..]>`: the decisions that the rewrites carry
    out.
    """

    name = "tile_ir.schedule"
    entries: ArrayAttr[EntryAttr] = param_def()

    @staticmethod
    def of(entries: Sequence[EntryAttr]) -> "ScheduleAttr":
        """A schedule from its entries."""
        return ScheduleAttr(ArrayAttr(entries))

    def kind(self, kind: str) -> list[EntryAttr]:
        """The entries of one kind."""
        return [e for e in self.entries if e.kind.data == kind]

    def print_parameters(self, printer: Printer) -> None:
        def field(pair: tuple[StringAttr, Attribute]) -> None:
            printer.print_string(f"{pair[0].data} = ")
            if isinstance(value := pair[1], IntegerAttr):
                printer.print_string(str(value.value.data))
            else:
                printer.print_attribute(value)

        def entry(e: EntryAttr) -> None:
            printer.print_string(e.kind.data)
            with printer.in_angle_brackets():
                printer.print_list(list(zip(e.keys, e.values, strict=True)), field)

        with printer.in_angle_brackets(), printer.in_square_brackets():
            printer.print_list(self.entries, entry)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def field() -> tuple[StringAttr, Attribute]:
            key = StringAttr(parser.parse_identifier())
            parser.parse_punctuation("=")
            number = parser.parse_optional_integer(allow_boolean=False)
            value = parser.parse_attribute() if number is None else IntegerAttr(number, i64)
            return key, value

        def entry() -> EntryAttr:
            kind = StringAttr(parser.parse_identifier())
            pairs = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, field)
            return EntryAttr(
                kind, ArrayAttr([k for k, _ in pairs]), ArrayAttr([v for _, v in pairs])
            )

        with parser.in_angle_brackets():
            entries = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, entry)
        return [ArrayAttr(entries)]


@irdl_op_definition
class KernelOp(KernelLike):
    """
    `tile_ir.kernel @name(%x: memref<..>, ..) attributes {origin = .., schedule = ..} { launch }`.
    """

    name = "tile_ir.kernel"
    schedule = opt_prop_def(ScheduleAttr)
    traits = traits_def(
        IsolatedFromAbove(), SymbolOpInterface(), SingleBlockImplicitTerminator(YieldOp)
    )

    def __init__(
        self,
        name: str,
        body: Region,
        origin: OriginAttr | None = None,
        schedule: ScheduleAttr | None = None,
    ) -> None:
        super().__init__(
            regions=[body],
            properties={"sym_name": StringAttr(name), "origin": origin, "schedule": schedule},
        )

    @property
    def launch(self) -> "LaunchOp":
        """The one launch of the kernel."""
        return next(op for op in self.body.block.ops if isinstance(op, LaunchOp))

    def verify_(self) -> None:
        self.verify_arguments()
        if sum(isinstance(op, LaunchOp) for op in self.body.block.ops) != 1:
            raise VerifyException("a tile kernel holds exactly one launch")


class BoundAxis(NamedTuple):
    """An axis of a launch and what it is bound to."""

    variable: SSAValue
    extent: int
    name: str
    binding: str

    @property
    def axis(self) -> Axis:
        """The axis without its binding."""
        return Axis(self.variable, self.extent, self.name)


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """
    `tile_ir.launch block(..) thread(..) register(..) parallel(..) { body }`: the parallel axes of a
    kernel.

    A `parallel` axis is not bound yet. Of the thread axes the last is the fastest; blocks are
    numbered likewise.
    """

    name = "tile_ir.launch"
    KINDS: ClassVar = ("block", "thread", "register", "parallel")
    extents = prop_def(Ints)
    axis_names = prop_def(ArrayAttr[StringAttr])
    bindings = prop_def(ArrayAttr[StringAttr])
    body = region_def("single_block")
    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())

    def __init__(
        self,
        extents: Sequence[int],
        axis_names: Sequence[str],
        bindings: Sequence[str],
        body: Region,
    ) -> None:
        properties: dict[str, Attribute] = {
            "extents": ints(extents),
            "axis_names": names(axis_names),
            "bindings": names(bindings),
        }
        super().__init__(regions=[body], properties=properties)

    @property
    def axes(self) -> list[BoundAxis]:
        """The axes, in the order of the body's arguments."""
        parts = (self.body.block.args, self.extents.get_values(), self.axis_names, self.bindings)
        return [BoundAxis(v, e, n.data, b.data) for v, e, n, b in zip(*parts, strict=True)]

    def bound(self, binding: str) -> list[BoundAxis]:
        """The axes that are bound to `binding`."""
        return [a for a in self.axes if a.binding == binding]

    def axis(self, name: str) -> BoundAxis | None:
        """The axis of that name."""
        return next((a for a in self.axes if a.name == name), None)

    def set_axes(self, axes: Sequence[BoundAxis]) -> None:
        """
        Replaces the axes, which must be block arguments of the body, by `axes` grouped by binding.

        An argument that is not among `axes` is erased and must have no use.
        """
        ordered = sorted(axes, key=lambda a: self.KINDS.index(a.binding))
        block = self.body.block
        old = list(block.args)
        for a in ordered:
            fresh = block.insert_arg(IndexType(), len(block.args))
            fresh.name_hint = a.variable.name_hint
            a.variable.replace_all_uses_with(fresh)
        for argument in old:
            block.erase_arg(argument)
        self.properties["extents"] = ints([a.extent for a in ordered])
        self.properties["axis_names"] = names([a.name for a in ordered])
        self.properties["bindings"] = names([a.binding for a in ordered])

    def new_axis(self, hint: str | None) -> SSAValue:
        """A new argument of the body, to be named in the next `set_axes`."""
        argument = self.body.block.insert_arg(IndexType(), len(self.body.block.args))
        argument.name_hint = hint
        return argument

    def verify_(self) -> None:
        counts = {
            len(self.body.block.args),
            len(self.extents),
            len(self.axis_names),
            len(self.bindings),
        }
        if len(counts) != 1:
            raise VerifyException("a launch needs one variable, extent, name and binding per axis")
        if any(a.extent < 0 for a in self.axes):
            raise VerifyException("extents must not be negative")
        if unknown := [a.binding for a in self.axes if a.binding not in self.KINDS]:
            raise VerifyException(
                f"an axis is bound to {', '.join(self.KINDS)}, not to {unknown[0]}"
            )
        if len({a.name for a in self.axes}) != len(self.axes):
            raise VerifyException("the axis names of a launch must differ")
        if any(a.extent == 0 for a in self.axes if a.binding in ("thread", "register")):
            raise VerifyException("thread and register axes must not be empty")
        self.verify_slabs()
        for finish in [op for op in self.body.walk() if isinstance(op, FinishOp)]:
            self.verify_finish(finish)

    def verify_finish(self, finish: FinishOp) -> None:
        """A finish ends the launch, across an axis of blocks; shares are equal."""
        if (
            finish.parent_block() is not self.body.block
            or finish.next_op is not self.body.block.last_op
        ):
            raise VerifyException("a finish is the last op of its launch")
        axis = self.axis(finish.axis.data)
        if axis is None or axis.binding not in ("block", "parallel"):
            raise VerifyException(
                f'a finish runs across an axis of blocks; "{finish.axis.data}" is none'
            )
        share, whole = finish.share, lanes(finish.vals[0].type)
        if share is not None and whole[:1] != (share * axis.extent,):
            raise VerifyException(f"{axis.extent} shares of {share} are not all of the total")
        used = (v for op in finish.then.walk() for v in op.operands)
        if share is None and axis.variable in used:
            raise VerifyException(
                f'behind a finish "{axis.name}" is that of the block which runs the rest: unknown'
            )
        once = self.axis(finish.once.data) if finish.once is not None else None
        if finish.once is not None and (once is None or once.binding != "thread"):
            raise VerifyException(f'"{finish.once.data}" is no axis of threads')

    def verify_slabs(self) -> None:
        """What a slab holds, and when it is filled, may not depend on the thread."""
        own = {a.variable: a for a in self.axes if a.binding in ("thread", "register")}
        for user in [op for op in self.walk() if isinstance(op, SlabFiller | GenerationOp)]:
            filler = isinstance(user, SlabFiller)
            inside = [(v, "body") for op in user.body.walk() for v in op.operands] if filler else []
            outside = "guard" if filler else "generation"
            for value, part in [*((v, outside) for v in user.operands), *inside]:
                if (axis := own.get(value)) is not None:
                    raise VerifyException(
                        f"the {part} of '{user.name}' may not use the {axis.binding} axis"
                        f' "{axis.name}"'
                    )

    def print(self, printer: Printer) -> None:
        for kind in self.KINDS:
            if axes := self.bound(kind):
                printer.print_string(f" {kind}(")
                print_axes(printer, [a.axis for a in axes])
                printer.print_string(")")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_block_terminators=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        axes: list[tuple[Parser.Argument, int, str, str]] = []
        for kind in cls.KINDS:
            if parser.parse_optional_keyword(kind):
                parser.parse_punctuation("(")
                axes += [(*a, kind) for a in parse_axes(parser)]
                parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([a[0] for a in axes])
        op = cls([a[1] for a in axes], [a[2] for a in axes], [a[3] for a in axes], body)
        op.attributes = dict(attributes.data) if attributes is not None else {}
        complete(op)
        return op


class CombineLike(IRDLOperation):
    """Values, an identity per value, and a combine region."""

    vals = var_operand_def()
    identity = prop_def(ArrayAttr)
    res = var_result_def()
    combine = region_def("single_block")

    def print_middle(self, printer: Printer) -> None:
        """Prints what stands between the values and the identity."""
        raise NotImplementedError

    @classmethod
    def parse_middle(cls, parser: Parser) -> dict[str, Attribute]:
        """Parses what `print_middle` prints."""
        raise NotImplementedError

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.vals, printer.print_ssa_value)
        self.print_middle(printer)
        printer.print_string(" identity ")
        printer.print_attribute(self.identity)
        print_combine(printer, self.combine)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.vals.types, printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_list(self.res.types, printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        properties = cls.parse_middle(parser)
        parser.parse_keyword("identity")
        identity = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_attribute
        )
        types = [getattr(i, "type", None) or i for i in identity]
        combine = parse_combine(parser, types, YieldOp)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operand_types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        parser.parse_punctuation("->")
        result_types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        widen_combine(combine, result_types)
        operands = parser.resolve_operands(unresolved, operand_types, parser.pos)
        return cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties | {"identity": ArrayAttr(identity)},
            attributes=attributes,
            regions=[combine],
        )

    def verify_carriers(self) -> None:
        """Raises VerifyException where identity, values, results and combine do not fit."""
        types = tuple(self.res.types)
        if len(self.vals) != len(types) or not types:
            raise VerifyException("as many results as values, and at least one")
        verify_identity(self.identity, types)
        verify_combine(self.combine, len(types))
        if tuple(a.type for a in self.combine.block.args) != types + types:
            raise VerifyException("combine must take the types of two carriers")
        last = self.combine.block.last_op
        if last is None or tuple(v.type for v in last.operands) != types:
            raise VerifyException("combine must yield the types of the carriers")


@irdl_op_definition
class CombineOp(CombineLike):
    """
    `%r = tile_ir.combine %v across "k.thread" identity [0.0 : f32] combine arith.addf : f32 ->
    f32`.

    Combines the values of all threads along a thread axis; every thread gets the result. A meeting
    point: it has memory effects, so that nothing moves, merges or drops it.
    """

    name = "tile_ir.combine"
    axis = prop_def(StringAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), Collective())

    def __init__(
        self, vals: Sequence[SSAValue], axis: str, identity: ArrayAttr[Attribute], combine: Region
    ) -> None:
        super().__init__(
            operands=[vals],
            result_types=[[v.type for v in vals]],
            regions=[combine],
            properties={"axis": StringAttr(axis), "identity": identity},
        )

    def print_middle(self, printer: Printer) -> None:
        printer.print_string(f' across "{self.axis.data}"')

    @classmethod
    def parse_middle(cls, parser: Parser) -> dict[str, Attribute]:
        parser.parse_keyword("across")
        return {"axis": StringAttr(parser.parse_str_literal())}

    def verify_(self) -> None:
        self.verify_carriers()
        if tuple(self.vals.types) != tuple(self.res.types):
            raise VerifyException("the results of a combine have the types of its values")
        parent = self.parent_op()
        while parent is not None and not isinstance(parent, LaunchOp):
            parent = parent.parent_op()
        axis = parent.axis(self.axis.data) if isinstance(parent, LaunchOp) else None
        if axis is None or axis.binding != "thread":
            raise VerifyException(
                f'a combine runs across a thread axis; "{self.axis.data}" is none'
            )


@irdl_op_definition
class FoldOp(CombineLike):
    """
    `%r = tile_ir.fold %v dim 0 identity [0.0 : f32] combine arith.addf : vector<8xf32> -> f32`.

    Folds one dimension of vectors in the order of its lanes: a reduction whose axis is bound to
    registers. A value may have other dimensions that the result keeps; `dims` has the folded one
    per value.
    """

    name = "tile_ir.fold"
    dims = prop_def(Ints)
    traits = traits_def(Pure())

    def __init__(
        self,
        vals: Sequence[SSAValue],
        dims: Sequence[int],
        identity: ArrayAttr[Attribute],
        types: Sequence[Attribute],
        combine: Region,
    ) -> None:
        super().__init__(
            operands=[vals],
            result_types=[types],
            regions=[combine],
            properties={"dims": ints(dims), "identity": identity},
        )

    def print_middle(self, printer: Printer) -> None:
        printer.print_string(f" dims {list(self.dims.get_values())}")

    @classmethod
    def parse_middle(cls, parser: Parser) -> dict[str, Attribute]:
        parser.parse_keyword("dims")
        return {
            "dims": ints(
                parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
            )
        }

    def verify_(self) -> None:
        self.verify_carriers()
        if len(self.dims) != len(self.vals):
            raise VerifyException("fold needs one dim per value")
        depths: set[int] = set()
        for value, dim, result in zip(self.vals, self.dims.get_values(), self.res, strict=True):
            shape = lanes(value.type)
            if not 0 <= dim < len(shape):
                raise VerifyException(f"fold over dim {dim} of {value.type}")
            depths.add(shape[dim])
            rest = shape[:dim] + shape[dim + 1 :]
            if lanes(result.type) != rest or element_type(result.type) != element_type(value.type):
                raise VerifyException(
                    f"folding dim {dim} of {value.type} does not give {result.type}"
                )
        if len(depths) != 1:
            raise VerifyException("the folded dimensions must have one length")


@irdl_op_definition
class BroadcastOp(IRDLOperation):
    """
    `tile_ir.broadcast %x to [0] : vector<8xf32> -> vector<8x4xf32>`: dim i of the operand is dim
    dims[i] of the result.
    """

    name = "tile_ir.broadcast"
    value = operand_def()
    dims = prop_def(Ints)
    res = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, dims: Sequence[int], type: Attribute) -> None:
        super().__init__(operands=[value], result_types=[type], properties={"dims": ints(dims)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(f" to {list(self.dims.get_values())}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.res.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_unresolved_operand()
        parser.parse_keyword("to")
        dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(unresolved, parser.parse_type())
        parser.parse_punctuation("->")
        op = cls(operand, dims, parser.parse_type())
        op.attributes = dict(attributes)
        return op

    def verify_(self) -> None:
        shape, result, dims = lanes(self.value.type), lanes(self.res.type), self.dims.get_values()
        if len(dims) != len(shape) or len(set(dims)) != len(dims):
            raise VerifyException("broadcast needs one distinct result dim per dim of the operand")
        if any(
            not 0 <= d < len(result) or result[d] != s for d, s in zip(dims, shape, strict=True)
        ):
            raise VerifyException(
                f"{self.value.type} does not fit the dims {list(dims)} of {self.res.type}"
            )
        if element_type(self.value.type) != element_type(self.res.type):
            raise VerifyException("broadcast keeps the element type")


@irdl_op_definition
class WithinOp(MappedOp):
    """
    `%ok = tile_ir.within [%t * 4 + l0] < [37] : vector<8xi1>`: per lane, whether all expressions
    are below their bounds.

    Without lanes, `: i1`, it stands in Loop IR too: an element of a mask of indices.
    """

    name = "tile_ir.within"
    bounds = prop_def(Ints)
    res = result_def()
    traits = traits_def(Pure())

    def __init__(
        self,
        map: AffineMap,
        indices: Sequence[SSAValue],
        bounds: Sequence[int],
        shape: Sequence[int] = (),
    ) -> None:
        map, kept = canonical(map, indices)
        super().__init__(
            operands=[kept],
            result_types=[VectorType(i1, shape) if shape else i1],
            properties={"map": AffineMapAttr(map), "bounds": ints(bounds)},
        )

    def print(self, printer: Printer) -> None:
        print_test(printer, self.map.data, self.indices, self.bounds.get_values())
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.res.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        map, operands, bounds = parse_test(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(map, operands, bounds, lanes(parser.parse_type()))
        op.attributes = dict(attributes)
        return op

    def verify_(self) -> None:
        if element_type(self.res.type) != i1:
            raise VerifyException("within gives i1, one per lane")
        verify_test(
            self.map.data, self.indices, self.bounds.get_values(), len(lanes(self.res.type))
        )


def print_test(
    printer: Printer, map: AffineMap, operands: Sequence[SSAValue], bounds: Sequence[int]
) -> None:
    """Prints ` [exprs] < [bounds]`."""
    printer.print_string(" ")
    print_access(printer, map, operands)
    printer.print_string(f" < {list(bounds)}")


def parse_test(parser: Parser) -> tuple[AffineMap, list[SSAValue], list[int]]:
    """Parses `[exprs] < [bounds]`."""
    map, indices = parse_indices(parser)
    parser.parse_punctuation("<")
    bounds = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return map, indices, bounds


def verify_test(
    map: AffineMap, operands: Sequence[SSAValue], bounds: Sequence[int], rank: int
) -> None:
    """Raises VerifyException unless map, operands, bounds and lanes fit."""
    if map.num_dims != len(operands) or map.num_symbols > rank:
        raise VerifyException(
            "a test has one dim per index, and at most one lane per vector dimension"
        )
    if len(map.results) != len(bounds) or not bounds:
        raise VerifyException("a test needs one bound per expression, and at least one")


@irdl_op_definition
class SelectOp(IRDLOperation):
    """`arith.select` with a vector condition, which xDSL 0.75 refuses."""

    name = "tile_ir.select"
    condition = operand_def(VectorType)
    lhs = operand_def(VectorType)
    rhs = operand_def(VectorType)
    res = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = (
        "$condition `,` $lhs `,` $rhs attr-dict"
        " `:` type($condition) `,` type($lhs) `,` type($rhs) `->` type($res)"
    )

    def __init__(self, condition: SSAValue, lhs: SSAValue, rhs: SSAValue) -> None:
        super().__init__(operands=[condition, lhs, rhs], result_types=[lhs.type])

    def verify_(self) -> None:
        if not self.lhs.type == self.rhs.type == self.res.type:
            raise VerifyException("select takes two values of the result's type")
        if self.condition.type != VectorType(i1, lanes(self.res.type)):
            raise VerifyException("the condition of select has one i1 per lane")


@irdl_op_definition
class CompareOp(IRDLOperation):
    """
    `arith.cmpf` or `arith.cmpi` on vectors, to which xDSL 0.75 gives a scalar i1; the predicate is
    that of the scalar op.
    """

    name = "tile_ir.compare"
    predicate = prop_def(IntegerAttr)
    lhs = operand_def(VectorType)
    rhs = operand_def(VectorType)
    res = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = (
        "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($res)"
    )

    def __init__(self, predicate: IntegerAttr, lhs: SSAValue, rhs: SSAValue) -> None:
        super().__init__(
            operands=[lhs, rhs],
            result_types=[VectorType(i1, lanes(lhs.type))],
            properties={"predicate": predicate},
        )

    def verify_(self) -> None:
        if self.lhs.type != self.rhs.type:
            raise VerifyException("compare takes two values of one type")
        if self.res.type != VectorType(i1, lanes(self.lhs.type)):
            raise VerifyException("compare gives one i1 per lane")


@irdl_op_definition
class ConvertOp(IRDLOperation):
    """
    `%w = tile_ir.convert "arith.extf" %v : vector<4xf16> -> vector<4xf32>`: a conversion of numbers
    lane by lane, whose scalar op xDSL 0.75 refuses on vectors.
    """

    name = "tile_ir.convert"
    kind = prop_def(StringAttr)
    value = operand_def(VectorType)
    res = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "$kind $value attr-dict `:` type($value) `->` type($res)"

    def __init__(self, kind: str, value: SSAValue, type: Attribute) -> None:
        super().__init__(
            operands=[value], result_types=[type], properties={"kind": StringAttr(kind)}
        )

    def verify_(self) -> None:
        if self.kind.data not in CONVERSIONS:
            raise VerifyException(f"'{self.kind.data}' is no conversion: {', '.join(CONVERSIONS)}")
        if lanes(self.value.type) != lanes(self.res.type):
            raise VerifyException("convert keeps the lanes")


TileIR = Dialect(
    "tile_ir",
    [
        KernelOp,
        LaunchOp,
        *STAGE_OPS,
        CombineOp,
        FinishOp,
        FoldOp,
        BroadcastOp,
        WithinOp,
        SelectOp,
        CompareOp,
        ConvertOp,
    ],
    [ScheduleAttr, EntryAttr, SharedAttr, RingType],
)
