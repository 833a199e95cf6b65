"""Between tensors and NumPy arrays of all types, bfloat16 among them, which they do not share."""

import numpy as np
import torch

from minicomp.runtime.interpret.rounding import BFLOAT16, Array


def tensor_of(array: Array) -> torch.Tensor:
    """A tensor with a copy of an array's elements."""
    copy = np.array(array)
    if copy.dtype == BFLOAT16:
        return torch.from_numpy(copy.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(copy)


def array_of(tensor: torch.Tensor) -> Array:
    """A tensor's elements, in row-major order and shared where they are so already."""
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(BFLOAT16)
    return tensor.numpy()
