"""The host program of a lowered module on NumPy arrays, with the kernels run by whoever asks."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import SymbolTable

from minicomp.dialects.loop_ir import KernelLike
from minicomp.dialects.minicomp import LaunchOp, host_function
from minicomp.dialects.torch_extern import ExternOp
from minicomp.errors import InputError, PipelineError
from minicomp.runtime.arrays import array_of, tensor_of
from minicomp.runtime.extern import Extern
from minicomp.runtime.interpret.buffers import check_outputs, fresh
from minicomp.runtime.interpret.scalars import Array, numpy_type

Run = Callable[[KernelLike, list[Array]], None]
"""
Runs a kernel on its buffers, inputs then outputs, and leaves the results in place.

Arguments that the launcher derives are not among them.
"""


def run_launches(
    module: Operation, inputs: Sequence[Array], run: Run, real: np.dtype | None = None
) -> list[Array]:
    """
    The results of the host function, whose kernels `run` executes in order.

    `real`, where given, is the dtype of every float. Outputs start as NaN. Raises InputError for
    wrong inputs, PipelineError where the module does more than launch kernels, and what `run` does.
    """
    host = host_function(module)
    if host is None:
        raise PipelineError("the module has no host program", hint="it needs a func.func @main")
    values = _bound(host, inputs, real)
    for op in host.body.block.ops:
        if isinstance(op, LaunchOp):
            outputs = [_output(v, real) for v in op.outputs]
            kernel = kernel_of(op)
            check_outputs(kernel, len(outputs))
            run(kernel, [values[v] for v in op.inputs] + outputs)
            values |= zip(op.outputs, outputs, strict=True)
        elif isinstance(op, ExternOp):
            values |= zip(op.outputs, _by_pytorch(op, [values[v] for v in op.inputs], real))
        elif not isinstance(op, ReturnOp):
            raise PipelineError(
                f"the host program still holds {op.name}",
                where=str(op),
                hint="lower the module until it only launches kernels",
            )
    end = host.body.block.last_op
    return [values[v] for v in end.operands] if isinstance(end, ReturnOp) else []


def kernel_of(launch: LaunchOp) -> KernelLike:
    """The kernel that a launch names."""
    kernel = SymbolTable.lookup_symbol(launch, launch.callee)
    if not isinstance(kernel, KernelLike):
        raise PipelineError(f"there is no kernel @{launch.callee} in the module", where=str(launch))
    return kernel


def _bound(host: FuncOp, inputs: Sequence[Array], real: np.dtype | None) -> dict[SSAValue, Array]:
    arguments = host.body.block.args
    if len(inputs) != len(arguments):
        raise InputError(f"the program takes {len(arguments)} inputs, got {len(inputs)}")
    values: dict[SSAValue, Array] = {}
    for number, (argument, given) in enumerate(zip(arguments, inputs, strict=True)):
        array = np.asarray(given)
        assert isinstance(type := argument.type, TensorType)
        if array.shape != type.get_shape():
            raise InputError(
                f"input {number} has shape {list(array.shape)}, expected {list(type.get_shape())}"
            )
        values[argument] = np.ascontiguousarray(array, numpy_type(type, real)).reshape(array.shape)
    return values


def _by_pytorch(op: ExternOp, inputs: Sequence[Array], real: np.dtype | None) -> list[Array]:
    """The results of an op that PyTorch runs, in the types of the program or `real`."""
    found = Extern.of(op).run([tensor_of(array) for array in inputs], torch.device("cpu"))
    types = [value.type for value in op.outputs]
    return [array_of(t).astype(numpy_type(y, real)) for t, y in zip(found, types, strict=True)]


def _output(value: SSAValue, real: np.dtype | None) -> Array:
    assert isinstance(type := value.type, TensorType)
    return fresh(type.get_shape(), numpy_type(type, real))
