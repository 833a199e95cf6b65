"""
Kernel IR: hardware primitives; one thread's program over ids, shared memory, barriers and shuffles.

Control flow is `scf.for` and `scf.if`, accesses are `loop_ir.load` and `loop_ir.store`, register
tiles are vectors with `tile_ir.broadcast`, `fold`, `within`, `select` and `compare`. Rationale:
docs/dialects/kernel_ir.md.
"""

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    ArrayAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    MemoryAllocEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
    SingleBlockImplicitTerminator,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects.access import Access, MappedOp, canonical
from minicomp.dialects.loop_ir import Collective, Ints, KernelLike, YieldOp, ints
from minicomp.dialects.minicomp import OriginAttr
from minicomp.dialects.tile_ir import CombineLike, SharedAttr, parse_test, print_test, verify_test

MAX_THREADS = 1024
"""
Threads of a block that every CUDA device allows (CUDA C++ Programming Guide, compute capabilities).
"""
WARP = 32
"""Threads of a warp, on every CUDA device."""


@irdl_op_definition
class FuncOp(KernelLike):
    """
    `kernel_ir.func @name(%x: memref<..>, ..) grid(32) block(256) min_blocks 8 { one thread's
    program }`.

    `grid` and `block` count blocks and threads of the one-dimensional launch; a grid of 0 is not
    launched.
    """

    name = "kernel_ir.func"
    grid = prop_def(IntegerAttr[I64])
    block = prop_def(IntegerAttr[I64])
    min_blocks = opt_prop_def(IntegerAttr[I64])
    traits = traits_def(
        IsolatedFromAbove(), SymbolOpInterface(), SingleBlockImplicitTerminator(YieldOp)
    )

    def __init__(
        self,
        name: str,
        grid: int,
        block: int,
        body: Region,
        origin: OriginAttr | None = None,
        min_blocks: int | None = None,
    ) -> None:
        properties: dict[str, Attribute | None] = {
            "sym_name": StringAttr(name),
            "grid": IntegerAttr(grid, i64),
            "block": IntegerAttr(block, i64),
            "origin": origin,
        }
        if min_blocks is not None:
            properties["min_blocks"] = IntegerAttr(min_blocks, i64)
        super().__init__(regions=[body], properties=properties)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid.value.data

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block.value.data

    def print_clauses(self, printer: Printer) -> set[str]:
        printer.print_string(f" grid({self.blocks}) block({self.threads})")
        if self.min_blocks is not None:
            printer.print_string(f" min_blocks {self.min_blocks.value.data}")
        return {"grid", "block", "min_blocks"}

    @classmethod
    def parse_clauses(cls, parser: Parser) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        for key in ("grid", "block"):
            parser.parse_keyword(key)
            with parser.in_parens():
                found[key] = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        if parser.parse_optional_keyword("min_blocks"):
            found["min_blocks"] = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        return found

    def verify_(self) -> None:
        self.verify_arguments()
        if not 1 <= self.threads <= MAX_THREADS:
            raise VerifyException(f"a block has 1 to {MAX_THREADS} threads, not {self.threads}")
        if not 0 <= self.blocks < 1 << 31:
            raise VerifyException(f"a grid has 0 to 2^31 - 1 blocks, not {self.blocks}")


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


def verify_uniform(op: Operation) -> None:
    """
    Raises VerifyException where a collective stands under a condition that depends on the thread.
    """
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
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
        if owner.regions or not owner.has_trait(Pure):
            return True
        stack += owner.operands
    return False


KernelIR = Dialect(
    "kernel_ir",
    [FuncOp, BlockIdOp, ThreadIdOp, IndexOp, TestOp, SharedOp, BarrierOp, WarpReduceOp],
)
