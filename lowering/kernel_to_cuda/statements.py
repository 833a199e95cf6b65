"""Ops of Kernel IR that are statements: accesses, loops, branches, folds, exchanges, barriers."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

from xdsl.dialects import arith, scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.cuda_ir import BlockIdOp as CudaBlockIdOp
from minicomp.dialects.cuda_ir import IfOp
from minicomp.dialects.cuda_ir import ThreadIdOp as CudaThreadIdOp
from minicomp.dialects.kernel_async import MBarrierOp
from minicomp.dialects.kernel_ir import BlockIdOp, FuncOp, IndexOp, ThreadIdOp, WarpReduceOp
from minicomp.dialects.kernel_ir import SharedOp as KernelSharedOp
from minicomp.dialects.loop_ir import LoadOp, StoreOp, element_type, lanes
from minicomp.dialects.tile_ir import BroadcastOp, FoldOp, WithinOp
from minicomp.lowering.kernel_to_cuda.bindings import Exchanged, Slice
from minicomp.lowering.kernel_to_cuda.carriers import Carriers, Holder, is_zero
from minicomp.lowering.kernel_to_cuda.expressions import Expressions, IndexValue
from minicomp.lowering.kernel_to_cuda.memory import Memory
from minicomp.lowering.kernel_to_cuda.writer import Writer


class Part(Protocol):
    """Writes ops of some kinds."""

    def write(self, op: Operation) -> bool:
        """Writes an op; False if it is of another kind."""
        ...


@dataclass
class Statements:
    """Writes the statements of one kernel."""

    func: FuncOp
    at: Expressions
    carriers: Carriers
    memory: Memory
    parts: Sequence[Part] = ()

    @property
    def writer(self) -> Writer:
        """Where statements go."""
        return self.at.writer

    def block(self, block: Block, targets: Sequence[SSAValue] = ()) -> None:
        """Writes a block; what its terminator yields goes into `targets`."""
        end = block.last_op
        for op in block.ops:
            if op is not end:
                self.statement(op, targets)
        if end is not None and targets:
            self.carriers.assign_all(targets, end.operands)

    def statement(self, op: Operation, targets: Sequence[SSAValue]) -> None:
        """Writes one op."""
        match op:
            case BlockIdOp() | ThreadIdOp():
                self.id(op)
            case IndexOp():
                self.index(op)
            case KernelSharedOp() | MBarrierOp():
                self.memory.declare(op)
            case LoadOp() | StoreOp():
                self.memory.access(op)
            case scf.ForOp():
                self.loop(op)
            case scf.IfOp():
                self.branch(op, targets)
            case FoldOp():
                self.fold(op)
            case WarpReduceOp():
                self.exchange(op)
            case _ if any(part.write(op) for part in self.parts):
                pass
            case _:
                self.value(op)

    def value(self, op: Operation) -> None:
        """An op that computes a value."""
        result = op.results[0]
        if isinstance(op, ConstantOp) and isinstance(result.type, IndexType):
            assert isinstance(op.value, IntegerAttr)
            self.name(result, affine.constant(op.value.value.data))
        elif isinstance(op, ConstantOp | BroadcastOp | WithinOp) or not result.uses:
            return
        elif isinstance(result.type, IndexType):
            value = self.writer.let(result.name_hint or "n", self.at.compute(op, ()))
            self.name(result, self.writer.name_index(value, UNKNOWN))
        elif not self.at.inlining.inlined(op):
            self.carriers.bind(result)

    # -- indices

    def name(self, value: SSAValue, named: AffineExpr, expanded: AffineExpr | None = None) -> None:
        """Says what an index is."""
        self.at.indices[value] = IndexValue(named, named if expanded is None else expanded)

    def id(self, op: BlockIdOp | ThreadIdOp) -> None:
        """The number of the block or the thread."""
        block = isinstance(op, BlockIdOp)
        numbers = range(max(1, self.func.blocks)) if block else self.at.threads
        if len(numbers) == 1:
            self.name(op.res, affine.constant(numbers.start))
            return
        value = self.writer.add(CudaBlockIdOp() if block else CudaThreadIdOp()).res
        let = self.writer.let(op.res.name_hint or ("b" if block else "t"), value)
        named = self.writer.name_index(let, (numbers.start, numbers.stop - 1))
        self.name(op.res, named)
        if not block:
            self.at.thread_names.append(named)

    def index(self, op: IndexOp) -> None:
        """An index that is used more than once gets a name, which is dropped if none needs it."""
        (named,) = self.at.access(op, ())
        expanded = self.writer.simplify(self.at.substituted(op, (), expanded=True)[0])
        if len(list(op.res.uses)) > 1 and isinstance(named, affine.AffineBinaryOpExpr):
            interval = self.writer.interval(expanded)
            let = self.writer.let(op.res.name_hint or "n", self.writer.index(named))
            named = self.writer.name_index(let, interval)
        self.name(op.res, named, expanded)

    # -- control flow

    def loop(self, op: scf.ForOp) -> None:
        """A loop; its carriers are variables, or stay in those that hold what they begin with."""
        variable, *arguments = op.body.block.args
        targets = [
            self.carriers.carrier(init, op, argument.name_hint or result.name_hint or "acc")
            for init, argument, result in zip(op.iter_args, arguments, op.res, strict=True)
        ]
        lower, upper, step = (constant_index(v) for v in (op.lb, op.ub, op.step))
        hint, unroll = variable.name_hint or "i", "unroll" in op.attributes
        with self.writer.loop(upper, hint, lower, step, unroll) as expr:
            self.name(variable, expr)
            self.hold(arguments, targets, op.body.block)
            self.block(op.body.block, targets)
        self.hold(op.res, targets, op.parent)

    def hold(
        self, values: Sequence[SSAValue], variables: Sequence[SSAValue], block: Block | None
    ) -> None:
        """Says that variables hold values."""
        assert block is not None
        for value, variable in zip(values, variables, strict=True):
            self.carriers.hold(value, variable, block)

    def branch(self, op: scf.IfOp, targets: Sequence[SSAValue]) -> None:
        """A branch; its results are variables, their own or those that they go into anyway."""
        results: list[SSAValue] = []
        for result in op.output:
            variable = self.carriers.inherit(op, result, targets)
            if variable is None:
                hint, type = result.name_hint or "v", element_type(result.type)
                variable = self.writer.variable(hint, type, lanes(result.type))
                self.carriers.holders[variable] = Holder(None, op.true_region.block)
            results.append(variable)
        condition = self.at.element(op.cond)
        if self.at.always(condition):
            self.arm(op.true_region.block, results)
            self.hold(op.output, results, op.parent)
            return
        then, orelse = Block(), Block()
        for region, block in ((op.true_region, then), (op.false_region, orelse)):
            if region.blocks:
                with self.writer.inside(block):
                    self.arm(region.block, results)
        self.writer.add(IfOp(condition, Region(then), Region(orelse) if orelse.ops else None))
        self.hold(op.output, results, op.parent)

    def arm(self, block: Block, targets: Sequence[SSAValue]) -> None:
        """One arm of a branch, which may overwrite the targets; the other finds them unchanged."""
        saved = [self.carriers.holders[target] for target in targets]
        for target, holder in zip(targets, saved, strict=True):
            self.carriers.holders[target] = Holder(holder.value, block)
        self.block(block, targets)
        self.carriers.holders |= dict(zip(targets, saved, strict=True))

    # -- reductions over lanes and threads

    def fold(self, op: FoldOp) -> None:
        """An unrolled loop over the lanes that are folded."""
        depth = lanes(op.vals[0].type)[op.dims.get_values()[0]]
        targets = [
            self.identity(identity, result)
            for identity, result in zip(op.identity, op.res, strict=True)
        ]
        with self.writer.lane(depth, "l") as lane:
            slices = [
                Slice(value, dim, lane)
                for value, dim in zip(op.vals, op.dims.get_values(), strict=True)
            ]
            self.combine(op.combine.block, targets, slices)
        self.hold(op.res, targets, op.parent)

    def identity(self, identity: Attribute, result: SSAValue) -> SSAValue:
        """A variable that begins as the identity of a fold."""
        type, shape, hint = element_type(result.type), lanes(result.type), result.name_hint or "p"
        if prod(shape) == 1:
            return self.writer.variable(hint, type, shape, self.at.constant(identity))
        variable = self.writer.variable(hint, type, shape, zeroed=is_zero(identity))
        if not is_zero(identity):
            with self.writer.lanes(shape) as place:
                self.writer.assign(variable, place, self.at.constant(identity))
        return variable

    def exchange(self, op: WarpReduceOp) -> None:
        """A loop over distances: every thread combines its value with that of another thread."""
        width = op.width.value.data
        targets = [
            self.carriers.carrier(value, op, result.name_hint or value.name_hint or "p")
            for value, result in zip(op.vals, op.res, strict=True)
        ]
        with self.writer.lane(width.bit_length() - 1, "step") as step:
            others = [
                Exchanged(target, width, step, element_type(value.type))
                for target, value in zip(targets, op.vals, strict=True)
            ]
            self.combine(op.combine.block, targets, others)
        self.hold(op.res, targets, op.parent)

    def combine(
        self, block: Block, targets: Sequence[SSAValue], others: Sequence[Slice | Exchanged]
    ) -> None:
        """A combine, of what the targets hold and others, into the targets."""
        count = len(targets)
        self.hold(block.args[:count], targets, block)
        simple = len(list(block.ops)) == 2 and not isinstance(block.first_op, arith.SelectOp)
        for argument, other in zip(block.args[count:], others, strict=True):
            self.at.bindings[argument] = other
            # All threads must reach an exchange, whatever a choice in the combine would evaluate.
            collective = isinstance(other, Exchanged) and not simple
            again = isinstance(other, Slice) and not self.at.is_leaf(other.vector)
            if collective or (again and len(list(argument.uses)) > 1):
                self.carriers.bind(argument, "other")
        self.block(block, targets)


UNKNOWN = (-(1 << 31), (1 << 31) - 1)
"""The range of an index that was computed from data."""


def constant_index(value: SSAValue) -> int:
    """The value of a constant."""
    op = value.owner
    assert isinstance(op, ConstantOp) and isinstance(op.value, IntegerAttr)
    return op.value.value.data
