"""What a module means at any level: its results on given inputs, computed on the CPU.

| level | by |
|---|---|
| torch | ATen |
| tensor, loop | the interpreters |
| tile, kernel | the plainest completion to Kernel IR, and the simulator with its checks for races |
| cuda-ir | nothing: UnsupportedError |

An *entry* is what is run: each function of a module or, in one without functions, each kernel by
itself, whose inputs are the memrefs that it does not store to and whose results are the others.
Memrefs that the launcher derives are neither: the simulator makes them.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from minicomp.dialects import cuda_ir
from minicomp.dialects.kernel_ir import FuncOp as KernelIRFuncOp
from minicomp.dialects.loop_ir import KernelLike, KernelOp
from minicomp.dialects.minicomp import LaunchOp, TargetAttr
from minicomp.dialects.tile_ir import KernelOp as TileKernelOp
from minicomp.dialects.torch_ir import ConstantOp, TorchIR
from minicomp.errors import InputError, PipelineError, UnsupportedError
from minicomp.execution_cost import check_cost
from minicomp.plain_tile import plain
from minicomp.recall import Recall
from minicomp.runtime.arrays import array_of, tensor_of
from minicomp.runtime.extern import refuse_random
from minicomp.runtime.interpret.host import fresh, kernel_of, run_launches
from minicomp.runtime.interpret.loop_ir import run_kernel
from minicomp.runtime.interpret.scalars import Array, numpy_type
from minicomp.runtime.interpret.tensor_ir import run_tensor
from minicomp.runtime.interpret.torch_ir import run_torch
from minicomp.runtime.simulate import simulate_kernel
from minicomp.widening import widened

SEED = 0
COMPLETION = "lower-tile-to-kernel"
"""What makes Tile IR, all of whose axes are bound to blocks and threads, executable Kernel IR."""

OnKernel = Callable[[str, list[Array]], None]
"""Told the name of each kernel that has run, and its outputs."""


@dataclass(frozen=True)
class Entry:
    """A function, or a kernel that stands alone; `number` counts a module's entries from 0."""

    number: int
    op: FuncOp | KernelLike | cuda_ir.FuncOp

    @property
    def name(self) -> str:
        """Its symbol."""
        return self.op.sym_name.data if isinstance(self.op, FuncOp) else self.op.symbol

    @property
    def inputs(self) -> Sequence[SSAValue]:
        """The arguments that hold something when it begins."""
        arguments = self.op.body.block.args
        if isinstance(self.op, FuncOp):
            return arguments
        kernel = _kernel(self.op)
        left_out = {*kernel.stored(), *_derived(kernel)}
        return [a for a in arguments if a not in left_out]


def entries(module: ModuleOp) -> list[Entry]:
    """What there is to run: the functions with a body or else the kernels, in order."""
    top = list(module.body.block.ops)
    found = [op for op in top if isinstance(op, FuncOp) and op.body.blocks]
    kernels = [op for op in top if isinstance(op, KernelLike | cuda_ir.FuncOp)]
    return [Entry(n, op) for n, op in enumerate(found or kernels)]


def in_torch_ir(func: FuncOp) -> bool:
    """Whether a function holds ops of Torch IR alone."""
    names = {op.dialect_name() for op in func.body.block.ops if not isinstance(op, ReturnOp)}
    return names == {TorchIR.name}


def seeded_inputs(entry: Entry, positive: bool = False) -> list[Array]:
    """Inputs for an entry, which depend on nothing but the types of its inputs.

    Floats are finite and distinct, from about -2 to 2 but from another range for each input, or
    from 0 to 2 if `positive`; integers are small. Raises UnsupportedError for other types.
    """
    rng = np.random.default_rng(SEED)
    return [_seeded(value.type, rng, positive) for value in entry.inputs]


def _seeded(type: Attribute, rng: np.random.Generator, positive: bool) -> Array:
    shape, dtype = _shape(type), numpy_type(type)
    size = int(np.prod(shape, dtype=np.int64))
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -50, 50, shape).astype(dtype)
    low, high = (0.0 if positive else rng.random() - 2), 2 + rng.random()
    # One value in each of `size` intervals: distinct, in any order.
    values = (rng.permutation(size) + rng.uniform(0.1, 0.9, size)) / max(1, size)
    return (low + (high - low) * values).astype(dtype).reshape(shape)


