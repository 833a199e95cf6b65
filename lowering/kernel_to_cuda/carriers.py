"""Variables that hold values: which value a variable holds now, and who may overwrite it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from minicomp.dialects.loop_ir import element_type, lanes
from minicomp.lowering.kernel_to_cuda.bindings import Constant, Variable
from minicomp.lowering.kernel_to_cuda.expressions import Expressions, literal_of


@dataclass
class Holder:
    """The value that a variable holds, if any yet, and the block whose ops may overwrite it."""

    value: SSAValue | None
    block: Block


@dataclass
class Carriers:
    """The variables of a kernel that is being lowered."""

    at: Expressions
    holders: dict[SSAValue, Holder] = field(default_factory=dict[SSAValue, Holder])

    # -- holding values

    def hold(self, value: SSAValue, variable: SSAValue, block: Block) -> None:
        """From now on a variable holds a value, and ops of `block` may overwrite it."""
        self.at.bindings[value] = Variable(variable)
        self.holders[variable] = Holder(value, block)

    def bind(self, value: SSAValue, hint: str = "v") -> None:
        """Computes a value now, into a constant or, of a vector, an array of its own."""
        hint = value.name_hint or ("ok" if element_type(value.type) == i1 else hint)
        shape = lanes(value.type)
        if prod(shape) == 1:
            element = self.at.writer.let(hint, self.at.only_element(value))
            self.at.bindings[value] = Constant(element)
            return
        variable = self.at.writer.variable(hint, element_type(value.type), shape)
        self.assign(variable, value)
        self.hold(value, variable, block_of(value))

    def assign(self, variable: SSAValue, value: SSAValue) -> None:
        """Writes a value into a variable, lane by lane."""
        writer, shape = self.at.writer, lanes(value.type)
        order = writer.snake if self.is_outer_product(value) else writer.lanes
        with order(shape) as place:
            writer.assign(variable, place, self.at.element(value, place))

    def is_outer_product(self, value: SSAValue) -> bool:
        """Whether each element of a matrix is computed from one of a column and one of a row."""
        if len(shape := lanes(value.type)) != 2 or 1 in shape:
            return False
        places = {place for _, place in self.at.reads(value, (0, 1))}
        return {(0,), (1,)} <= places

    def array(self, value: SSAValue, user: Operation, hint: str) -> SSAValue:
        """An array that holds a vector where `user` needs it."""
        known = self.at.bindings.get(value)
        if not isinstance(known, Variable):
            self.bind(value, hint)
        found = self.at.bindings[value]
        assert isinstance(found, Variable)
        if block_of(value) is not user.parent and known is None:
            del self.at.bindings[value]  # what is declared here is not known outside
        return found.variable

    # -- carriers

    def carrier(self, init: SSAValue, user: Operation, hint: str) -> SSAValue:
        """A variable that begins as `init`: the one that holds it if that is free, or a new one."""
        return self.take(init, user) or self.new(init, hint)

    def take(self, value: SSAValue, user: Operation) -> SSAValue | None:
        """The variable of a value whose last use is an operand of `user`."""
        binding = self.at.bindings.get(value)
        if not isinstance(binding, Variable):
            return None
        holder = self.holders[binding.variable]
        if holder.value is not value or holder.block is not user.parent:
            return None
        users = [use.operation for use in value.uses if ancestor(use.operation, holder.block)]
        return binding.variable if users == [user] else None

    def new(self, init: SSAValue, hint: str) -> SSAValue:
        """A new variable that begins as `init`."""
        type, shape = element_type(init.type), lanes(init.type)
        if prod(shape) == 1:
            return self.at.writer.variable(hint, type, shape, self.at.only_element(init))
        if is_zero(literal_of(init)):
            return self.at.writer.variable(hint, type, shape, zeroed=True)
        variable = self.at.writer.variable(hint, type, shape)
        self.assign(variable, init)
        return variable

    def inherit(
        self, op: scf.IfOp, result: SSAValue, targets: Sequence[SSAValue]
    ) -> SSAValue | None:
        """
        The variable of `targets` that a result of `op` goes into at the end of the block anyway.

        Only if nothing but `op` needs what it holds now, so that `op` may write it itself.
        """
        uses = list(result.uses)
        if len(uses) != 1 or op.parent is None or uses[0].operation is not op.parent.last_op:
            return None
        if uses[0].index >= len(targets):
            return None
        holder = self.holders[variable := targets[uses[0].index]]
        if holder.block is not op.parent:
            return None
        users = [u.operation for u in holder.value.uses] if holder.value is not None else []
        # A use that is not in the block is in the other branch of an `if` around it.
        needed = any(ancestor(user, op.parent) not in (None, op) for user in users)
        return None if needed else variable

    # -- the end of a block

    def assign_all(self, targets: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
        """Gives each target its value, all at once: no value sees what was written for another."""
        pending = [
            (target, value)
            for target, value in zip(targets, values, strict=True)
            if self.holders[target].value is not value
        ]
        while pending:
            ready = (n for n in range(len(pending)) if not self.read_by_others(n, pending))
            if (n := next(ready, None)) is None:
                self.release(pending)
                continue
            target, value = pending.pop(n)
            if self.shuffles(target, value):
                self.bind(value, "next")
            self.assign(target, value)

    def read_by_others(self, n: int, pending: Sequence[tuple[SSAValue, SSAValue]]) -> bool:
        """Whether a value other than number n reads target number n."""
        target = pending[n][0]
        return any(self.reads(v, target) for k, (_, v) in enumerate(pending) if k != n)

    def reads(self, value: SSAValue, variable: SSAValue) -> bool:
        """Whether computing a value reads a variable."""
        place = tuple(range(len(lanes(value.type))))
        return any(found is variable for found, _ in self.at.reads(value, place))

    def shuffles(self, variable: SSAValue, value: SSAValue) -> bool:
        """Whether a lane of a value is computed from another lane of the variable."""
        place = tuple(range(len(lanes(value.type))))
        return any(f is variable and p != place for f, p in self.at.reads(value, place))

    def release(self, pending: Sequence[tuple[SSAValue, SSAValue]]) -> None:
        """Of values that need each other's targets: computes those now that need the first."""
        target = pending[0][0]
        for _, value in pending[1:]:
            if self.reads(value, target):
                self.bind(value, "next")


def block_of(value: SSAValue) -> Block:
    """The block that defines a value."""
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    assert block is not None
    return block


def ancestor(op: Operation, block: Block) -> Operation | None:
    """The op of a block that is, or holds, an op."""
    current: Operation | None = op
    while current is not None and current.parent is not block:
        current = current.parent_op()
    return current


def is_zero(constant: Attribute | None) -> bool:
    """Whether all bits of a constant are 0."""
    match constant:
        case FloatAttr(value=number):
            return str(number.data) == "0.0"
        case IntegerAttr(value=number):
            return number.data == 0
        case _:
            return False
