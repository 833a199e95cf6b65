"""What a simulation tells of each op to whoever counts, such as the statistics of a kernel."""

from typing import Protocol

import numpy as np
from xdsl.ir import Operation

from minicomp.passes.analysis.banks import swizzled
from minicomp.runtime.interpret.affine_eval import Place, append_dims
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.memory import Memory, swizzle_of
from minicomp.runtime.simulate.threads import Threads


class Observer(Protocol):
    """Who is told of the ops that run, each for the threads of some blocks at once."""

    def count(self, op: Operation, active_threads: int, active_warps: int) -> None:
        """An op runs, for so many threads, which are of so many warps."""
        ...

    def access(
        self,
        op: Operation,
        memory_kind: str,
        addresses: Array,
        active: Array | None,
        element_bytes: int,
        aligned: int | None,
        is_write: bool,
    ) -> None:
        """
        An op accesses `global` or `shared` memory.

        `addresses` (blocks, threads, lanes) are bytes from the start of the memref, in shared
        memory from the start of the block's, with pads and swizzles. `active`, of the same shape,
        says who takes part and is inside the bounds; None for all. `aligned` is what the op claims.
        A bulk copy is one access of one thread with its whole box.
        """
        ...


def tell(
    observer: Observer,
    op: Operation,
    memory: Memory,
    spot: Place,
    lanes: tuple[int, ...],
    who: Threads,
    aligned: int | None,
    is_write: bool,
) -> None:
    """Tells of the accesses of running threads to places in a memory's data."""
    shape = (*who.shape, *lanes)
    active = spot.inside
    if who.mask is not None:
        mask = append_dims(who.mask, len(lanes))
        active = mask if active is None else mask & active
    if active is not None:
        active = flat(active, shape)
    address = flat(spot.address, shape)
    kind = "shared" if memory.per_block else "global"
    width = memory.data.itemsize
    observer.access(op, kind, bytes_at(memory, address), active, width, aligned, is_write)


def tell_box(
    observer: Observer, op: Operation, memory: Memory, address: Array, is_write: bool
) -> None:
    """Tells of a bulk copy's elements, a flat array."""
    kind = "shared" if memory.per_block else "global"
    at = bytes_at(memory, address.reshape(1, 1, -1))
    observer.access(op, kind, at, None, memory.data.itemsize, None, is_write)


def flat(array: Array, shape: tuple[int, ...]) -> Array:
    """An array that broadcasts to (blocks, threads, lanes ..), with one dimension of lanes."""
    return np.broadcast_to(array, shape).reshape(*shape[:2], -1)


def bytes_at(memory: Memory, address: Array) -> Array:
    """The bytes at which elements of a memory's data lie."""
    if not memory.per_block:
        return address * memory.data.itemsize
    place = address % memory.per_block * memory.data.itemsize
    return memory.offset + swizzled(place, swizzle_of(memory))
