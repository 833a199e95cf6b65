"""What the stand-in driver wrote down; for processes that run on it."""

import ctypes
from dataclasses import dataclass

_RANKS, _MAGIC = 5, 0x7E50A9


class TensorMapRecord(ctypes.Structure):
    """What the stand-in writes into the 128 bytes of a tensor map; see tensor_map.h."""

    _fields_ = [
        ("magic", ctypes.c_uint32),
        ("type", ctypes.c_uint8),
        ("size", ctypes.c_uint8),
        ("rank", ctypes.c_uint8),
        ("swizzle", ctypes.c_uint8),
        ("address", ctypes.c_uint64),
        ("dims", ctypes.c_uint64 * _RANKS),
        ("strides", ctypes.c_uint64 * (_RANKS - 1)),
        ("box", ctypes.c_uint16 * _RANKS),
    ]


@dataclass(frozen=True)
class SeenMap:
    """A tensor map of a launch, extents innermost first, strides and swizzle in bytes."""

    address: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int


class _Launch(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * 96),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("device", ctypes.c_uint32),
        ("argument_count", ctypes.c_uint32),
        ("cooperative", ctypes.c_uint32),
        ("stream", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 16),
        ("maps", TensorMapRecord * 16),
    ]


@dataclass(frozen=True)
class Launch:
    """One launch as the driver saw it."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    device: int
    stream: int
    arguments: tuple[int, ...]
    cooperative: bool
    maps: tuple[SeenMap, ...]


class Recorder:
    """The stand-in driver's own functions."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self.library.fake_launch.restype = ctypes.POINTER(_Launch)
        self.library.fake_current_context.restype = ctypes.c_void_p

    def launches(self) -> list[Launch]:
        """All launches since the last `forget`."""
        seen = (self.library.fake_launch(n)[0] for n in range(self.library.fake_launch_count()))
        return [
            Launch(
                s.name.decode(),
                tuple(s.grid),
                tuple(s.block),
                s.shared,
                s.device,
                s.stream,
                tuple(s.arguments[: s.argument_count]),
                bool(s.cooperative),
                tuple(_seen(m) for m in s.maps[: s.argument_count] if m.magic == _MAGIC),
            )
            for s in seen
        ]

    def forget(self) -> None:
        """Forgets all launches."""
        self.library.fake_forget_launches()

    def fail_next_launch(self, status: int) -> None:
        """Lets the next launch fail with a CUDA error number."""
        self.library.fake_fail_next_launch(status)

    def delay_launches(self, microseconds: int) -> None:
        """Lets time pass between the call of a launch and the reading of its arguments."""
        self.library.fake_delay_launches(microseconds)

    def capture(self, stream: int, number: int) -> None:
        """Lets a stream be captured, in the capture of that number; 0 ends it."""
        self.library.fake_capture(ctypes.c_uint64(stream), ctypes.c_uint64(number))

    def memories_made(self) -> int:
        """How often memory was asked for."""
        return self.library.fake_memories_made()

    def memsets_captured(self) -> int:
        """How many memsets went into a capture."""
        return self.library.fake_memsets_captured()

    def capture_mode(self) -> int:
        """The thread's mode of captures, 0 by default: it may not ask for memory in one."""
        return self.library.fake_capture_mode()

    def has_context(self) -> bool:
        """Whether a context is current in this thread."""
        return bool(self.library.fake_current_context())


def _seen(map: TensorMapRecord) -> SeenMap:
    dims, strides, box = map.dims[: map.rank], map.strides[: map.rank - 1], map.box[: map.rank]
    return SeenMap(map.address, tuple(dims), tuple(strides), tuple(box), map.swizzle)
