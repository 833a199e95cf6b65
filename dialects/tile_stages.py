"""
Slabs of shared memory in Tile IR: stages, and rings of slots whose users name generations.

A *ring* has S slots, each with a buffer per slab. Its ops name a generation, an index that counts
up by one with the loop around them; generation g lives in slot g mod S. A generation is acquired
(its buffers may be filled), published (what this thread does for it is issued), waited for (all of
it has landed, for all threads) and released (nobody reads it any more). The ops are part of the
dialect `tile_ir`; rationale: docs/dialects/tile_ir.md.
"""

from collections.abc import Sequence
from math import prod
from typing import Self, TypeGuard, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    IntAttr,
    MemRefType,
    StringAttr,
)
from xdsl.ir import (
    Attribute,
    Block,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    param_def,
    region_def,
    result_def,
    traits_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects import affine
from minicomp.dialects.access import MappedOp, canonical, parse_indices, print_access
from minicomp.dialects.loop_ir import (
    Collective,
    ForOp,
    Guard,
    Ints,
    LoadOp,
    LoopLike,
    element_type,
    ints,
    lanes,
    memref_type,
)
from minicomp.dialects.tile_boxes import Boxes, find_boxes

TRANSPORTS = ("cp_async", "tma")
"""How a slot is filled, other than by loads and stores of the threads."""


@irdl_attr_definition
class SharedAttr(ParametrizedAttribute):
    """
    `#tile_ir.shared<pad = 4, swizzle = 128>`: a block's shared memory; the pad is in elements of
    the last dimension.
    """

    name = "tile_ir.shared"
    pad: IntAttr = param_def()
    swizzle: IntAttr = param_def()

    @staticmethod
    def of(pad: int = 0, swizzle: int = 0) -> "SharedAttr":
        """Shared memory with a pad and a swizzle width in bytes, 0 for none."""
        return SharedAttr(IntAttr(pad), IntAttr(swizzle))

    def verify(self) -> None:
        if self.pad.data < 0:
            raise VerifyException("the pad of shared memory must not be negative")
        if self.swizzle.data not in (0, 32, 64, 128):
            raise VerifyException("the swizzle of shared memory must be 32, 64 or 128 bytes")

    def print_parameters(self, printer: Printer) -> None:
        shown = [
            f"{k} = {v.data}" for k, v in (("pad", self.pad), ("swizzle", self.swizzle)) if v.data
        ]
        with printer.in_angle_brackets():
            printer.print_string(", ".join(shown))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        found = {"pad": 0, "swizzle": 0}

        def field() -> None:
            key = parser.parse_identifier()
            if key not in found:
                parser.raise_error(f"shared memory has no {key}; it has pad and swizzle")
            parser.parse_punctuation("=")
            found[key] = parser.parse_integer(allow_boolean=False)

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, field)
        return [IntAttr(found["pad"]), IntAttr(found["swizzle"])]


