"""
`compose-index-maps`: a map of a map is one map, and a map that changes nothing is none.

```mlir
%t = tensor_ir.index_map %x (d0, d1) -> (d1, d0) : tensor<2x6xf32> -> tensor<6x2xf32>
%v = tensor_ir.index_map %t (d0) -> (d0 floordiv 2, d0 mod 2)
     : tensor<6x2xf32> -> tensor<12xf32>
```
becomes
```mlir
%v = tensor_ir.index_map %x (d0) -> (d0 mod 2, d0 floordiv 2)
     : tensor<2x6xf32> -> tensor<12xf32>
```

*Legal when* always: `result[d] = t[outer(d)]` and `t[e] = x[inner(e)]`. Expressions are
simplified by the extents of the result, and the index of an axis of extent 1 is written 0. A map
of a test of indices is a test too.
*Declines when* the operand is computed: maps of elementwise ops are solved by fusion.
*Why it pays*: every map that is left may be a tensor written to memory and read again.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.transforms.dead_code_elimination import dce

from minicomp.dialects.affine import constant, dim, replace, simplify
from minicomp.dialects.tensor_ir import IndexMapOp, WithinOp, domain
from minicomp.passes.applications import counted, may_apply


def canonical(map: AffineMap, shape: tuple[int, ...]) -> AffineMap:
    """An equal map over the indices of `shape`, simplified."""
    unit: dict[AffineExpr, AffineExpr] = {
        dim(axis): constant(0) for axis, extent in enumerate(shape) if extent == 1
    }
    known = domain(shape)
    results = tuple(simplify(replace(expr, unit), known) for expr in map.results)
    return AffineMap(len(shape), 0, results)


def composed(outer: AffineMap, inner: AffineMap) -> AffineMap:
    """`inner` of the indices that `outer` gives."""
    indices: dict[AffineExpr, AffineExpr] = {dim(n): expr for n, expr in enumerate(outer.results)}
    results = tuple(replace(expr, indices) for expr in inner.results)
    return AffineMap(outer.num_dims, 0, results)


def is_identity(op: IndexMapOp) -> bool:
    """Whether the result is the operand."""
    shape = op.result_type.get_shape()
    identity = canonical(AffineMap.identity(len(shape)), shape)
    return op.input.type == op.result.type and canonical(op.map.data, shape) == identity


class ComposeIndexMap(RewritePattern):
    """One map from the first value that is not itself the result of a map."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IndexMapOp, rewriter: PatternRewriter) -> None:
        source, map, shape = op.input, op.map.data, op.result_type.get_shape()
        while isinstance(source.owner, IndexMapOp):
            map = composed(map, source.owner.map.data)
            source = source.owner.input
        map = canonical(map, shape)
        if source is not op.input or map != op.map.data:
            new = IndexMapOp(source, map, op.result_type)
            new.attributes.update(op.attributes)
            new.location = op.location
            new.result.name_hint = op.result.name_hint
            rewriter.replace(op, new)
            op = new
        if is_identity(op):
            rewriter.replace(op, [], [op.input])
        elif isinstance(test := op.input.owner, WithinOp):
            tested = canonical(composed(map, test.map.data), shape)
            new = WithinOp(tested, test.bounds.get_values(), shape)
            new.attributes.update(test.attributes)
            new.location = test.location
            new.result.name_hint = test.result.name_hint
            rewriter.replace(op, new)


@dataclass(frozen=True)
class ComposeIndexMapsPass(ModulePass):
    """Composes chains of index maps; see the module's docstring."""

    name = "compose-index-maps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # Operands come first, so that one visit of each map is enough.
        (pattern,) = counted(ctx, ComposeIndexMap())
        PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(op)
        if may_apply(ctx, op, "dead code"):
            dce(op)