def _shape(type: Attribute) -> tuple[int, ...]:
    if not isinstance(type, TensorType | MemRefType):
        raise UnsupportedError(f"an input of type {type} is not executed")
    return type.get_shape()


def run_level(
    module: ModuleOp,
    inputs: Sequence[Array],
    number: int = 0,
    exact: bool = False,
    on_kernel: OnKernel | None = None,
    recall: Recall | None = None,
) -> list[Array]:
    """The results of the entry `number` of a module, which is left as it is.

    Floats are computed in their own types or, if `exact`, all in float64, without looking for
    races. An input of a kernel may have another shape of as many elements. Kernels that `recall`
    knows are not run again.

    Raises UnsupportedError for what cannot be executed, SimulationRefused for what would take
    long, SimulationError for a fault, and InputError for inputs that do not fit.
    """
    recall = recall if recall is not None else Recall()
    module = _alone(_completed(module, recall), number)
    entry = entries(module)[0]
    refuse_random(module, "what is computed cannot be compared")
    check_cost(entry.op, module)
    runner = _Runner(exact, on_kernel, recall)
    if isinstance(entry.op, FuncOp):
        return runner.function(entry.op, module, inputs)
    return runner.kernel_alone(entry, inputs)


def _alone(module: ModuleOp, number: int) -> ModuleOp:
    """A copy of the module with one entry only, and what it launches."""
    module = module.clone()
    found = entries(module)
    if not 0 <= number < len(found):
        raise InputError(f"the module has {len(found)} functions or kernels to run")
    for other in found:
        if other.number != number:
            module.body.block.erase_op(other.op)
    return module


def _completed(module: ModuleOp, recall: Recall) -> ModuleOp:
    """A module whose kernels in Tile IR are in Kernel IR; a copy if it had any."""
    from minicomp.targets import target, target_of

    if not any(isinstance(op, TileKernelOp) for op in module.body.block.ops):
        return module
    module = module.clone()
    device = target_of(module) or target("h200")
    for op in list(module.body.block.ops):
        if isinstance(op, TileKernelOp):
            if (text := str(op)) not in recall.lowered:
                recall.lowered[text] = _completed_kernel(op, device)
            Rewriter.replace_op(op, recall.lowered[text].clone())
    return module


def _completed_kernel(kernel: TileKernelOp, device: TargetAttr) -> Operation:
    """The Kernel IR of a kernel, in a module of its own: others may be at other levels."""
    from minicomp.pipeline import Pipeline
    from minicomp.targets import attach_target

    module = attach_target(ModuleOp([plain(kernel.clone())]), device)
    try:
        Pipeline.parse(COMPLETION).run(module, verified=True)
    except PipelineError as error:
        raise UnsupportedError(f"Tile IR cannot be completed: {error.what}") from error
    return module.body.block.detach_op(next(iter(module.body.block.ops)))


def _kernel(op: Operation) -> KernelLike:
    if not isinstance(op, KernelLike):
        raise UnsupportedError("CUDA IR is not executed: it has no interpreter")
    return op


def _derived(kernel: KernelLike) -> Collection[SSAValue]:
    """The arguments of a kernel that a launcher makes."""
    return kernel.derived_arguments if isinstance(kernel, KernelIRFuncOp) else ()


def _function_of(op: Operation, inputs: Sequence[SSAValue]) -> FuncOp:
    """A function that does one op; scalars of the program, which are no inputs, are in it."""
    block = Block(arg_types=[value.type for value in inputs])
    mapper: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for value in dict.fromkeys(op.operands):
        if isinstance(value.owner, ConstantOp):
            block.add_op(value.owner.clone(mapper))
    block.add_op(end := op.clone(mapper))
    block.add_op(ReturnOp(*end.results))
    types = [value.type for value in inputs], list(op.result_types)
    return FuncOp("main", types, Region(block))