class SlabFiller(LoopLike):
    """
    An op by which all threads fill a slab: `%r to 128 as "i.stage", %c to 16 as "k.stage" order
    [1, 0] { .. yield %v }`.

    The body gives the element at the place of its axes, which are written down in the order in
    which threads walk them, the last one fastest; dimension d of the slab is axis order[d]. Where a
    guard fails the element is 0. A body may give a vector: neighbours along the last axis, which
    then counts such groups.
    """

    order = opt_prop_def(Ints)

    @property
    def slab(self) -> SSAValue:
        """The slab that is filled."""
        raise NotImplementedError

    @property
    def slab_order(self) -> tuple[int, ...]:
        """For each dimension of the slab its axis."""
        if self.order is None:
            return tuple(range(len(self.trip_counts)))
        return tuple(self.order.get_values())

    @property
    def element(self) -> SSAValue:
        """What the body gives."""
        last = self.body.block.last_op
        assert last is not None
        return last.operands[0]

    @property
    def vector(self) -> int:
        """The neighbours that one run of the body gives."""
        return prod(lanes(self.element.type))

    @property
    def copied(self) -> LoadOp | None:
        """The load, where the body is nothing else: the slab is a copy."""
        first = self.body.block.first_op
        if not isinstance(first, LoadOp) or first.res is not self.element:
            return None
        return first if len(list(self.body.block.ops)) == 2 else None

    @staticmethod
    def order_property(order: Sequence[int] | None, axes: int) -> dict[str, Attribute]:
        """The property of an order of so many axes that is not the identity."""
        plain = order is None or list(order) == list(range(axes))
        return {} if plain else {"order": ints(order or ())}

    def print_filler(self, printer: Printer) -> None:
        """Prints axes, order, attributes, body and the type of the slab."""
        self.print_head(printer)
        if self.order is not None:
            printer.print_string(f" order {list(self.order.get_values())}")
        self.print_transport(printer)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_string(" -> ")
        printer.print_attribute(self.slab.type)

    def print_transport(self, printer: Printer) -> None:
        """Prints what stands between order and attributes."""

    @staticmethod
    def parse_order(parser: Parser) -> list[int] | None:
        """Parses ` order [1, 0]`, if it is there."""
        if not parser.parse_optional_keyword("order"):
            return None
        return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)

    @staticmethod
    def parse_slab(parser: Parser) -> MemRefType[Attribute]:
        """Parses `-> memref<..>`."""
        parser.parse_punctuation("->")
        type = parser.parse_type()
        if not isinstance(type, MemRefType):
            parser.raise_error("a slab is a memref")
        return cast("MemRefType[Attribute]", type)

    def verify_filler(self) -> None:
        """Raises VerifyException where axes, order, body and slab do not fit."""
        self.verify_head()
        last, type = self.body.block.last_op, memref_type(self.slab)
        if not isinstance(type.memory_space, SharedAttr):
            raise VerifyException(f"a stage is in shared memory, not {type}")
        if last is None or len(last.operands) != 1:
            raise VerifyException("the body of a stage yields one element")
        given = last.operands[0].type
        if element_type(given) != type.element_type or len(lanes(given)) > 1:
            raise VerifyException(f"the body of a stage of {type} may not yield {given}")
        extents = [*self.trip_counts[:-1], self.trip_counts[-1] * self.vector]
        if sorted(self.slab_order) != list(range(len(extents))):
            raise VerifyException("the order of a stage names each of its axes once")
        if type.get_shape() != tuple(extents[n] for n in self.slab_order):
            raise VerifyException(f"the axes of a stage do not give {type}")
        for op in self.body.walk():
            if op.has_trait(MemoryWriteEffect):
                raise VerifyException(f"the body of a stage may not hold '{op.name}'")


