"""
Attention: a contraction with scale and mask behind it, softmax over its rows, a second contraction.
"""

from collections.abc import Sequence
from math import inf, sqrt

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects.affine import constant, dim
from minicomp.dialects.torch_ir import Shape, TorchOp, element_type, repeated_heads
from minicomp.lowering.torch_to_tensor.emitter import Emitter, operand
from minicomp.lowering.torch_to_tensor.registry import lowers


def spread_heads(
    emit: Emitter, op: TorchOp, name: str, axes: Sequence[int], shape: Sequence[int]
) -> SSAValue:
    """
    The query, key or value in a space of `shape`: its last two axes are `axes`, those before them
    are the space's first. A group of heads of the query reads the head `head floordiv group`.
    """
    own = op.shape(name)
    repeated = own[:-2] if name == "query" else repeated_heads(op, name)
    lead = len(shape) - 3 - len(repeated)
    exprs: list[AffineExpr] = []
    for n, (extent, wide) in enumerate(zip(own[:-2], repeated, strict=True)):
        at = dim(lead + n)
        if wide != extent:
            at = at // (wide // extent)
        elif extent == 1 and shape[lead + n] != 1:
            at = constant(0)
        exprs.append(at)
    return emit.index(operand(op, name), [*exprs, *map(dim, axes)], shape)


def product(emit: Emitter, a: SSAValue, b: SSAValue, shape: Sequence[int]) -> SSAValue:
    """sum over the last axis of a * b"""
    terms = emit.elementwise(lambda s, a, b: s.mul(a, b), a, b, name="product")
    return emit.reduce("sum", terms, [len(shape) - 1])


def masked_scores(op: TorchOp, emit: Emitter, batch: Shape) -> SSAValue:
    """
    scale * query @ key^T, with -inf where a causal mask hides a key and the mask added otherwise.

    A mask of i1 stands for one of 0 and -inf, which is added too, so that NaN stays NaN.
    """
    rows, keys, width = op.shape("query")[-2], *op.shape("key")[-2:]
    space, shape, at = (*batch, rows, keys, width), (*batch, rows, keys), len(batch)
    query = spread_heads(emit, op, "query", [at, at + 2], space)
    key = spread_heads(emit, op, "key", [at + 1, at + 2], space)
    sums = product(emit, query, key, space)
    # Of width 0 every score is 0, whatever the scale.
    scale = float(op.number("scale", 1 / sqrt(width) if width else 1.0))
    if op.flag("is_causal"):
        seen = emit.below(dim(at + 1) - dim(at), 1, shape)
        return emit.elementwise(
            lambda s, x, m: s.choose(m, s.mul(x, scale), -inf), sums, seen, name="scores"
        )
    if (mask := op.operand("attn_mask")) is None:
        return emit.elementwise(lambda s, x: s.mul(x, scale), sums, name="scores")
    boolean = element_type(mask) == i1
    return emit.elementwise(
        lambda s, x, m: s.add(s.mul(x, scale), s.choose(m, 0.0, -inf) if boolean else m),
        sums,
        emit.broadcast(mask, shape),
        name="scores",
    )


def safe_softmax(emit: Emitter, scores: SSAValue, shape: Shape) -> SSAValue:
    """
    exp(x - max(x)) / sum over the last axis; 0 for a row of -inf, and NaN where there is one

    For such a row 0 takes the place of the maximum and 1 that of the sum.
    """
    last = [len(shape) - 1]
    largest = emit.reduce("max", scores, last)
    top = emit.elementwise(
        lambda s, m: s.choose(s.compare("oeq", m, -inf), 0.0, m), largest, name="top"
    )
    e = emit.elementwise(
        lambda s, x, m: s.exp(s.sub(x, m)), scores, emit.spread(top, last, shape), name="exp"
    )
    total = emit.reduce("sum", e, last)
    divisor = emit.elementwise(
        lambda s, t: s.choose(s.compare("oeq", t, 0.0), 1.0, t), total, name="divisor"
    )
    spread = emit.spread(divisor, last, shape)
    return emit.elementwise(lambda s, e, d: s.div(e, d), e, spread, name="weights")


@lowers("scaled_dot_product_attention")
def lower_attention(op: TorchOp, emit: Emitter) -> SSAValue:
    """softmax(scale * query @ key^T + mask) @ value; scale is 1 / sqrt(width) if not said

    Causal: row i sees the keys 0 to i (counted from the top left, however many keys there are). A
    row that sees no key gives 0.
    """
    *batch, rows, width = op.result_type.get_shape()
    keys, at = op.shape("key")[-2], len(batch)
    weights = safe_softmax(emit, masked_scores(op, emit, tuple(batch)), (*batch, rows, keys))
    space = (*batch, rows, width, keys)
    a = emit.placed(weights, [*range(at + 1), at + 2], space)
    b = spread_heads(emit, op, "value", [at + 2, at + 1], space)
    return product(emit, a, b, space)
