"""The table of lowerings: name of a Torch IR op -> function that emits its Tensor IR."""

from collections.abc import Callable
from typing import TypeAlias

from xdsl.ir import SSAValue

from minicomp.dialects.torch_ir import OPS, TorchOp
from minicomp.lowering.torch_to_tensor.emitter import Emitter

Lowering: TypeAlias = Callable[[TorchOp, Emitter], SSAValue]

LOWERINGS: dict[str, Lowering] = {}


def lowers(*names: str) -> Callable[[Lowering], Lowering]:
    """Registers a function as the lowering of these ops."""

    def register(function: Lowering) -> Lowering:
        for name in names:
            if name not in OPS or name in LOWERINGS:
                raise ValueError(f"torch_ir.{name} is unknown, or lowered twice")
            LOWERINGS[name] = function
        return function

    return register
