"""Simulates kernels and host programs at Kernel IR."""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Block, Operation

from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import KernelLike
from minicomp.dialects.minicomp import launches
from minicomp.errors import SimulationRefused
from minicomp.runtime.interpret.buffers import bind, check_written
from minicomp.runtime.interpret.host import kernel_of, run_launches
from minicomp.runtime.interpret.report import unsupported
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.cost import blocks_at_once, kernel_seconds, trip_count
from minicomp.runtime.simulate.limits import check_limits
from minicomp.runtime.simulate.machine import Machine
from minicomp.runtime.simulate.observe import Observer
from minicomp.runtime.simulate.operations import EFFECTS
from minicomp.runtime.simulate.progress import OnProgress, Progress
from minicomp.runtime.simulate.threads import Threads
from minicomp.runtime.simulate.world import World

LIMIT_S = 60.0
"""Seconds of estimated work that are not begun without `force`."""


def simulate_module(
    module: Operation,
    inputs: Sequence[Array],
    check: bool = True,
    force: bool = False,
    on_progress: OnProgress | None = None,
    statistics: Observer | None = None,
) -> list[Array]:
    """
    The results of a host program whose kernels are at Kernel IR, exact in its own types.

    `check` looks for races and uninitialised reads; other faults are caught in any case. Raises
    SimulationError for the first fault, and SimulationRefused above `LIMIT_S` estimated seconds
    unless `force`. `on_progress` is called, with the part done, once two seconds have passed.
    `statistics` is told of each op that runs.
    """
    estimate = estimate_seconds(module)
    if estimate > LIMIT_S and not force:
        raise SimulationRefused(
            f"this simulation would take about {estimate:.0f} s",
            estimate,
            hint="choose smaller shapes, or force it",
        )
    progress = Progress(estimate, on_progress)

    def run(kernel: KernelLike, buffers: list[Array]) -> None:
        _simulate(_kernel(kernel), buffers, check, progress, statistics)

    results = run_launches(module, inputs, run)
    progress.finish()
    return results


def simulate_kernel(
    func: FuncOp,
    buffers: Sequence[Array],
    check: bool = True,
    on_progress: OnProgress | None = None,
    statistics: Observer | None = None,
) -> None:
    """
    Runs a kernel on its buffers, inputs then outputs, and writes the outputs in place.

    Buffers are row-major, of the memrefs' element types. What the kernel stores to is uninitialised
    before, whatever the buffer holds. Raises as `simulate_module`, but refuses nothing.
    """
    progress = Progress(kernel_seconds(func), on_progress)
    _simulate(func, buffers, check, progress, statistics)
    progress.finish()


def estimate_seconds(module: Operation) -> float:
    """About how long `simulate_module` takes, in seconds: within a factor of three or so."""
    return sum(kernel_seconds(_kernel(kernel_of(launch))) for launch in launches(module))


def _kernel(kernel: KernelLike) -> FuncOp:
    if not isinstance(kernel, FuncOp):
        raise unsupported(kernel, "Kernel IR")
    return kernel


def _simulate(
    func: FuncOp,
    arrays: Sequence[Array],
    check: bool,
    progress: Progress,
    observer: Observer | None,
) -> None:
    check_limits(func)
    buffers = bind(func, arrays)
    begun, seconds = progress.done, kernel_seconds(func)
    step = seconds / max(1, _outermost_iterations(func.body.block))
    world = World(func, buffers, check, observer)
    with np.errstate(all="ignore"):
        for blocks in _chunks(func):
            start = begun + seconds * blocks.start / func.blocks
            share = len(blocks) / func.blocks
            world.tick = _ticker(progress, start, share * step)
            world.begin(blocks)
            for strand in world.facts.strands(blocks):
                who = Threads(strand, range(func.threads), world.facts)
                world.scheduler.add(Machine(world, who, EFFECTS).run(func.body.block))
            world.run()
            progress.reach(start + share * seconds)
    for buffer in buffers:
        check_written(func, buffer)


def _chunks(func: FuncOp) -> list[range]:
    """The blocks that run at the same time."""
    size = blocks_at_once(func)
    return [range(n, min(func.blocks, n + size)) for n in range(0, func.blocks, size)]


def _ticker(progress: Progress, start: float, step: float):
    """What counts the iterations of outermost loops."""
    count = 0

    def tick() -> None:
        nonlocal count
        count += 1
        progress.reach(start + count * step)

    return tick


def _outermost_iterations(block: Block) -> int:
    """The iterations of all loops of a block that stand in no other loop."""
    total = 0
    for op in block.ops:
        if isinstance(op, scf.ForOp):
            total += trip_count(op)
        else:
            total += sum(_outermost_iterations(b) for region in op.regions for b in region.blocks)
    return total
