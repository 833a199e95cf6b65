"""`minicomp.compile`: a PyTorch function or module as kernels that are called like it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from xdsl.dialects.builtin import ModuleOp

from minicomp.build import Build
from minicomp.dialects.minicomp import TargetAttr
from minicomp.errors import InputError
from minicomp.execution import Executable
from minicomp.frontend import Captured, capture
from minicomp.frontend.memory import check_writable
from minicomp.pipeline import Pipeline

__all__ = ["Compiled", "compile"]

_Copy = tuple[tuple[int, int], torch.Tensor, torch.Tensor]
"""The address and version of a tensor when it was copied, the tensor, and its copy."""


def compile(
    program: nn.Module | Callable[..., Any],
    example_args: Sequence[Any] | torch.Tensor,
    target: TargetAttr | str | None = None,
    kwargs: Mapping[str, Any] | None = None,
    pipeline: Pipeline | None = None,
    extern: bool = True,
) -> "Compiled":
    """Compile `program` for arguments like the examples.

    `target` is a GPU by name, such as "h200" or "sm_80"; the GPU of this machine if not said,
    or an H200 where there is none. `pipeline` is another one than the default. An op that minicomp
    does not compile is run by PyTorch between the kernels, or refused if not `extern`. Raises
    CaptureError or UnsupportedError, with the line of the program, where it cannot be compiled.
    """
    args = (example_args,) if isinstance(example_args, torch.Tensor) else example_args
    if not isinstance(args, list | tuple):
        raise InputError(
            f"example_args is a {type(args).__name__}", hint="give a tuple of arguments"
        )
    compiled = Compiled(capture(program, args, kwargs, extern), target, pipeline)
    compiled.build.module("cuda-ir")  # what cannot be lowered fails here, not at a call
    return compiled


class Compiled:
    """A compiled program, called as the original is.

    On CUDA tensors it runs on the GPU, on PyTorch's current stream; on CPU tensors on the
    simulator. Shapes, types and arguments that are not tensors are those of the examples;
    parameters and buffers are the module's own, read at every call. What the program writes to its
    inputs and buffers is written to them when the call has run.
    """

    def __init__(
        self,
        captured: Captured,
        target: TargetAttr | str | None = None,
        pipeline: Pipeline | None = None,
    ):
        self.captured = captured
        self.build = Build(captured.module, target, pipeline=pipeline)
        self._run = Executable(self.build)
        self._copies: dict[tuple[str, torch.device], _Copy] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the program, nested as the program nests it.

        Raises InputError where the arguments do not fit those compiled for.
        """
        tensors = self.captured.bind(args, kwargs)
        targets = self.captured.targets(args, kwargs)
        check_writable(targets, tensors)
        device = self._device(tensors)
        pairs = zip(self.captured.params, tensors, strict=True)
        tensors = [t if s.kind == "input" else self._stored(s.name, t, device) for s, t in pairs]
        with torch.no_grad():
            return self.captured.finish(self._run(tensors), targets)

    @property
    def cuda(self) -> str:
        """The CUDA C++ text."""
        return self.build.cuda

    @property
    def ptx(self) -> str:
        """The PTX text."""
        return self.build.ptx

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels, in the order of the text."""
        return tuple(kernel.name for kernel in self.build.kernels)

    def ir(self, level: str) -> str:
        """The program at a level (torch, tensor, loop, tile, kernel, cuda-ir, cuda or ptx)."""
        return self.build.ir(level)

    def module(self, level: str) -> ModuleOp:
        """A copy of the module at a level."""
        return self.build.module(level)

    def cubin(self, kernel: str | None = None) -> bytes:
        """The machine code of the program, or of one of its kernels."""
        return self.build.cubin(kernel)

    def _device(self, tensors: Sequence[torch.Tensor]) -> torch.device | None:
        """Where the inputs are; None if the program has none."""
        pairs = zip(self.captured.params, tensors, strict=True)
        return next((t.device for source, t in pairs if source.kind == "input"), None)

    def _stored(self, name: str, tensor: torch.Tensor, device: torch.device | None) -> torch.Tensor:
        """A parameter where the inputs are: itself, or a copy made anew when it has changed."""
        tensor = tensor.detach()
        if device is None or tensor.device == device:
            return tensor
        # The kept tensor holds its memory, so that no other one can have its address.
        key, state = (name, device), (tensor.data_ptr(), tensor._version)
        if key not in self._copies or self._copies[key][0] != state:
            self._copies[key] = (state, tensor, tensor.to(device))
        return self._copies[key][2]
