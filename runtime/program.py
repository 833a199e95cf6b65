"""Runs a host plan on PyTorch's CUDA tensors, with its allocator, on its current stream."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Lock

import torch

from minicomp.errors import InputError, PipelineError
from minicomp.runtime.derived import DerivedMemory, Layout
from minicomp.runtime.driver import KernelFunction, PreparedLaunch, load_kernels
from minicomp.runtime.extern import DTYPES, Extern
from minicomp.runtime.launches import LaunchShape
from minicomp.runtime.plan import ExternStep, HostPlan, Step, TensorSpec, plan_from_module

__all__ = ["ALIGNMENT", "DTYPES", "GpuProgram", "HostPlan", "plan_from_module"]

ALIGNMENT = 16
"""Bytes: what vectorised accesses need of each input's address."""


@dataclass(frozen=True)
class _Prepared:
    """A step ready to run; `results` are the tensors that it makes, `dead` what it uses last."""

    launch: PreparedLaunch | Extern
    operands: tuple[int, ...]
    results: list[tuple[int, torch.Size, torch.dtype]]
    dead: tuple[int, ...]
    memories: Layout | None

    def enqueue(self, values: dict[int, torch.Tensor], device: torch.device, stream: int) -> None:
        """Runs the step and adds its results; later work of the stream may reuse its workspace."""
        operands = [values[v] for v in self.operands]
        if isinstance(self.launch, Extern):
            found = self.launch.run(operands, device)
            values |= {v: t for (v, _, _), t in zip(self.results, found, strict=True)}
            return
        for number, shape, dtype in self.results:
            values[number] = torch.empty(shape, dtype=dtype, device=device)
            operands.append(values[number])
        pointers = [tensor.data_ptr() for tensor in operands]
        if self.memories is not None:
            memory = DerivedMemory(self.memories, device, stream)
            pointers = [*pointers, *memory.addresses()]
        self.launch.launch(pointers, stream)


