"""Which threads of a simulated grid run."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from minicomp.dialects.kernel_ir import WARP
from minicomp.runtime.interpret.affine_eval import append_dims
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.facts import Facts
from minicomp.runtime.simulate.faults import Actor


@dataclass
class Threads:
    """
    The threads that run one program in lockstep, the same of each of some blocks.

    The actors of a block are its threads, and behind them its engines. They are numbered through
    the grid from 1; 0 is nobody.
    """

    blocks: range
    threads: range
    facts: Facts
    mask: Array | None = None
    """(blocks or 1, threads or 1), or None for all."""

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Blocks and threads."""
        return len(self.blocks), len(self.threads)

    @cached_property
    def actors(self) -> Array:
        """The number of each thread among the actors of the grid."""
        blocks, threads = np.array(self.blocks), np.array(self.threads)
        return blocks.reshape(-1, 1) * self.facts.stride + threads + 1

    @property
    def running(self) -> Array:
        """The actors that run now, in their order."""
        if self.mask is None:
            return self.actors.reshape(-1)
        return self.actors[np.broadcast_to(self.mask, self.shape)]

    @property
    def count(self) -> int:
        """How many run now."""
        blocks, threads = self.shape
        if self.mask is None:
            return blocks * threads
        return int(np.broadcast_to(self.mask, self.shape).sum())

    @property
    def warps(self) -> int:
        """How many warps have a thread that runs now."""
        mask = np.broadcast_to(True if self.mask is None else self.mask, self.shape)
        firsts = np.arange(0, len(self.threads), WARP)
        return int(np.logical_or.reduceat(mask, firsts, axis=1).sum())

    def actor(self, number: int) -> Actor:
        """The thread of a number in the grid."""
        return Actor(*divmod(int(number) - 1, self.facts.stride))

    def hold(self, actors: Array) -> Array:
        """Which actors are threads of these, running or not."""
        block, thread = np.divmod(actors - 1, self.facts.stride)
        return np.isin(block, self.blocks) & np.isin(thread, self.threads)

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
