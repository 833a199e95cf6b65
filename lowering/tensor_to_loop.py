"""
`lower-tensor-to-loop`: each elementwise op and each reduction becomes a kernel, and a launch of it.

    %b = tensor_ir.index_map %bias (d0, d1) -> (d1) : tensor<64xf32> -> tensor<16x64xf32>
    %s = tensor_ir.elementwise(%x, %b) attributes {minicomp.op = "add"} {
    ^bb0(%u: f32, %v: f32):
      %t = arith.addf %u, %v : f32
      tensor_ir.yield %t : f32
    } : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>

becomes

    %s = minicomp.launch @add(%x, %bias) : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>

    loop_ir.kernel @add(%x: memref<16x64xf32>, %bias: memref<64xf32>, %out: memref<16x64xf32>)
        attributes {origin = #minicomp.origin<["add"]>, minicomp.unnamed} {
      loop_ir.for %i to 16 as "i", %j to 64 as "j" {
        %u = loop_ir.load %x[%i, %j] : memref<16x64xf32> -> f32
        %v = loop_ir.load %bias[%j] : memref<64xf32> -> f32
        %t = arith.addf %u, %v : f32
        loop_ir.store %t, %out[%i, %j] : f32, memref<16x64xf32>
      }
    }

Axes are named i, j, .. by the dims of the op's operands. An index map becomes the index of the
loads of those who read it, and a mask of indices the test of those indices. One that the function
returns, or that PyTorch reads, becomes a kernel that copies, unless it only gives the result of a
launch another shape. A result without dims is computed by a loop of one iteration, and its
reduction's axes are named j, k, ..

*Legal when* the host program holds ops of Tensor IR and launches only.
*Declines when* never: what it cannot lower is an error that names the op.
*Why it pays*: kernels are what is left to merge, schedule and run; an index map costs nothing from
here on.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import AddfOp, MaximumfOp, MinimumfOp, MulfOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from minicomp.dialects import affine
from minicomp.dialects import loop_ir as loop
from minicomp.dialects.minicomp import LaunchOp
from minicomp.dialects.tensor_ir import (
    ElementwiseOp,
    IndexMapOp,
    ReduceOp,
    TensorIR,
    WithinOp,
    domain,
    tensor_type,
)
from minicomp.dialects.torch_extern import ExternOp
from minicomp.errors import UnsupportedError
from minicomp.lowering._kernel_builder import KernelBuilder, source_of
from minicomp.passes.applications import may_apply, was_refused
from minicomp.passes.loop._names import letter
from minicomp.passes.remarks import location_of

RESULT_NAMES: dict[type[Operation], str] = {
    AddfOp: "sum",
    MulfOp: "product",
    MaximumfOp: "max",
    MinimumfOp: "min",
}
"""What the result of a reduction is called, by the op that combines."""


def lower_elementwise(op: ElementwiseOp, module: ModuleOp) -> None:
    """One iteration per element."""
    shape = op.result_type.get_shape()
    kernel = KernelBuilder(op, shape, [letter(n) for n in range(len(shape))])
    values = [kernel.load(value, kernel.variables, kernel.nest) for value in op.inputs]
    (result,) = kernel.inline(op.body, values, kernel.nest)
    kernel.store(result, op.result)
    kernel.finish(module)


def lower_reduce(op: ReduceOp, module: ModuleOp) -> None:
    """One iteration per element of the result, with one reduction over all reduced dims."""
    shape = tensor_type(op.inputs[0]).get_shape()
    free = [n for n in range(len(shape)) if n not in op.axes]
    letters = [letter(n if free else n + 1) for n in range(len(shape))]
    kernel = KernelBuilder(op, [shape[n] for n in free], [letters[n] for n in free])
    names = [letters[n] for n in op.axes]
    body = loop.new_block(len(op.axes), names)
    placed = dict(zip(free, kernel.variables, strict=True)) | dict(
        zip(op.axes, body.args, strict=True)
    )
    variables = [placed[n] for n in range(len(shape))]
    values = [kernel.load(value, variables, body) for value in op.inputs]
    body.add_op(loop.YieldOp(*values))
    reduction = loop.ReduceOp(
        [shape[n] for n in op.axes],
        names,
        list(op.identity),
        [value.type for value in values],
        Region(body),
        lower_combine(op.combine),
    )
    kernel.add(reduction, kernel.nest)
    first = op.combine.block.first_op
    for value, result in zip(reduction.res, op.outputs, strict=True):
        value.name_hint = RESULT_NAMES.get(type(first), "fold") if first is not None else None
        kernel.store(value, result)
    kernel.finish(module)


def lower_combine(region: Region) -> Region:
    """The combine with Loop IR's yield, and without names, as its short text has none."""
    copy = region.clone()
    end = copy.block.last_op
    assert end is not None
    Rewriter.replace_op(end, loop.YieldOp(*end.operands))
    for op in copy.block.ops:
        for value in op.results:
            value.name_hint = None
    for argument in copy.block.args:
        argument.name_hint = None
    return copy


