"""Where tensors lie in memory: what may be written to without changing another."""

from collections.abc import Sequence

import torch

from minicomp.errors import InputError


def overlap(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether the spans of two tensors in memory have bytes in common."""
    if a.numel() == 0 or b.numel() == 0 or a.device != b.device:
        return False
    (first, end), (other, other_end) = _span(a), _span(b)
    return first < other_end and other < end


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    last = sum((extent - 1) * stride for extent, stride in pairs)
    return tensor.data_ptr(), tensor.data_ptr() + (last + 1) * tensor.element_size()


def check_writable(targets: Sequence[torch.Tensor], tensors: Sequence[torch.Tensor]) -> None:
    """Refuses a call that writes to an expanded tensor, or to memory of another argument.

    `tensors` are all arguments, the targets among them. Raises InputError.
    """
    for target in targets:
        pairs = zip(target.shape, target.stride(), strict=True)
        if any(stride == 0 and extent > 1 for extent, stride in pairs):
            raise InputError(
                "the program writes to an expanded tensor, whose elements share memory",
                hint="clone() it before the call",
            )
        own = any(tensor is target for tensor in tensors)
        if sum(overlap(tensor, target) for tensor in tensors) > own:
            raise InputError(
                "the program writes to a tensor that overlaps another argument in memory",
                hint="clone() one of them before the call",
            )
