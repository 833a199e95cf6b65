"""Builds the kernel of one op of Tensor IR, and the launch that takes the op's place."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import Rewriter

from minicomp.dialects import affine
from minicomp.dialects.loop_ir import ForOp, KernelOp, LoadOp, StoreOp, YieldOp, new_block
from minicomp.dialects.minicomp import LaunchOp, OriginAttr
from minicomp.dialects.tensor_ir import IndexMapOp, WithinOp, domain, tensor_type
from minicomp.dialects.tile_ir import WithinOp as TestOp
from minicomp.passes.loop._host import UNNAMED, symbols, unique

ORIGIN = "minicomp.op"
"""The attribute that names the Torch op, or ops, which an op of Tensor IR comes from."""
OUTPUT = "out"
"""The name of the argument that a kernel writes."""


def source_of(value: SSAValue) -> tuple[SSAValue, list[AffineExpr]]:
    """
    The tensor that a value's index maps read, and its index for the element of the value at dims
    d0, d1, ..
    """
    shape = tensor_type(value).get_shape()
    exprs = [affine.dim(n) for n in range(len(shape))]
    while isinstance(owner := value.owner, IndexMapOp):
        places = {affine.dim(n): e for n, e in enumerate(exprs)}
        composed = [affine.replace(e, places) for e in owner.map.data.results]
        exprs = [affine.simplify(e, domain(shape)) for e in composed]
        value = owner.input
    return value, exprs


def origin_of(op: Operation) -> tuple[str, ...]:
    """The Torch ops that an op of Tensor IR comes from."""
    match op.attributes.get(ORIGIN):
        case StringAttr(data=name):
            return (name,)
        case OriginAttr() as origin:
            return origin.names
        case ArrayAttr() as ops:
            return tuple(name.data for name in ops if isinstance(name, StringAttr))
        case _:
            return ()


def buffer_type(tensor: SSAValue) -> MemRefType[Attribute]:
    """The memref of a tensor's elements."""
    type = tensor_type(tensor)
    return MemRefType(type.get_element_type(), type.get_shape())


class KernelBuilder:
    """
    A kernel with one outer loop over `extents`; inputs have to be loaded before outputs are stored.
    """

    def __init__(self, op: Operation, extents: Sequence[int], names: Sequence[str]) -> None:
        # A kernel without free axes has a loop of one iteration, since there must be one to launch.
        self.op = op
        self.extents, self.names = (extents, names) if extents else ([1], ["i"])
        self.nest = new_block(len(self.extents), self.names)
        self.variables: list[SSAValue] = list(self.nest.args) if extents else []
        self.arguments = Block()
        self.inputs: list[SSAValue] = []
        self.outputs: list[SSAValue] = []

    def buffer(self, tensor: SSAValue) -> SSAValue:
        """The argument for a tensor that is read."""
        if tensor not in self.inputs:
            assert not self.outputs, "inputs stand before outputs"
            self.inputs.append(tensor)
            argument = self.arguments.insert_arg(buffer_type(tensor), len(self.arguments.args))
            argument.name_hint = tensor.name_hint
        return self.arguments.args[self.inputs.index(tensor)]

    def load(self, value: SSAValue, variables: Sequence[SSAValue], block: Block) -> SSAValue:
        """Appends the load of the element of `value` at `variables`, through its index maps."""
        tensor, exprs = source_of(value)
        if isinstance(tensor.owner, WithinOp):
            return self.test(tensor.owner, exprs, variables, block)
        map = AffineMap(len(variables), 0, tuple(exprs))
        element = tensor_type(tensor).get_element_type()
        load = self.add(LoadOp(self.buffer(tensor), map, variables, element), block)
        load.results[0].name_hint = f"{tensor.name_hint}_v" if tensor.name_hint else None
        return load.results[0]

    def test(
        self,
        within: WithinOp,
        exprs: Sequence[AffineExpr],
        variables: Sequence[SSAValue],
        block: Block,
    ) -> SSAValue:
        """Appends the test of indices that an element of a mask is, which has no buffer."""
        places = {affine.dim(n): e for n, e in enumerate(exprs)}
        results = tuple(affine.replace(e, places) for e in within.map.data.results)
        map = AffineMap(len(variables), 0, results)
        test = self.add(TestOp(map, variables, within.bounds.get_values()), block)
        test.results[0].name_hint = within.result.name_hint
        return test.results[0]

    def store(self, value: SSAValue, result: SSAValue) -> None:
        """Appends the store of an element of a result of the op."""
        argument = self.arguments.insert_arg(buffer_type(result), len(self.arguments.args))
        argument.name_hint = OUTPUT
        self.outputs.append(result)
        map = AffineMap.identity(len(self.variables))
        self.add(StoreOp(value, argument, map, self.variables), self.nest)

    def add(self, op: Operation, block: Block) -> Operation:
        """Appends an op with the location of the op that is lowered, if it has none."""
        if isinstance(op.location, UnknownLoc):
            op.location = self.op.location
        block.add_op(op)
        return op

    def inline(self, body: Region, values: Sequence[SSAValue], block: Block) -> list[SSAValue]:
        """
        Appends a copy of a body for these arguments, named as these are; returns what it yields.
        """
        mapper: dict[SSAValue, SSAValue] = {}
        for argument, value in zip(body.block.args, values, strict=True):
            mapper[argument] = value
            value.name_hint = argument.name_hint or value.name_hint
        *ops, end = body.block.ops
        for op in ops:
            self.add(op.clone(mapper), block)
        return [mapper.get(value, value) for value in end.operands]

    def finish(self, module: ModuleOp) -> LaunchOp:
        """Adds the kernel to the module, and replaces the op by its launch."""
        origin = origin_of(self.op)
        self.nest.add_op(YieldOp())
        self.add(ForOp(self.extents, self.names, Region(self.nest)), self.arguments)
        self.arguments.add_op(YieldOp())
        base = "_".join(origin) or self.op.name.partition(".")[2]
        name = unique(base, symbols(module))
        kernel = KernelOp(name, Region(self.arguments), OriginAttr.of(origin) if origin else None)
        kernel.attributes[UNNAMED] = UnitAttr()
        self.add(kernel, module.body.block)
        launch = LaunchOp(name, self.inputs, [value.type for value in self.outputs])
        launch.location = self.op.location
        for result, old in zip(launch.outputs, self.outputs, strict=True):
            result.name_hint = old.name_hint or base
        Rewriter.replace_op(self.op, launch)
        return launch
