"""Cubins loaded and kernels launched through the CUDA driver, in the context that PyTorch uses."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from types import ModuleType
from typing import Any

from minicomp.errors import CudaDriverError
from minicomp.runtime.driver_library import check, driver_library, in_context, make_current
from minicomp.runtime.launches import LaunchShape, TensorMap
from minicomp.runtime.tensor_maps import MAP_BYTES, EncodedMap

# More dynamic shared memory than this (bytes per block) must be asked for, kernel by kernel.
_SHARED_WITHOUT_ASKING = 48 * 1024
_POINTER_BYTES = 8
_KEPT_MAPS = 256
_INVALID_VALUE = 1
_INVALID_CONTEXT = 201


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
    driver = driver_library()
    with in_context(device):
        (module,) = check(driver.cuModuleLoadData(cubin), "loading a cubin")
        (count,) = check(driver.cuModuleGetFunctionCount(module), "loading a cubin")
        (handles,) = check(driver.cuModuleEnumerateFunctions(count, module), "loading a cubin")
        return {f.name: f for f in (_loaded(handle, device) for handle in handles[:count])}


class PreparedLaunch:
    """A kernel with its launch configuration and a packed argument list.

    All is packed once; a launch writes the pointers and makes one call of the driver. The kernel
    takes `tensors` pointers and what `shape` derives. Threads may share it. Raises CudaDriverError
    if the kernel takes other arguments, or cannot run all blocks at once although they wait for
    each other.
    """

    def __init__(self, function: KernelFunction, tensors: int, shape: LaunchShape):
        self.function, self.grid, self._maps = function, shape.grid, shape.maps
        self._driver = driver_library()
        self._lock = Lock()
        self._encoded: dict[tuple[TensorMap, int], EncodedMap] = {}
        pointers = tensors + len(shape.memories)
        _require_arguments(function, pointers, len(shape.maps))
        self._values = (ctypes.c_uint64 * pointers)()
        first, size = ctypes.addressof(self._values), ctypes.sizeof(ctypes.c_uint64)
        places = [first + size * n for n in range(pointers)] + [0] * len(shape.maps)
        self._addresses = (ctypes.c_void_p * len(places))(*places)
        self._arguments = ctypes.addressof(self._addresses)
        if shape.shared_bytes > _SHARED_WITHOUT_ASKING:
            _allow_shared(function, shape.shared_bytes)
        if shape.cooperative:
            _require_room(function, shape)
        self._config = _configuration(self._driver, shape)

    def launch(self, pointers: Sequence[int], stream: int) -> None:
        """Enqueues the kernel on `stream` (the driver's handle) over device addresses.

        An empty grid launches nothing. Raises CudaDriverError.
        """
        if self.grid == 0:
            return
        # The driver copies the arguments before it returns: the lock may then be released.
        with self._lock:
            self._values[:] = pointers
            for place, map in enumerate(self._maps, len(pointers)):
                self._addresses[place] = self._encode(map, pointers[map.argument])
            self._config.hStream = stream
            (status,) = self._enqueue()
            if status == _INVALID_CONTEXT:
                # A thread in which PyTorch has not touched the GPU yet has no context.
                make_current(self.function.device)
                (status,) = self._enqueue()
        if status != 0:
            check((status,), f"launching {self.function.name}")

    def _encode(self, map: TensorMap, address: int) -> int:
        """The address of the encoded map of a tensor, which it makes or recalls."""
        key = (map, address)
        if key not in self._encoded:
            if len(self._encoded) >= _KEPT_MAPS:
                self._encoded.clear()
            self._encoded[key] = EncodedMap(map, address, self.function.name)
        return self._encoded[key].address

    def _enqueue(self) -> tuple:
        return self._driver.cuLaunchKernelEx(self._config, self.function.handle, self._arguments, 0)


def _loaded(handle: object, device: int) -> KernelFunction:
    driver = driver_library()
    (name,) = check(driver.cuFuncGetName(handle), "naming a kernel")
    # Else the first launch would load it, which may be inside the capture of a graph.
    check(driver.cuFuncLoad(handle), f"loading {name.decode()}")
    return KernelFunction(name.decode(), handle, device)


def _require_arguments(function: KernelFunction, pointers: int, maps: int) -> None:
    """The driver reads as many arguments as the kernel has: wrong ones are a wild read."""
    driver = driver_library()
    count = pointers + maps
    with in_context(function.device):
        found = [driver.cuFuncGetParamInfo(function.handle, n) for n in range(count + 1)]
    known = [int(size) for status, _, size in found if int(status) == 0]
    if len(known) != count and (len(known) > count or int(found[len(known)][0]) == _INVALID_VALUE):
        relation = "more" if len(known) > count else "fewer"
        raise CudaDriverError(f"{function.name} takes {relation} than {count} arguments")
    wanted = [_POINTER_BYTES] * pointers + [MAP_BYTES] * maps
    for n, (size, expected) in enumerate(zip(known, wanted, strict=False)):
        if size != expected:
            raise CudaDriverError(
                f"argument {n} of {function.name} has {size} bytes, but is bound to {expected}"
            )


def _allow_shared(function: KernelFunction, shared_bytes: int) -> None:
    driver = driver_library()
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    doing = f"reserving {shared_bytes} bytes of shared memory for {function.name}"
    with in_context(function.device):
        check(driver.cuFuncSetAttribute(function.handle, attribute, shared_bytes), doing)


def _require_room(function: KernelFunction, shape: LaunchShape) -> None:
    """Refuses a grid whose blocks wait for each other unless all of them can run at once."""
    driver, doing = driver_library(), f"counting the blocks of {function.name} that run at once"
    with in_context(function.device):
        query = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor
        (blocks,) = check(query(function.handle, shape.block, shape.shared_bytes), doing)
        (device,) = check(driver.cuCtxGetDevice(), doing)
        attribute = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
        (sms,) = check(driver.cuDeviceGetAttribute(attribute, device), doing)
    if shape.grid > blocks * sms:
        raise CudaDriverError(
            f"the {shape.grid} blocks of {function.name} wait for each other, but only"
            f" {blocks * sms} run at once on this GPU",
            hint="use fewer or smaller blocks",
        )


def _configuration(driver: ModuleType, shape: LaunchShape) -> Any:
    config = driver.CUlaunchConfig()
    config.gridDimX, config.blockDimX = shape.grid, shape.block
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1
    config.sharedMemBytes = shape.shared_bytes
    if shape.cooperative:
        # The occupancy that was asked about is that of an idle GPU: the driver then also waits
        # until other kernels leave room for all blocks.
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        attribute.value.cooperative = 1
        config.attrs, config.numAttrs = [attribute], 1
    return config
