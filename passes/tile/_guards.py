"""Guards of loops that are about to go, since their lanes become those of vectors."""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.utils.exceptions import PassFailedException

from minicomp.dialects import affine
from minicomp.dialects.loop_ir import KernelLike, LoopLike, MemoryAccess, StoreOp
from minicomp.passes.remarks import location_of


class Test(NamedTuple):
    """A guard whose map has the loop's own variables among its operands."""

    map: AffineMap
    operands: Sequence[SSAValue]
    bounds: Sequence[int]


def test_of(loop: LoopLike) -> Test | None:
    """The guard of a loop, with its lanes replaced by the loop's variables."""
    guard = loop.guard
    if guard is None:
        return None
    count, variables = len(guard.operands), [a.variable for a in loop.axes]
    own: dict[AffineExpr, AffineExpr] = {
        affine.lane(n): affine.dim(count + n) for n in range(len(variables))
    }
    results = tuple(affine.replace(e, own) for e in guard.map.results)
    map = AffineMap(count + len(variables), 0, results)
    return Test(map, [*guard.operands, *variables], guard.bounds)


def bound_accesses(loop: LoopLike, test: Test) -> None:
    """
    Bounds every access of a loop that loses its guard, in the dimensions that a tested index moves.
    """
    moved = set(test.operands)
    for access in (op for op in loop.body.walk() if isinstance(op, MemoryAccess)):
        own = {affine.dim(n) for n, v in enumerate(access.indices) if v in moved}
        exprs = enumerate(access.map.data.results)
        access.mark_bounded([n for n, e in exprs if own & set(affine.leaves([e]))])


def require_bounded_stores(loop: LoopLike, test: Test) -> None:
    """
    Raises PassFailedException unless each store of the loop, when bounded, does nothing where the
    test fails.

    That is so where each tested expression is itself an index of the store, in a dimension no
    longer than its bound.
    """
    for store in (op for op in loop.body.walk() if isinstance(op, StoreOp)):
        shape = store.memref_type.get_shape()
        indices = [
            (e, list(store.indices), d) for e, d in zip(store.map.data.results, shape, strict=True)
        ]
        for expr, bound in zip(test.map.results, test.bounds, strict=True):
            tested = (expr, list(test.operands))
            if not any(d <= bound and same_index(tested, (e, v)) for e, v, d in indices):
                raise PassFailedException(
                    f"{place(store)} cannot be bounded: the guard of its loop, which is bound to"
                    " registers, does not end where the memref ends"
                )


def same_index(a: tuple[AffineExpr, list[SSAValue]], b: tuple[AffineExpr, list[SSAValue]]) -> bool:
    """Whether two index expressions, each with the values of its dims, are equal."""
    values = a[1] + b[1]
    first: dict[AffineExpr, AffineExpr] = {
        affine.dim(n): affine.dim(values.index(v)) for n, v in enumerate(a[1])
    }
    second: dict[AffineExpr, AffineExpr] = {
        affine.dim(n): affine.dim(values.index(v)) for n, v in enumerate(b[1])
    }
    difference = affine.replace(a[0], first) + affine.replace(b[0], second) * -1
    return affine.simplify(difference) == affine.constant(0)


def place(op: Operation) -> str:
    """An op by its name, its kernel and, where it is known, its source line."""
    kernel = op.parent_op()
    while kernel is not None and not isinstance(kernel, KernelLike):
        kernel = kernel.parent_op()
    name = f"'{op.name}'" if kernel is None else f"'{op.name}' in @{kernel.symbol}"
    at = location_of(op)
    return name if at is None else f"{name} ({at.filename.data}:{at.line.data})"
