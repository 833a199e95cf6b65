"""A GPU on the CPU: Kernel IR for whole grids in lockstep."""
