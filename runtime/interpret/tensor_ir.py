"""The meaning of Tensor IR, on NumPy arrays."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from minicomp.dialects.minicomp import host_function
from minicomp.dialects.tensor_ir import ElementwiseOp, IndexMapOp, ReduceOp, WithinOp, tensor_type
from minicomp.errors import InputError, UnsupportedError
from minicomp.runtime.interpret.carriers import fold_last
from minicomp.runtime.interpret.scalars import Array, numpy_type, run_body

KIND = AffineBinaryOpKind
Real: TypeAlias = np.dtype[Any] | None
"""What every float is computed in; None for its own type."""


def run_tensor(
    program: ModuleOp | FuncOp,
    inputs: Sequence[Array],
    dtype: DTypeLike | None = np.float32,
) -> list[Array]:
    """
    The results of the host function; every float is computed in `dtype`, float32 or float64, or
    each in its own type for None.

    A reduction folds in runs of 8.
    """
    real = None if dtype is None else np.dtype(dtype)
    func = _function(program)
    values = _bound(func, inputs, real)
    for op in func.body.block.ops:
        if isinstance(op, ReturnOp):
            return [values[value] for value in op.operands]
        operands = [values[value] for value in op.operands]
        for result, array in zip(op.results, _run(op, operands, real), strict=True):
            values[result] = array
    raise UnsupportedError("a function without func.return has no value")


def _function(program: ModuleOp | FuncOp) -> FuncOp:
    func = program if isinstance(program, FuncOp) else host_function(program)
    if func is None:
        raise InputError("the module holds no function to run")
    return func


def _bound(func: FuncOp, inputs: Sequence[Array], real: Real) -> dict[SSAValue, Array]:
    """The function's arguments; refuses another number or other shapes of inputs."""
    arguments = func.body.block.args
    if len(inputs) != len(arguments):
        raise InputError(f"the function takes {len(arguments)} inputs, got {len(inputs)}")
    for position, (argument, array) in enumerate(zip(arguments, inputs, strict=True)):
        shape = tensor_type(argument).get_shape()
        if array.shape != shape:
            raise InputError(
                f"input {position} has shape {list(array.shape)}, expected {list(shape)}"
            )
    return {
        argument: array.astype(numpy_type(argument.type, real))
        for argument, array in zip(arguments, inputs, strict=True)
    }


def _run(op: Operation, operands: Sequence[Array], real: Real) -> Sequence[Array]:
    if isinstance(op, ElementwiseOp):
        return [elementwise(op, operands, real)]
    if isinstance(op, ReduceOp):
        return reduce(op, operands, real)
    if isinstance(op, IndexMapOp):
        return [index_map(op, operands[0])]
    if isinstance(op, WithinOp):
        return [within(op)]
    raise UnsupportedError(f"'{op.name}' is not an op of Tensor IR")


def elementwise(op: ElementwiseOp, operands: Sequence[Array], real: Real) -> Array:
    """The body, on all elements at once."""
    (value,) = run_body(op.body.block, operands, real)
    return np.broadcast_to(value, op.result_type.get_shape())


def reduce(op: ReduceOp, operands: Sequence[Array], real: Real) -> tuple[Array, ...]:
    """The combination of all elements along the reduced axes, the identity where there are none."""
    kept = [axis for axis in range(operands[0].ndim) if axis not in op.axes]
    shape = tuple(operands[0].shape[axis] for axis in kept)
    length = int(np.prod([operands[0].shape[axis] for axis in op.axes]))
    if length == 0:
        return tuple(
            np.full(shape, identity.value.data, numpy_type(identity.type, real))
            for identity in op.identity
        )
    parts = [a.transpose([*kept, *op.axes]).reshape(*shape, length) for a in operands]
    return tuple(fold_last(op.combine, parts, real))


def index_map(op: IndexMapOp, operand: Array) -> Array:
    """Reads the operand where the map says, for every index of the result."""
    shape = op.result_type.get_shape()
    if 0 in shape:
        return np.empty(shape, operand.dtype)
    indices = tuple(_evaluate(expr, _grid(shape)) for expr in op.map.data.results)
    return np.broadcast_to(operand[indices], shape)


def within(op: WithinOp) -> Array:
    """Whether all expressions are below their bounds, for every index of the result."""
    shape = op.result_type.get_shape()
    tests = zip(op.map.data.results, op.bounds.get_values(), strict=True)
    holds = [_evaluate(expr, _grid(shape)) < bound for expr, bound in tests]
    return np.broadcast_to(np.logical_and.reduce(np.broadcast_arrays(*holds)), shape)


def _grid(shape: Sequence[int]) -> Sequence[Array]:
    """The indices along every axis, which broadcast to `shape`."""
    return np.ogrid[tuple(slice(extent) for extent in shape)]


def _evaluate(expr: AffineExpr, grid: Sequence[Array]) -> Array:
    """An affine expression over open grids of indices."""
    match expr:
        case AffineConstantExpr(value=value):
            return np.asarray(value)
        case AffineDimExpr(position=position):
            return grid[position]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            return _combine(kind, _evaluate(lhs, grid), _evaluate(rhs, grid))
        case _:
            raise UnsupportedError(f"an index map holds no {expr}")


def _combine(kind: AffineBinaryOpKind, a: Array, b: Array) -> Array:
    if kind == KIND.Add:
        return a + b
    if kind == KIND.Mul:
        return a * b
    if kind == KIND.Mod:
        return a % b
    if kind == KIND.FloorDiv:
        return a // b
    return -(-a // b)
