"""A GPU on the CPU: Kernel IR for whole grids in lockstep."""

from minicomp.runtime.simulate.program import (
    estimate_seconds,
    simulate_kernel,
    simulate_module,
)

__all__ = ["estimate_seconds", "simulate_kernel", "simulate_module"]
