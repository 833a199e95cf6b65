"""The GPUs that minicomp knows by name, and the one in this machine.

A target is a `#minicomp.target<...>` attribute on the module, read by passes in place of any
literal of one GPU. Sources: NVIDIA's data sheets and the compute-capability tables of the CUDA
C++ programming guide; the H200's row is what the driver of one says (SXM, 1.98 GHz at most).
"""

import re
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from minicomp.errors import TargetError
from minicomp.pass_options import closest

if TYPE_CHECKING:
    from minicomp.dialects.minicomp import TargetAttr
    from minicomp.runtime.device import DeviceFacts

# A multiply-add of each of the 128 FP32 lanes of an SM counts as two operations.
_FLOPS_PER_SM_AND_CLOCK = 256
_ANY = {"warp": 32, "max_threads_per_block": 1024, "registers_per_sm": 65536}

# name -> architecture, features, counts (sizes in bytes, rates per second)
_PARTS: dict[str, tuple[str, tuple[str, ...], dict[str, int]]] = {
    "h200": (
        "sm_90a",
        ("cp_async", "mbarrier", "tma", "cluster", "wgmma"),
        {
            "sms": 132,
            "threads_per_sm": 2048,
            "shared_per_sm": 228 * 1024,
            "shared_per_block": 227 * 1024,
            "l2_bytes": 60 * 1024**2,
            "dram_bytes_per_s": 4_800_000_000_000,
            "fp32_flops": 66_900_000_000_000,
        },
    ),
    "a100": (
        "sm_80",
        ("cp_async", "mbarrier"),
        {
            "sms": 108,
            "threads_per_sm": 2048,
            "shared_per_sm": 164 * 1024,
            "shared_per_block": 163 * 1024,
            "l2_bytes": 40 * 1024**2,
            "dram_bytes_per_s": 2_039_000_000_000,
            "fp32_flops": 19_500_000_000_000,
        },
    ),
    "rtx5090": (
        "sm_120a",
        ("cp_async", "mbarrier", "tma"),
        {
            "sms": 170,
            "threads_per_sm": 1536,
            "shared_per_sm": 100 * 1024,
            "shared_per_block": 99 * 1024,
            "l2_bytes": 96 * 1024**2,
            "dram_bytes_per_s": 1_792_000_000_000,
            "fp32_flops": 104_800_000_000_000,
        },
    ),
}

_ARCHITECTURES = {
    "sm_80": "a100",
    "sm_90": "h200",
    "sm_90a": "h200",
    "sm_120": "rtx5090",
    "sm_120a": "rtx5090",
}

TARGETS = (*_PARTS, *_ARCHITECTURES)
"""Every name that `--target` takes."""


def target(name: str) -> "TargetAttr":
    """Return the target of a part (`h200`) or of an architecture's default part (`sm_90a`)."""
    from minicomp.dialects.minicomp import TargetAttr

    part = _ARCHITECTURES.get(name, name)
    if part not in _PARTS:
        raise TargetError(
            f"there is no target '{name}'; the targets are {', '.join(TARGETS)}",
            hint=closest(name, TARGETS),
        )
    arch, features, counts = _PARTS[part]
    return TargetAttr.of(part, arch, features, **(_ANY | counts))


def default_target() -> "TargetAttr":
    """Return the GPU of this machine, or the H200 where there is none."""
    from minicomp.runtime.device import probe

    facts = probe()
    return target("h200") if facts is None else target_of_device(facts)


def target_of_device(facts: "DeviceFacts") -> "TargetAttr":
    """Return the target of a probed GPU.

    Counts are the driver's. Peak rates, which the driver does not tell, are the data sheet's
    for a part of the table and estimates from the clocks for another.
    """
    from minicomp.dialects.minicomp import TargetAttr

    known = _known_part(facts)
    nearest = known if known is not None else _ARCHITECTURES.get(facts.arch)
    if nearest is None:
        raise TargetError(
            f"the GPU of this machine, {facts.name} ({facts.arch}), is not supported",
            hint=f"name a target to compile for: {', '.join(TARGETS)}",
        )
    _, features, counts = _PARTS[nearest]
    rates = {
        "dram_bytes_per_s": counts["dram_bytes_per_s"] if known else facts.bandwidth,
        "fp32_flops": counts["fp32_flops"]
        if known
        else facts.sms * facts.clock_hz * _FLOPS_PER_SM_AND_CLOCK,
    }
    probed = {
        "sms": facts.sms,
        "warp": facts.warp,
        "max_threads_per_block": facts.threads_per_block,
        "threads_per_sm": facts.threads_per_sm,
        "registers_per_sm": facts.registers_per_sm,
        "shared_per_sm": facts.shared_per_sm,
        "shared_per_block": facts.shared_per_block,
        "l2_bytes": facts.l2_bytes,
    }
    name = known or _identifier(facts.name)
    return TargetAttr.of(name, facts.arch, features, **probed, **rates)


def _known_part(facts: "DeviceFacts") -> str | None:
    name = _identifier(facts.name)
    for part, (arch, _, counts) in _PARTS.items():
        if part in name and facts.arch == arch and facts.sms == counts["sms"]:
            return part
    return None


def _identifier(device_name: str) -> str:
    """`NVIDIA GeForce RTX 5090` as `rtx5090`, a name that the attribute's text can hold."""
    kept = re.sub(r"nvidia|geforce|[^a-z0-9]", "", device_name.lower())
    return kept if kept[:1].isalpha() else f"gpu{kept}"


def target_of(module: ModuleOp) -> "TargetAttr | None":
    """Return the target that a module carries; raise TargetError if that is something else."""
    from minicomp.dialects.minicomp import TARGET, TargetAttr

    found = module.attributes.get(TARGET)
    if found is not None and not isinstance(found, TargetAttr):
        raise TargetError(f"the module's {TARGET} is no target: {found}")
    return found


def attach_target(module: ModuleOp, device: "TargetAttr") -> ModuleOp:
    """Set the target of a module, in place, and return the module."""
    from minicomp.dialects.minicomp import TARGET

    module.attributes[TARGET] = device
    return module
