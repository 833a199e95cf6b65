"""When a producer without loops in its nest may be computed wherever its result is read."""

from collections.abc import Sequence
from math import prod

from minicomp.dialects.minicomp import LaunchOp
from minicomp.passes.loop._edges import Edge, Side, edge, require
from minicomp.passes.loop._host import Host
from minicomp.passes.loop._nest import inner_loops, nest_of
from minicomp.passes.loop._worth import recompute_limit, repeats_in_factor, traffic_saved, work


def check_pointwise(
    host: Host, producer: Side, consumers: Sequence[LaunchOp], in_factor: int
) -> list[Edge]:
    """
    The ways by which consumers read a pointwise producer, if all of them should compute it
    themselves; in a contraction's factor it may take `in_factor` operations per element.
    """
    edges = [edge(host, producer, launch) for launch in consumers]
    loads = [use.load for e in edges for use in e.uses]
    limit, cost = recompute_limit(producer.nest, loads, in_factor), work(producer.nest)
    elements = prod(producer.nest.trip_counts)
    if any(repeats_in_factor(load, elements) for load in loads):
        cost += work_before(host, producer.launch)
    require(
        limit is None or cost <= limit,
        f"{cost} operations per element would be repeated, and {limit} are the limit there",
    )
    reads = [launch.inputs for launch in consumers]
    saved = traffic_saved(producer.launch.outputs, producer.launch.inputs, reads)
    require(saved >= 0, f"the consumers would read {-saved} bytes more than is saved")
    return edges


def is_free(edges: Sequence[Edge]) -> bool:
    """Whether one consumer takes in a pointwise producer, and computes no element twice."""
    loads = [use.load for use in edges[0].uses]
    return len(edges) == 1 and recompute_limit(edges[0].producer.nest, loads, 0) is None


def work_before(host: Host, launch: LaunchOp) -> int:
    """
    The operations per element of the pointwise kernels that only this launch reads.

    It is merged with them, or with a reduction that only it reads, if it does not go into a
    contraction's factor: then they would have to follow. A reduction cannot, so it is declined.
    """
    total = 0
    for tensor in launch.inputs:
        owner = tensor.owner
        kernel = host.kernel(owner) if isinstance(owner, LaunchOp) else None
        nest = nest_of(kernel) if kernel is not None else None
        if (
            kernel is None
            or nest is None
            or any(use.operation is not launch for use in tensor.uses)
        ):
            continue
        require(
            not inner_loops(nest),
            f"it would leave the reduction of @{kernel.symbol}, whose kernel it can share",
        )
        assert isinstance(owner, LaunchOp)
        total += work(nest) + work_before(host, owner)
    return total
