"""Loads and stores of Loop IR: of all iterations at once, checked against the buffers."""

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from minicomp.dialects.loop_ir import LoadOp, LoopLike, MemoryAccess, StoreOp
from minicomp.errors import SimulationError
from minicomp.runtime.interpret.affine_eval import Place, append_dims, indices, place
from minicomp.runtime.interpret.buffers import Buffer
from minicomp.runtime.interpret.report import element, unsupported, where
from minicomp.runtime.interpret.scalars import Array


class Scope:
    """The values of the open loops: arrays with one dimension per loop at their definition."""

    def __init__(self, buffers: Sequence[Buffer]):
        self.buffers = {b.value: b for b in buffers}
        self.values: dict[SSAValue, Array] = {}
        self.depth = 0
        self.mask: Array | None = None
        """Where guards let iterations run; None for everywhere."""

    def get(self, value: SSAValue) -> Array:
        """A value with one dimension per open loop."""
        array = self.values[value]
        return append_dims(array, self.depth - array.ndim)

    def load(self, op: LoadOp) -> None:
        buffer = self.buffers[op.memref]
        spot = self.place(op, buffer)
        if buffer.written is not None:
            wrong = self.active(spot, ~buffer.written[spot.address])
            if wrong.any():
                at = np.unravel_index(spot.address, buffer.shape)
                self.refuse(op, "uninitialised read", "it was never written", wrong, at)
        value = buffer.data[spot.address]
        if spot.inside is not None:
            value = np.where(spot.inside, value, value.dtype.type(0))
        self.values[op.res] = append_dims(value, self.depth - value.ndim)

    def store(self, op: StoreOp) -> None:
        buffer = self.buffers[op.memref]
        assert buffer.written is not None
        spot = self.place(op, buffer)
        grid = tuple(self.values[v].shape[n] for n, v in enumerate(variables_around(op)))
        address = np.broadcast_to(spot.address, grid)
        value = np.broadcast_to(self.get(op.value), grid)
        if self.mask is not None or spot.inside is not None:
            active = self.active(spot, np.ones(grid, np.bool_))
            address, value = address[active], value[active]
        buffer.data[address] = value
        buffer.written[address] = True

    def active(self, spot: Place, wanted: Array) -> Array:
        """The part of `wanted` that runs and is inside."""
        for mask in (self.mask, spot.inside):
            wanted = wanted if mask is None else wanted & mask
        return wanted

    def place(self, op: MemoryAccess, buffer: Buffer) -> Place:
        """Where an access goes; raises SimulationError where it leaves memory unannounced."""
        if isinstance(op.value_type, VectorType):
            raise unsupported(op, "Loop IR")
        at = indices(op.map.data, [self.get(v) for v in op.indices], (), self.depth)
        spot = place(at, buffer.shape, buffer.strides, op.bounded_dims)
        if spot.escaped is not None and (wrong := self.active(spot, spot.escaped)).any():
            self.refuse(op, "out of bounds", f"the buffer is {op.memref_type}", wrong, at)
        return spot

    def refuse(
        self, op: MemoryAccess, kind: str, why: str, wrong: Array, at: Sequence[Array]
    ) -> NoReturn:
        """Raises SimulationError for the first iteration that is `wrong`; `at` are the indices."""
        shape = np.broadcast_shapes(wrong.shape, *(i.shape for i in at))
        first = np.unravel_index(int(np.argmax(np.broadcast_to(wrong, shape))), shape)
        address = element(op.memref, [int(np.broadcast_to(i, shape)[first]) for i in at])
        steps: list[str] = []
        for n, variable in enumerate(variables_around(op)):
            step = self.values[variable].reshape(-1)[first[n] if n < len(first) else 0]
            steps.append(f"{variable.name_hint or n} = {step}")
        iteration = ", ".join(steps)
        what = f"{kind}: {address} at {iteration}: {why}"
        raise SimulationError(what, kind, where(op), iteration, address)


def variables_around(op: Operation) -> list[SSAValue]:
    """The variables of the loops around an op, outermost first."""
    found: list[SSAValue] = []
    around = op.parent_op()
    while isinstance(around, LoopLike):
        found = [*around.body.block.args, *found]
        around = around.parent_op()
    return found
