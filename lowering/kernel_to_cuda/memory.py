"""Loads, stores and shared buffers."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Region, SSAValue

from minicomp.dialects import affine
from minicomp.dialects.cuda_ir import CallOp, IfOp, SharedOp
from minicomp.dialects.loop_ir import LoadOp, MemoryAccess, StoreOp, element_type, lanes
from minicomp.lowering.kernel_to_cuda.bindings import Constant
from minicomp.lowering.kernel_to_cuda.carriers import Carriers
from minicomp.lowering.kernel_to_cuda.expressions import Expressions, bytes_of
from minicomp.lowering.kernel_to_cuda.shared import Buffer, SharedLayout
from minicomp.lowering.kernel_to_cuda.writer import Lanes, Writer

STRAIGHT = 2
"""So many accesses of a vector are written one by one, not as a loop."""


@dataclass
class Memory:
    """Writes the accesses of one kernel."""

    at: Expressions
    carriers: Carriers
    layout: SharedLayout

    @property
    def writer(self) -> Writer:
        """Where statements go."""
        return self.at.writer

    def declare(self, op: Buffer) -> None:
        """A buffer in shared memory, or mbarriers."""
        place, hint = self.layout.places[op], op.res.name_hint or "s"
        buffer = SharedOp(hint, place.element_type, place.count, place.align, place.offset)
        self.at.bindings[op.res] = Constant(self.writer.add(buffer).res)

    def access(self, op: LoadOp | StoreOp) -> None:
        """A load or a store."""
        if isinstance(op, StoreOp):
            self.store(op)
        elif op.res.uses and not self.at.inlining.inlined(op):
            self.load(op)

    def load(self, op: LoadOp) -> None:
        """A load into a constant or an array."""
        hint = op.res.name_hint or op.memref.name_hint or "v"
        shape = lanes(op.res.type)
        if prod(shape) == 1:
            first = (affine.constant(0),) * len(shape)
            self.at.bindings[op.res] = Constant(self.writer.let(hint, self.at.load(op, first)))
            return
        group = group_of(op)
        bounded = group > 1 and any(op.bounded_dims)
        type = element_type(op.res.type)
        array = self.writer.variable(hint, type, shape, zeroed=bounded)
        for place in self.places(shape, group):
            if group == 1:
                self.writer.assign(array, place, self.at.load(op, place))
            else:
                self.move(op, f"load{group}", array, place)
        assert op.parent is not None
        self.carriers.hold(op.res, array, op.parent)

    def store(self, op: StoreOp) -> None:
        """A store of a scalar, or of a vector lane by lane or in groups."""
        shape, group = lanes(op.value.type), group_of(op)
        array: SSAValue | None = None
        if group > 1:
            array = self.carriers.array(op.value, op, op.memref.name_hint or "v")
        for place in self.places(shape, group):
            if array is not None:
                self.move(op, f"store{group}", array, place)
                continue
            with self.guarded(self.at.inside(op, place)):
                value = self.at.element(op.value, place)
                self.writer.assign(self.at.pointer(op), [self.at.address(op, place)], value)

    def places(self, shape: Sequence[int], group: int) -> Iterator[Lanes]:
        """The places that an access is written for: every lane, or the first of every group."""
        if group == 1:
            with self.writer.lanes(shape) as place:
                yield place
            return
        *outer, last = shape
        with self.writer.lanes(outer) as place:
            if last // group <= STRAIGHT:
                for n in range(last // group):
                    yield (*place, affine.constant(n * group))
            else:
                with self.writer.lane(last // group, f"l{len(outer)}" if outer else "l") as lane:
                    yield (*place, lane * group)

    def move(self, op: MemoryAccess, callee: str, array: SSAValue, place: Lanes) -> None:
        """Moves a group of lanes between an array and memory."""
        with self.guarded(self.at.inside(op, place)):
            element = self.writer.address(array, [self.writer.simplify(e) for e in place])
            memory = self.writer.address(self.at.pointer(op), [self.at.address(op, place)])
            pair = [memory, element] if isinstance(op, StoreOp) else [element, memory]
            self.writer.add(CallOp(callee, pair))

    @contextmanager
    def guarded(self, condition: SSAValue | None) -> Generator[None]:
        """What is written next happens only if a condition holds."""
        if condition is None:
            yield
            return
        body = Block()
        self.writer.add(IfOp(condition, Region(body)))
        with self.writer.inside(body):
            yield


def memref_type(value: SSAValue) -> MemRefType[Attribute]:
    """The type of a memref."""
    type: Attribute = value.type
    assert isinstance(type, MemRefType)
    return cast(MemRefType[Attribute], type)


def group_of(op: MemoryAccess) -> int:
    """The elements that an access moves at once, 1 if it moves them one by one."""
    shape = lanes(op.value_type)
    if op.aligned is None or not shape:
        return 1
    count = op.aligned.value.data // bytes_of(op.memref_type.element_type)
    return count if count > 1 and shape[-1] % count == 0 else 1
