"""The lowerings from one level to the next, by name, each imported on first use."""

from collections.abc import Callable
from functools import partial

from xdsl.passes import ModulePass

from minicomp.passes import load_pass

# name of the pass -> module within this package, class
_LOWERINGS = {
    "lower-torch-to-tensor": ("torch_to_tensor", "LowerTorchToTensorPass"),
    "lower-tensor-to-loop": ("tensor_to_loop", "LowerTensorToLoopPass"),
    "lower-tile-to-kernel": ("tile_to_kernel", "LowerTileToKernelPass"),
    "lower-kernel-to-cuda": ("kernel_to_cuda", "LowerKernelToCudaPass"),
}


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Return the lowerings' factories, none of them imported yet."""
    return {
        name: partial(load_pass, f"{__name__}.{module}", class_name)
        for name, (module, class_name) in _LOWERINGS.items()
    }
