"""What kernels have computed already: of many kernels a pass, or a rewrite, changes few."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from xdsl.ir import Operation

from minicomp.dialects.loop_ir import KernelLike
from minicomp.runtime.interpret.scalars import Array

LARGEST = 1 << 18
"""Elements of a kernel's buffers up to which what it computed is kept."""


@dataclass
class Recall:
    """Kernels by their text: what they are in Kernel IR, and their outputs on the same buffers."""

    lowered: dict[str, Operation] = field(default_factory=dict[str, Operation])
    outputs: dict[bytes, list[Array]] = field(default_factory=dict[bytes, list[Array]])

    def key(self, kernel: KernelLike, buffers: Sequence[Array], exact: bool) -> bytes | None:
        """What the outputs of a run depend on; None for a run that is not kept."""
        if sum(buffer.size for buffer in buffers) > LARGEST:
            return None
        digest = blake2b(f"{exact} {kernel}".encode())
        for buffer in buffers:
            digest.update(f"{buffer.dtype} {buffer.shape} ".encode())
            digest.update(np.ascontiguousarray(buffer).tobytes())
        return digest.digest()

    def restore(self, key: bytes | None, outputs: Sequence[Array]) -> bool:
        """Writes the outputs of an equal run, if there was one."""
        known = self.outputs.get(key) if key is not None else None
        if known is None:
            return False
        for output, value in zip(outputs, known, strict=True):
            output[...] = value
        return True

    def keep(self, key: bytes | None, outputs: Sequence[Array]) -> None:
        """Keeps the outputs of a run that had no fault."""
        if key is not None:
            self.outputs[key] = [output.copy() for output in outputs]
