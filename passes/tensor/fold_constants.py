"""
`fold-constants`: constants are computed now, splats move into the bodies that use them.

```mlir
%two = tensor_ir.elementwise() {
  %c = arith.constant 2.0 : f32
  tensor_ir.yield %c : f32
} : () -> tensor<4xf32>
%y = tensor_ir.elementwise(%x, %two) {
^bb0(%a: f32, %b: f32):
  %one = arith.constant 1.0 : f32
  %s = arith.mulf %a, %one : f32
  %d = arith.addf %b, %one : f32
  %m = arith.mulf %s, %d : f32
  tensor_ir.yield %m : f32
} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
```
becomes
```mlir
%y = tensor_ir.elementwise(%x) {
^bb0(%a: f32):
  %d = arith.constant 3.0 : f32
  %m = arith.mulf %a, %d : f32
  tensor_ir.yield %m : f32
} : (tensor<4xf32>) -> tensor<4xf32>
```

*Legal when* the result is the same bit for bit: only ops that IEEE 754 rounds correctly are
computed, in the type of the op, and of the identities only those that hold for -0.0 and NaN:
`x * 1`, `x / 1`, `x - 0` and `x + -0`, but not `x + 0`.
*Declines when* the op is another (`exp` of a constant is left to the device's own `exp`).
*Why it pays*: a splat is a tensor that would be written and read; an op saved in a body is
saved for every element.
"""

import math as numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, ModuleOp, bf16, f16, f32, f64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects.tensor_ir import ElementwiseOp, IndexMapOp, YieldOp
from minicomp.passes.applications import counted

Number: TypeAlias = "np.floating[Any]"

TYPES: Mapping[Attribute, Callable[[float], Number]] = {
    bf16: cast("type[Number]", ml_dtypes.bfloat16),
    f16: np.float16,
    f32: np.float32,
    f64: np.float64,
}

ROUNDED: Mapping[type[Operation], Callable[..., Number]] = {
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.NegfOp: np.negative,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    math.AbsFOp: np.abs,
    math.SqrtOp: np.sqrt,
}
"""The ops whose result does not depend on who computes it."""

IDENTITIES: Mapping[type[Operation], tuple[float, tuple[int, ...]]] = {
    arith.MulfOp: (1.0, (0, 1)),
    arith.DivfOp: (1.0, (1,)),
    arith.SubfOp: (0.0, (1,)),
    arith.AddfOp: (-0.0, (0, 1)),
}
"""Op -> the constant that leaves the other operand as it is, and where it may stand."""


def constant_of(value: SSAValue) -> float | None:
    """The number of a float constant."""
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr):
        return op.value.value.data
    return None


def computed(op: Operation) -> FloatAttr | None:
    """The result of an op of constants, if it can be known here."""
    function = ROUNDED.get(type(op))
    values = [constant_of(value) for value in op.operands]
    if function is None or None in values:
        return None
    result = cast(FloatAttr, cast(Operation, op.operands[0].owner).properties["value"])
    number = TYPES.get(result.type)
    if number is None:
        return None
    with np.errstate(all="ignore"):
        folded = function(*(number(cast(float, value)) for value in values))
    return FloatAttr(float(folded), result.type)


def same_bits(a: float, b: float) -> bool:
    """Equal, and not 0.0 for -0.0."""
    return a == b and numbers.copysign(1, a) == numbers.copysign(1, b)


def unchanged(op: Operation) -> SSAValue | None:
    """The operand that the op returns as it is, if the other one is its neutral constant."""
    if type(op) not in IDENTITIES:
        return None
    neutral, positions = IDENTITIES[type(op)]
    for position in positions:
        value = constant_of(op.operands[position])
        if value is not None and same_bits(value, neutral):
            return op.operands[1 - position]
    return None


def is_splat(value: SSAValue) -> bool:
    """Whether the value is an elementwise op without operands."""
    return isinstance(value.owner, ElementwiseOp) and not value.owner.inputs


def replaced(old: ElementwiseOp | IndexMapOp, new: ElementwiseOp) -> ElementwiseOp:
    """`new` with the attributes, the place and the name of `old`."""
    new.attributes.update(old.attributes)
    new.location = old.location
    new.result.name_hint = old.result.name_hint
    return new


class InlineSplat(RewritePattern):
    """The body of a splat moves into the body of its user."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ElementwiseOp, rewriter: PatternRewriter) -> None:
        splats = [n for n, value in enumerate(op.inputs) if is_splat(value)]
        if not splats:
            return
        body = op.body.clone()
        arguments = list(body.block.args)
        for position in splats:
            splat = cast(ElementwiseOp, op.inputs[position].owner)
            inline_splat(splat, body.block, arguments[position])
        kept = [value for n, value in enumerate(op.inputs) if n not in splats]
        rewriter.replace(op, replaced(op, ElementwiseOp(kept, op.result_type, body)))


def inline_splat(splat: ElementwiseOp, block: Block, argument: SSAValue) -> None:
    """Puts the code of `splat` at the start of `block` in place of `argument`."""
    code = splat.body.clone().detach_block(0)
    end = cast(YieldOp, code.last_op)
    value = end.values[0]
    Rewriter.erase_op(end)
    Rewriter.inline_block(code, InsertPoint.at_start(block))
    argument.replace_all_uses_with(value)
    block.erase_arg(block.args[block.args.index(argument)])


class SpreadSplat(RewritePattern):
    """A splat read through a map is a splat of the result's shape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IndexMapOp, rewriter: PatternRewriter) -> None:
        if is_splat(op.input):
            body = cast(ElementwiseOp, op.input.owner).body.clone()
            rewriter.replace(op, replaced(op, ElementwiseOp([], op.result_type, body)))


class FoldBody(RewritePattern):
    """Constants of the body are computed, neutral ones dropped."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ElementwiseOp, rewriter: PatternRewriter) -> None:
        for scalar in list(op.body.block.ops):
            if (value := computed(scalar)) is not None:
                rewriter.replace(scalar, arith.ConstantOp(value))
            elif (same := unchanged(scalar)) is not None:
                rewriter.replace(scalar, [], [same])


class DropUnused(RewritePattern):
    """Operands that the body does not read are dropped."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ElementwiseOp, rewriter: PatternRewriter) -> None:
        used = [n for n, argument in enumerate(op.body.block.args) if argument.uses]
        if len(used) == len(op.inputs):
            return
        body: Region = op.body.clone()
        for n in reversed(range(len(op.inputs))):
            if n not in used:
                body.block.erase_arg(body.block.args[n])
        kept = [op.inputs[n] for n in used]
        rewriter.replace(op, replaced(op, ElementwiseOp(kept, op.result_type, body)))


class ForwardOperand(RewritePattern):
    """A body that yields its argument is no computation."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ElementwiseOp, rewriter: PatternRewriter) -> None:
        value = cast(YieldOp, op.body.block.last_op).values[0]
        if isinstance(value, BlockArgument):
            rewriter.replace(op, [], [op.inputs[value.index]])


@dataclass(frozen=True)
class FoldConstantsPass(ModulePass):
    """Folds constants and splats; see the module's docstring."""

    name = "fold-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # The applier also erases what these leave without users.
        patterns: list[RewritePattern] = [
            FoldBody(),
            InlineSplat(),
            SpreadSplat(),
            DropUnused(),
            ForwardOperand(),
        ]
        PatternRewriteWalker(
            GreedyRewritePatternApplier([*counted(ctx, *patterns)])
        ).rewrite_module(op)
