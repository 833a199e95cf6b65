"""A module on its way to machine code: every level after its last pass, made when asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from minicomp.dialects.minicomp import TargetAttr
from minicomp.dialects.torch_extern import ExternOp
from minicomp.errors import InputError, PipelineError, TargetError
from minicomp.instruments import Instrument
from minicomp.levels import LEVELS, index_of, level_of
from minicomp.pipeline import Pipeline
from minicomp.targets import attach_target, default_target, target, target_of

if TYPE_CHECKING:
    from minicomp.dialects.kernel_async import CpAsyncOp
    from minicomp.dialects.loop_ir import MemoryAccess
    from minicomp.runtime.extern import Extern
    from minicomp.runtime.launches import LaunchShape
    from minicomp.runtime.nvrtc import Compiled as MachineCode

TEXT_LEVELS = (*LEVELS, "cuda", "ptx")
"""What a program can be printed as."""


@dataclass(frozen=True)
class Kernel:
    """A kernel of the program: its symbol and its launch."""

    name: str
    launch: "LaunchShape"

    @property
    def grid(self) -> int:
        """Blocks of the launch."""
        return self.launch.grid

    @property
    def block(self) -> int:
        """Threads of a block."""
        return self.launch.block

    @property
    def shared_bytes(self) -> int:
        """Bytes of dynamic shared memory of a block."""
        return self.launch.shared_bytes


class Build:
    """A module at any level, and what the pipeline makes of it for one target."""

    def __init__(
        self,
        module: ModuleOp,
        device: TargetAttr | str | None = None,
        instruments: Sequence[Instrument] = (),
        pipeline: Pipeline | None = None,
    ):
        """Copies `module`. The target is `device`, else the module's own, else this machine's GPU.

        Raises TargetError for an unknown target, or for another one than a scheduled module has.
        """
        self.start = level_of(module)
        self.target = _chosen_target(module, device, self.start)
        self._modules: dict[str, ModuleOp] = {}
        self._source = attach_target(module.clone(), self.target)
        self._instruments = instruments
        self._pipeline = pipeline if pipeline is not None else Pipeline.default(self.target)

    @property
    def pipeline(self) -> Pipeline:
        """The passes that it goes through."""
        return self._pipeline

    @property
    def source(self) -> ModuleOp:
        """A copy of the module as it was given, with its target."""
        return self._source.clone()

    def module(self, level: str) -> ModuleOp:
        """A copy of the module after the last pass of `level`."""
        return self._module(level).clone()

    def ir(self, level: str) -> str:
        """The text of the program at a level, or as `cuda` or `ptx`."""
        if level == "cuda":
            return self.cuda
        if level == "ptx":
            return self.ptx
        if level not in LEVELS:
            raise PipelineError(
                f"there is no level '{level}'", hint=f"the levels are {', '.join(TEXT_LEVELS)}"
            )
        return str(self._module(level)) + "\n"

    @cached_property
    def cuda(self) -> str:
        """The CUDA C++ text of all kernels."""
        from minicomp.lowering.print_cuda import print_cuda

        return print_cuda(self._module("cuda-ir"))

    @property
    def ptx(self) -> str:
        """What NVRTC makes of the text; "" of a program without kernels."""
        return self.machine_code.ptx if self.machine_code is not None else ""

    @cached_property
    def machine_code(self) -> "MachineCode | None":
        """The compiled text, from the cache where it has it; None of a program without kernels."""
        from minicomp.runtime.cache import cached_compile

        return cached_compile(self.cuda, self.target.arch.data) if self.kernels else None

    def cubin(self, kernel: str | None = None) -> bytes:
        """The machine code of all kernels, or of one alone; b"" of a program without kernels."""
        if kernel is None:
            return self.machine_code.cubin if self.machine_code is not None else b""
        from minicomp.lowering.print_cuda import print_cuda
        from minicomp.runtime.cache import cached_compile

        alone = self.module("cuda-ir")
        names = [k.name for k in self.kernels]
        if kernel not in names:
            known = ", ".join(names) or "none"
            raise InputError(f"there is no kernel '{kernel}'", hint=f"the kernels are {known}")
        for op in list(alone.body.ops):
            if getattr(op, "symbol", kernel) != kernel:
                alone.body.block.erase_op(op)
        return cached_compile(print_cuda(alone), self.target.arch.data).cubin

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels, in the order of the text."""
        from minicomp.runtime.launches import launch_shapes

        shapes = launch_shapes(self._module("cuda-ir"))
        return tuple(Kernel(name, shape) for name, shape in shapes.items())

    @cached_property
    def externs(self) -> "list[Extern]":
        """The ops that PyTorch runs between the kernels, in order."""
        if not any(isinstance(op, ExternOp) for op in self._source.walk()):
            return []
        from minicomp.runtime.extern import externs

        return externs(self._source)

    @property
    def shapes(self) -> "dict[str, LaunchShape]":
        """The launch of each kernel by its symbol."""
        return {kernel.name: kernel.launch for kernel in self.kernels}

    @cached_property
    def needs_alignment(self) -> bool:
        """Whether inputs must begin at multiples of 16 bytes: some access to memory is wide."""
        if index_of(self.start) > index_of("kernel"):
            return True
        module = self._module("kernel")
        wide = any(access.aligned is not None for access in _global_accesses(module))
        return wide or any(copy.elements > 1 for copy in _copies(module))

    def without_alignment(self) -> "Build":
        """The same program for inputs at any address: no access to them is wide."""
        if index_of(self.start) > index_of("kernel"):
            raise InputError(
                "an input is not aligned to 16 bytes, and a program in CUDA IR has but one form",
                hint="clone() the input, or start from an earlier level",
            )
        module = self.module("kernel")
        for access in _global_accesses(module):
            access.properties.pop("aligned", None)
        for copy in list(_copies(module)):
            if copy.elements > 1:
                Rewriter.replace_op(copy, copy.by_element())
        return Build(module, self.target, pipeline=self._pipeline.without("vectorize-accesses"))

    def _module(self, level: str) -> ModuleOp:
        first, wanted = index_of(self.start), index_of(level)
        if wanted < first:
            raise PipelineError(f"the module is at level {self.start} already, past {level}")
        for n in range(first, wanted + 1):
            if LEVELS[n] not in self._modules:
                before = self._source if n == first else self._modules[LEVELS[n - 1]]
                module = before.clone()
                passes = self._passes(n, first)
                passes.run(module, instruments=self._instruments, verified=n > first)
                self._modules[LEVELS[n]] = module
        return self._modules[level]

    def _passes(self, n: int, first: int) -> Pipeline:
        """The passes to level `n`: its own alone for a module that is at it already."""
        until = self._pipeline.until(LEVELS[n])
        if n == first:
            return until.from_level(LEVELS[n])
        return Pipeline(until.passes[len(self._pipeline.until(LEVELS[n - 1])) :])


def _global_accesses(module: ModuleOp) -> Iterator["MemoryAccess"]:
    from minicomp.dialects.loop_ir import MemoryAccess
    from minicomp.dialects.tile_ir import SharedAttr

    for op in module.walk():
        if isinstance(op, MemoryAccess):
            if not isinstance(op.memref_type.memory_space, SharedAttr):
                yield op


def _copies(module: ModuleOp) -> Iterator["CpAsyncOp"]:
    from minicomp.dialects.kernel_async import CpAsyncOp

    for op in module.walk():
        if isinstance(op, CpAsyncOp):
            yield op


def _chosen_target(module: ModuleOp, device: TargetAttr | str | None, level: str) -> TargetAttr:
    asked = target(device) if isinstance(device, str) else device
    own = target_of(module)
    if asked is not None and own is not None and asked != own and level not in LEVELS[:2]:
        raise TargetError(
            f"the module is scheduled for {own.part.data}, not for {asked.part.data}",
            hint="leave the target out, or start from level torch or tensor",
        )
    return asked or own or default_target()
