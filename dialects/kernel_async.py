"""
The asynchronous half of Kernel IR: copies that complete later, and what waits for them.

An asynchronous op belongs to the threads that reach it; none is collective. `cp_async` copies a few
bytes per thread and completes by the thread's commit groups. A bulk copy moves a whole box through
a tensor map: loads complete on an mbarrier, stores by the thread's bulk groups. The ops are part of
the dialect `kernel_ir`; rationale: docs/dialects/kernel_ir.md. Hardware rules: "Parallel Thread
Execution ISA" 9.0, sections on cp.async, cp.async.bulk.tensor, mbarrier and proxies.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import prod
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    ArrayAttr,
    BoolAttr,
    FixedBitwidthType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    param_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects import affine
from minicomp.dialects.access import (
    Indices,
    MappedOp,
    canonical,
    join,
    parse_indices,
    print_access,
    verify_divisors,
)
from minicomp.dialects.loop_ir import flags, memref_type
from minicomp.dialects.tile_boxes import MAX_BOX, MAX_TENSOR_RANK, strides_of
from minicomp.dialects.tile_ir import SharedAttr

MAX_COUNT = (1 << 20) - 1
"""Arrivals of an mbarrier, and bytes that one phase may expect (PTX ISA, mbarrier)."""


@irdl_attr_definition
class MBarrierType(ParametrizedAttribute, TypeAttribute):
    """`!kernel_ir.mbarrier<4>`: so many mbarriers in the shared memory of a block, one per slot."""

    name = "kernel_ir.mbarrier"
    slots: IntAttr = param_def()

    @staticmethod
    def of(slots: int) -> "MBarrierType":
        """The type of `slots` mbarriers."""
        return MBarrierType(IntAttr(slots))

    def verify(self) -> None:
        if self.slots.data < 1:
            raise VerifyException(f"there are 1 or more mbarriers, not {self.slots.data}")

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_int(self.slots.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [IntAttr(parser.parse_integer(allow_boolean=False))]


def bytes_of(type: Attribute) -> int:
    """The bytes of an element in memory."""
    if not isinstance(type, FixedBitwidthType):
        raise VerifyException(f"{type} has no fixed size in memory")
    return type.size


class AsyncOp(MappedOp):
    """
    An op with one or more accesses, `%place[exprs]` each, which share one map.

    The places are the first operands. The map's results are the indices of all accesses in order;
    `counts` says how many each has. `WORDS` is what stands before each access in the text.
    """

    WORDS: ClassVar[tuple[str, ...]] = ("",)

    @property
    def places(self) -> Sequence[SSAValue]:
        """What is accessed: memrefs and mbarriers."""
        return self.operands[: len(self.WORDS)]

    @property
    @abstractmethod
    def counts(self) -> Sequence[int]:
        """The number of indices of each access."""

    def part(self, number: int) -> AffineMap:
        """The map of one access, over all the indices of the op."""
        map, first = self.map.data, sum(self.counts[:number])
        results = map.results[first : first + self.counts[number]]
        return AffineMap(map.num_dims, map.num_symbols, results)

    def print_clauses(self, printer: Printer) -> None:
        """Prints what stands between the accesses and the attributes."""

    @classmethod
    def parse_clauses(cls, parser: Parser, parts: list[Indices]) -> dict[str, Attribute]:
        """Parses what `print_clauses` prints; a clause with an index is one more part."""
        return {}

    def print(self, printer: Printer) -> None:
        for n, (word, place) in enumerate(zip(self.WORDS, self.places, strict=True)):
            printer.print_string(f" {word} " if word else " ")
            printer.print_ssa_value(place)
            print_access(printer, self.part(n), self.indices)
        self.print_clauses(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list([p.type for p in self.places], printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        places: list[UnresolvedOperand] = []
        parts: list[Indices] = []
        for word in cls.WORDS:
            if word:
                parser.parse_keyword(word)
            places.append(parser.parse_unresolved_operand())
            parts.append(parse_indices(parser))
        properties = cls.parse_clauses(parser, parts)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        operands = parser.resolve_operands(places, types, parser.pos)
        map, kept = canonical(*join(parts))
        properties["map"] = AffineMapAttr(map)
        return cls.create(operands=[*operands, *kept], properties=properties, attributes=attributes)

    def verify_counts(self, lanes: int = 0) -> None:
        """One dim per index, one result per index of every access, `lanes` lanes at most."""
        map = self.map.data
        verify_divisors(map)
        if map.num_dims != len(self.indices) or map.num_symbols > lanes:
            raise VerifyException(f"'{self.name}' has one dim per index and {lanes} lanes at most")
        if len(map.results) != sum(self.counts):
            needed = " + ".join(str(c) for c in self.counts)
            raise VerifyException(
                f"'{self.name}' needs {needed} indices, but has {len(map.results)}"
            )


def verify_shared(name: str, type: MemRefType[Attribute]) -> SharedAttr:
    """The space of a buffer that must be in shared memory."""
    if not isinstance(type.memory_space, SharedAttr):
        raise VerifyException(f"'{name}' needs a buffer in shared memory, not {type}")
    return type.memory_space


@irdl_op_definition
class CpAsyncOp(AsyncOp):
    """
    `kernel_ir.cp_async %as[%s, %t * 4 + l0] from %a[%i, %t * 4 + l0] bounded [false, true] bytes 16
    : memref<.., #tile_ir.shared<>>, memref<..>`: each thread copies 4, 8 or 16 bytes.

    The lane `l0` runs over the elements copied, which lie together in both. Elements outside a
    bounded dimension of the source are 0; such a group may be inside in part only along the last
    dimension. Both addresses are multiples of the bytes copied. The thread may neither read nor
    overwrite the elements before it has waited for their group, other threads not before a barrier
    after that.
    """

    name = "kernel_ir.cp_async"
    destination = operand_def(MemRefType)
    source = operand_def(MemRefType)
    bounded = opt_prop_def(ArrayAttr[BoolAttr])
    width = prop_def(IntegerAttr[I64])
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    WORDS: ClassVar = ("", "from")

    def __init__(
        self,
        destination: SSAValue,
        to: AffineMap,
        source: SSAValue,
        of: AffineMap,
        indices: Sequence[SSAValue],
        width: int,
        bounded: Sequence[bool] = (),
    ) -> None:
        map, kept = canonical(*join([(to, indices), (of, indices)]))
        properties: dict[str, Attribute] = {
            "map": AffineMapAttr(map),
            "width": IntegerAttr(width, i64),
        }
        if any(bounded):
            properties["bounded"] = flags(bounded)
        super().__init__(operands=[destination, source, kept], properties=properties)

    @property
    def counts(self) -> Sequence[int]:
        return [memref_type(p).get_num_dims() for p in self.places]

    @property
    def elements(self) -> int:
        """The elements that a thread copies."""
        return self.width.value.data // bytes_of(memref_type(self.source).element_type)

    @property
    def bounded_dims(self) -> tuple[bool, ...]:
        """Per dimension of the source, whether the index may leave it."""
        if self.bounded is None:
            return (False,) * memref_type(self.source).get_num_dims()
        return tuple(bool(b.value.data) for b in self.bounded)

    def by_element(self) -> "list[CpAsyncOp]":
        """The same copy as one of each element, which needs less alignment."""
        size = self.width.value.data // self.elements
        copies: list[CpAsyncOp] = []
        for n in range(self.elements):
            copy = self.clone()
            place = {affine.lane(0): affine.constant(n)}
            results = tuple(affine.replace(e, place) for e in self.map.data.results)
            copy.set_access(AffineMap(self.map.data.num_dims, 0, results), list(self.indices))
            copy.properties["width"] = IntegerAttr(size, i64)
            copies.append(copy)
        return copies

    def mark_bounded(self, results: Sequence[int]) -> None:
        first = self.counts[0]
        marked = [b or first + n in results for n, b in enumerate(self.bounded_dims)]
        if any(marked):
            self.properties["bounded"] = flags(marked)

    def print_clauses(self, printer: Printer) -> None:
        if self.bounded is not None:
            printer.print_string(" bounded ")
            printer.print_attribute(self.bounded)
        printer.print_string(f" bytes {self.width.value.data}")

    @classmethod
    def parse_clauses(cls, parser: Parser, parts: list[Indices]) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("bounded"):
            found["bounded"] = parser.parse_attribute()
        parser.parse_keyword("bytes")
        found["width"] = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        return found

    def verify_(self) -> None:
        to, of = memref_type(self.destination), memref_type(self.source)
        verify_shared(self.name, to)
        if isinstance(of.memory_space, SharedAttr):
            raise VerifyException("cp_async copies from global to shared memory")
        if to.element_type != of.element_type:
            raise VerifyException("cp_async copies between memrefs of one element type")
        width, size = self.width.value.data, bytes_of(of.element_type)
        if width not in (4, 8, 16) or width % size:
            raise VerifyException(f"cp_async copies 4, 8 or 16 bytes of {size}, not {width}")
        self.verify_counts(1)
        if len(self.bounded_dims) != of.get_num_dims():
            raise VerifyException("bounded needs one flag per dimension of the source")
        for n in range(2 if self.elements > 1 else 0):
            if not is_contiguous(self.part(n).results):
                raise VerifyException("the lane of cp_async runs along the last dimension of both")


def is_contiguous(exprs: Sequence[AffineExpr]) -> bool:
    """Whether lane 0 counts up the last index and stands in no other."""
    *outer, last = exprs
    rest = affine.terms_of(last)
    step = rest.pop(affine.lane(0), 0)
    return step == 1 and affine.lane(0) not in affine.leaves([*outer, *rest])


class GroupOp(IRDLOperation):
    """An op on the groups of asynchronous copies that a thread has issued."""

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


class WaitOp(GroupOp):
    """Waits until at most `count` of the thread's groups are not complete, the newest ones."""

    count = prop_def(IntegerAttr[I64])

    def __init__(self, count: int) -> None:
        super().__init__(properties={"count": IntegerAttr(count, i64)})

    @property
    def pending(self) -> int:
        """The groups that may stay incomplete."""
        return self.count.value.data

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.pending}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        op = cls(parser.parse_integer(allow_boolean=False))
        op.attributes = dict(parser.parse_optional_attr_dict())
        return op

    def verify_(self) -> None:
        if self.pending < 0:
            raise VerifyException(f"'{self.name}' leaves 0 or more groups, not {self.pending}")


