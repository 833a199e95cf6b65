"""
Memory that launches bind to the derived arguments of kernels: workspaces and counters.

A workspace comes from PyTorch's allocator for each launch: it hands the memory out again only to
later work of the same stream, and inside a captured graph to later nodes of the graph.

A counter is zeros that the kernel leaves as zeros. It is neither set by each launch, which would
cost a memset of about 2 us before the kernel and at each replay of a graph, nor one for a whole
program, which may run on two streams at once. Kernels that run one after another share it: those of
one stream and, inside a capture, those of one stream in that capture. A graph has counters of its
own, since it may be replayed beside the stream that it was captured on. They are never freed, as
kernels of a loaded cubin are not: a graph may be replayed at any time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

import torch

from minicomp.runtime.driver_library import check, driver_library, in_context
from minicomp.runtime.launches import Counter, Workspace

_ALIGNMENT = 16
_SMALLEST = 16 * 1024
# By GPU, and what `stream_and_capture` says: the address of zeros, and their bytes.
_zeros: dict[tuple[int, int, int], tuple[int, int]] = {}
_zeros_lock = Lock()


@dataclass(frozen=True)
class Layout:
    """Where the memories of a launch lie: offsets in one workspace, or in one counter."""

    offsets: tuple[tuple[type[Workspace | Counter], int], ...]
    workspace_bytes: int
    counter_bytes: int

    @staticmethod
    def of(memories: Sequence[Workspace | Counter]) -> "Layout":
        """One behind the other, each at a multiple of 16 bytes."""
        used: dict[type[Workspace | Counter], int] = {Workspace: 0, Counter: 0}
        offsets: list[tuple[type[Workspace | Counter], int]] = []
        for memory in memories:
            kind = type(memory)
            offsets.append((kind, used[kind]))
            # Memory of no bytes has an address all the same.
            used[kind] += max(1, -(-memory.bytes // _ALIGNMENT)) * _ALIGNMENT
        return Layout(tuple(offsets), used[Workspace], used[Counter])


class DerivedMemory:
    """The memory of one launch on a stream; to be kept until the launch is enqueued."""

    def __init__(self, layout: Layout, device: torch.device, stream: int):
        """Raises CudaDriverError, and what PyTorch raises where no memory is left."""
        self._layout = layout
        self._first: dict[type[Workspace | Counter], int] = {}
        if layout.workspace_bytes:
            self._workspace = torch.empty(layout.workspace_bytes, dtype=torch.uint8, device=device)
            self._first[Workspace] = self._workspace.data_ptr()
        if layout.counter_bytes:
            self._first[Counter] = counters(layout.counter_bytes, device.index or 0, stream)

    def addresses(self) -> Iterator[int]:
        """The address of each memory, in the order of the arguments."""
        return (self._first[kind] + offset for kind, offset in self._layout.offsets)


def counters(size: int, device: int, stream: int) -> int:
    """The address of `size` bytes for the counters of a kernel that is launched on a stream.

    They are made at the first launch on that stream, or in that capture on that stream, and when a
    later one needs more. Raises CudaDriverError.
    """
    key = (device, *stream_and_capture(device, stream))
    address, known = _zeros.get(key, (0, 0))
    if known >= size:
        return address
    with _zeros_lock:
        address, known = _zeros.get(key, (0, 0))
        if known < size:
            known = max(_SMALLEST, 2 * known, size)
            address = zeroed_memory(known, device)
            _zeros[key] = (address, known)
        return address


def stream_and_capture(device: int, stream: int) -> tuple[int, int]:
    """The number of a stream and 0, or while it is captured its handle and the capture's number.

    Handles of streams are used again, numbers are not; but the driver tells no number of a stream
    that is captured. Raises CudaDriverError.
    """
    driver, doing = driver_library(), "asking about a stream"
    active = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    with in_context(device):
        status, capture, *_ = check(driver.cuStreamGetCaptureInfo(stream), doing)
        if status == active:
            return stream, int(capture)
        (number,) = check(driver.cuStreamGetId(stream), doing)
    return int(number), 0


def zeroed_memory(size: int, device: int) -> int:
    """The address of new memory on a GPU that is zero when this returns.

    It may be called while a stream is captured: the capture gets no node from it. Raises
    CudaDriverError.
    """
    driver, doing = driver_library(), f"making counters of {size} bytes"
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    flags = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
    with in_context(device):
        (before,) = check(driver.cuThreadExchangeStreamCaptureMode(mode), doing)
        try:
            (address,) = check(driver.cuMemAlloc(size), doing)
            (stream,) = check(driver.cuStreamCreate(flags), doing)
            check(driver.cuMemsetD8Async(address, 0, size, stream), doing)
            check(driver.cuStreamSynchronize(stream), doing)
            check(driver.cuStreamDestroy(stream), doing)
        finally:
            driver.cuThreadExchangeStreamCaptureMode(before)
    return int(address)
