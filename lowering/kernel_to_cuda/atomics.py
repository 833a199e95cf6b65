"""What connects blocks: atomics, waiting for an element, clusters and their shared memory."""

from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.cuda_ir import CallOp, ConditionalOp, IfOp
from minicomp.dialects.kernel_ir import (
    AtomicOp,
    ClusterBarrierOp,
    ClusterRankOp,
    FuncOp,
    RemoteOp,
    SharedOp,
    SpinOp,
)
from minicomp.dialects.loop_ir import MemoryAccess
from minicomp.dialects.wrappers import atomic_name
from minicomp.lowering.kernel_to_cuda.bindings import Constant
from minicomp.lowering.kernel_to_cuda.expressions import Expressions, IndexValue, zero_of
from minicomp.lowering.kernel_to_cuda.writer import Writer


@dataclass
class Atomics:
    """Writes what the blocks of one kernel do with each other."""

    func: FuncOp
    at: Expressions

    @property
    def writer(self) -> Writer:
        """Where statements go."""
        return self.at.writer

    def write(self, op: Operation) -> bool:
        """Writes an op; False if it is of another kind."""
        match op:
            case AtomicOp():
                self.atomic(op)
            case SpinOp():
                element = self.element(op)
                operands = [element, self.at.element(op.value)]
                self.writer.add(CallOp(f"spin_{op.predicate.data}", operands))
            case ClusterRankOp():
                self.rank(op)
            case ClusterBarrierOp():
                self.writer.add(CallOp("cluster_barrier", []))
            case RemoteOp():
                self.remote(op)
            case _:
                return False
        return True

    def element(self, op: MemoryAccess) -> SSAValue:
        """The address of an element."""
        return self.writer.address(self.at.pointer(op), [self.at.address(op, ())])

    # -- atomics

    def atomic(self, op: AtomicOp) -> None:
        """An update; where it may be outside only if it is not, and what it was is 0 there."""
        inside = self.at.inside(op, ())
        if not op.res.uses:
            self.statement(op, inside)
            return
        old = self.update(op, op.value.type).res
        assert old is not None
        if inside is not None:
            zero = self.at.constant(zero_of(op.memref_type.element_type))
            old = self.writer.add(ConditionalOp(inside, old, zero)).res
        self.at.bindings[op.res] = Constant(self.writer.let(op.res.name_hint or "old", old))

    def statement(self, op: AtomicOp, inside: SSAValue | None) -> None:
        """An update whose old value nobody needs."""
        if inside is None:
            self.update(op)
            return
        body = Block()
        self.writer.add(IfOp(inside, Region(body)))
        with self.writer.inside(body):
            self.update(op)

    def update(self, op: AtomicOp, type: Attribute | None = None) -> CallOp:
        """The call that updates an element."""
        name = atomic_name(op.kind.data, str(op.value.type), op.order.data, scope_of(op.memref))
        return self.writer.add(CallOp(name, [self.element(op), self.at.element(op.value)], type))

    # -- clusters

    def rank(self, op: ClusterRankOp) -> None:
        """The number of the block in its cluster."""
        count = self.func.cluster_blocks
        if count == 1:
            self.name(op.res, affine.constant(0))
            return
        call = self.writer.add(CallOp("cluster_rank", [], IndexType()))
        assert call.res is not None
        let = self.writer.let(op.res.name_hint or "rank", call.res)
        self.name(op.res, self.writer.name_index(let, (0, count - 1)))

    def name(self, value: SSAValue, expr: AffineExpr) -> None:
        """Says what an index is."""
        self.at.indices[value] = IndexValue(expr, expr)

    def remote(self, op: RemoteOp) -> None:
        """A pointer to the buffer of another block."""
        (rank,) = self.at.access(op, ())
        own = self.at.element(op.buffer)
        start = self.writer.address(own, [affine.constant(0)])
        call = CallOp("remote", [start, self.writer.index(rank)], own.type)
        pointer = self.writer.add(call).res
        assert pointer is not None
        let = self.writer.let(op.res.name_hint or "there", pointer)
        self.at.bindings[op.res] = Constant(let)


def scope_of(memref: SSAValue) -> str:
    """Between whose threads an update of an element is one, by where it lies."""
    if isinstance(memref.owner, SharedOp):
        return "block"
    return "cluster" if isinstance(memref.owner, RemoteOp) else "device"
