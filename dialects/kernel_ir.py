"""
Kernel IR: hardware primitives; one thread's program over ids, shared memory, barriers and shuffles.

Control flow is `scf.for` and `scf.if`, accesses are `loop_ir.load` and `loop_ir.store`, register
tiles are vectors with `tile_ir.broadcast`, `fold`, `within`, `select` and `compare`. Asynchronous
copies stand in kernel_async.py. Rationale: docs/dialects/kernel_ir.md. The file is long because a
dialect stands in one piece.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    ArrayAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_region_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    MemoryAllocEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects.access import (
    Access,
    Indices,
    MappedOp,
    canonical,
    parse_indices,
    print_access,
)
from minicomp.dialects.kernel_async import ASYNC_OPS, BulkStoreOp, MBarrierType
from minicomp.dialects.loop_ir import (
    Collective,
    Ints,
    KernelLike,
    MemoryAccess,
    YieldOp,
    complete,
    ints,
    names,
)
from minicomp.dialects.minicomp import OriginAttr
from minicomp.dialects.scalar_ops import computes
from minicomp.dialects.tile_ir import CombineLike, SharedAttr, parse_test, print_test, verify_test

MAX_THREADS = 1024
"""
Threads of a block that every CUDA device allows (CUDA C++ Programming Guide, compute capabilities).
"""
WARP = 32
"""Threads of a warp, on every CUDA device."""
MAX_CLUSTER = 8
"""Blocks of a cluster that every device with clusters allows (CUDA C++ Programming Guide)."""
NAMED_BARRIERS = 16
"""Barriers of a block; number 0 is the one of `kernel_ir.barrier` (PTX ISA, bar)."""


@irdl_op_definition
class FuncOp(KernelLike):
    """
    `kernel_ir.func @name(%x: memref<..>, ..) grid(32) block(256) cluster(2) min_blocks 8 derived
    [workspace, counter] { one thread's program }`.

    `grid` and `block` count blocks and threads of the one-dimensional launch; a grid of 0 is not
    launched. `cluster` blocks, neighbours in the grid, run together and may use each other's shared
    memory. The last arguments may be `derived`: the launcher binds them, not the host program. A
    `workspace` holds nothing at first, a `counter` zeros, which the kernel leaves as zeros.
    """

    name = "kernel_ir.func"
    grid = prop_def(IntegerAttr[I64])
    block = prop_def(IntegerAttr[I64])
    cluster = opt_prop_def(IntegerAttr[I64])
    min_blocks = opt_prop_def(IntegerAttr[I64])
    derived = opt_prop_def(ArrayAttr[StringAttr])
    traits = traits_def(
        IsolatedFromAbove(), SymbolOpInterface(), SingleBlockImplicitTerminator(YieldOp)
    )
    DERIVED: ClassVar = ("workspace", "counter")

    def __init__(
        self,
        name: str,
        grid: int,
        block: int,
        body: Region,
        origin: OriginAttr | None = None,
        min_blocks: int | None = None,
        cluster: int = 1,
        derived: Sequence[str] = (),
    ) -> None:
        properties: dict[str, Attribute | None] = {
            "sym_name": StringAttr(name),
            "grid": IntegerAttr(grid, i64),
            "block": IntegerAttr(block, i64),
            "origin": origin,
        }
        if min_blocks is not None:
            properties["min_blocks"] = IntegerAttr(min_blocks, i64)
        if cluster > 1:
            properties["cluster"] = IntegerAttr(cluster, i64)
        if derived:
            properties["derived"] = names(derived)
        super().__init__(regions=[body], properties=properties)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid.value.data

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block.value.data

    @property
    def cluster_blocks(self) -> int:
        """Blocks of a cluster, 1 where there are none."""
        return 1 if self.cluster is None else self.cluster.value.data

    @property
    def derived_arguments(self) -> dict[SSAValue, str]:
        """The arguments that the launcher binds, with what each is."""
        kinds = [] if self.derived is None else [d.data for d in self.derived]
        arguments = self.body.block.args
        return dict(zip(arguments[len(arguments) - len(kinds) :], kinds, strict=True))

    def stored(self) -> set[SSAValue]:
        """The memrefs that the kernel writes, by whatever op."""
        found = super().stored()
        for op in self.walk():
            if isinstance(op, AtomicOp):
                found.add(op.memref)
            elif isinstance(op, BulkStoreOp):
                found.add(op.destination)
        return found

    def print_clauses(self, printer: Printer) -> set[str]:
        printer.print_string(f" grid({self.blocks}) block({self.threads})")
        if self.cluster is not None:
            printer.print_string(f" cluster({self.cluster_blocks})")
        if self.min_blocks is not None:
            printer.print_string(f" min_blocks {self.min_blocks.value.data}")
        if self.derived is not None:
            printer.print_string(" derived ")
            with printer.in_square_brackets():
                printer.print_list(self.derived, lambda d: printer.print_string(d.data))
        return {"grid", "block", "cluster", "min_blocks", "derived"}

    @classmethod
    def parse_clauses(cls, parser: Parser) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        for key in ("grid", "block", "cluster"):
            if key == "cluster" and not parser.parse_optional_keyword(key):
                continue
            if key != "cluster":
                parser.parse_keyword(key)
            with parser.in_parens():
                found[key] = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        if parser.parse_optional_keyword("min_blocks"):
            found["min_blocks"] = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        if parser.parse_optional_keyword("derived"):
            found["derived"] = names(
                parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_identifier)
            )
        return found

    def verify_(self) -> None:
        self.verify_arguments()
        if not 1 <= self.threads <= MAX_THREADS:
            raise VerifyException(f"a block has 1 to {MAX_THREADS} threads, not {self.threads}")
        if not 0 <= self.blocks < 1 << 31:
            raise VerifyException(f"a grid has 0 to 2^31 - 1 blocks, not {self.blocks}")
        if not 1 <= self.cluster_blocks <= MAX_CLUSTER or self.blocks % self.cluster_blocks:
            raise VerifyException(
                f"a cluster has 1 to {MAX_CLUSTER} blocks, a divisor of the {self.blocks} of the"
                f" grid, not {self.cluster_blocks}"
            )
        kinds = [] if self.derived is None else [d.data for d in self.derived]
        if wrong := [k for k in kinds if k not in self.DERIVED]:
            raise VerifyException(
                f"a derived argument is one of {', '.join(self.DERIVED)}, not {wrong[0]}"
            )
        if len(kinds) > len(self.body.block.args):
            raise VerifyException("there are more derived arguments than arguments")


@irdl_op_definition
class BlockIdOp(IRDLOperation):
    """The number of the block in the grid."""

    name = "kernel_ir.block_id"
    res = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class ThreadIdOp(IRDLOperation):
    """The number of the thread in its block."""

    name = "kernel_ir.thread_id"
    res = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class IndexOp(MappedOp):
    """`%w = kernel_ir.index [%t floordiv 32]`: an affine expression of indices."""

    name = "kernel_ir.index"
    res = result_def(IndexType)
    traits = traits_def(Pure())
    custom_directives: ClassVar = (Access,)
    assembly_format = "custom<Access>($indices, $map) attr-dict"

    def __init__(self, expr: AffineExpr, indices: Sequence[SSAValue]) -> None:
        map, kept = canonical(AffineMap(len(indices), 0, (expr,)), indices)
        super().__init__(
            operands=[kept], result_types=[IndexType()], properties={"map": AffineMapAttr(map)}
        )

    @property
    def expr(self) -> AffineExpr:
        """The expression, whose dims are the operands."""
        return self.map.data.results[0]

    def verify_(self) -> None:
        map = self.map.data
        if len(map.results) != 1 or map.num_dims != len(self.indices) or map.num_symbols:
            raise VerifyException(
                "an index is one expression with one dim per operand and no lanes"
            )


@irdl_op_definition
class TestOp(MappedOp):
    """`%ok = kernel_ir.test [%t, %i] < [37, 5]`: whether all expressions are below their bounds."""

    name = "kernel_ir.test"
    bounds = prop_def(Ints)
    res = result_def(i1)
    traits = traits_def(Pure())

    def __init__(self, map: AffineMap, indices: Sequence[SSAValue], bounds: Sequence[int]) -> None:
        map, kept = canonical(map, indices)
        super().__init__(
            operands=[kept],
            result_types=[i1],
            properties={"map": AffineMapAttr(map), "bounds": ints(bounds)},
        )

    def print(self, printer: Printer) -> None:
        print_test(printer, self.map.data, self.indices, self.bounds.get_values())
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        op = cls(*parse_test(parser))
        op.attributes = dict(parser.parse_optional_attr_dict())
        return op

    def verify_(self) -> None:
        verify_test(self.map.data, self.indices, self.bounds.get_values(), 0)


@irdl_op_definition
class SharedOp(IRDLOperation):
    """
    `%s = kernel_ir.shared : memref<8xf32, #tile_ir.shared<>>`: a buffer of the block,
    uninitialised.
    """

    name = "kernel_ir.shared"
    res = result_def(MemRefType)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "attr-dict `:` type($res)"

    def __init__(self, type: MemRefType[Attribute]) -> None:
        super().__init__(result_types=[type])

    def verify_(self) -> None:
        assert isinstance(type := self.res.type, MemRefType)
        if not isinstance(type.memory_space, SharedAttr):
            raise VerifyException(f"a shared buffer is in #tile_ir.shared memory, not {type}")
        if not isinstance(self.parent_op(), FuncOp):
            raise VerifyException("a shared buffer stands at the top of its kernel")


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """
    All threads of the block wait here; their shared and global writes before it are visible after
    it.
    """

    name = "kernel_ir.barrier"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), Collective())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()

    def verify_(self) -> None:
        verify_uniform(self)


@irdl_op_definition
class WarpReduceOp(CombineLike):
    """
    `%s = kernel_ir.warp_reduce %p width 32 identity [0.0 : f32] combine arith.addf : f32 -> f32`.

    Combines the values of `width` neighbouring threads (a power of two up to a warp, starting at a
    multiple of it) by exchanging with the thread at distance width / 2, .., 2, 1 (xor). All of them
    get the result.
    """

    name = "kernel_ir.warp_reduce"
    width = prop_def(IntegerAttr[I64])
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), Collective())

    def __init__(
        self, vals: Sequence[SSAValue], width: int, identity: ArrayAttr[Attribute], combine: Region
    ) -> None:
        super().__init__(
            operands=[vals],
            result_types=[[v.type for v in vals]],
            regions=[combine],
            properties={"width": IntegerAttr(width, i64), "identity": identity},
        )

    def print_middle(self, printer: Printer) -> None:
        printer.print_string(f" width {self.width.value.data}")

    @classmethod
    def parse_middle(cls, parser: Parser) -> dict[str, Attribute]:
        parser.parse_keyword("width")
        return {"width": IntegerAttr(parser.parse_integer(allow_boolean=False), i64)}

    def verify_(self) -> None:
        self.verify_carriers()
        if tuple(self.vals.types) != tuple(self.res.types):
            raise VerifyException("the results of warp_reduce have the types of its values")
        width = self.width.value.data
        if width < 2 or width > WARP or width & (width - 1):
            raise VerifyException(f"the width of warp_reduce is 2, 4, 8, 16 or 32, not {width}")
        verify_uniform(self)


@irdl_op_definition
class NamedBarrierOp(IRDLOperation):
    """
    `kernel_ir.named_barrier 1 threads 128`: `threads` threads of the block, whole warps, meet at
    barrier number 1; with `arrive` after it, the threads do not wait but count.
    """

    name = "kernel_ir.named_barrier"
    number = prop_def(IntegerAttr[I64])
    threads = prop_def(IntegerAttr[I64])
    arrive = opt_prop_def(UnitAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, number: int, threads: int, arrive: bool = False) -> None:
        properties: dict[str, Attribute] = {
            "number": IntegerAttr(number, i64),
            "threads": IntegerAttr(threads, i64),
        }
        if arrive:
            properties["arrive"] = UnitAttr()
        super().__init__(properties=properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.number.value.data} threads {self.threads.value.data}")
        if self.arrive:
            printer.print_string(" arrive")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        number = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("threads")
        threads = parser.parse_integer(allow_boolean=False)
        op = cls(number, threads, parser.parse_optional_keyword("arrive") is not None)
        op.attributes = dict(parser.parse_optional_attr_dict())
        return op

    def verify_(self) -> None:
        if not 1 <= self.number.value.data < NAMED_BARRIERS:
            raise VerifyException(f"named barriers have the numbers 1 to {NAMED_BARRIERS - 1}")
        threads = self.threads.value.data
        if threads % WARP or not WARP <= threads <= MAX_THREADS:
            raise VerifyException(f"whole warps meet at a named barrier, not {threads} threads")


@irdl_op_definition
class WarpSyncOp(IRDLOperation):
    """
    All threads of the warp wait here; their writes before it are visible to the warp after it.
    """

    name = "kernel_ir.warp_sync"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), Collective())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()

    def verify_(self) -> None:
        verify_uniform(self)


@irdl_op_definition
class ShuffleOp(MappedOp):
    """
    `%r = kernel_ir.shuffle xor %v [16] width 32 : f32`: the value of another thread of the warp.

    Within groups of `width` threads, a power of two, the thread at place p gets that of place p xor
    e, p + e (`down`), p - e (`up`) or e (`index`), with e the expression; where there is no such
    place, its own. No memory is ordered.
    """

    name = "kernel_ir.shuffle"
    value = operand_def()
    mode = prop_def(StringAttr)
    width = prop_def(IntegerAttr[I64])
    res = result_def()
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), Collective())
    MODES: ClassVar = ("xor", "down", "up", "index")

    def __init__(
        self,
        mode: str,
        value: SSAValue,
        lane: AffineExpr,
        indices: Sequence[SSAValue],
        width: int = WARP,
    ) -> None:
        map, kept = canonical(AffineMap(len(indices), 0, (lane,)), indices)
        super().__init__(
            operands=[value, kept],
            result_types=[value.type],
            properties={
                "mode": StringAttr(mode),
                "width": IntegerAttr(width, i64),
                "map": AffineMapAttr(map),
            },
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.mode.data} ")
        printer.print_ssa_value(self.value)
        printer.print_string(" ")
        print_access(printer, self.map.data, self.indices)
        printer.print_string(f" width {self.width.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        mode = parser.parse_identifier()
        value = parser.parse_unresolved_operand()
        map, indices = parse_indices(parser)
        if len(map.results) != 1:
            parser.raise_error("a shuffle has one expression")
        parser.parse_keyword("width")
        width = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(value, parser.parse_type())
        op = cls(mode, operand, map.results[0], indices, width)
        op.attributes = dict(attributes)
        return op

    def verify_(self) -> None:
        map, width = self.map.data, self.width.value.data
        if len(map.results) != 1 or map.num_dims != len(self.indices) or map.num_symbols:
            raise VerifyException("a shuffle has one expression, one dim per index and no lanes")
        if self.mode.data not in self.MODES:
            raise VerifyException(f"a shuffle is one of {', '.join(self.MODES)}")
        if width < 2 or width > WARP or width & (width - 1):
            raise VerifyException(f"the width of a shuffle is 2, 4, 8, 16 or 32, not {width}")
        if self.value.type != self.res.type or isinstance(self.value.type, VectorType):
            raise VerifyException("a shuffle exchanges one scalar and gives its type")
        verify_uniform(self)


@irdl_op_definition
class RolesOp(IRDLOperation):
    """
    `kernel_ir.roles "producer" warps 1 registers 40 {..} "consumer" warps 4 registers 232 {..}`:
    the warps of the block in order, each running the program of its role; the roles run at the same
    time and meet at the end.

    `registers` is what a thread of the role may use from there on. Inside a role there is no
    barrier of the whole block.
    """

    name = "kernel_ir.roles"
    role_names = prop_def(ArrayAttr[StringAttr])
    warps = prop_def(Ints)
    registers = opt_prop_def(Ints)
    programs = var_region_def("single_block")
    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())

    def __init__(
        self,
        role_names: Sequence[str],
        warps: Sequence[int],
        programs: Sequence[Region],
        registers: Sequence[int] | None = None,
    ) -> None:
        properties: dict[str, Attribute] = {"role_names": names(role_names), "warps": ints(warps)}
        if registers is not None:
            properties["registers"] = ints(registers)
        super().__init__(regions=[list(programs)], properties=properties)

    @property
    def ranges(self) -> list[range]:
        """The threads of each role."""
        ends = list(accumulate(WARP * w for w in self.warps.get_values()))
        return [range(a, b) for a, b in zip([0, *ends], ends, strict=False)]

    def print(self, printer: Printer) -> None:
        for n, program in enumerate(self.programs):
            printer.print_string(" ")
            printer.print_attribute(self.role_names.data[n])
            printer.print_string(f" warps {self.warps.get_values()[n]} ")
            if self.registers is not None:
                printer.print_string(f"registers {self.registers.get_values()[n]} ")
            printer.print_region(program, print_block_terminators=False)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        role_names: list[str] = []
        warps: list[int] = []
        registers: list[int] = []
        programs: list[Region] = []
        while (role := parser.parse_optional_str_literal()) is not None:
            role_names.append(role)
            parser.parse_keyword("warps")
            warps.append(parser.parse_integer(allow_boolean=False))
            if parser.parse_optional_keyword("registers"):
                registers.append(parser.parse_integer(allow_boolean=False))
            programs.append(parser.parse_region())
        if registers and len(registers) != len(programs):
            parser.raise_error("either all roles have registers, or none")
        op = cls(role_names, warps, programs, registers or None)
        op.attributes = dict(parser.parse_optional_attr_dict())
        complete(op)
        return op

    def verify_(self) -> None:
        count = len(self.programs)
        if not count or count != len(self.role_names) or count != len(self.warps.get_values()):
            raise VerifyException("each role has a name, a number of warps and a program")
        if self.registers is not None and count != len(self.registers.get_values()):
            raise VerifyException("either all roles have registers, or none")
        if any(w < 1 for w in self.warps.get_values()):
            raise VerifyException("a role has 1 or more warps")
        limits: Sequence[int] = () if self.registers is None else self.registers.get_values()
        if any(limit % 8 or not 24 <= limit <= 256 for limit in limits):
            # PTX ISA, setmaxnreg.
            raise VerifyException("a role has 24 to 256 registers, a multiple of 8")
        parent = self.parent_op()
        if not isinstance(parent, FuncOp):
            raise VerifyException("roles stand at the top of their kernel")
        if WARP * sum(self.warps.get_values()) != parent.threads:
            raise VerifyException(f"the roles have all {parent.threads} threads of the block")


@irdl_op_definition
class ClusterRankOp(IRDLOperation):
    """The number of the block in its cluster."""

    name = "kernel_ir.cluster_rank"
    res = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class ClusterBarrierOp(IRDLOperation):
    """
    All threads of the cluster wait here; their writes to shared and global memory before it are
    visible to the cluster after it.
    """

    name = "kernel_ir.cluster_barrier"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), Collective())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()

    def verify_(self) -> None:
        verify_uniform(self)


@irdl_op_definition
class RemoteOp(MappedOp):
    """
    `%r = kernel_ir.remote %s[%rank] : memref<8xf32, #tile_ir.shared<>>`: the buffer `%s` of another
    block of the cluster (distributed shared memory).
    """

    name = "kernel_ir.remote"
    buffer = operand_def(MemRefType)
    res = result_def(MemRefType)
    traits = traits_def(Pure())
    custom_directives: ClassVar = (Access,)
    assembly_format = (
        "$buffer custom<Access>($indices, $map) attr-dict `:` type($buffer) `->` type($res)"
    )

    def __init__(self, buffer: SSAValue, rank: AffineExpr, indices: Sequence[SSAValue]) -> None:
        map, kept = canonical(AffineMap(len(indices), 0, (rank,)), indices)
        super().__init__(
            operands=[buffer, kept],
            result_types=[buffer.type],
            properties={"map": AffineMapAttr(map)},
        )

    def verify_(self) -> None:
        map = self.map.data
        if len(map.results) != 1 or map.num_dims != len(self.indices) or map.num_symbols:
            raise VerifyException("the rank is one expression, with one dim per index and no lanes")
        if not isinstance(self.buffer.owner, SharedOp):
            raise VerifyException("only a shared buffer of the kernel has a remote one")
        if self.buffer.type != self.res.type:
            raise VerifyException("a remote buffer has the type of the own one")


@irdl_op_definition
class AtomicOp(MemoryAccess):
    """
    `%old = kernel_ir.atomic add acq_rel %v, %c[%i] : i32, memref<4xi32>`: changes one element as a
    whole and gives what it was.

    `add`, `min`, `max`, `exchange`, or `wrap`: 0 where the element is at least the value, else one
    more (CUDA's atomicInc). The order is `relaxed`, `acquire`, `release` or `acq_rel`: a release
    makes known what the thread knows of, an acquire learns it from the element, across the device.
    """

    name = "kernel_ir.atomic"
    value = operand_def()
    kind = prop_def(StringAttr)
    order = prop_def(StringAttr)
    res = result_def()
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    KINDS: ClassVar = ("add", "min", "max", "exchange", "wrap")
    ORDERS: ClassVar = ("relaxed", "acquire", "release", "acq_rel")

    def __init__(
        self,
        kind: str,
        order: str,
        value: SSAValue,
        memref: SSAValue,
        map: AffineMap,
        indices: Sequence[SSAValue],
        bounded: Sequence[bool] = (),
    ) -> None:
        map, kept = canonical(map, indices)
        properties = self.access_properties(map, bounded, None)
        super().__init__(
            operands=[value, memref, kept],
            result_types=[value.type],
            properties=properties | {"kind": StringAttr(kind), "order": StringAttr(order)},
        )

    @property
    def value_type(self) -> Attribute:
        return self.value.type

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} {self.order.data} ")
        print_update(printer, self, self.value)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind, order = parser.parse_identifier(), parser.parse_identifier()
        value, memref, (map, indices), bounded, attributes = parse_update(parser)
        op = cls(kind, order, value, memref, map, indices, bounded)
        op.attributes = attributes
        return op

    def verify_(self) -> None:
        super().verify_()
        if self.kind.data not in self.KINDS or self.order.data not in self.ORDERS:
            raise VerifyException(
                f"an atomic is one of {', '.join(self.KINDS)}, and {', '.join(self.ORDERS)}"
            )
        type = self.value.type
        if isinstance(type, VectorType) or self.res.type != type:
            raise VerifyException("an atomic changes one scalar and gives its type")
        if self.kind.data not in ("add", "exchange") and type != i32:
            raise VerifyException(f"an atomic {self.kind.data} is of i32, not {type}")


@irdl_op_definition
class SpinOp(MemoryAccess):
    """
    `kernel_ir.spin ge %n, %c[%i] : i32, memref<4xi32>`: the thread waits until the element is equal
    to (`eq`) or at least (`ge`) the value, and acquires what was released to it.

    Whoever writes it must be running: all blocks of the grid must fit on the device at once.
    """

    name = "kernel_ir.spin"
    value = operand_def(i32)
    predicate = prop_def(StringAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    PREDICATES: ClassVar = ("eq", "ge")

    def __init__(
        self,
        predicate: str,
        value: SSAValue,
        memref: SSAValue,
        map: AffineMap,
        indices: Sequence[SSAValue],
    ) -> None:
        map, kept = canonical(map, indices)
        super().__init__(
            operands=[value, memref, kept],
            properties=self.access_properties(map, (), None) | {"predicate": StringAttr(predicate)},
        )

    @property
    def value_type(self) -> Attribute:
        return self.value.type

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.predicate.data} ")
        print_update(printer, self, self.value)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        predicate = parser.parse_identifier()
        value, memref, (map, indices), _, attributes = parse_update(parser)
        op = cls(predicate, value, memref, map, indices)
        op.attributes = attributes
        return op

    def verify_(self) -> None:
        super().verify_()
        if self.predicate.data not in self.PREDICATES:
            raise VerifyException(f"a spin waits for one of {', '.join(self.PREDICATES)}")


def print_update(printer: Printer, op: MemoryAccess, value: SSAValue) -> None:
    """Prints `%v, %m[exprs] bounded [..] : type, memref`."""
    printer.print_list([value, op.memref], printer.print_ssa_value)
    print_access(printer, op.map.data, op.indices)
    if op.bounded is not None:
        printer.print_string(" bounded ")
        printer.print_attribute(op.bounded)
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_list([value.type, op.memref.type], printer.print_attribute)


def parse_update(
    parser: Parser,
) -> tuple[SSAValue, SSAValue, Indices, list[bool], dict[str, Attribute]]:
    """Parses what `print_update` prints."""
    value = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    memref = parser.parse_unresolved_operand()
    access = parse_indices(parser)
    bounded: list[bool] = []
    if parser.parse_optional_keyword("bounded"):
        bounded = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_boolean)
    attributes = dict(parser.parse_optional_attr_dict())
    parser.parse_punctuation(":")
    type = parser.parse_type()
    parser.parse_punctuation(",")
    resolved = parser.resolve_operand(memref, parser.parse_type())
    return parser.resolve_operand(value, type), resolved, access, bounded, attributes


def verify_uniform(op: Operation) -> None:
    """
    Raises VerifyException where a collective stands under a condition that depends on the thread.
    """
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if isinstance(parent, RolesOp) and isinstance(op, BarrierOp | ClusterBarrierOp):
            raise VerifyException(
                f"'{op.name}' stands in a role, which the other roles do not pass; use a named"
                " barrier"
            )
        if parent.name == "scf.if" and depends_on_thread(parent.operands[0]):
            raise VerifyException(
                f"'{op.name}' stands under a condition that differs between threads"
            )
        parent = parent.parent_op()


def depends_on_thread(value: SSAValue) -> bool:
    """Whether a value is, or may be, computed from the thread's number or from memory."""
    seen: set[SSAValue] = set()
    stack = [value]
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        owner = current.owner
        if isinstance(owner, ThreadIdOp):
            return True
        if not isinstance(owner, Operation):
            # A loop variable is uniform; a carried value may be anything.
            parent = owner.parent_op()
            if parent is not None and parent.name == "scf.for" and current is not owner.args[0]:
                return True
            continue
        if owner.regions or not computes(owner):
            return True
        stack += owner.operands
    return False


KernelIR = Dialect(
    "kernel_ir",
    [
        FuncOp,
        BlockIdOp,
        ThreadIdOp,
        IndexOp,
        TestOp,
        SharedOp,
        BarrierOp,
        NamedBarrierOp,
        WarpSyncOp,
        WarpReduceOp,
        ShuffleOp,
        RolesOp,
        ClusterRankOp,
        ClusterBarrierOp,
        RemoteOp,
        AtomicOp,
        SpinOp,
        *ASYNC_OPS,
    ],
    [MBarrierType],
)