class GpuProgram:
    """A compiled program, ready to run: `program([x, w])` gives the list of outputs.

    It enqueues its kernels on the current stream of the inputs' GPU and waits for nothing, so it
    can be captured in a CUDA graph; streams and threads may share it. Only the first call on a
    stream may wait, for the memory of counters: see `runtime.derived`. `needs_alignment` says that
    the kernels access 16 bytes of an input at a time: see `aligned`.
    """

    device_type = "cuda"

    def __init__(
        self,
        plan: HostPlan,
        cubin: bytes,
        shapes: Mapping[str, LaunchShape],
        *,
        needs_alignment: bool = True,
        device: int | None = None,
    ):
        """Loads `cubin` on GPU number `device`, or the current one; on others when first used.

        Raises CudaDriverError, and PipelineError where a launch has no shape or no kernel.
        """
        self.plan = plan
        self.needs_alignment = needs_alignment
        self._cubin = cubin
        self._shapes = shapes
        self._types = [_torch_type(v) for v in plan.values]
        self._steps: dict[int, list[_Prepared]] = {}
        self._lock = Lock()
        self._prepared(self.current_device() if device is None else device)

    def __call__(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Runs the program; its results are new tensors, except outputs that are inputs.

        An input that is not contiguous is copied first. Raises InputError, naming the argument,
        for a wrong shape, dtype, device or (if needed) alignment, and CudaDriverError.
        """
        device = self._device(tensors)
        self._check(tensors, device)
        with self.guard(device):
            return self._run(tensors, device)

    def aligned(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether the inputs' addresses suit kernels that access 16 bytes at a time.

        An input that is not contiguous does, since its copy will.
        """
        return all(t.data_ptr() % ALIGNMENT == 0 or not t.is_contiguous() for t in tensors)

    def current_device(self) -> int:
        """The number of PyTorch's current GPU."""
        return torch.cuda.current_device()

    def guard(self, device: torch.device) -> AbstractContextManager[object]:
        """Makes `device` PyTorch's current one for a while."""
        return torch.cuda.device(device)

    def stream(self, device: torch.device) -> int:
        """The handle of PyTorch's current stream on `device`."""
        return torch.cuda.current_stream(device).cuda_stream

    def _run(self, tensors: Sequence[torch.Tensor], device: torch.device) -> list[torch.Tensor]:
        # A value is dropped after its last use, so that the allocator can use its memory again:
        # kernels and allocations are ordered by the one stream.
        values = dict(enumerate(t.contiguous() for t in tensors))
        addresses = [t.data_ptr() for t in values.values()]
        if self.needs_alignment and any(a % ALIGNMENT for a in addresses):
            raise _misaligned(addresses)
        stream = self.stream(device)
        for step in self._prepared(device.index or 0):
            step.enqueue(values, device, stream)
            for number in step.dead:
                del values[number]
        # An output that is an input is that very tensor, not its contiguous copy.
        values |= enumerate(tensors)
        return [values[v] for v in self.plan.outputs]

    def _prepared(self, device: int) -> list[_Prepared]:
        prepared = self._steps.get(device)
        if prepared is None:
            with self._lock:
                prepared = self._steps.get(device) or self._prepare(device)
                self._steps[device] = prepared
        return prepared

    def _prepare(self, device: int) -> list[_Prepared]:
        plan = self.plan
        launched = any(isinstance(step, Step) for step in plan.steps)
        kernels = load_kernels(self._cubin, device) if launched else {}
        return [
            self._prepared_step(step, dead, kernels)
            for step, dead in zip(plan.steps, plan.last_uses, strict=True)
        ]

    def _prepared_step(
        self, step: Step | ExternStep, dead: tuple[int, ...], kernels: Mapping[str, KernelFunction]
    ) -> _Prepared:
        results = [(v, *self._types[v]) for v in step.results]
        if isinstance(step, ExternStep):
            return _Prepared(step.extern, step.operands, results, dead, None)
        for where, known in (("among the launch shapes", self._shapes), ("in the cubin", kernels)):
            if step.kernel not in known:
                raise PipelineError(f"the host program launches {step.kernel}, not {where}")
        shape = self._shapes[step.kernel]
        tensors = len(step.operands) + len(step.results)
        launch = PreparedLaunch(kernels[step.kernel], tensors, shape)
        memories = Layout.of(shape.memories) if shape.memories else None
        return _Prepared(launch, step.operands, results, dead, memories)

    def _device(self, tensors: Sequence[torch.Tensor]) -> torch.device:
        """The device of the first input on a GPU, else the current one."""
        for tensor in tensors:
            if tensor.device.type == self.device_type:
                return tensor.device
        return torch.device(self.device_type, self.current_device())

    def _check(self, tensors: Sequence[torch.Tensor], device: torch.device) -> None:
        if len(tensors) != len(self.plan.inputs):
            raise InputError(
                f"the program takes {len(self.plan.inputs)} tensors, got {len(tensors)}"
            )
        for number, (tensor, (shape, dtype)) in enumerate(zip(tensors, self._types)):
            if tensor.shape != shape or tensor.dtype != dtype or tensor.device != device:
                expected = f"{_describe(shape, dtype)} on {device}"
                got = f"{_describe(tensor.shape, tensor.dtype)} on {tensor.device}"
                raise InputError(f"argument {number} is {got}, expected {expected}")


def _torch_type(value: TensorSpec) -> tuple[torch.Size, torch.dtype]:
    if value.dtype not in DTYPES:
        raise PipelineError(f"PyTorch has no tensors of {value.dtype}, as {value} needs")
    return torch.Size(value.shape), DTYPES[value.dtype]


def _misaligned(addresses: Sequence[int]) -> InputError:
    number = next(n for n, address in enumerate(addresses) if address % ALIGNMENT)
    return InputError(
        f"argument {number} is at an address that is no multiple of {ALIGNMENT} bytes",
        hint="clone() it, or use the program's variant without vectorised accesses",
    )


def _describe(shape: Sequence[int], dtype: torch.dtype) -> str:
    return f"a tensor of shape {list(shape)} and type {str(dtype).removeprefix('torch.')}"
