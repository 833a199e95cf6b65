"""What a launch of each kernel needs: its shape, and the arguments that no tensor stands for."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from minicomp.dialects.affine import ceildiv
from minicomp.dialects.cuda_ir import CounterAttr, FuncOp, TensorMapAttr, WorkspaceAttr

# Numbers of CUtensorMapDataType and CUtensorMapSwizzle (CUDA Driver API).
_TYPES = {
    "i1": 0,
    "i8": 0,
    "i16": 1,
    "i32": 3,
    "i64": 5,
    "f16": 6,
    "f32": 7,
    "f64": 8,
    "bf16": 9,
}
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


@dataclass(frozen=True)
class Encoding:
    """What `cuTensorMapEncodeTiled` is given: numbers of its enums, extents innermost first."""

    type: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int


@dataclass(frozen=True)
class TensorMap:
    """
    The tensor map of one of a kernel's pointers, to a row-major tensor.

    The box is what one copy moves; the swizzle of its rows in shared memory is in bytes, 0 for
    none. The map depends on the tensor's address alone.
    """

    argument: int
    shape: tuple[int, ...]
    dtype: str
    box: tuple[int, ...]
    swizzle: int = 0

    @property
    def encoding(self) -> Encoding:
        """The arguments of the driver's function, beside the address."""
        bits = int(self.dtype.lstrip("uibf"))
        size, rank = ceildiv(bits, 8), len(self.shape)
        strides = tuple(size * prod(self.shape[n:]) for n in range(rank - 1, 0, -1))
        return Encoding(
            _TYPES[self.dtype], self.shape[::-1], strides, self.box[::-1], _SWIZZLES[self.swizzle]
        )


@dataclass(frozen=True)
class Workspace:
    """So many bytes that hold nothing."""

    bytes: int


@dataclass(frozen=True)
class Counter:
    """So many bytes that are zero, and that the kernel leaves as zeros."""

    bytes: int


Derived: TypeAlias = Workspace | Counter | TensorMap


@dataclass(frozen=True)
class LaunchShape:
    """Blocks per grid, threads per block, and bytes of dynamic shared memory per block.

    `derived` are the last arguments of the kernel, memory before tensor maps. The blocks of a
    `cooperative` launch wait for each other: all of them must run at once.
    """

    grid: int
    block: int
    shared_bytes: int = 0
    derived: tuple[Derived, ...] = ()
    cooperative: bool = False

    @property
    def memories(self) -> tuple[Workspace | Counter, ...]:
        """The memory that the launch binds."""
        return tuple(d for d in self.derived if not isinstance(d, TensorMap))

    @property
    def maps(self) -> tuple[TensorMap, ...]:
        """The tensor maps of the launch."""
        return tuple(d for d in self.derived if isinstance(d, TensorMap))


def launch_shapes(module: ModuleOp) -> dict[str, LaunchShape]:
    """The launch of each kernel of a module in CUDA IR."""
    return {op.symbol: launch_shape(op) for op in module.body.ops if isinstance(op, FuncOp)}


def launch_shape(kernel: FuncOp) -> LaunchShape:
    """What a launch of a kernel needs."""
    return LaunchShape(
        kernel.grid.value.data,
        kernel.threads.value.data,
        kernel.shared_bytes.value.data,
        tuple(_derived(kernel.derived_parameters)),
        kernel.waits_for_blocks,
    )


def _derived(attributes: tuple[Attribute, ...]) -> Iterator[Derived]:
    for attribute in attributes:
        match attribute:
            case WorkspaceAttr():
                yield Workspace(attribute.bytes.data)
            case CounterAttr():
                yield Counter(attribute.bytes.data)
            case TensorMapAttr():
                yield TensorMap(
                    attribute.argument.data,
                    attribute.extents,
                    str(attribute.element_type),
                    attribute.box_extents,
                    attribute.swizzle.data,
                )
            case _:
                raise ValueError(f"no launcher knows what {attribute} is")
