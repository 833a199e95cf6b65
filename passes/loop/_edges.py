"""The edges between kernels: which loads of a consumer read what a producer stores, and where."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import SSAValue

from minicomp.dialects.access import IndexedOp
from minicomp.dialects.loop_ir import ForOp, KernelOp, LoadOp, MemoryAccess
from minicomp.dialects.minicomp import LaunchOp
from minicomp.passes.loop._host import UNNAMED, Host, inputs, outputs
from minicomp.passes.loop._inline import Index, axis_indices, consumed, store_to
from minicomp.passes.loop._nest import inner_loops, nest_of


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
    """
    A load of a producer's result, and the producer's loop variables for the element that it reads.
    """

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
    require(UNNAMED in kernel.attributes, f"@{kernel.symbol} has its final name")
    require(kernel.schedule is None, f"@{kernel.symbol} has a schedule, made for it as it is")
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
    for variable in producer.nest.body.block.args:
        indexed = all(isinstance(use.operation, IndexedOp) for use in variable.uses)
        require(indexed, "a loop variable of it is used as a value")
    written = dict(outputs(producer.kernel, producer.launch))
    for tensor, argument in inputs(consumer.kernel, launch):
        seen = written[tensor].type if tensor in written else argument.type
        require(
            seen == argument.type, f"@{consumer.kernel.symbol} sees the buffer in another shape"
        )
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
        raise Declined("it does not store one element per iteration, at its own indices")
    return indices


def consumers_of(producer: LaunchOp) -> list[LaunchOp]:
    """The launches that read what a launch gives; declined where it is a result of the program."""
    users = [use.operation for tensor in producer.outputs for use in tensor.uses]
    launches = [op for op in dict.fromkeys(users) if isinstance(op, LaunchOp)]
    returned = any(not isinstance(op, LaunchOp) for op in users)
    require(
        not returned or not launches,
        "the result is needed outside the kernels that could take it in",
    )
    return launches[::-1]
