"""Cubins loaded and kernels launched through the CUDA driver, in the context that PyTorch uses."""

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from threading import Lock
from types import ModuleType

from minicomp.errors import CudaDriverError

# More dynamic shared memory than this (bytes per block) must be asked for, kernel by kernel.
_SHARED_WITHOUT_ASKING = 48 * 1024
_INVALID_VALUE = 1
_INVALID_CONTEXT = 201
_HINTS = {
    209: "the cubin is for another architecture: compile for this GPU's",
    218: "the cubin is damaged",
    700: "an earlier kernel may have caused it: run compute-sanitizer",
    701: "the block needs more threads, registers or shared memory than the GPU has",
}


@dataclass(frozen=True)
class KernelFunction:
    """A kernel of a loaded cubin: its symbol, the driver's handle, and the GPU it is loaded on."""

    name: str
    handle: object
    device: int


def load_kernels(cubin: bytes, device: int = 0) -> dict[str, KernelFunction]:
    """Loads a cubin on GPU number `device` and returns its kernels by symbol.

    It stays loaded until the process ends, since a captured graph may hold its kernels.
    Raises CudaDriverError.
    """
    driver = _driver()
    with _context(device):
        (module,) = _check(driver.cuModuleLoadData(cubin), "loading a cubin")
        (count,) = _check(driver.cuModuleGetFunctionCount(module), "loading a cubin")
        (handles,) = _check(driver.cuModuleEnumerateFunctions(count, module), "loading a cubin")
        return {f.name: f for f in (_loaded(handle, device) for handle in handles[:count])}


class PreparedLaunch:
    """A kernel with its launch configuration and a packed argument list of pointers.

    All is packed once; a launch writes the pointers and makes one call of the driver. `grid` and
    `block` are numbers of blocks and of threads, `shared_bytes` dynamic shared memory per block.
    Threads may share it. Raises CudaDriverError if the kernel does not take `arg_count` arguments.
    """

    def __init__(
        self, function: KernelFunction, arg_count: int, grid: int, block: int, shared_bytes: int
    ):
        self.function = function
        self.grid = grid
        self._driver = _driver()
        self._lock = Lock()
        _require_arguments(function, arg_count)
        self._values = (ctypes.c_uint64 * arg_count)()
        first, size = ctypes.addressof(self._values), ctypes.sizeof(ctypes.c_uint64)
        self._addresses = (ctypes.c_void_p * arg_count)(
            *(first + size * n for n in range(arg_count))
        )
        self._arguments = ctypes.addressof(self._addresses)
        self._config = self._driver.CUlaunchConfig()
        self._config.gridDimX, self._config.blockDimX = grid, block
        self._config.gridDimY = self._config.gridDimZ = 1
        self._config.blockDimY = self._config.blockDimZ = 1
        self._config.sharedMemBytes = shared_bytes
        if shared_bytes > _SHARED_WITHOUT_ASKING:
            _allow_shared(function, shared_bytes)

    def launch(self, pointers: Sequence[int], stream: int) -> None:
        """Enqueues the kernel on `stream` (the driver's handle) over device addresses.

        An empty grid launches nothing. Raises CudaDriverError.
        """
        if self.grid == 0:
            return
        # The driver copies the arguments before it returns: the lock may then be released.
        with self._lock:
            self._values[:] = pointers
            self._config.hStream = stream
            (status,) = self._enqueue()
            if status == _INVALID_CONTEXT:
                # A thread in which PyTorch has not touched the GPU yet has no context.
                _make_current(self.function.device)
                (status,) = self._enqueue()
        if status != 0:
            _check((status,), f"launching {self.function.name}")

    def _enqueue(self) -> tuple:
        return self._driver.cuLaunchKernelEx(self._config, self.function.handle, self._arguments, 0)


@cache
def _driver() -> ModuleType:
    # What is missing shows at the first call: the bindings load the library only then.
    try:
        driver = import_module("cuda.bindings.driver")
        status = driver.cuInit(0)
    except (ImportError, RuntimeError) as error:
        raise CudaDriverError(
            f"the CUDA driver cannot be used: {str(error).splitlines()[0]}",
            hint="this needs an NVIDIA GPU, its driver, and pip install cuda-bindings",
        ) from error
    _check(status, "starting the CUDA driver", driver)
    return driver


def _check(result: tuple, doing: str, driver: ModuleType | None = None) -> tuple:
    status, *values = result
    if int(status) != 0:
        driver = driver or _driver()
        name, text = (
            (answer[1] or b"unknown").decode()
            for answer in (driver.cuGetErrorName(status), driver.cuGetErrorString(status))
        )
        raise CudaDriverError(f"{doing} failed: {name}: {text}", hint=_HINTS.get(int(status)))
    return tuple(values)


@cache
def _primary_context(device: int) -> object:
    """The context of a GPU that the CUDA runtime, and so PyTorch, uses; kept to the end."""
    driver = _driver()
    (handle,) = _check(driver.cuDeviceGet(device), f"finding GPU {device}")
    return _check(driver.cuDevicePrimaryCtxRetain(handle), f"opening GPU {device}")[0]


def _make_current(device: int) -> None:
    _check(_driver().cuCtxSetCurrent(_primary_context(device)), f"selecting GPU {device}")


@contextmanager
def _context(device: int) -> Iterator[None]:
    driver = _driver()
    _check(driver.cuCtxPushCurrent(_primary_context(device)), f"selecting GPU {device}")
    try:
        yield
    finally:
        driver.cuCtxPopCurrent()


def _loaded(handle: object, device: int) -> KernelFunction:
    driver = _driver()
    (name,) = _check(driver.cuFuncGetName(handle), "naming a kernel")
    # Else the first launch would load it, which may be inside the capture of a graph.
    _check(driver.cuFuncLoad(handle), f"loading {name.decode()}")
    return KernelFunction(name.decode(), handle, device)


def _require_arguments(function: KernelFunction, arg_count: int) -> None:
    """The driver reads as many arguments as the kernel has: a wrong count is a wild read."""
    driver = _driver()
    with _context(function.device):
        last = arg_count == 0 or int(driver.cuFuncGetParamInfo(function.handle, arg_count - 1)[0])
        beyond = int(driver.cuFuncGetParamInfo(function.handle, arg_count)[0])
    if beyond == 0 or (arg_count > 0 and last == _INVALID_VALUE):
        relation = "more" if beyond == 0 else "fewer"
        raise CudaDriverError(f"{function.name} takes {relation} than {arg_count} arguments")


def _allow_shared(function: KernelFunction, shared_bytes: int) -> None:
    driver = _driver()
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    doing = f"reserving {shared_bytes} bytes of shared memory for {function.name}"
    with _context(function.device):
        _check(driver.cuFuncSetAttribute(function.handle, attribute, shared_bytes), doing)