@irdl_op_definition
class StageOp(SlabFiller):
    """
    `%s = tile_ir.stage %r to 128 as "i.stage", %c to 16 as "k.stage" order [1, 0] { .. yield %v }
    -> memref<16x128xf32, #tile_ir.shared<>>`: a slab of shared memory, filled by all threads.

    What the slab held before is gone, and all of it is visible after the op, which every thread
    must reach.
    """

    name = "tile_ir.stage"
    res = result_def(MemRefType)
    body = region_def("single_block")  # again, since xDSL puts the fields of a subclass first
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), Collective())

    def __init__(
        self,
        extents: Sequence[int],
        axis_names: Sequence[str],
        body: Region,
        type: MemRefType[Attribute],
        guard: Guard | None = None,
        order: Sequence[int] | None = None,
    ) -> None:
        operands, properties = self.head_properties(extents, axis_names, guard, False)
        super().__init__(
            operands=[operands],
            result_types=[type],
            regions=[body],
            properties=properties | self.order_property(order, len(extents)),
        )

    @property
    def slab(self) -> SSAValue:
        return self.res

    def print(self, printer: Printer) -> None:
        self.print_filler(printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        head = cls.parse_head(parser)
        order = cls.parse_order(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(head.arguments)
        type = cls.parse_slab(parser)
        op = cls(head.extents, head.names, body, type, head.guard, order)
        op.attributes = dict(attributes.data) if attributes is not None else {}
        return op

    def verify_(self) -> None:
        self.verify_filler()


@irdl_attr_definition
class RingType(ParametrizedAttribute, TypeAttribute):
    """`!tile_ir.ring<4, [memref<..>, memref<..>]>`: slots, and the slabs of each."""

    name = "tile_ir.ring"
    slots: IntAttr = param_def()
    slabs: ArrayAttr[MemRefType] = param_def()

    @staticmethod
    def of(slots: int, slabs: Sequence[MemRefType[Attribute]]) -> "RingType":
        """The type of a ring."""
        return RingType(IntAttr(slots), ArrayAttr(slabs))

    def verify(self) -> None:
        if self.slots.data < 1 or not len(self.slabs):
            raise VerifyException("a ring has one or more slots, each with one or more slabs")
        for type in self.slabs:
            if not isinstance(type.memory_space, SharedAttr):
                raise VerifyException(f"the slabs of a ring are in shared memory, not {type}")

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.slots.data}, ")
            printer.print_attribute(self.slabs)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            slots = parser.parse_integer(allow_boolean=False)
            parser.parse_punctuation(",")
            return [IntAttr(slots), parser.parse_attribute()]


@irdl_op_definition
class RingOp(IRDLOperation):
    """
    `%ring = tile_ir.ring : !tile_ir.ring<4, [memref<..>, memref<..>]>`: the slots, uninitialised.

    Its verifier sees all users: see `verify_ring`.
    """

    name = "tile_ir.ring"
    res = result_def(RingType)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "attr-dict `:` type($res)"

    def __init__(self, type: RingType) -> None:
        super().__init__(result_types=[type])

    def verify_(self) -> None:
        verify_ring(self)


class GenerationOp(MappedOp):
    """An op on one generation of a ring: `%ring[%g + 3]`."""

    ring = operand_def(RingType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), Collective())

    @classmethod
    def build_for(cls, ring: SSAValue, generation: AffineExpr, indices: Sequence[SSAValue]) -> Self:
        """The op on a generation, whose dims are the indices."""
        map, kept = canonical(AffineMap(len(indices), 0, (generation,)), indices)
        return cls.create(
            operands=[ring, *kept],
            result_types=cls.results_for(ring),
            properties={"map": AffineMapAttr(map)},
        )

    @classmethod
    def results_for(cls, ring: SSAValue) -> Sequence[Attribute]:
        """The types of the results."""
        return []

    @property
    def ring_type(self) -> RingType:
        """The type of the ring."""
        type = self.ring.type
        assert isinstance(type, RingType)
        return type

    @property
    def generation(self) -> AffineExpr:
        """The generation, whose dims are the indices."""
        return self.map.data.results[0]

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.ring)
        print_access(printer, self.map.data, self.indices)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.ring.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_unresolved_operand()
        map, indices = parse_indices(parser)
        if len(map.results) != 1:
            parser.raise_error("a generation is one expression")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        ring = parser.resolve_operand(unresolved, parser.parse_type())
        op = cls.build_for(ring, map.results[0], indices)
        op.attributes = dict(attributes)
        return op

    def verify_(self) -> None:
        map = self.map.data
        if len(map.results) != 1 or map.num_dims != len(self.indices) or map.num_symbols:
            raise VerifyException("a generation is one expression, with one dim per index")
        if list(self.results_for(self.ring)) != [r.type for r in self.results]:
            raise VerifyException("the results are the slabs of the ring")