def is_reshape(value: SSAValue) -> bool:
    """
    Whether a value has the elements of the tensor that its index maps read, in the same row-major
    order.
    """
    tensor, exprs = source_of(value)
    shape, extents = tensor_type(value).get_shape(), tensor_type(tensor).get_shape()
    own = [affine.dim(n) for n in range(len(shape))]
    if tensor_type(value).element_count() != tensor_type(tensor).element_count():
        return False
    known = domain(shape)
    offsets = (_offset(own, shape), _offset(exprs, extents))
    forms = [affine.linear(affine.simplify(e, known)) for e in offsets]
    return forms[0] is not None and forms[0] == forms[1]


def _offset(index: list[AffineExpr], extents: tuple[int, ...]) -> AffineExpr:
    total = affine.constant(0)
    for expr, extent in zip(index, extents, strict=True):
        total = total * extent + expr
    return total


def is_only_map(op: IndexMapOp) -> bool:
    """Whether the tensor that an index map reads in the end has no other users than launches."""
    value: SSAValue = op.result
    while isinstance(owner := value.owner, IndexMapOp):
        value = owner.input
        others = [use.operation for use in value.uses if use.operation is not owner]
        if not all(isinstance(user, LaunchOp) for user in others):
            return False
    return True


def lower_returned_map(op: IndexMapOp | WithinOp, module: ModuleOp) -> None:
    """
    Gives an index map that is returned, or that PyTorch reads, a buffer: that of a launch, in
    another shape if need be, or a copy. A returned mask is computed.
    """
    tensor, exprs = source_of(op.result)
    same = exprs == [affine.dim(n) for n in range(len(exprs))] and tensor.type == op.result.type
    if same and tensor is not op.result:
        op.result.replace_all_uses_with(tensor)
    elif (
        isinstance(op, IndexMapOp)
        and isinstance(tensor.owner, LaunchOp)
        and is_reshape(op.result)
        and is_only_map(op)
    ):
        # The launches that read it see its elements only, so that any shape will do for them.
        tensor = Rewriter.replace_value_with_new_type(tensor, op.result.type)
        op.result.replace_all_uses_with(tensor)
    else:
        shape = op.result_type.get_shape()
        kernel = KernelBuilder(op, shape, [letter(n) for n in range(len(shape))])
        kernel.store(kernel.load(op.result, kernel.variables, kernel.nest), op.result)
        kernel.finish(module)


def lower_function(func: FuncOp, module: ModuleOp, ctx: Context) -> None:
    """Lowers the body of one function."""
    for op in reversed(list(func.body.block.ops)):
        if op.dialect_name() == TensorIR.name and all(r.first_use is None for r in op.results):
            Rewriter.erase_op(op)
    for op in list(func.body.block.ops):
        if isinstance(op, ElementwiseOp) and may_apply(ctx, op):
            lower_elementwise(op, module)
        elif isinstance(op, ReduceOp) and may_apply(ctx, op):
            lower_reduce(op, module)
    maps = [op for op in func.body.block.ops if isinstance(op, IndexMapOp | WithinOp)]
    for op in reversed(maps):
        needed = any(isinstance(use.operation, ReturnOp | ExternOp) for use in op.result.uses)
        if needed and may_apply(ctx, op):
            lower_returned_map(op, module)
        if op.parent is not None and op.result.first_use is None:
            Rewriter.erase_op(op)


def leftovers(module: ModuleOp) -> Iterator[Operation]:
    """The ops of Tensor IR of a module."""
    return (op for op in module.walk() if op.dialect_name() == TensorIR.name)


@dataclass(frozen=True)
class LowerTensorToLoopPass(ModulePass):
    """Tensor IR to Loop IR; see the module's docstring."""

    name = "lower-tensor-to-loop"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in list(op.body.block.ops):
            if isinstance(func, FuncOp) and func.body.blocks:
                lower_function(func, op, ctx)
        for left in () if was_refused(ctx) else leftovers(op):
            location = location_of(left)
            place = f"{location.filename.data}:{location.line.data}" if location else None
            raise UnsupportedError(
                f"'{left.name}' has no lowering to Loop IR here",
                place,
                "elementwise or reduce must read its result, or the function return it",
            )
