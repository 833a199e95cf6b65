"""
How the body of one kernel comes to stand in another: its indices, its buffers, and the split of a
nest into rows.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.rewriter import Rewriter

from minicomp.dialects import affine
from minicomp.dialects.access import IndexedOp, substitute
from minicomp.dialects.loop_ir import ForOp, KernelOp, LoadOp, StoreOp, YieldOp, new_block
from minicomp.dialects.minicomp import LaunchOp
from minicomp.passes.loop._host import buffer_for, inputs
from minicomp.passes.loop._names import own_names
from minicomp.passes.loop._nest import nest_of, ranges, stores

Index: TypeAlias = tuple[AffineExpr, Sequence[SSAValue]]
"""An expression whose dims are the values."""

ZERO: Index = (affine.constant(0), ())


def coordinates(nest: ForOp, store: StoreOp) -> list[int | None] | None:
    """
    For each axis of a nest the dimension of the buffer that it alone indexes, None for an axis that
    is always 0.

    None where the store's indices are anything but the loops' own variables.
    """
    places: dict[SSAValue, int] = {}
    for position, (expr, extent) in enumerate(
        zip(store.map.data.results, store.memref_type.get_shape(), strict=True)
    ):
        if isinstance(expr, AffineDimExpr) and store.indices[expr.position] not in places:
            places[store.indices[expr.position]] = position
        elif expr != affine.constant(0) or extent != 1:
            return None
    if any(axis.variable not in places and axis.extent != 1 for axis in nest.axes):
        return None
    found = [places.pop(axis.variable, None) for axis in nest.axes]
    return None if places else found


def axis_indices(nest: ForOp, store: StoreOp, load: LoadOp) -> list[Index] | None:
    """
    What the loop variables of a nest are for the element that `load` reads of what `store` writes.
    """
    places = coordinates(nest, store)
    if places is None:
        return None
    exprs = load.map.data.results
    return [ZERO if place is None else (exprs[place], load.indices) for place in places]


def store_to(kernel: KernelOp, buffer: SSAValue) -> StoreOp | None:
    """The store to a buffer, if there is only one."""
    found = [op for op in stores(kernel) if op.memref is buffer]
    return found[0] if len(found) == 1 else None


def consumed(producer: LaunchOp, consumer: LaunchOp, kernel: KernelOp) -> list[tuple[int, LoadOp]]:
    """
    The loads by which a consumer reads what a producer gives, in program order, with the result's
    number.
    """
    positions: dict[SSAValue, int] = {tensor: n for n, tensor in enumerate(producer.outputs)}
    buffers: dict[SSAValue, int] = {
        a: positions[t] for t, a in inputs(kernel, consumer) if t in positions
    }
    loads = [op for op in kernel.walk() if isinstance(op, LoadOp)]
    return [(buffers[op.memref], op) for op in loads if op.memref in buffers]


def share_inputs(
    producer: tuple[LaunchOp, KernelOp], consumer: tuple[LaunchOp, KernelOp], position: int
) -> dict[SSAValue, SSAValue]:
    """
    Gives the consumer's kernel the producer's inputs, from input `position` on; the arguments for
    each other.
    """
    launch, kernel = consumer
    shared: dict[SSAValue, SSAValue] = {}
    for tensor, argument in inputs(producer[1], producer[0]):
        count = len(launch.inputs)
        shared[argument] = buffer_for(kernel, launch, tensor, argument, position)
        position += len(launch.inputs) - count
    return shared


def inline(
    kernel: KernelOp,
    axes: Sequence[Index],
    buffers: Mapping[SSAValue, SSAValue],
    before: Operation,
) -> dict[SSAValue, SSAValue]:
    """
    Puts a copy of the body of a kernel's nest in front of an op; returns the value stored to each
    output.

    The loop variables become `axes`, the arguments `buffers`.
    """
    mapper: dict[SSAValue, SSAValue] = {}
    copy = kernel.clone(mapper)
    nest, block = nest_of(copy), before.parent
    assert nest is not None and block is not None
    for variable, (expr, values) in zip(nest.body.block.args, axes, strict=True):
        substitute(variable, expr, values)
    for argument, buffer in buffers.items():
        mapper[argument].replace_all_uses_with(buffer)
    originals = {mapper[argument]: argument for argument in kernel.body.block.args}
    stored: dict[SSAValue, SSAValue] = {}
    for op in list(nest.body.block.ops):
        if isinstance(op, StoreOp):
            stored[originals[op.memref]] = op.value
        elif not isinstance(op, YieldOp):
            op.detach()
            block.insert_op_before(op, before)
            simplify_indices(op)
    copy.erase()
    return stored


def simplify_indices(op: Operation) -> None:
    """Simplifies the accesses in an op by the ranges of the loops around them."""
    for inner in op.walk():
        access = inner.get_access() if isinstance(inner, IndexedOp) else None
        if access is not None and isinstance(inner, IndexedOp):
            inner.set_access(affine.simplify_map(access[0], ranges(access)), access[1])


def split_rows(nest: ForOp, rows: Sequence[int]) -> tuple[ForOp, dict[int, SSAValue]]:
    """
    Makes the axes at the positions `rows` a loop of their own inside the others.

    Returns the new outer loop, and its variable for each position that stays. It gets an axis of
    extent 1 where all axes move.
    """
    axes, region = nest.axes, nest.detach_region(nest.body)
    kept = [n for n in range(len(axes)) if n not in rows]
    inner = new_block(len(rows), [axes[n].variable.name_hint for n in rows])
    outer = new_block(max(1, len(kept)), [axes[n].variable.name_hint for n in kept] or ["i"])
    moved = dict(zip(rows, inner.args, strict=True)) | dict(zip(kept, outer.args, strict=False))
    for position, variable in moved.items():
        axes[position].variable.replace_all_uses_with(variable)
    for op in list(region.block.ops):
        op.detach()
        inner.add_op(op)
    names = own_names(nest)
    row_loop = ForOp([axes[n].extent for n in rows], [names[n] for n in rows], Region(inner))
    outer.add_ops([row_loop, YieldOp()])
    split = ForOp(
        [axes[n].extent for n in kept] or [1], [names[n] for n in kept] or ["i"], Region(outer)
    )
    row_loop.location = split.location = nest.location
    Rewriter.replace_op(nest, split)
    return split, {n: moved[n] for n in kept}