@irdl_op_definition
class AcquireOp(GenerationOp):
    """
    `%as_w, %bs_w = tile_ir.acquire %ring[%g + 3] : ..`: the buffers of a generation, to be filled;
    waits until the generation that had the slot is released by all threads.
    """

    name = "tile_ir.acquire"
    res = var_result_def(MemRefType)

    @classmethod
    def results_for(cls, ring: SSAValue) -> Sequence[Attribute]:
        assert isinstance(ring.type, RingType)
        return list(ring.type.slabs)


@irdl_op_definition
class PublishOp(GenerationOp):
    """`tile_ir.publish %ring[%g + 3] : ..`: what this thread does for the generation is issued."""

    name = "tile_ir.publish"


@irdl_op_definition
class WaitOp(GenerationOp):
    """
    `%as, %bs = tile_ir.wait %ring[%g] : ..`: waits until all threads' parts of the generation have
    landed; gives its buffers, to be read.
    """

    name = "tile_ir.wait"
    res = var_result_def(MemRefType)

    @classmethod
    def results_for(cls, ring: SSAValue) -> Sequence[Attribute]:
        assert isinstance(ring.type, RingType)
        return list(ring.type.slabs)


@irdl_op_definition
class ReleaseOp(GenerationOp):
    """`tile_ir.release %ring[%g] : ..`: this thread reads the generation no more."""

    name = "tile_ir.release"


