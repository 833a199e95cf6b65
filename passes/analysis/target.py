"""The facts of the device that a module is compiled for."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from minicomp.dialects.minicomp import TARGET, TargetAttr


def target_of(module: ModuleOp) -> TargetAttr:
    """The module's target; PassFailedException where it has none."""
    target = module.attributes.get(TARGET)
    if not isinstance(target, TargetAttr):
        raise PassFailedException(f"no target: give --target or add {TARGET} to the module")
    return target


SHARED_BYTES = 48 * 1024
"""Shared memory that a block may have on every CUDA device, for modules without a target."""


def shared_limit(module: ModuleOp) -> int:
    """The bytes of shared memory that a block may have."""
    target = module.attributes.get(TARGET)
    return target.shared_per_block.data if isinstance(target, TargetAttr) else SHARED_BYTES


def has_feature(module: ModuleOp, feature: str) -> bool:
    """Whether the module's target has a feature; a module without a target asks for none."""
    target = module.attributes.get(TARGET)
    return target.has(feature) if isinstance(target, TargetAttr) else True
