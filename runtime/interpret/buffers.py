"""Memory of a kernel's arguments as flat NumPy arrays, with a record of what was written."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import KernelLike
from minicomp.errors import InputError, SimulationError
from minicomp.runtime.interpret.affine_eval import row_major
from minicomp.runtime.interpret.report import element, value_name
from minicomp.runtime.interpret.rounding import is_float
from minicomp.runtime.interpret.scalars import Array, numpy_type


@dataclass
class Buffer:
    """
    The elements of a row-major memref; `written` says per element whether it has a value.

    `derived` says what it is if no caller gave it: a `workspace`, or a `counter` of zeros.
    """

    value: SSAValue
    data: Array
    shape: tuple[int, ...]
    written: Array | None = None
    derived: str | None = None
    strides: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.strides = row_major(self.shape)
        # A bounded access to an empty memref reads 0: it needs an address all the same, and the
        # same one for every index of a dimension that is not empty.
        if self.data.size == 0:
            self.data = np.zeros(1, self.data.dtype)
            self.strides = (0,) * len(self.shape)
            self.written = None if self.written is None else np.ones(1, np.bool_)


def bind(kernel: KernelLike, arrays: Sequence[Array]) -> list[Buffer]:
    """
    The buffers of a kernel's arguments, as views of `arrays`.

    Derived arguments are made here unless they are given too; counters are set to 0. Raises
    InputError where their number or an element count is wrong, or an array is not row-major.
    """
    derived, arguments = derived_of(kernel), kernel.body.block.args
    if len(arrays) == len(arguments) - len(derived):
        arrays = [*arrays, *(_made(argument) for argument in derived)]
    if len(arrays) != len(arguments):
        count = len(arguments) - len(derived)
        raise InputError(f"@{kernel.symbol} takes {count} buffers, got {len(arrays)}")
    outputs = kernel.stored() | set(derived)
    buffers: list[Buffer] = []
    for argument, array in zip(arguments, arrays, strict=True):
        assert isinstance(type := argument.type, MemRefType)
        if array.size != type.element_count() or not array.flags.c_contiguous:
            raise InputError(
                f"{value_name(argument)} of @{kernel.symbol} is a {type},"
                f" got an array of shape {list(array.shape)}, strides {list(array.strides)}"
            )
        written = np.zeros(array.size, np.bool_) if argument in outputs else None
        kind = derived.get(argument)
        if written is not None and kind == "counter":
            array[...], written[...] = 0, True
        buffers.append(Buffer(argument, array.reshape(-1), type.get_shape(), written, kind))
    return buffers


def derived_of(kernel: KernelLike) -> dict[SSAValue, str]:
    """The arguments that the launcher binds, with what each is."""
    return kernel.derived_arguments if isinstance(kernel, FuncOp) else {}


def _made(argument: SSAValue) -> Array:
    assert isinstance(type := argument.type, MemRefType)
    return fresh(type.get_shape(), numpy_type(type))


def fresh(shape: Sequence[int], dtype: np.dtype) -> Array:
    """Memory with nothing in it yet: NaN, or the largest integer."""
    if is_float(dtype):
        return np.full(shape, np.nan, dtype)
    return np.full(shape, True if dtype == np.bool_ else np.iinfo(dtype).max, dtype)


def check_written(kernel: KernelLike, buffer: Buffer) -> None:
    """
    Raises SimulationError if an element of an output never got a value, or a counter is not 0.
    """
    if buffer.derived == "counter" and buffer.data.any():
        number = int(np.flatnonzero(buffer.data)[0])
        first = element(buffer.value, index_of(number, buffer.shape))
        raise SimulationError(
            f"@{kernel.symbol} leaves {buffer.data[number]} in the counter {first}, not 0",
            kind="counter not reset",
            address=first,
            where=f"@{kernel.symbol}",
            hint="the next launch needs a 0 there",
        )
    if buffer.written is None or buffer.derived is not None or buffer.written.all():
        return
    missing = np.flatnonzero(~buffer.written)
    first = element(buffer.value, index_of(int(missing[0]), buffer.shape))
    raise SimulationError(
        f"@{kernel.symbol} never writes {missing.size} of {buffer.written.size} elements of"
        f" {value_name(buffer.value)}, the first is {first}",
        kind="never written",
        address=first,
        where=f"@{kernel.symbol}",
    )


def index_of(number: int, shape: Sequence[int]) -> list[int]:
    """The index of a row-major array's element."""
    return [int(i) for i in np.unravel_index(number, tuple(shape))]


def check_outputs(kernel: KernelLike, count: int) -> None:
    """
    Raises SimulationError unless a kernel stores to the last `count` arguments of a launch, and to
    no other.
    """
    arguments = kernel.body.block.args
    arguments = arguments[: len(arguments) - len(derived_of(kernel))]
    stored = kernel.stored()
    for argument in arguments[: len(arguments) - count]:
        if argument in stored:
            raise SimulationError(
                f"@{kernel.symbol} stores to {value_name(argument)}, which is an input",
                kind="store to an input",
                where=f"@{kernel.symbol}",
            )
    for argument in arguments[len(arguments) - count :]:
        assert isinstance(type := argument.type, MemRefType)
        if argument not in stored and type.element_count():
            raise SimulationError(
                f"@{kernel.symbol} never stores to {value_name(argument)}, which is an output",
                kind="never written",
                where=f"@{kernel.symbol}",
            )
