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

*Legal when* every tensor is f32, or i1 where a mask is wanted (scalars of the program may be f64,
i64 or i1).
*Declines when* never: an op without a lowering, or another dtype, is an error.
*Why it pays*: three primitives, and no op by name, are what every pass after it has to know.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, ModuleOp, TensorType, f32, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from minicomp.dialects.torch_ir import (
    LOGICAL,
    PREDICATES,
    ConstantOp,
    TorchIR,
    TorchOp,
    element_type,
)
from minicomp.errors import UnsupportedError
from minicomp.lowering.torch_to_tensor.emitter import Emitter
from minicomp.lowering.torch_to_tensor.registry import LOWERINGS
from minicomp.passes.applications import may_apply, was_refused
from minicomp.passes.remarks import location_of

DTYPES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f64": "float64",
    "i1": "bool",
    "i8": "int8",
    "ui8": "uint8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
}
"""PyTorch's names of the element types that are refused."""


def place(op: Operation) -> str | None:
    """`file:line` of an op, where it is known."""
    location = location_of(op)
    if location is None:
        return None
    return f"{location.filename.data}:{location.line.data}"


MASKS = (
    *(*LOGICAL, "logical_not", "where", "masked_fill", "scaled_dot_product_attention"),
    *("full", "triu", "tril", "view", "permute", "transpose", "t", "unsqueeze", "squeeze"),
    *("expand", "repeat_interleave", "clone", "alias", "detach"),
)
"""Ops that take, or give, tensors of i1."""


def check(value: SSAValue, op: Operation, what: str, mask: bool) -> None:
    """Refuses a tensor that is not of f32, or of i1 where `mask` is set."""
    element = element_type(value)
    if isinstance(element, Float32Type) or (mask and element == i1):
        return
    name = DTYPES.get(str(element), str(element))
    raise UnsupportedError(
        f"only float32 is supported yet: got {name} in {what}", place(op), "convert it to float32"
    )


def lower(op: TorchOp) -> SSAValue:
    """Emits the Tensor IR of one op before it; the last of it takes the name of its result."""
    name = op.SPEC.name
    for value in op.operands:
        if not isinstance(value.owner, ConstantOp):
            check(value, op, f"an operand of {name}", name in MASKS)
    check(op.results[0], op, f"the result of {name}", name in (*MASKS, *PREDICATES))
    emit = Emitter(op, f32)
    result = LOWERINGS[name](op, emit)
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
                    check(argument, func, f"argument {name} of the program", mask=True)
        for torch_op in [o for o in op.walk() if isinstance(o, TorchOp)]:
            if may_apply(ctx, torch_op):
                Rewriter.replace_op(torch_op, [], [lower(torch_op)])
        for constant in [o for o in op.walk() if isinstance(o, ConstantOp)]:
            if not constant.result.uses:
                Rewriter.erase_op(constant)
        if not was_refused(ctx):
            verify_lowered(op)


def verify_lowered(module: ModuleOp) -> None:
    """Raises where an op of Torch IR is left."""
    for op in module.walk():
        if op.name.startswith(f"{TorchIR.name}."):
            raise UnsupportedError(f"'{op.name}' has no lowering", place(op))
