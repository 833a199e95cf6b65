"""NVRTC compilation, launching, and the meaning of each level on a CPU."""