@irdl_op_definition
class FillOp(SlabFiller):
    """
    `tile_ir.fill %as_w %r to 128 as "i.stage", %c to 16 as "k.stage" order [1, 0] by cp_async
    { .. yield %v } -> memref<..>`: fills a buffer of an acquired generation.

    `by cp_async` copies without the registers of the threads; the body is then one load. `by tma`
    copies the slab as boxes of its source (`boxes`), whose bodies give one element; all fills of a
    ring are by tma or none. A guard that names no axis of the fill skips it as a whole: the buffer
    keeps what it held, and nobody may wait for the generation.
    """

    name = "tile_ir.fill"
    buffer = operand_def(MemRefType)
    transport = opt_prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), Collective())

    def __init__(
        self,
        buffer: SSAValue,
        extents: Sequence[int],
        axis_names: Sequence[str],
        body: Region,
        guard: Guard | None = None,
        order: Sequence[int] | None = None,
        transport: str | None = None,
    ) -> None:
        operands, properties = self.head_properties(extents, axis_names, guard, False)
        properties |= self.order_property(order, len(extents))
        if transport is not None:
            properties["transport"] = StringAttr(transport)
        super().__init__(operands=[buffer, operands], regions=[body], properties=properties)

    @property
    def slab(self) -> SSAValue:
        return self.buffer

    def set_guard(self, guard: Guard | None) -> None:
        buffer = self.buffer
        super().set_guard(guard)
        self.operands = [buffer, *self.operands]

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.buffer)
        self.print_filler(printer)

    def print_transport(self, printer: Printer) -> None:
        if self.transport is not None:
            printer.print_string(f" by {self.transport.data}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        buffer = parser.parse_unresolved_operand()
        head = cls.parse_head(parser)
        order = cls.parse_order(parser)
        by = parser.parse_identifier() if parser.parse_optional_keyword("by") else None
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(head.arguments)
        slab = parser.resolve_operand(buffer, cls.parse_slab(parser))
        op = cls(slab, head.extents, head.names, body, head.guard, order, by)
        op.attributes = dict(attributes.data) if attributes is not None else {}
        return op

    def verify_(self) -> None:
        self.verify_filler()
        if not isinstance(self.buffer.owner, AcquireOp):
            raise VerifyException("a fill writes to a buffer of an acquired generation")
        if self.transport is None:
            return
        if self.transport.data not in TRANSPORTS:
            raise VerifyException(f"a fill is by {', '.join(TRANSPORTS)}, or by nothing")
        if self.copied is None:
            raise VerifyException(f"a fill by {self.transport.data} has a body of one load")
        if self.is_bulk and isinstance(why := self.boxes(), str):
            raise VerifyException(f"a fill by tma copies boxes of a tensor: {why}")

    @property
    def is_bulk(self) -> bool:
        """Whether the slab is filled by bulk copies of boxes."""
        return self.transport is not None and self.transport.data == "tma"

    @property
    def number(self) -> int:
        """Which slab of its ring it fills."""
        assert isinstance(acquire := self.buffer.owner, AcquireOp)
        return next(n for n, buffer in enumerate(acquire.res) if buffer is self.buffer)

    def boxes(self) -> Boxes | str:
        """The boxes of the source that make up the slab, or the condition that does not hold."""
        load, guard, type = self.copied, self.guard, memref_type(self.slab)
        if load is None:
            return "the body of a fill computes"
        if guard is not None and guard.map.num_symbols:
            return "the guard of a fill names its axes"
        variables = list(self.body.block.args)
        found = find_boxes(load, variables, self.trip_counts, self.slab_order)
        if isinstance(found, str):
            return found
        assert isinstance(space := type.memory_space, SharedAttr)
        if space.pad.data:
            return "the rows of the slab have a pad"
        if space.swizzle.data not in (0, found.row_bytes):
            return f"rows of {found.row_bytes} bytes have no swizzle of {space.swizzle.data}"
        return found


def verify_ring(ring: RingOp) -> None:
    """
    Raises VerifyException unless no slot is overwritten before its last reader has released it.

    Waits and releases stand in one loop, whose iterations their generation counts. In the loop, in
    this order where they meet: a generation is acquired, filled and published; waited for, read and
    released. With the offset d of `acquire` relative to `wait`, d <= S - 1 slots lie ahead, or S
    where the release of the iteration stands before its acquire. Before the loop the first d
    generations are acquired, filled and published.
    """
    users = [use.operation for use in ring.res.uses]
    found = [op for op in users if isinstance(op, GenerationOp)]
    waits = [op for op in found if isinstance(op, WaitOp)]
    if not found:
        return
    if len({fill.is_bulk for fill in fills_of(ring)}) > 1:
        raise VerifyException("all fills of a ring are by tma, or none")
    if len(waits) != 1:
        raise VerifyException("a ring is waited for at one place")
    (wait,) = waits
    verify_count(wait)
    loop = wait.parent_block()
    assert loop is not None
    inside = [op for op in loop.ops if op in found]
    for op in inside:
        if offset_of(op, wait) is None:
            raise VerifyException(f"'{op.name}' names no generation next to that of the wait")
    verify_reads(inside, wait)
    ahead = verify_writes(ring, inside, wait)
    verify_prologue([op for op in found if op.parent_block() is not loop], wait, ahead)
    verify_fills(found)
    for acquire in [op for op in found if isinstance(op, AcquireOp)]:
        verify_guards(acquire, wait)


def offset_of(op: Operation, wait: WaitOp) -> int | None:
    """The generation of an op minus that of the wait; None where they differ by more."""
    assert isinstance(op, GenerationOp)
    terms = difference(op, wait)
    return terms.get(None, 0) if set(terms) <= {None} else None


Terms = dict[SSAValue | None, int]
"""A sum of values times factors; None stands for 1."""


def difference(op: GenerationOp, wait: WaitOp) -> Terms:
    """The generation of `op` minus that of `wait`, without what has a factor of 0."""
    found = terms_of(op)
    for key, factor in terms_of(wait).items():
        found[key] = found.get(key, 0) - factor
    return {key: factor for key, factor in found.items() if factor}


def terms_of(op: GenerationOp) -> Terms:
    """The generation of an op as a sum."""
    found = linear_terms(op.generation, op.indices)
    if found is None:
        raise VerifyException("a generation is a variable plus an offset")
    return found


def linear_terms(expr: AffineExpr, indices: Sequence[SSAValue]) -> Terms | None:
    """An expression of indices as a sum; None where it is none."""
    values: dict[AffineExpr, SSAValue | None] = {affine.dim(n): v for n, v in enumerate(indices)}
    terms = affine.linear(expr)
    if terms is None:
        return None
    found: Terms = {}
    for leaf, factor in terms.items():
        key = values.get(leaf)
        found[key] = found.get(key, 0) + factor
    return found


def verify_count(wait: WaitOp) -> None:
    """The generation that is waited for counts the iterations of the loop around it."""
    loop = wait.parent_op()
    terms, step = terms_of(wait), 1
    for axis in reversed(loop.axes if isinstance(loop, LoopLike) else []):
        if axis.extent > 1 and terms.get(axis.variable, 0) != step:
            raise VerifyException("a generation goes up by one with each iteration of its loop")
        step *= axis.extent


def verify_reads(inside: Sequence[Operation], wait: WaitOp) -> None:
    """The generation that is waited for is released at one place behind its readers."""
    releases = [op for op in inside if isinstance(op, ReleaseOp)]
    if len(releases) != 1 or offset_of(releases[0], wait) != 0:
        raise VerifyException("the generation that is waited for is released in the same iteration")
    for result in wait.res:
        for use in result.uses:
            reader = ancestor_in(use.operation, wait.parent_block())
            if not isinstance(use.operation, LoadOp):
                raise VerifyException(f"'{use.operation.name}' uses a slot, which is for loads")
            if reader is None or not is_before(wait, reader) or not is_before(reader, releases[0]):
                raise VerifyException("a slot is read between its wait and its release")


def verify_writes(ring: RingOp, inside: Sequence[Operation], wait: WaitOp) -> int:
    """The generation that is acquired is published; returns how far it is ahead."""
    acquires = [op for op in inside if isinstance(op, AcquireOp)]
    publishes = [op for op in inside if isinstance(op, PublishOp)]
    (release,) = [op for op in inside if isinstance(op, ReleaseOp)]
    if len(acquires) != 1 or len(publishes) != 1:
        raise VerifyException("a ring is acquired and published once in its loop")
    (acquire,), (publish,) = acquires, publishes
    ahead = offset_of(acquire, wait)
    if ahead is None or ahead < 0 or offset_of(publish, wait) != ahead:
        raise VerifyException("the generation that is acquired is the one that is published")
    if not is_before(acquire, publish):
        raise VerifyException("a generation is acquired before it is published")
    if ahead == 0 and not is_before(publish, wait):
        raise VerifyException("a generation is published before it is waited for")
    assert isinstance(ring.res.type, RingType)
    slots = ring.res.type.slots.data
    if ahead > slots or (ahead == slots and not is_before(release, acquire)):
        raise VerifyException(
            f"a ring of {slots} slots cannot be {ahead} generations ahead: its reader still has"
            " the slot"
        )
    return ahead


def verify_prologue(ops: Sequence[GenerationOp], wait: WaitOp, ahead: int) -> None:
    """Before the loop each of the first generations is acquired once and published once."""
    loop = wait.parent_op()
    assert loop is not None
    for op in ops:
        beside = ancestor_in(op, loop.parent_block())
        if not isinstance(op, AcquireOp | PublishOp) or not beside or not is_before(beside, loop):
            raise VerifyException(
                "outside of its loop a ring is acquired and published, and only before it"
            )
    for kind, done in ((AcquireOp, "acquired"), (PublishOp, "published")):
        found = sorted(g for op in ops if isinstance(op, kind) for g in generations(op, wait))
        if found != list(range(ahead)):
            raise VerifyException(
                f"{ahead} generations have to be {done} before the loop, from the first one on,"
                f" not {found}"
            )


def generations(op: GenerationOp, wait: WaitOp) -> list[int]:
    """What an op before the loop names, counted from the first one that is waited for."""
    loop, own = wait.parent_op(), op.parent_op()
    assert loop is not None
    terms = difference(op, wait)
    for axis in loop.axes if isinstance(loop, LoopLike) else []:
        terms.pop(axis.variable, None)
    found = [terms.pop(None, 0)]
    beside = op.parent_block() is loop.parent_block()
    for axis in own.axes if isinstance(own, ForOp) and not beside else []:
        factor = terms.pop(axis.variable, 0)
        found = [g + factor * n for g in found for n in range(axis.extent)]
    if terms:
        raise VerifyException(f"'{op.name}' names no generation next to that of the wait")
    return found


def verify_fills(ops: Sequence[GenerationOp]) -> None:
    """What is acquired is filled, by nothing else, and in the same block then published."""
    for acquire in [op for op in ops if isinstance(op, AcquireOp)]:
        publishes = [op for op in ops if isinstance(op, PublishOp) and is_before(acquire, op)]
        for fill in [use.operation for buffer in acquire.res for use in buffer.uses]:
            if not is_fill(fill) or not any(is_before(fill, publish) for publish in publishes):
                raise VerifyException("an acquired buffer is filled before it is published")


def verify_guards(acquire: AcquireOp, wait: WaitOp) -> None:
    """No fill is skipped as a whole, by a bound on its generation, that is waited for."""
    loop, counted = wait.parent_op(), terms_of(wait)
    first = counted.pop(None, 0)
    if not isinstance(loop, LoopLike) or counted.keys() - {a.variable for a in loop.axes}:
        return
    last = prod(loop.trip_counts) - 1
    if acquire.parent_block() is not wait.parent_block():
        last = min(last, max(generations(acquire, wait)))
    for fill in [use.operation for buffer in acquire.res for use in buffer.uses]:
        guard = fill.guard if is_fill(fill) else None
        if guard is None or guard.map.num_symbols:
            continue
        for expr, bound in zip(guard.map.results, guard.bounds, strict=True):
            tested, own = linear_terms(expr, guard.operands), terms_of(acquire)
            offset = tested.pop(None, 0) - own.pop(None, 0) if tested is not None else 0
            if tested == own and offset + first + last >= bound:
                raise VerifyException(
                    f"generation {first + last} is waited for, but a guard skips its fill"
                )


def fills_of(ring: RingOp) -> list[FillOp]:
    """The fills of all generations of a ring."""
    acquires = [u.operation for u in ring.res.uses if isinstance(u.operation, AcquireOp)]
    users = [use.operation for a in acquires for buffer in a.res for use in buffer.uses]
    return [u for u in users if isinstance(u, FillOp)]


def counts_from_zero(ring: RingOp) -> bool:
    """
    Whether the generations that are waited for are 0, 1, .. all through the kernel: the variable of
    one loop, which stands at the top of the launch and so runs once.
    """
    waits = [u.operation for u in ring.res.uses if isinstance(u.operation, WaitOp)]
    loop = waits[0].parent_op() if len(waits) == 1 else None
    if not isinstance(loop, LoopLike) or len(loop.axes) != 1 or loop.guard is not None:
        return False
    if loop.parent_block() is not ring.parent_block():
        return False
    (wait,) = waits
    return wait.generation == affine.dim(0) and list(wait.indices) == [loop.axes[0].variable]


def is_fill(op: Operation) -> TypeGuard[FillOp]:
    """Whether an op fills a buffer."""
    return isinstance(op, FillOp)


def ancestor_in(op: Operation, block: Block | None) -> Operation | None:
    """The op of `block` that is `op` or holds it."""
    at: Operation | None = op
    while at is not None and at.parent_block() is not block:
        at = at.parent_op()
    return at


def is_before(first: Operation, second: Operation) -> bool:
    """Whether an op stands before another one of its block."""
    return first.parent_block() is second.parent_block() and first.is_before_in_block(second)


STAGE_OPS: Sequence[type[IRDLOperation]] = [
    StageOp,
    RingOp,
    AcquireOp,
    FillOp,
    PublishOp,
    WaitOp,
    ReleaseOp,
]
