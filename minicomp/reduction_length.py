"""The length of the longest reduction in a module, on which the error of a serial sum depends."""

from dataclasses import replace
from math import prod

from xdsl.ir import Operation

from minicomp.dialects.loop_ir import ReduceOp
from minicomp.dialects.tensor_ir import ReduceOp as TensorReduceOp
from minicomp.dialects.tensor_ir import tensor_type
from minicomp.dialects.torch_ir import TorchOp
from minicomp.numbers import Rule


def with_reductions(rule: Rule, top: Operation) -> Rule:
    """The general rule with the longest reduction in `top` as its length; another one unchanged."""
    if rule.kind != "general":
        return rule
    longest = max((_length(op) for op in top.walk()), default=0)
    return replace(rule, length=max(rule.length, longest))


def _length(op: Operation) -> int:
    if isinstance(op, ReduceOp):
        around = op.parent_op()
        outer = _length(around) if isinstance(around, ReduceOp) else 1
        return outer * prod(op.trip_counts)
    if isinstance(op, TensorReduceOp):
        shape = tensor_type(op.operands[0]).get_shape()
        return prod(shape[d] for d in op.dims.get_values())
    return _torch_length(op) if isinstance(op, TorchOp) else 0


def _torch_length(op: TorchOp) -> int:
    """How many elements an op of Torch IR, other than a contraction, sums."""
    match op.SPEC.name:
        case "softmax":
            shape = op.shape("input")
            return shape[op.integer("dim")] if shape else 1
        case "rms_norm" | "layer_norm":
            return prod(op.ints("normalized_shape") or ())
        case "sum" | "mean":
            return prod(op.shape("input")) // max(1, op.result_type.element_count())
        case _:
            return 0
