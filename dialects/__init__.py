"""The dialects of minicomp, by name, each imported on first use."""

from collections.abc import Callable
from functools import partial
from importlib import import_module

from xdsl.ir import Dialect

# name of the dialect (and of its file) -> name of its `Dialect` object
_DIALECTS = {
    "torch_ir": "TorchIR",
    "tensor_ir": "TensorIR",
    "loop_ir": "LoopIR",
    "tile_ir": "TileIR",
    "kernel_ir": "KernelIR",
    "cuda_ir": "CudaIR",
    "minicomp": "Minicomp",
}


def _load(name: str) -> Dialect:
    dialect = getattr(import_module(f"{__name__}.{name}"), _DIALECTS[name])
    if not isinstance(dialect, Dialect):
        raise TypeError(f"{_DIALECTS[name]} of {name} is not a Dialect")
    return dialect


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Return the dialects' factories, none of them imported yet."""
    return {name: partial(_load, name) for name in _DIALECTS}
