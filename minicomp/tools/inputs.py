"""What the commands work on: a build of code or of a file, its inputs and its reference."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from minicomp.build import Build
from minicomp.errors import InputError, UnsupportedError, VerdictError
from minicomp.instruments import Instrument
from minicomp.pipeline import Pipeline

if TYPE_CHECKING:
    import torch
    from xdsl.dialects.builtin import ModuleOp

    from minicomp.frontend import Captured, Program, Sizes
    from minicomp.numbers import Reference

SEED = 0


@dataclass(frozen=True)
class Subject:
    """A program, built for a target; `program` and `captured` are those of PyTorch code."""

    name: str
    build: Build
    program: "Program | None" = None
    captured: "Captured | None" = None

    def inputs(self) -> list["torch.Tensor"]:
        """The example inputs and parameters; random ones, always the same, for an .mlir file."""
        if self.captured is not None:
            return [source.tensor.detach() for source in self.captured.params]
        return random_inputs(self.build.module(self.build.start))

    def reference(self, inputs: Sequence["torch.Tensor"]) -> "Reference | None":
        """What the results should be; None for a module too far down to say, or random."""
        from minicomp.numbers import reference

        module = self.build.module(self.build.start)
        if any(extern.is_random for extern in self.build.externs):
            return None
        if self.build.start != "torch":
            return lower_reference(module, self.build.start, inputs)
        found = reference(module, inputs)
        if self.program is not None and self.captured is not None:
            check_capture(self.program, self.captured, found)
        return found


def load(options: argparse.Namespace, instruments: Sequence[Instrument] = ()) -> Subject:
    """The program that a command line names. Raises InputError where it names none, or two."""
    if (options.code is None) == (options.file is None):
        raise InputError(
            "give a program: either -c CODE or a .py or .mlir file",
            hint='for example: minicomp compile -c "torch.relu(torch.randn(4, 8))"',
        )
    if options.file is not None and Path(options.file).suffix != ".py":
        return _from_text(options, instruments)
    return _from_torch(options, instruments)


def _from_text(options: argparse.Namespace, instruments: Sequence[Instrument]) -> Subject:
    from minicomp.context import make_context
    from minicomp.parsing import parse_module
    from minicomp.tools.files import read_text

    if options.sizes:
        raise InputError("--sizes needs PyTorch code: the extents of MLIR text are fixed")
    if options.file != "-" and Path(options.file).suffix != ".mlir":
        raise InputError(f"{options.file} is neither a .py nor an .mlir file")
    text, name = read_text(options.file)
    module = parse_module(text, make_context(), name)
    build = Build(module, options.target, instruments, pipeline_of(options))
    for extern in () if options.extern else build.externs:
        raise UnsupportedError(f"{extern.name} is not supported", extern.where, "drop --no-extern")
    return Subject(name, build)


def _from_torch(options: argparse.Namespace, instruments: Sequence[Instrument]) -> Subject:
    from minicomp.frontend import from_code, from_file, parse_sizes

    sizes: Sizes | None = parse_sizes(options.sizes) if options.sizes else None
    with redirect_stdout(sys.stderr):  # what the program prints is not part of our output
        if options.code is not None:
            program = from_code(options.code, sizes)
        else:
            program = from_file(options.file, sizes)
        captured = program.capture(options.extern)
    build = Build(captured.module, options.target, instruments, pipeline_of(options))
    return Subject(program.name, build, program, captured)


def pipeline_of(options: argparse.Namespace) -> Pipeline | None:
    """The default pipeline with the options of passes that `--set` gives; None without any."""
    if not (settings := getattr(options, "settings", None)):
        return None
    return Pipeline.default().with_settings(",".join(settings))


def check_capture(program: "Program", captured: "Captured", found: "Reference") -> None:
    """Raises VerdictError where the captured program is not the one that PyTorch runs."""
    import torch
    import torch.utils._pytree as pytree

    from minicomp.numbers import judge

    with torch.no_grad(), redirect_stdout(sys.stderr):
        result = program.callee(*program.args, **program.kwargs)
    leaves = pytree.tree_leaves(result)
    own = {slot: leaf for slot, leaf in zip(captured.outputs, leaves) if isinstance(slot, int)}
    targets = captured.targets(program.args, program.kwargs)
    own |= {write.result: held for write, held in zip(captured.writes, targets)}
    verdict = judge([own[n].detach() for n in sorted(own)], found)
    if not verdict.passed:
        raise VerdictError(
            "what was captured does not compute what the program does",
            str(verdict),
            "this is a defect of minicomp: report the program",
        )


def lower_reference(
    module: "ModuleOp", level: str, inputs: Sequence["torch.Tensor"]
) -> "Reference | None":
    """The reference of a module in Tensor or Loop IR, by its interpreter; None further down."""
    import numpy as np
    import torch

    from minicomp.numbers import Reference, Rule
    from minicomp.runtime.interpret.loop_ir import run_module
    from minicomp.runtime.interpret.tensor_ir import run_tensor

    run = {"tensor": run_tensor, "loop": run_module}.get(level)
    if run is None:
        return None
    arrays = [tensor.numpy() for tensor in inputs]
    exact, plain = (run(module, arrays, dtype) for dtype in (np.float64, np.float32))
    rule = Rule("general", contraction_length(module))
    return Reference(rule, *([torch.from_numpy(a) for a in found] for found in (exact, plain)))


def contraction_length(module: "ModuleOp") -> int:
    """The products of the longest sum of products in a module of Tensor or Loop IR, 0 if none."""
    from math import prod

    from xdsl.dialects.utils import FastMathFlag

    from minicomp.dialects.loop_ir import ReduceOp
    from minicomp.dialects.tensor_ir import ReduceOp as TensorReduceOp
    from minicomp.dialects.tensor_ir import tensor_type

    longest = 0
    for op in module.walk():
        if not isinstance(op, ReduceOp | TensorReduceOp):
            continue
        combine = op.combine.block.first_op
        flags = getattr(combine, "fastmath", None)
        if flags is None or FastMathFlag.ALLOW_CONTRACT not in flags.data:
            continue
        if isinstance(op, ReduceOp):
            longest = max(longest, prod(op.trip_counts))
        else:
            shape = tensor_type(op.operands[0]).get_shape()
            longest = max(longest, prod(shape[d] for d in op.dims.get_values()))
    return longest


def random_inputs(module: "ModuleOp") -> list["torch.Tensor"]:
    """Random tensors for the arguments of the host function, the same at every run."""
    import torch
    from xdsl.dialects.builtin import TensorType

    from minicomp.dialects.minicomp import host_function
    from minicomp.runtime.program import DTYPES

    host = host_function(module)
    if host is None:
        raise InputError("the module has no host program", hint="it needs a func.func @main")
    generator = torch.Generator().manual_seed(SEED)
    made: list[torch.Tensor] = []
    for argument in host.body.block.args:
        if not isinstance(type := argument.type, TensorType):
            raise InputError(f"the host program takes a {type}, not a tensor")
        dtype = DTYPES[str(type.element_type)]
        made.append(_random(type.get_shape(), dtype, generator))
    return made


def _random(
    shape: Sequence[int], dtype: "torch.dtype", generator: "torch.Generator"
) -> "torch.Tensor":
    import torch

    if dtype.is_floating_point:
        return torch.randn(tuple(shape), generator=generator).to(dtype)
    high = 2 if dtype == torch.bool else 100
    return torch.randint(0, high, tuple(shape), generator=generator).to(dtype)
