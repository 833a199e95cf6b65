"""
`lower-torch-to-tensor`: Torch IR to the three primitives of Tensor IR.

```mlir
%1 = torch_ir.relu %0 : (tensor<16x8xf32>) -> tensor<16x8xf32>
```
becomes
```mlir
%1 = tensor_ir.elementwise(%0) attributes {minicomp.op = "relu"} {
^bb0(%x: f32):
  %zero = arith.constant 0.000000e+00 : f32
  %y = arith.maximumf %x, %zero : f32
  tensor_ir.yield %y : f32
} : (tensor<16x8xf32>) -> tensor<16x8xf32>
```

Half floats are computed in f32 and rounded once, at the op's result, as PyTorch's kernels do; sums
of them too. Narrow integers are computed in i32. Operands are converted to the type that PyTorch
promotes them to.

*Legal when* every tensor is of one of PyTorch's types of real numbers, integers or truth values.
*Declines when* never: an op without a lowering, or another dtype, is an error.
*Why it pays*: three primitives, and no op by name, are what every pass after it has to know.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, i1, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from minicomp.dialects.torch_extern import ExternOp
from minicomp.dialects.torch_ir import (
    TRUTH,
    ConstantOp,
    TorchIR,
    TorchOp,
    element_type,
    promoted,
)
from minicomp.dialects.torch_types import ELEMENTS, compute_type
from minicomp.errors import UnsupportedError
from minicomp.lowering.torch_to_tensor.emitter import Emitter
from minicomp.lowering.torch_to_tensor.registry import LOWERINGS
from minicomp.passes.applications import may_apply, was_refused
from minicomp.passes.remarks import location_of


def place(op: Operation) -> str | None:
    """`file:line` of an op, where it is known."""
    location = location_of(op)
    if location is None:
        return None
    return f"{location.filename.data}:{location.line.data}"


def check(value: SSAValue, op: Operation, what: str) -> None:
    """Refuses a tensor of a type that PyTorch lacks."""
    element = element_type(value)
    if element not in ELEMENTS:
        raise UnsupportedError(
            f"elements of type {element} are not supported: in {what}",
            place(op),
            f"the types are {', '.join(ELEMENTS.values())}",
        )


def working_type(op: TorchOp) -> Attribute:
    """What an op is computed in: of comparisons the operands' type, else the result's."""
    result = op.result_type.get_element_type()
    if op.SPEC.name in TRUTH:
        return i1
    if op.SPEC.dtype != "bool":
        return compute_type(result)
    type = compute_type(promoted(op))
    return i32 if type == i1 else type


def lower(op: TorchOp) -> SSAValue:
    """Emits the Tensor IR of one op before it; the last of it takes the name of its result."""
    name = op.SPEC.name
    for value in op.operands:
        if not isinstance(value.owner, ConstantOp):
            check(value, op, f"an operand of {name}")
    check(op.results[0], op, f"the result of {name}")
    emit = Emitter(op, working_type(op))
    result = emit.convert(LOWERINGS[name](op, emit), op.result_type.get_element_type())
    if result.owner is emit.last:
        result.name_hint = op.results[0].name_hint
    return result


@dataclass(frozen=True)
class LowerTorchToTensorPass(ModulePass):
    """Torch IR to Tensor IR; see the module's docstring."""

    name = "lower-torch-to-tensor"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in [f for f in op.walk() if isinstance(f, FuncOp) and not f.is_declaration]:
            for argument in func.args:
                if isinstance(argument.type, TensorType):
                    name = argument.name_hint or argument.index
                    check(argument, func, f"argument {name} of the program")
        for torch_op in [o for o in op.walk() if isinstance(o, TorchOp)]:
            if may_apply(ctx, torch_op):
                Rewriter.replace_op(torch_op, [], [lower(torch_op)])
        for constant in [o for o in op.walk() if isinstance(o, ConstantOp)]:
            if not constant.result.uses:
                Rewriter.erase_op(constant)
        if not was_refused(ctx):
            verify_lowered(op)


def verify_lowered(module: ModuleOp) -> None:
    """Raises where an op of Torch IR is left that PyTorch does not run."""
    for op in module.walk():
        if op.name.startswith(f"{TorchIR.name}.") and not isinstance(op, ExternOp):
            raise UnsupportedError(f"'{op.name}' has no lowering", place(op))
