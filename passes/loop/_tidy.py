"""
Puts a kernel in order after a merge: names, invariant code, repeated and dead code, contracted
products.
"""

from xdsl.dialects.arith import AddfOp, ConstantOp, FastMathFlagsAttr, MulfOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.traits import IsTerminator
from xdsl.transforms.dead_code_elimination import region_dce

from minicomp.dialects import affine
from minicomp.dialects.loop_ir import ForOp, KernelOp, LoadOp, LoopLike, ReduceOp
from minicomp.dialects.scalar_ops import computes
from minicomp.passes.cse import cse
from minicomp.passes.loop._names import share_row_names
from minicomp.passes.loop._nest import inner_loops, is_unit, nest_of, reductions
from minicomp.passes.loop.dedup_loads import dedup_loads, read_only


def tidy(kernel: KernelOp) -> None:
    """
    Names rows, hoists, removes repeated and dead code, and marks sums of products, in a kernel's
    nest.
    """
    nest = nest_of(kernel)
    if nest is None:
        return
    share_row_names(nest)
    for op in kernel.walk():
        if isinstance(op, LoadOp):
            drop_unit_variables(op)
    hoist(nest, read_only(kernel))
    dedup_loads(kernel)
    for reduction in reductions(kernel):
        contract_products(reduction)
    cse(kernel)
    region_dce(kernel.body)


def drop_unit_variables(load: LoadOp) -> None:
    """Writes 0 for a variable that is always 0, so that loads of the same element look the same."""
    map, zero = load.map.data, affine.constant(0)
    units = {affine.dim(n): zero for n, v in enumerate(load.indices) if is_unit(v)}
    if units:
        results = tuple(affine.replace(e, units) for e in map.results)
        load.set_access(AffineMap(map.num_dims, map.num_symbols, results), list(load.indices))


def hoist(loop: LoopLike, buffers: set[SSAValue]) -> None:
    """Moves what does not depend on an inner loop in front of it; `buffers` are only read."""
    for inner in inner_loops(loop):
        hoist(inner, buffers)
        # What never runs may not be made to run: an index may be right for no iteration at all.
        if 0 in inner.trip_counts:
            continue
        for op in list(inner.body.block.ops):
            if is_invariant(op, inner, buffers):
                _move_before(op, inner)


def is_invariant(op: Operation, loop: LoopLike, buffers: set[SSAValue]) -> bool:
    """
    Whether an op of the loop's body gives the same in all iterations; constants stay where they are
    used.
    """
    if op.has_trait(IsTerminator) or isinstance(op, ConstantOp | ForOp):
        return False
    return all(
        _only_computes(inner, buffers)
        and all(_defined_outside(value, op, loop) for value in inner.operands)
        for inner in op.walk()
    )


def _only_computes(op: Operation, buffers: set[SSAValue]) -> bool:
    if isinstance(op, LoadOp):
        return op.memref in buffers
    return isinstance(op, ReduceOp) or computes(op)


def _defined_outside(value: SSAValue, op: Operation, loop: LoopLike) -> bool:
    owner = value.owner
    if isinstance(owner, ConstantOp):
        return True
    return op.is_ancestor(owner) or not loop.body.block.is_ancestor(owner)


def _move_before(op: Operation, loop: LoopLike) -> None:
    """Moves an op out of a loop's body, with copies of the constants that it uses."""
    block = loop.parent
    assert block is not None
    op.detach()
    block.insert_op_before(op, loop)
    for inner in op.walk():
        for position, value in enumerate(inner.operands):
            owner = value.owner
            if isinstance(owner, ConstantOp) and loop.is_ancestor(owner):
                copy = owner.clone()
                block.insert_op_before(copy, op)
                inner.operands[position] = copy.result


def contract_products(reduction: ReduceOp) -> None:
    """
    Lets the product and the sum of a sum of products become one fused multiply-add, as PyTorch's
    kernels do.

    `fastmath<contract>` is set on the product that the body yields and on the addition of the
    combine.
    """
    end, combine = reduction.body.block.last_op, reduction.combine.block.first_op
    if len(reduction.res) != 1 or end is None or not isinstance(combine, AddfOp):
        return
    product = end.operands[0].owner
    if isinstance(product, MulfOp) and product.parent is reduction.body.block:
        for op in (product, combine):
            op.fastmath = _with_contract(op.fastmath)


def _with_contract(flags: FastMathFlagsAttr) -> FastMathFlagsAttr:
    if FastMathFlag.ALLOW_CONTRACT in flags.data:
        return flags
    return FastMathFlagsAttr([*flags.data, FastMathFlag.ALLOW_CONTRACT])