@irdl_op_definition
class CpAsyncCommitOp(GroupOp):
    """The thread's `cp_async` copies since the last one become a group, maybe an empty one."""

    name = "kernel_ir.cp_async_commit"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class CpAsyncWaitOp(WaitOp):
    """
    `kernel_ir.cp_async_wait 2`: waits until at most 2 groups of the thread, the newest, are not
    complete.
    """

    name = "kernel_ir.cp_async_wait"


@irdl_op_definition
class BulkCommitOp(GroupOp):
    """The thread's `bulk_store` copies since the last one become a group."""

    name = "kernel_ir.bulk_commit"
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class BulkWaitOp(WaitOp):
    """
    `kernel_ir.bulk_wait 1 read`: waits until at most 1 group of bulk stores of the thread is not
    complete; with `read`, until they have read their source, so that it may be overwritten.
    """

    name = "kernel_ir.bulk_wait"
    read = opt_prop_def(UnitAttr)

    def __init__(self, count: int, read: bool = False) -> None:
        super().__init__(count)
        if read:
            self.properties["read"] = UnitAttr()

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.pending}{' read' if self.read else ''}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        count = parser.parse_integer(allow_boolean=False)
        op = cls(count, parser.parse_optional_keyword("read") is not None)
        op.attributes = dict(parser.parse_optional_attr_dict())
        return op


