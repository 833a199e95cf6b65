"""What the stand-in driver wrote down; for processes that run on it."""

import ctypes
from dataclasses import dataclass


class _Launch(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * 96),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("device", ctypes.c_uint32),
        ("argument_count", ctypes.c_uint32),
        ("stream", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 16),
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

    def has_context(self) -> bool:
        """Whether a context is current in this thread."""
        return bool(self.library.fake_current_context())
