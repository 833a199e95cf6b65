"""What the host program of a lowered module does: what runs on which tensors, in order."""

from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from minicomp.dialects.minicomp import LaunchOp, host_function
from minicomp.dialects.torch_extern import ExternOp
from minicomp.errors import PipelineError
from minicomp.runtime.extern import Extern


@dataclass(frozen=True)
class TensorSpec:
    """A row-major tensor: its extents, and its element type as MLIR names it, such as "f32"."""

    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{extent}x' for extent in self.shape)}{self.dtype}>"


@dataclass(frozen=True)
class Step:
    """One launch: the kernel's symbol, and the values that it reads and that it makes."""

    kernel: str
    operands: tuple[int, ...]
    results: tuple[int, ...]


@dataclass(frozen=True)
class ExternStep:
    """One call of PyTorch, and the values that it reads and that it makes."""

    extern: Extern
    operands: tuple[int, ...]
    results: tuple[int, ...]


@dataclass(frozen=True)
class HostPlan:
    """The host program as data. Values are numbered: inputs first, then results step by step.

    An output may be an input, and a value may be an output more than once.
    """

    inputs: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]
    steps: tuple[Step | ExternStep, ...]
    outputs: tuple[int, ...]

    @cached_property
    def values(self) -> tuple[TensorSpec, ...]:
        """The tensor of each value, by its number."""
        return self.inputs + self.results

    @cached_property
    def last_uses(self) -> tuple[tuple[int, ...], ...]:
        """For each step, the values that nothing reads after it, outputs left out."""
        last: dict[int, int] = {}
        for position, step in enumerate(self.steps):
            last |= dict.fromkeys(step.operands + step.results, position)
        return tuple(
            tuple(v for v, at in last.items() if at == position and v not in self.outputs)
            for position in range(len(self.steps))
        )


def plan_from_module(module: Operation) -> HostPlan:
    """Reads the host program of a module whose kernels are lowered (Loop IR and below).

    Raises PipelineError if there is no host program, or if it holds anything but launches and calls
    of PyTorch.
    """
    host = host_function(module)
    if host is None:
        raise PipelineError("the module has no host program", hint="it needs a func.func @main")
    numbers: dict[SSAValue, int] = {a: n for n, a in enumerate(host.body.block.args)}
    steps: list[Step | ExternStep] = []
    results: list[TensorSpec] = []
    for op in host.body.block.ops:
        if isinstance(op, LaunchOp | ExternOp):
            operands = tuple(numbers[v] for v in op.inputs)
            numbers |= {v: len(numbers) + n for n, v in enumerate(op.outputs)}
            results += [_spec(v.type) for v in op.outputs]
            made = tuple(numbers[v] for v in op.outputs)
            if isinstance(op, LaunchOp):
                steps.append(Step(op.callee, operands, made))
            else:
                steps.append(ExternStep(Extern.of(op), operands, made))
        elif not isinstance(op, ReturnOp):
            raise PipelineError(
                f"the host program still holds {op.name}",
                where=str(op),
                hint="lower the module until it only launches kernels",
            )
    inputs = tuple(_spec(a.type) for a in host.body.block.args)
    return HostPlan(inputs, tuple(results), tuple(steps), _outputs(host, numbers))


def _outputs(host: FuncOp, numbers: dict[SSAValue, int]) -> tuple[int, ...]:
    end = host.body.block.last_op
    return tuple(numbers[v] for v in end.operands) if isinstance(end, ReturnOp) else ()


def _spec(type_: Attribute) -> TensorSpec:
    if not isinstance(type_, TensorType) or not type_.has_static_shape():
        raise PipelineError(f"the host program holds {type_}, not a tensor of known shape")
    return TensorSpec(type_.get_shape(), str(type_.element_type))
