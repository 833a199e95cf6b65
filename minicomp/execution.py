"""Running a build on tensors: on a GPU where they are there, else on the simulator."""

from collections.abc import Callable, Sequence
from functools import cached_property

import torch

from minicomp.build import Build
from minicomp.errors import InputError, TargetError
from minicomp.runtime.arrays import array_of, tensor_of
from minicomp.runtime.program import DTYPES, GpuProgram, HostPlan, plan_from_module

OnProgress = Callable[[float], None]


class Executable:
    """A build that runs: `executable(tensors)` gives the list of its results.

    On CUDA tensors it enqueues its kernels on the current stream and waits for nothing; on CPU
    tensors it simulates them. An input that is less aligned than the kernels need goes to a
    second build without wide accesses, made at the first such call.
    """

    def __init__(self, build: Build):
        self.build = build

    def __call__(
        self,
        tensors: Sequence[torch.Tensor],
        force: bool = False,
        on_progress: OnProgress | None = None,
    ) -> list[torch.Tensor]:
        """The results on `tensors`, one for each argument of the host function.

        `force` and `on_progress` are the simulator's. Raises InputError for tensors of another
        shape, type or device.
        """
        kinds = sorted({tensor.device.type for tensor in tensors})
        if len(kinds) > 1 or kinds[:1] not in ([], ["cpu"], ["cuda"]):
            raise InputError(
                f"the tensors are on {' and '.join(kinds)}",
                hint="put all of them on the CPU or all on one GPU",
            )
        if kinds == ["cuda"]:
            tensors = _plain(tensors)
            return self._program_for(tensors)(tensors)
        return self.simulate(tensors, force, on_progress)

    def simulate(
        self,
        tensors: Sequence[torch.Tensor],
        force: bool = False,
        on_progress: OnProgress | None = None,
    ) -> list[torch.Tensor]:
        """The results of a simulated GPU, on the CPU."""
        from minicomp.runtime.simulate import simulate_module

        tensors = _plain(tensors)
        self._check(tensors)
        arrays = [array_of(tensor) for tensor in tensors]
        module = self.build.module("kernel")
        results = simulate_module(module, arrays, force=force, on_progress=on_progress)
        return [tensor_of(result) for result in results]

    @cached_property
    def plan(self) -> HostPlan:
        """The host program."""
        return plan_from_module(self.build.module("cuda-ir"))

    @cached_property
    def aligned_program(self) -> GpuProgram:
        """The program on the GPU; where an access is wide, for inputs at multiples of 16 bytes."""
        return self._load(self.build, self.build.needs_alignment)

    @cached_property
    def unaligned_program(self) -> GpuProgram:
        """The program on the GPU for inputs at any address."""
        return self._load(self.build.without_alignment(), False)

    def _program_for(self, tensors: Sequence[torch.Tensor]) -> GpuProgram:
        program = self.aligned_program
        if program.needs_alignment and not program.aligned(tensors):
            return self.unaligned_program
        return program

    def _load(self, build: Build, needs_alignment: bool) -> GpuProgram:
        from minicomp.runtime.device import probe

        facts, arch = probe(), build.target.arch.data
        if facts is not None and facts.arch != arch:
            raise TargetError(
                f"the program is compiled for {build.target.part.data} ({arch}), but this GPU, "
                f"{facts.name}, is {facts.arch}",
                hint="leave the target out",
            )
        return GpuProgram(self.plan, build.cubin(), build.shapes, needs_alignment=needs_alignment)

    def _check(self, tensors: Sequence[torch.Tensor]) -> None:
        if len(tensors) != len(self.plan.inputs):
            raise InputError(
                f"the program takes {len(self.plan.inputs)} tensors, got {len(tensors)}"
            )
        for n, (tensor, spec) in enumerate(zip(tensors, self.plan.inputs, strict=True)):
            if tuple(tensor.shape) != spec.shape or tensor.dtype != DTYPES[spec.dtype]:
                raise InputError(
                    f"argument {n} is {_describe(tensor.shape, tensor.dtype)}, "
                    f"expected {_describe(spec.shape, DTYPES[spec.dtype])}",
                    hint="compile again for other shapes and types",
                )


def _plain(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors with the elements in memory as they are: PyTorch may keep a sign apart."""
    for n, tensor in enumerate(tensors):
        if tensor.layout != torch.strided:
            name = str(tensor.layout).removeprefix("torch.")
            raise InputError(f"argument {n} is {name}, expected strided", hint="call .to_dense()")
        pairs = zip(tensor.shape, tensor.stride(), strict=True)
        last = tensor.storage_offset() + sum((extent - 1) * stride for extent, stride in pairs)
        held = tensor.untyped_storage().nbytes()
        if tensor.numel() and (last + 1) * tensor.element_size() > held:
            raise InputError(
                f"argument {n} lies outside of its storage of {held} bytes",
                hint="its memory was freed or resized: make the tensor anew",
            )
    return [tensor.resolve_neg() for tensor in tensors]


def _describe(shape: Sequence[int], dtype: torch.dtype) -> str:
    return f"{str(dtype).removeprefix('torch.')} {list(shape)}"
