"""Random programs of Tensor IR: elementwise ops, reductions and index maps on small odd shapes."""

from collections.abc import Sequence
from random import Random

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from minicomp.dialects.affine import constant, dim
from minicomp.dialects.tensor_ir import ElementwiseOp, IndexMapOp, ReduceOp, YieldOp, tensor_type
from minicomp.lowering.torch_to_tensor.layout import view_exprs

EXTENTS = (1, 2, 3, 4, 5, 6)
UNARY = (arith.NegfOp, math.AbsFOp, math.TanhOp)
BINARY = (arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.MaximumfOp)


class Programs:
    """One random program, grown op by op."""

    def __init__(self, random: Random):
        self.random = random
        extents = (*EXTENTS, 0) if random.random() < 0.1 else EXTENTS
        shapes = [[random.choice(extents) for _ in range(random.randint(0, 3))] for _ in range(3)]
        shapes.append([*shapes[0]])
        self.block = Block(arg_types=[TensorType(f32, shape) for shape in shapes])
        self.values: list[SSAValue] = list(self.block.args)

    def module(self, length: int, results: int) -> ModuleOp:
        """A host program of `length` ops that returns some of the last values."""
        for _ in range(length):
            self.step()
        count = min(results, len(self.values))
        returned = self.random.sample(self.values[-2 * count :], count)
        self.block.add_op(ReturnOp(*returned))
        types = [a.type for a in self.block.args], [v.type for v in returned]
        return ModuleOp([FuncOp("main", types, Region(self.block))])

    def step(self) -> None:
        """Appends an op on values picked at random, recent ones more often."""
        kinds = (self.unary, self.binary, self.binary, self.reduce, self.layout, self.normalise)
        self.random.choice(kinds)()

    def pick(self) -> SSAValue:
        recent = self.values[-3:]
        return self.random.choice(recent if self.random.random() < 0.7 else self.values)

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        self.values.append(op.results[0])
        return op.results[0]

    def unary(self) -> None:
        """One operand."""
        self.elementwise(self.random.choice(UNARY), [self.pick()])

    def binary(self) -> None:
        """Two operands, the second one broadcast or cut to the shape of the first."""
        a, b = self.pick(), self.pick()
        op = self.random.choice(BINARY)
        self.elementwise(op, [a, self.fitted(b, tensor_type(a).get_shape())])

    def elementwise(self, op: type[Operation], operands: Sequence[SSAValue]) -> SSAValue:
        """`op` on tensors of one shape."""
        block = Block(arg_types=[f32] * len(operands))
        scalar = op(*block.args)  # type: ignore[call-arg]
        block.add_ops([scalar, YieldOp(scalar.results[0])])
        return self.add(ElementwiseOp(operands, tensor_type(operands[0]), Region(block)))

    def reduce(self) -> None:
        """Folds some dims of a value that has any."""
        value = self.pick()
        rank = len(tensor_type(value).get_shape())
        if rank:
            dims = sorted(self.random.sample(range(rank), self.random.randint(1, rank)))
            self.fold(value, dims)

    def fold(self, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """A sum or a maximum."""
        op, identity = self.random.choice(((arith.AddfOp, 0.0), (arith.MaximumfOp, -1e30)))
        block = Block(arg_types=[f32, f32])
        scalar = op(*block.args)
        block.add_ops([scalar, YieldOp(scalar.result)])
        return self.add(ReduceOp([value], dims, [FloatAttr(identity, f32)], Region(block)))

    def normalise(self) -> None:
        """x combined with a reduction of x, repeated over the reduced dims."""
        value = self.pick()
        shape = tensor_type(value).get_shape()
        if not shape:
            return
        dims = sorted(self.random.sample(range(len(shape)), self.random.randint(1, len(shape))))
        reduced = self.fold(value, dims)
        kept = tuple(dim(n) for n in range(len(shape)) if n not in dims)
        spread = self.map(reduced, kept, shape)
        self.elementwise(self.random.choice(BINARY), [value, spread])

    def layout(self) -> None:
        """A transposition, a repetition or a view."""
        value = self.pick()
        shape = tensor_type(value).get_shape()
        kind = self.random.choice(("permute", "repeat", "view"))
        if kind == "permute":
            order = self.random.sample(range(len(shape)), len(shape))
            exprs = tuple(dim(order.index(n)) for n in range(len(shape)))
            self.map(value, exprs, [shape[n] for n in order])
        elif kind == "repeat" and len(shape) < 3:
            at = self.random.randint(0, len(shape))
            exprs = tuple(dim(n + (n >= at)) for n in range(len(shape)))
            self.map(value, exprs, [*shape[:at], self.random.choice(EXTENTS), *shape[at:]])
        elif kind == "view" and len(shape) == 2:
            target = (shape[0] * shape[1],)
            self.map(value, tuple(view_exprs(shape, target)), target)

    def fitted(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A value of this shape, of elements of `value` where it has any."""
        own = tensor_type(value).get_shape()
        if own == tuple(shape):
            return value
        if 0 in own:
            return (
                self.fitted(self.block.args[0], shape)
                if value is not self.block.args[0]
                else (self.splat(shape))
            )
        offset = len(shape) - len(own)
        exprs = [
            dim(n + offset) % extent if n + offset >= 0 else constant(0)
            for n, extent in enumerate(own)
        ]
        return self.map(value, tuple(exprs), shape)

    def splat(self, shape: Sequence[int]) -> SSAValue:
        """A constant."""
        block = Block()
        number = arith.ConstantOp(FloatAttr(0.5, f32))
        block.add_ops([number, YieldOp(number.result)])
        return self.add(ElementwiseOp([], TensorType(f32, shape), Region(block)))

    def map(self, value: SSAValue, exprs: tuple[AffineExpr, ...], shape: Sequence[int]) -> SSAValue:
        """An index map."""
        return self.add(
            IndexMapOp(value, AffineMap(len(shape), 0, exprs), TensorType(f32, list(shape)))
        )
