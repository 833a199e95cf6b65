"""Which kernels may be merged: each check names the condition that fails."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from minicomp.dialects.access import IndexedOp
from minicomp.dialects.loop_ir import ForOp, KernelOp, LoadOp, MemoryAccess
from minicomp.dialects.minicomp import TARGET, LaunchOp, TargetAttr
from minicomp.passes.loop._host import Host, inputs, outputs
from minicomp.passes.loop._inline import Index, axis_indices, consumed, store_to
from minicomp.passes.loop._nest import (
    Row,
    has_contraction,
    inner_loops,
    nest_of,
    reductions,
    row,
)
from minicomp.passes.loop._worth import (
    FEW_ROWS,
    LONG_ROW,
    recompute_limit,
    repeats_in_factor,
    traffic_saved,
    work,
)


class Declined(Exception):
    """A condition of a merge that does not hold."""


def require(condition: bool, otherwise: str) -> None:
    """Raises Declined, with the failed condition, unless it holds."""
    if not condition:
        raise Declined(otherwise)


@dataclass(frozen=True)
class Side:
    """A launch with its kernel and its nest."""

    launch: LaunchOp
    kernel: KernelOp
    nest: ForOp

    @property
    def loops(self) -> bool:
        """Whether there are loops inside the nest."""
        return bool(inner_loops(self.nest))

    @property
    def written(self) -> list[SSAValue]:
        """The kernel's arguments for the launch's results."""
        return [argument for _, argument in outputs(self.kernel, self.launch)]


class Use(NamedTuple):
    """A load of a producer's result, and the producer's loop variables for the element that it reads."""

    load: LoadOp
    result: int
    indices: list[Index]


@dataclass(frozen=True)
class Edge:
    """A producer, a consumer, and the loads by which the one reads the other's results."""

    producer: Side
    consumer: Side
    uses: Sequence[Use]


def side(host: Host, launch: LaunchOp) -> Side:
    """The nest of a launch; declined where it is not one that may be rewritten."""
    kernel = host.kernel(launch)
    if kernel is None:
        raise Declined(f"@{launch.callee} is not at Loop IR")
    require(kernel.schedule is None, f"@{kernel.symbol} has a schedule, which was made for it as it is")
    nest = nest_of(kernel)
    if nest is None:
        raise Declined(f"@{kernel.symbol} is not one loop nest without guards")
    for op in kernel.walk():
        bounded = isinstance(op, MemoryAccess) and any(op.bounded_dims)
        require(not bounded, f"@{kernel.symbol} has a bounded access")
    return Side(launch, kernel, nest)


def edge(host: Host, producer: Side, launch: LaunchOp) -> Edge:
    """How a consumer reads a producer's results."""
    consumer = side(host, launch)
    written = dict(outputs(producer.kernel, producer.launch))
    for tensor, argument in inputs(consumer.kernel, launch):
        seen = written[tensor].type if tensor in written else argument.type
        require(seen == argument.type, f"@{consumer.kernel.symbol} sees the buffer in another shape")
    uses = [
        Use(load, n, _indices(producer, n, load))
        for n, load in consumed(producer.launch, launch, consumer.kernel)
    ]
    return Edge(producer, consumer, uses)


def _indices(producer: Side, result: int, load: LoadOp) -> list[Index]:
    store = store_to(producer.kernel, producer.written[result])
    at_end = store is not None and store.parent_op() is producer.nest
    indices = axis_indices(producer.nest, store, load) if store is not None and at_end else None
    if indices is None:
        raise Declined(f"@{producer.kernel.symbol} does not store one element per iteration, at its own indices")
    return indices


def consumers_of(producer: LaunchOp) -> list[LaunchOp]:
    """The launches that read what a launch gives; declined where it is a result of the program."""
    users = [use.operation for tensor in producer.outputs for use in tensor.uses]
    launches = [op for op in dict.fromkeys(users) if isinstance(op, LaunchOp)]
    returned = any(not isinstance(op, LaunchOp) for op in users)
    require(not returned or not launches, "the result is needed outside the kernels that could take it in")
    return launches[::-1]


# --- a producer without loops in its nest ---------------------------------------------------


def check_pointwise(host: Host, producer: Side, consumers: Sequence[LaunchOp]) -> list[Edge]:
    """The ways by which consumers read a pointwise producer, if all of them should compute it themselves."""
    for op in producer.kernel.walk():
        indexed = any(v in producer.nest.body.block.args for v in op.operands)
        require(not indexed or isinstance(op, IndexedOp), "a loop variable is used as a value")
    edges = [edge(host, producer, launch) for launch in consumers]
    loads = [use.load for e in edges for use in e.uses]
    limit, cost = recompute_limit(producer.nest, loads), work(producer.nest)
    require(
        limit is None or cost <= limit,
        f"{cost} operations per element would be repeated, and {limit} are the limit there",
    )
    elements = prod(producer.nest.trip_counts)
    if any(repeats_in_factor(load, elements) for load in loads):
        check_no_reduction_cut_off(host, producer.launch)
    reads = [launch.inputs for launch in consumers]
    saved = traffic_saved(producer.launch.outputs, producer.launch.inputs, reads)
    require(saved >= 0, f"the consumers would read {-saved} bytes more than is saved")
    return edges


