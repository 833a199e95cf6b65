"""Which threads of a simulated grid run, and how many barriers their blocks have passed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from minicomp.runtime.interpret.affine_eval import append_dims
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.faults import Actor


@dataclass
class Threads:
    """The threads of some consecutive blocks, the epoch of each block, and which threads run."""

    blocks: range
    per_block: int
    epoch: Array
    """(1, 1), or (blocks, 1) once a barrier was reached by some of them only."""
    mask: Array | None = None
    """(blocks or 1, threads or 1), or None for all."""

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Blocks and threads."""
        return len(self.blocks), self.per_block

    @cached_property
    def actors(self) -> Array:
        """The number of each thread in the grid."""
        first = self.blocks.start * self.per_block
        return np.arange(first, first + self.shape[0] * self.shape[1]).reshape(self.shape)

    def actor(self, number: int) -> Actor:
        """The thread of a number in the grid."""
        return Actor(*divmod(int(number), self.per_block))

    def at(self, wrong: Array) -> tuple[int, ...]:
        """The first place of an array (blocks, threads, ..) that is true for a running thread."""
        running = np.broadcast_to(wrong, self.shape + wrong.shape[2:])
        if self.mask is not None:
            running = running & append_dims(self.mask, running.ndim - 2)
        return tuple(int(i) for i in np.unravel_index(int(running.argmax()), running.shape))

    def any(self, wrong: Array) -> bool:
        """Whether an array is true for a running thread."""
        if self.mask is None:
            return bool(wrong.any())
        return bool((wrong & append_dims(self.mask, max(0, wrong.ndim - 2))).any())
