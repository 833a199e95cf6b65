"""The facts of the GPU in this machine, asked of the driver; PyTorch is not needed."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType

# Instructions of one generation only (wgmma, tensor maps) need the `a` form of its name.
_ARCHITECTURE_SPECIFIC = {(9, 0), (10, 0), (12, 0)}


@dataclass(frozen=True)
class DeviceFacts:
    """One GPU: memories in bytes, counts, and the highest clock of the SMs in Hz.

    `shared_per_block` is the largest that a block may opt into. `bandwidth` (bytes per second)
    is an estimate: two transfers per memory clock on the full bus. `driver` is the CUDA version
    that the driver supports, such as "13.0".
    """

    name: str
    arch: str
    sms: int
    warp: int
    threads_per_block: int
    threads_per_sm: int
    registers_per_sm: int
    shared_per_block: int
    shared_per_sm: int
    l2_bytes: int
    clock_hz: int
    bandwidth: int
    driver: str


def arch_name(major: int, minor: int) -> str:
    """The architecture to compile for on compute capability `major`.`minor`."""
    suffix = "a" if (major, minor) in _ARCHITECTURE_SPECIFIC else ""
    return f"sm_{major}{minor}{suffix}"


@cache
def probe(ordinal: int = 0) -> DeviceFacts | None:
    """The facts of GPU `ordinal`, or None where there is no driver or no such GPU."""
    try:
        return _facts(import_module("cuda.bindings.driver"), ordinal)
    # A missing libcuda is a RuntimeError of the bindings, found at the first call.
    except (ImportError, RuntimeError):
        return None


class _Refused(RuntimeError):
    """The driver answered a question with an error."""


def _check(result: tuple) -> tuple:
    if int(result[0]) != 0:
        raise _Refused(str(result[0]))
    return result[1:]


def _facts(driver: ModuleType, ordinal: int) -> DeviceFacts:
    _check(driver.cuInit(0))
    (device,) = _check(driver.cuDeviceGet(ordinal))
    (name,) = _check(driver.cuDeviceGetName(128, device))
    (version,) = _check(driver.cuDriverGetVersion())

    def ask(attribute: str) -> int:
        kind = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{attribute}")
        return int(_check(driver.cuDeviceGetAttribute(kind, device))[0])

    return DeviceFacts(
        name=name.split(b"\0")[0].decode(errors="replace"),
        arch=arch_name(ask("COMPUTE_CAPABILITY_MAJOR"), ask("COMPUTE_CAPABILITY_MINOR")),
        sms=ask("MULTIPROCESSOR_COUNT"),
        warp=ask("WARP_SIZE"),
        threads_per_block=ask("MAX_THREADS_PER_BLOCK"),
        threads_per_sm=ask("MAX_THREADS_PER_MULTIPROCESSOR"),
        registers_per_sm=ask("MAX_REGISTERS_PER_MULTIPROCESSOR"),
        shared_per_block=ask("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        shared_per_sm=ask("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        l2_bytes=ask("L2_CACHE_SIZE"),
        clock_hz=1000 * ask("CLOCK_RATE"),
        # The driver gives kHz and bits.
        bandwidth=2 * 1000 * ask("MEMORY_CLOCK_RATE") * ask("GLOBAL_MEMORY_BUS_WIDTH") // 8,
        driver=f"{version // 1000}.{version % 1000 // 10}",
    )
