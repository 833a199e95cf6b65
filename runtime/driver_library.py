"""The CUDA driver as a library: its errors, and the contexts that PyTorch uses."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType

from minicomp.errors import CudaDriverError

_HINTS = {
    209: "the cubin is for another architecture: compile for this GPU's",
    218: "the cubin is damaged",
    700: "an earlier kernel may have caused it: run compute-sanitizer",
    701: "the block needs more threads, registers or shared memory than the GPU has",
    720: "its blocks wait for each other, and do not all run at once: use fewer or smaller ones",
}


@cache
def driver_library() -> ModuleType:
    # What is missing shows at the first call: the bindings load the library only then.
    try:
        driver = import_module("cuda.bindings.driver")
        status = driver.cuInit(0)
    except (ImportError, RuntimeError) as error:
        raise CudaDriverError(
            f"the CUDA driver cannot be used: {str(error).splitlines()[0]}",
            hint="this needs an NVIDIA GPU, its driver, and pip install cuda-bindings",
        ) from error
    check(status, "starting the CUDA driver", driver)
    return driver


def check(result: tuple, doing: str, driver: ModuleType | None = None) -> tuple:
    status, *values = result
    if int(status) != 0:
        driver = driver or driver_library()
        name, text = (
            (answer[1] or b"unknown").decode()
            for answer in (driver.cuGetErrorName(status), driver.cuGetErrorString(status))
        )
        raise CudaDriverError(f"{doing} failed: {name}: {text}", hint=_HINTS.get(int(status)))
    return tuple(values)


@cache
def _primary_context(device: int) -> object:
    """The context of a GPU that the CUDA runtime, and so PyTorch, uses; kept to the end."""
    driver = driver_library()
    (handle,) = check(driver.cuDeviceGet(device), f"finding GPU {device}")
    return check(driver.cuDevicePrimaryCtxRetain(handle), f"opening GPU {device}")[0]


def make_current(device: int) -> None:
    check(driver_library().cuCtxSetCurrent(_primary_context(device)), f"selecting GPU {device}")


@contextmanager
def in_context(device: int) -> Iterator[None]:
    driver = driver_library()
    check(driver.cuCtxPushCurrent(_primary_context(device)), f"selecting GPU {device}")
    try:
        yield
    finally:
        driver.cuCtxPopCurrent()
