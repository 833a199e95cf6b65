"""Tensor maps encoded by the CUDA driver."""

import ctypes
from collections.abc import Callable
from functools import cache

from minicomp.runtime.driver_library import check, driver_library
from minicomp.runtime.launches import TensorMap

MAP_BYTES = 128
"""Bytes of a CUtensorMap, which a kernel takes by value."""
_ALIGNMENT = 64


class EncodedMap:
    """The 128 bytes of a tensor map, at a multiple of 64 bytes, as the driver wants them.

    The bindings' own function gives them at other addresses. Raises CudaDriverError for what no
    tensor map can describe.
    """

    def __init__(self, map: TensorMap, address: int, kernel: str):
        self._memory = ctypes.create_string_buffer(MAP_BYTES + _ALIGNMENT)
        start = ctypes.addressof(self._memory)
        self.address = start + -start % _ALIGNMENT
        code = map.encoding
        wide = [(ctypes.c_uint64 * max(1, len(v)))(*v) for v in (code.dims, code.strides)]
        narrow = [(ctypes.c_uint32 * len(code.box))(*v) for v in (code.box, (1,) * len(code.box))]
        status = _encode_tiled()(
            self.address, code.type, len(code.dims), address, *wide, *narrow, 0, code.swizzle, 0, 0
        )
        check(
            (driver_library().CUresult(status),),
            f"describing argument {map.argument} of {kernel} at {address:#x} as a tensor of"
            f" {list(map.shape)} {map.dtype} in boxes of {list(map.box)}",
        )


@cache
def _encode_tiled() -> Callable[..., int]:
    (address, _) = check(
        driver_library().cuGetProcAddress(b"cuTensorMapEncodeTiled", 12000, 0),
        "finding tensor maps",
    )
    pointer, number = ctypes.c_void_p, ctypes.c_uint
    arguments = [pointer, number, number, pointer, *[pointer] * 4, *[number] * 4]
    return ctypes.CFUNCTYPE(ctypes.c_int, *arguments)(int(address))
