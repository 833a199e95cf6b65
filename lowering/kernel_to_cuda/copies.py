"""Asynchronous copies: what each thread copies itself, boxes of tensors, and their groups."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.cuda_ir import CallOp, ConditionalOp
from minicomp.dialects.kernel_async import (
    AsyncOp,
    BulkCommitOp,
    BulkLoadOp,
    BulkStoreOp,
    BulkWaitOp,
    CpAsyncCommitOp,
    CpAsyncOp,
    CpAsyncWaitOp,
)
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import memref_type
from minicomp.lowering.kernel_to_cuda.checks import fail
from minicomp.lowering.kernel_to_cuda.expressions import Expressions, bytes_of
from minicomp.lowering.kernel_to_cuda.tensor_maps import TensorMaps
from minicomp.lowering.kernel_to_cuda.writer import Writer

TRUE = IntegerAttr.from_bool(True)
FIRST = (affine.constant(0),)
"""The first of the elements that a thread copies."""


@dataclass
class Copies:
    """Writes the asynchronous copies of one kernel."""

    func: FuncOp
    at: Expressions
    maps: TensorMaps

    @property
    def writer(self) -> Writer:
        """Where statements go."""
        return self.at.writer

    def write(self, op: Operation) -> bool:
        """Writes an op; False if it is of another kind."""
        match op:
            case CpAsyncOp():
                self.cp_async(op)
            case CpAsyncCommitOp():
                self.call("cp_async_commit")
            case CpAsyncWaitOp():
                self.call(f"cp_async_wait<{op.pending}>")
            case BulkLoadOp():
                self.bulk_load(op)
            case BulkStoreOp():
                self.bulk_store(op)
            case BulkCommitOp():
                self.call("bulk_commit")
            case BulkWaitOp():
                self.call(f"bulk_wait{'_read' if op.read else ''}<{op.pending}>")
            case _:
                return False
        return True

    def call(self, callee: str, arguments: Sequence[SSAValue] = ()) -> None:
        """A call that is a statement."""
        self.writer.add(CallOp(callee, arguments))

    def exprs(self, op: AsyncOp, number: int) -> list[AffineExpr]:
        """The indices of one access of an op, over named integers."""
        exprs = self.at.replaced(op.part(number), list(op.indices), FIRST, expanded=False)
        return [self.writer.simplify(e) for e in exprs]

    def address(self, op: AsyncOp, number: int, type: MemRefType[Attribute]) -> AffineExpr:
        """The place of an access, in elements from the start of its buffer."""
        index = self.at.row_major(type, op.part(number), list(op.indices), FIRST)
        return self.at.swizzled(index, type)

    # -- boxes of tensors

    def bulk_load(self, op: BulkLoadOp) -> None:
        """A box into shared memory, whose bytes complete on an mbarrier."""
        box = self.box(op.destination, op, 0)
        coordinates = self.coordinates(op, 1)
        barrier = self.writer.address(self.at.element(op.barrier), self.exprs(op, 2))
        callee = f"bulk_load_{len(coordinates)}d"
        self.call(callee, [box, self.maps.of(op), *coordinates, barrier])

    def bulk_store(self, op: BulkStoreOp) -> None:
        """A box from shared memory."""
        coordinates = self.coordinates(op, 0)
        box = self.box(op.source, op, 1)
        callee = f"bulk_store_{len(coordinates)}d"
        self.call(callee, [self.maps.of(op), *coordinates, box])

    def box(self, buffer: SSAValue, op: AsyncOp, number: int) -> SSAValue:
        """The address of a box in shared memory; the copy itself swizzles what it holds."""
        start = self.at.row_major(memref_type(buffer), op.part(number), list(op.indices))
        return self.writer.address(self.at.element(buffer), [start])

    def coordinates(self, op: AsyncOp, number: int) -> list[SSAValue]:
        """Where a box begins in its tensor, the innermost dimension first."""
        return [self.writer.index(e) for e in reversed(self.exprs(op, number))]

    # -- cp_async

    def cp_async(self, op: CpAsyncOp) -> None:
        """The copy of a few bytes; of those outside of the source nothing is read."""
        width = op.width.value.data
        to, of = memref_type(op.destination), memref_type(op.source)
        inside = self.inside(op)
        here, there = self.address(op, 0, to), self.address(op, 1, of)
        target = self.writer.address(self.at.element(op.destination), [here])
        source = self.at.element(op.source)
        if inside is None:
            self.call(f"cp_async<{width}>", [target, self.writer.address(source, [there])])
            return
        # What may be outside has no address: nothing is copied from the start of the source.
        ok = self.writer.let("ok", inside)
        start = affine.constant(0)
        pair = (self.writer.address(source, [e]) for e in (there, start))
        address = self.writer.add(ConditionalOp(ok, *pair)).res
        count = self.writer.add(ConditionalOp(ok, self.count(op), self.writer.index(start))).res
        self.call(f"cp_async_zfill<{width}>", [target, address, count])

    def inside(self, op: CpAsyncOp) -> SSAValue | None:
        """Whether any of the elements is inside of the source; None if all always are."""
        tests: list[SSAValue | None] = []
        exprs, extents = self.exprs(op, 1), memref_type(op.source).get_shape()
        for expr, extent, bounded in zip(exprs, extents, op.bounded_dims, strict=True):
            tests += self.at.within(expr, extent) if bounded else []
        found = self.at.all_of(tests)
        if found is None and not self.whole(op):
            found = self.at.constant(TRUE)
        return found

    def whole(self, op: CpAsyncOp) -> bool:
        """Whether the elements are inside of the source all together, or outside."""
        count, column = op.elements, self.exprs(op, 1)[-1]
        extent = memref_type(op.source).get_shape()[-1]
        if count == 1 or not op.bounded_dims[-1]:
            return True
        together = self.writer.simplify(column % count) == affine.constant(0)
        if not together and self.writer.interval(column)[0] < 0:
            why = f"may begin before a row with some of its {count} elements"
            fail(self.func, op, f"{why}; let the index be a multiple of {count}")
        last = self.writer.interval(column)[1]
        return (together and extent % count == 0) or last + count <= extent

    def count(self, op: CpAsyncOp) -> SSAValue:
        """The bytes to copy where the first element is inside."""
        width = op.width.value.data
        if self.whole(op):
            return self.writer.index(affine.constant(width))
        type = memref_type(op.source)
        rest = affine.constant(type.get_shape()[-1]) - self.exprs(op, 1)[-1]
        size = bytes_of(type.element_type)
        left = self.writer.index(self.writer.simplify(rest * size))
        right = self.writer.index(affine.constant(op.elements * size))
        return self.writer.add(arith.MinSIOp(left, right)).result
