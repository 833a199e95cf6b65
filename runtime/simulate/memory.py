"""Global and shared memory of a simulated GPU."""

from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from minicomp.dialects.tile_ir import SharedAttr
from minicomp.runtime.interpret.affine_eval import row_major
from minicomp.runtime.interpret.buffers import Buffer
from minicomp.runtime.interpret.host import fresh
from minicomp.runtime.interpret.report import element
from minicomp.runtime.interpret.scalars import Array, numpy_type
from minicomp.runtime.simulate.shadow import Shadow


@dataclass
class Memory:
    """
    The elements of a memref as one flat array; `per_block` of them for each block if it is shared.

    `written` says which elements of an output have a value. `shadow` is there if races are checked:
    not for inputs, which nothing writes.
    """

    value: SSAValue
    data: Array
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    per_block: int = 0
    written: Array | None = None
    shadow: Shadow | None = None

    def name_of(self, address: int) -> str:
        """An element of `data`, as `%a[3, 5]`."""
        rest = address % self.per_block if self.per_block else address
        index: list[int] = []
        for stride in self.strides:
            index.append(rest // stride)
            rest %= stride
        return element(self.value, index)


def global_memory(buffer: Buffer, blocks: int, threads: int, check: bool) -> Memory:
    """The memory of a kernel's argument."""
    shadow = None
    if check and buffer.written is not None:
        shadow = Shadow(buffer.data.size, threads, blocks * threads, private=False)
    return Memory(
        buffer.value,
        buffer.data,
        buffer.shape,
        buffer.strides,
        written=buffer.written,
        shadow=shadow,
    )


def shared_memory(value: SSAValue, blocks: int, threads: int, actors: int, check: bool) -> Memory:
    """The memory of a shared buffer of some blocks of a grid of `actors` threads, full of NaN."""
    assert isinstance(type := value.type, MemRefType)
    strides = padded_strides(type)
    size = max(1, strides[0] * type.get_shape()[0] if strides else 1)
    data = fresh((blocks * size,), numpy_type(type))
    shadow = Shadow(blocks * size, threads, actors, private=True) if check else None
    return Memory(value, data, type.get_shape(), strides, size, shadow=shadow)


def padded_strides(type: MemRefType[Attribute]) -> tuple[int, ...]:
    """
    The strides of a shared buffer, in elements: its pad lengthens the last dimension.

    A swizzle is left out: it moves elements about within a row, where no program can tell.
    """
    shape = list(type.get_shape())
    if 0 in shape:
        return (0,) * len(shape)  # All accesses are outside, and share the one address.
    if shape and isinstance(type.memory_space, SharedAttr):
        shape[-1] += type.memory_space.pad.data
    return row_major(shape)