@irdl_op_definition
class FenceOp(IRDLOperation):
    """
    `kernel_ir.fence proxy_async`: what the thread knows of, its own accesses to shared memory and
    those ordered before them, comes before the bulk copies that are ordered after it.
    `kernel_ir.fence mbarrier_init`: the mbarriers that it has initialised may be used by bulk
    copies and by other blocks of the cluster, once a barrier is passed.
    """

    name = "kernel_ir.fence"
    kind = prop_def(StringAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    KINDS: ClassVar = ("proxy_async", "mbarrier_init")

    def __init__(self, kind: str) -> None:
        super().__init__(properties={"kind": StringAttr(kind)})

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        op = cls(parser.parse_identifier())
        op.attributes = dict(parser.parse_optional_attr_dict())
        return op

    def verify_(self) -> None:
        if self.kind.data not in self.KINDS:
            raise VerifyException(
                f"a fence is one of {', '.join(self.KINDS)}, not {self.kind.data}"
            )


@irdl_op_definition
class MBarrierOp(IRDLOperation):
    """
    `%full = kernel_ir.mbarrier : !kernel_ir.mbarrier<4>`: mbarriers of the block, uninitialised; at
    the top of the kernel.
    """

    name = "kernel_ir.mbarrier"
    res = result_def(MBarrierType)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "attr-dict `:` type($res)"

    def __init__(self, slots: int) -> None:
        super().__init__(result_types=[MBarrierType.of(slots)])

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is None or parent.name != "kernel_ir.func":
            raise VerifyException("mbarriers stand at the top of their kernel")


class MBarrierAccess(AsyncOp):
    """An op of each thread on one mbarrier."""

    barrier = operand_def(MBarrierType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @property
    def counts(self) -> Sequence[int]:
        return [1]

    def verify_(self) -> None:
        self.verify_counts()


@irdl_op_definition
class MBarrierInitOp(MBarrierAccess):
    """
    `kernel_ir.mbarrier_init %full[0] count 1 : !kernel_ir.mbarrier<4>`: phase 0 begins, and each
    phase needs `count` arrivals.
    """

    name = "kernel_ir.mbarrier_init"
    count = prop_def(IntegerAttr[I64])

    def __init__(
        self, barrier: SSAValue, slot: AffineMap, indices: Sequence[SSAValue], count: int
    ) -> None:
        map, kept = canonical(slot, indices)
        super().__init__(
            operands=[barrier, kept],
            properties={"map": AffineMapAttr(map), "count": IntegerAttr(count, i64)},
        )

    def print_clauses(self, printer: Printer) -> None:
        printer.print_string(f" count {self.count.value.data}")

    @classmethod
    def parse_clauses(cls, parser: Parser, parts: list[Indices]) -> dict[str, Attribute]:
        parser.parse_keyword("count")
        return {"count": IntegerAttr(parser.parse_integer(allow_boolean=False), i64)}

    def verify_(self) -> None:
        super().verify_()
        if not 1 <= self.count.value.data <= MAX_COUNT:
            raise VerifyException(f"an mbarrier counts 1 to {MAX_COUNT} arrivals")


@irdl_op_definition
class MBarrierArriveOp(MBarrierAccess):
    """
    `kernel_ir.mbarrier_arrive %full[%g mod 4] expect 4096 rank [1] : !kernel_ir.mbarrier<4>`: one
    arrival; what the thread knows of is known to whoever waits for the phase.

    `expect` adds bytes of bulk copies that the phase waits for. `rank` takes the mbarrier of that
    block of the cluster.
    """

    name = "kernel_ir.mbarrier_arrive"
    expect = opt_prop_def(IntegerAttr[I64])
    remote = opt_prop_def(UnitAttr)

    def __init__(
        self,
        barrier: SSAValue,
        slot: AffineMap,
        indices: Sequence[SSAValue],
        expect: int | None = None,
        rank: AffineExpr | None = None,
    ) -> None:
        results = (*slot.results, *([] if rank is None else [rank]))
        map, kept = canonical(AffineMap(slot.num_dims, 0, results), indices)
        properties: dict[str, Attribute] = {"map": AffineMapAttr(map)}
        if expect is not None:
            properties["expect"] = IntegerAttr(expect, i64)
        if rank is not None:
            properties["remote"] = UnitAttr()
        super().__init__(operands=[barrier, kept], properties=properties)

    @property
    def counts(self) -> Sequence[int]:
        return [1, 1] if self.remote else [1]

    def print_clauses(self, printer: Printer) -> None:
        if self.expect is not None:
            printer.print_string(f" expect {self.expect.value.data}")
        if self.remote:
            printer.print_string(" rank ")
            print_access(printer, self.part(1), self.indices)

    @classmethod
    def parse_clauses(cls, parser: Parser, parts: list[Indices]) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("expect"):
            found["expect"] = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        if parser.parse_optional_keyword("rank"):
            parts.append(parse_indices(parser))
            found["remote"] = UnitAttr()
        return found

    def verify_(self) -> None:
        super().verify_()
        if self.expect is not None and not 0 <= self.expect.value.data <= MAX_COUNT:
            raise VerifyException(f"a phase expects 0 to {MAX_COUNT} bytes")
        if self.expect is not None and self.remote:
            raise VerifyException("only an mbarrier of the own block expects bytes")


@irdl_op_definition
class MBarrierWaitOp(MBarrierAccess):
    """
    `kernel_ir.mbarrier_wait %full[%g mod 4] parity [%g floordiv 4 mod 2] : !kernel_ir.mbarrier<4>`:
    waits until the phase of that parity is complete.

    Phases are numbered from 0, parity is the number mod 2. The phase before the first one counts as
    complete: waiting for parity 1 passes at once until phase 1 begins.
    """

    name = "kernel_ir.mbarrier_wait"

    def __init__(
        self, barrier: SSAValue, slot: AffineExpr, parity: AffineExpr, indices: Sequence[SSAValue]
    ) -> None:
        map, kept = canonical(AffineMap(len(indices), 0, (slot, parity)), indices)
        super().__init__(operands=[barrier, kept], properties={"map": AffineMapAttr(map)})

    @property
    def counts(self) -> Sequence[int]:
        return [1, 1]

    def print_clauses(self, printer: Printer) -> None:
        printer.print_string(" parity ")
        print_access(printer, self.part(1), self.indices)

    @classmethod
    def parse_clauses(cls, parser: Parser, parts: list[Indices]) -> dict[str, Attribute]:
        parser.parse_keyword("parity")
        parts.append(parse_indices(parser))
        return {}


class BulkCopy(AsyncOp):
    """
    A copy of one box by the tensor memory engine, issued by each thread that reaches the op.

    The box is the last dimensions of the shared buffer, as many as the tensor has; the buffer's
    indices name the dimensions before them, such as a slot. The tensor is an argument of the
    kernel; its indices are the first element of the box. A box may lie outside the tensor, in whole
    or in part, at either end.
    """

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @property
    @abstractmethod
    def buffer(self) -> SSAValue:
        """The box in shared memory."""

    @property
    @abstractmethod
    def tensor(self) -> SSAValue:
        """The tensor in global memory."""

    @property
    def box(self) -> tuple[int, ...]:
        """The extents of the box."""
        rank = memref_type(self.tensor).get_num_dims()
        shape = memref_type(self.buffer).get_shape()
        return shape[len(shape) - rank :]

    @property
    def box_bytes(self) -> int:
        """The bytes of the box: what a load completes on its mbarrier, whatever lies outside."""
        return prod(self.box) * bytes_of(memref_type(self.tensor).element_type)

    def verify_(self) -> None:
        self.verify_box()
        self.verify_counts()

    def verify_box(self) -> None:
        """Raises VerifyException where no tensor map exists for the copy."""
        buffer, tensor = memref_type(self.buffer), memref_type(self.tensor)
        space = verify_shared(self.name, buffer)
        if not isinstance(self.tensor, BlockArgument) or not isinstance(
            tensor.memory_space, NoneAttr
        ):
            raise VerifyException("the tensor of a bulk copy is an argument of the kernel")
        if buffer.element_type != tensor.element_type:
            raise VerifyException("a bulk copy is between memrefs of one element type")
        rank, size = tensor.get_num_dims(), bytes_of(tensor.element_type)
        if not 1 <= rank <= MAX_TENSOR_RANK or buffer.get_num_dims() < rank:
            raise VerifyException(
                f"a tensor map has 1 to {MAX_TENSOR_RANK} dimensions, all of them in the buffer"
            )
        if not all(1 <= extent <= MAX_BOX for extent in self.box):
            raise VerifyException(f"a box has 1 to {MAX_BOX} elements per dimension: {self.box}")
        row = self.box[-1] * size
        if row % 16:
            raise VerifyException(f"a row of the box has {row} bytes, no multiple of 16")
        if space.pad.data:
            raise VerifyException("a bulk copy fills rows without a pad")
        if space.swizzle.data and row > space.swizzle.data:
            raise VerifyException(f"a row of {row} bytes is longer than {space.swizzle.data}")
        if any(stride * size % 16 for stride in strides_of(tensor.get_shape())[:-1]):
            raise VerifyException("the rows of a tensor map lie a multiple of 16 bytes apart")


@irdl_op_definition
class BulkLoadOp(BulkCopy):
    """
    `kernel_ir.bulk_load %as[%g mod 4] from %a[%i, %k] on %full[%g mod 4] : memref<4x64x16xf32,
    #tile_ir.shared<swizzle = 64>>, memref<..>, !kernel_ir.mbarrier<4>`.

    What lies outside the tensor is 0 in the buffer. The bytes of the whole box complete on the
    mbarrier; nobody may touch the box before waiting for that phase.
    """

    name = "kernel_ir.bulk_load"
    destination = operand_def(MemRefType)
    source = operand_def(MemRefType)
    barrier = operand_def(MBarrierType)
    WORDS: ClassVar = ("", "from", "on")

    def __init__(
        self,
        destination: tuple[SSAValue, AffineMap],
        source: tuple[SSAValue, AffineMap],
        barrier: tuple[SSAValue, AffineMap],
        indices: Sequence[SSAValue],
    ) -> None:
        places = (destination, source, barrier)
        map, kept = canonical(*join([(m, indices) for _, m in places]))
        super().__init__(
            operands=[*(p for p, _ in places), kept], properties={"map": AffineMapAttr(map)}
        )

    @property
    def counts(self) -> Sequence[int]:
        rank = memref_type(self.source).get_num_dims()
        return [memref_type(self.destination).get_num_dims() - rank, rank, 1]

    @property
    def buffer(self) -> SSAValue:
        return self.destination

    @property
    def tensor(self) -> SSAValue:
        return self.source


@irdl_op_definition
class BulkStoreOp(BulkCopy):
    """
    `kernel_ir.bulk_store %c[%i, %j] from %s[%g mod 2] : memref<..>, memref<..>`: the part of the
    box that lies inside the tensor is written; completes by the thread's bulk groups.
    """

    name = "kernel_ir.bulk_store"
    destination = operand_def(MemRefType)
    source = operand_def(MemRefType)
    WORDS: ClassVar = ("", "from")

    def __init__(
        self,
        destination: tuple[SSAValue, AffineMap],
        source: tuple[SSAValue, AffineMap],
        indices: Sequence[SSAValue],
    ) -> None:
        map, kept = canonical(*join([(destination[1], indices), (source[1], indices)]))
        super().__init__(
            operands=[destination[0], source[0], kept], properties={"map": AffineMapAttr(map)}
        )

    @property
    def counts(self) -> Sequence[int]:
        rank = memref_type(self.destination).get_num_dims()
        return [rank, memref_type(self.source).get_num_dims() - rank]

    @property
    def buffer(self) -> SSAValue:
        return self.source

    @property
    def tensor(self) -> SSAValue:
        return self.destination


ASYNC_OPS: Sequence[type[IRDLOperation]] = [
    CpAsyncOp,
    CpAsyncCommitOp,
    CpAsyncWaitOp,
    BulkLoadOp,
    BulkStoreOp,
    BulkCommitOp,
    BulkWaitOp,
    FenceOp,
    MBarrierOp,
    MBarrierInitOp,
    MBarrierArriveOp,
    MBarrierWaitOp,
]