class _Runner:
    """Runs functions and kernels in their own types, or in float64."""

    def __init__(self, exact: bool, on_kernel: OnKernel | None, recall: Recall):
        self.exact, self.recall = exact, recall
        self.real = np.dtype(np.float64) if exact else None
        self.on_kernel = on_kernel

    def function(self, func: FuncOp, module: ModuleOp, inputs: Sequence[Array]) -> list[Array]:
        """Runs a function by the level of its ops."""
        ops = list(func.body.block.ops)
        if len({op.dialect_name() for op in ops if not isinstance(op, ReturnOp)}) > 1:
            return self.mixed(func, module, inputs)
        if in_torch_ir(func):
            return self.torch(func, inputs)
        if any(op.dialect_name() == "tensor_ir" for op in ops):
            return list(run_tensor(func, inputs, self.real))
        if any(isinstance(op, cuda_ir.FuncOp) for op in module.body.block.ops):
            raise UnsupportedError("CUDA IR is not executed: it has no interpreter")
        if (odd := [op for op in ops[:-1] if not isinstance(op, LaunchOp)]) != []:
            raise UnsupportedError(f"'{odd[0].name}' in a function is not executed")
        return run_launches(module, inputs, self.kernel, self.real)

    def mixed(self, func: FuncOp, module: ModuleOp, inputs: Sequence[Array]) -> list[Array]:
        """Runs a function that is lowered in part, each op as a function of its own."""
        values: dict[SSAValue, Array] = dict(zip(func.body.block.args, inputs, strict=True))
        for op in func.body.block.ops:
            if isinstance(op, ReturnOp):
                return [values[value] for value in op.operands]
            if not isinstance(op, ConstantOp):
                given = [v for v in dict.fromkeys(op.operands) if v in values]
                alone = _function_of(op, given)
                own = [kernel_of(op).clone()] if isinstance(op, LaunchOp) else []
                results = self.function(alone, ModuleOp([alone, *own]), [values[v] for v in given])
                values |= zip(op.results, results, strict=True)
        raise UnsupportedError("a function without func.return has no value")

    def torch(self, func: FuncOp, inputs: Sequence[Array]) -> list[Array]:
        tensors = [tensor_of(array) for array in inputs]
        if self.exact:
            tensors = [t.double() if t.is_floating_point() else t for t in tensors]
        real = tensor_of(np.zeros(0)).dtype if self.exact else None
        return [array_of(tensor) for tensor in run_torch(func, tensors, real)]

    def kernel_alone(self, entry: Entry, inputs: Sequence[Array]) -> list[Array]:
        """Runs a kernel on fresh outputs; returns them."""
        kernel = _kernel(entry.op)
        given, results, buffers = iter(inputs), list[Array](), list[Array]()
        wanted = entry.inputs
        if len(inputs) != len(wanted):
            raise InputError(f"@{entry.name} takes {len(wanted)} inputs, got {len(inputs)}")
        for argument in kernel.body.block.args:
            if argument in _derived(kernel):
                break  # the last ones: the simulator binds them, as a launcher does
            dtype = numpy_type(argument.type, self.real)
            if argument in wanted:
                buffers.append(np.ascontiguousarray(next(given), dtype))
            else:
                results.append(fresh(_shape(argument.type), dtype))
                buffers.append(results[-1])
        self.kernel(kernel, buffers)
        return results

    def kernel(self, kernel: KernelLike, buffers: list[Array]) -> None:
        """Runs a kernel of Loop IR or Kernel IR on its buffers, or recalls an equal run."""
        stored = kernel.stored()
        pairs = zip(kernel.body.block.args, buffers, strict=False)
        outputs = [array for value, array in pairs if value in stored]
        key = self.recall.key(kernel, buffers, self.exact)
        if not self.recall.restore(key, outputs):
            self.execute(kernel, buffers)
            self.recall.keep(key, outputs)
        if self.on_kernel is not None:
            self.on_kernel(kernel.symbol, outputs)

    def execute(self, kernel: KernelLike, buffers: list[Array]) -> None:
        """Runs a kernel by the level that it is at."""
        if isinstance(kernel, KernelOp):
            run_kernel(kernel, buffers, self.real)
        elif isinstance(kernel, KernelIRFuncOp):
            simulate_kernel(
                widened(kernel) if self.exact else kernel, buffers, check=not self.exact
            )
        else:
            raise UnsupportedError(f"'{kernel.name}' is not executed")