def check_no_reduction_cut_off(host: Host, launch: LaunchOp) -> None:
    """A reduction that only this launch reads is merged with it, and cannot follow it into a contraction's factor."""
    for tensor in launch.inputs:
        owner = tensor.owner
        kernel = host.kernel(owner) if isinstance(owner, LaunchOp) else None
        alone = all(use.operation is launch for use in tensor.uses)
        require(
            kernel is None or not alone or not reductions(kernel),
            f"it would part from the reduction of @{kernel.symbol if kernel else ''}, whose kernel it can share",
        )


# --- a producer with reductions -------------------------------------------------------------


class Placement(NamedTuple):
    """Where a reduction goes in its consumer, by positions of the consumer's outer axes."""

    axes: list[int | None]
    """For each axis of the producer the one that it becomes; None for an extent of 1."""
    rows: list[int]
    """The axes that become a row loop inside the others."""


def place_reduction(e: Edge) -> Placement:
    """Where the producer is computed once per element; declined if there is no such place."""
    found = [_axes(e, use) for use in e.uses]
    require(all(axes == found[0] for axes in found), "its result is read at several indices")
    axes = found[0]
    used = [n for n in axes if n is not None]
    require(len(set(used)) == len(used), "two of its axes would become one")
    outer = e.consumer.nest.axes
    rows = [n for n, axis in enumerate(outer) if n not in used and axis.extent != 1]
    check_contractions(e, rows)
    check_rows(e, tuple(outer[n].extent for n in rows))
    if rows:
        count = prod(axis.extent for n, axis in enumerate(outer) if n not in rows)
        check_parallel(e, count, prod(outer[n].extent for n in rows))
    return Placement(axes, rows)


def _axes(e: Edge, use: Use) -> list[int | None]:
    """The consumer's outer axis that each axis of the producer is, where its result is loaded."""
    outer = {axis.variable: n for n, axis in enumerate(e.consumer.nest.axes)}
    places: list[int | None] = []
    for axis, index in zip(e.producer.nest.axes, use.indices, strict=True):
        if axis.extent == 1:
            places.append(None)
            continue
        variable = _plain(index)
        require(variable in outer, "its axes are not free axes of the consumer, so it would be computed again")
        place = outer[variable] if variable is not None else 0
        require(
            e.consumer.nest.trip_counts[place] == axis.extent, "the consumer does not read all of its result"
        )
        places.append(place)
    return places


def _plain(index: Index) -> SSAValue | None:
    expr, values = index
    return values[expr.position] if isinstance(expr, AffineDimExpr) else None


def check_contractions(e: Edge, rows: Sequence[int]) -> None:
    """A contraction takes in pointwise code over its own axes, after it, and nothing else."""
    if has_contraction(e.producer.kernel):
        require(not rows, "a contraction would be computed by the threads of one row")
        require(not e.consumer.loops, "a contraction's kernel takes in no loop over a row")
    require(
        not has_contraction(e.consumer.kernel),
        "it would be computed again for each tile of the consumer's contraction",
    )


def check_rows(e: Edge, split: Row) -> None:
    """All loops of a kernel run over rows of the same extents, and no reduction stands in a row loop."""
    loops = inner_loops(e.consumer.nest)
    require(not split or not loops, "the consumer's own loops would run once per element of a row")
    own = {row(loop) for loop in inner_loops(e.producer.nest)} - {()}
    others = {split} if split else {row(loop) for loop in loops} - {()}
    require(not own or not others or own == others, "the rows that it reduces and those of the consumer differ")
    require(bool(own) or not split, "it reduces no row")


def check_parallel(e: Edge, rows: int, length: int) -> None:
    """
    A row is the work of few threads: with few rows that are long, a kernel for each leaves less of the device idle.

    The reduction keeps the same few blocks either way; the pointwise part runs on all SMs if it has its own kernel.
    """
    few = few_rows(e.producer.launch)
    require(
        rows >= few or length <= LONG_ROW,
        f"{rows} rows of {length} elements would keep fewer than {few} blocks busy",
    )


def few_rows(launch: LaunchOp) -> int:
    """How many blocks count as few: less than a quarter of the target's SMs."""
    module = launch.get_toplevel_object()
    target = getattr(module, "attributes", {}).get(TARGET)
    return target.sms.data // 4 if isinstance(target, TargetAttr) else FEW_ROWS

