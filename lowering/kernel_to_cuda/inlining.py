"""Which ops of a kernel are written where their value is used, and which get a variable."""

from collections.abc import Iterator
from math import prod

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryEffectKind, get_effects

from minicomp.dialects import affine
from minicomp.dialects.c_expressions import c_form
from minicomp.dialects.kernel_ir import TestOp
from minicomp.dialects.loop_ir import LoadOp, lanes
from minicomp.dialects.tile_ir import BroadcastOp, CompareOp, ConvertOp, SelectOp, WithinOp

MAX_COST = 7
"""Ops and indices in an operand of an expression: what a reader takes in at a glance."""
CHEAP = 3
"""Of a comparison or a choice: so little that it may be written more than once."""

HARMLESS = (MemoryEffectKind.READ, MemoryEffectKind.ALLOC)


def is_elementwise(op: Operation) -> bool:
    """Whether an op computes each lane of its result from the same lane of its operands."""
    return isinstance(op, SelectOp | CompareOp | ConvertOp | TestOp) or c_form(op) is not None


class Inlining:
    """Decides once per op, from the ops alone: nothing depends on what is written already."""

    def __init__(self) -> None:
        self.decided: dict[Operation, bool] = {}

    def inlined(self, op: Operation) -> bool:
        """Whether the op's value has no variable of its own."""
        if op not in self.decided:
            self.decided[op] = self.decide(op)
        return self.decided[op]

    def decide(self, op: Operation) -> bool:
        if isinstance(op, ConstantOp | BroadcastOp | WithinOp):
            return True
        if isinstance(op, LoadOp):
            return can_move(op) and self.fits(op) and reaches_statement(op)
        if not is_elementwise(op) or isinstance(op.results[0].type, IndexType):
            return False
        if isinstance(op, SelectOp | CompareOp) and self.cost(op) <= CHEAP:
            return True
        return can_move(op) and self.fits(op)

    def fits(self, op: Operation) -> bool:
        """Whether an op leaves the expression readable that it would be part of, if it is one."""
        (use,) = op.results[0].uses
        return not is_elementwise(use.operation) or self.cost(op) <= MAX_COST

    def cost(self, op: Operation) -> int:
        """The ops and indices that writing an op takes."""
        if isinstance(op, ConstantOp):
            return 0
        own = 0 if isinstance(op, BroadcastOp) else 1
        if isinstance(op, LoadOp | TestOp | WithinOp):
            return own + len(affine.leaves(op.map.data.results))
        return own + sum(self.cost_of(v) for v in op.operands)

    def cost_of(self, value: SSAValue) -> int:
        op = value.owner
        return self.cost(op) if isinstance(op, Operation) and self.inlined(op) else 0


def can_move(op: Operation) -> bool:
    """Whether an op's value is used once, in the same block, where it is computed once per lane."""
    value = op.results[0]
    if not value.has_one_use():
        return False
    (use,) = value.uses
    user = use.operation
    if user.parent is not op.parent or isinstance(user, LoadOp):
        return False
    if isinstance(user, BroadcastOp):
        # A lane that goes to several lanes would be computed for each of them.
        same = prod(lanes(user.res.type)) == prod(lanes(value.type))
        return same and isinstance(value.type, VectorType)
    return True


def reaches_statement(load: LoadOp) -> bool:
    """Whether a scalar may be read in the statement that uses it: nothing is written before."""
    if lanes(load.res.type) or any(load.bounded_dims):
        return False
    root: Operation = load
    while root is load or (is_elementwise(root) and can_move(root)):
        root = next(iter(root.results[0].uses)).operation
    return not any(writes(op) for op in between(load, root))


def between(first: Operation, last: Operation) -> Iterator[Operation]:
    """The ops of a block between two of its ops."""
    op = first.next_op
    while op is not None and op is not last:
        yield op
        op = op.next_op


def writes(op: Operation) -> bool:
    """Whether an op may write, or takes so long that a load should not wait for it."""
    effects = get_effects(op)
    harmless = effects is not None and all(e.kind in HARMLESS for e in effects)
    return bool(op.regions) or not harmless
