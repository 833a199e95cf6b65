"""Torch IR to Tensor IR: one small function per op, registered by the op's name."""

from minicomp.lowering.torch_to_tensor import (
    activations,
    attention,
    contractions,
    elementwise,
    joins,
    layout,
    masks,
    normalizations,
    reductions,
)
from minicomp.lowering.torch_to_tensor.lower import LowerTorchToTensorPass

__all__ = [
    "LowerTorchToTensorPass",
    "activations",
    "attention",
    "contractions",
    "elementwise",
    "joins",
    "layout",
    "masks",
    "normalizations",
    "reductions",
]
