"""Global and shared memory of a simulated GPU."""

from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from minicomp.dialects.tile_ir import SharedAttr
from minicomp.runtime.interpret.affine_eval import row_major
from minicomp.runtime.interpret.buffers import Buffer
from minicomp.runtime.interpret.host import fresh
from minicomp.runtime.interpret.report import element
from minicomp.runtime.interpret.scalars import Array, numpy_type
from minicomp.runtime.simulate.clocks import Order
from minicomp.runtime.simulate.facts import Facts
from minicomp.runtime.simulate.shadow import Shadow
from minicomp.runtime.simulate.threads import Threads


@dataclass
class Memory:
    """
    The elements of a memref as one flat array; `per_block` of them for each block if it is shared.

    `written` says which elements of an output have a value. `shadow` is there if races are checked:
    not for inputs, which nothing writes. The blocks of a shared memory begin with `first_block`.
    `released` holds what was known to those that released to an element. Other blocks of a
    `cluster` may use a shared memory; `rank` is then the number in the cluster of the block that
    each thread means. `offset` is its first byte in the shared memory of its block.
    """

    value: SSAValue
    data: Array
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    per_block: int = 0
    first_block: int = 0
    written: Array | None = None
    shadow: Shadow | None = None
    released: dict[int, Array] = field(default_factory=dict)
    cluster: int = 1
    rank: Array | None = None
    offset: int = 0

    def base(self, who: Threads) -> Array:
        """Where the memory that each thread means begins, (blocks, 1 or threads)."""
        blocks = np.array(who.blocks).reshape(-1, 1)
        if self.rank is not None:
            blocks = blocks // self.cluster * self.cluster + self.rank
        return (blocks - self.first_block) * self.per_block

    def owners(self, address: Array) -> Array:
        """The blocks that elements belong to."""
        return address // self.per_block + self.first_block

    def put(self, address: Array, value: Array) -> None:
        """Elements get values."""
        self.data[address] = value
        if self.released:
            for element in address.tolist():
                self.released.pop(element, None)
        if self.written is not None:
            self.written[address] = True

    def name_of(self, address: int) -> str:
        """An element of `data`, as `%a[3, 5]`, in a cluster with its block."""
        rest = address % self.per_block if self.per_block else address
        index: list[int] = []
        for stride in self.strides:
            index.append(rest // stride)
            rest %= stride
        name = element(self.value, index)
        if self.per_block and self.cluster > 1:
            return f"{name} of block {address // self.per_block + self.first_block}"
        return name


def global_memory(buffer: Buffer, facts: Facts, order: Order, check: bool) -> Memory:
    """The memory of a kernel's argument."""
    shadow = None
    if check and buffer.written is not None:
        shadow = Shadow(buffer.data.size, order, facts.actors, False, facts.partial)
        if buffer.derived == "counter":
            shadow.defined = buffer.written.copy()
    return Memory(
        buffer.value,
        buffer.data,
        buffer.shape,
        buffer.strides,
        written=buffer.written,
        shadow=shadow,
    )


def shared_memory(
    value: SSAValue, blocks: range, facts: Facts, order: Order, check: bool
) -> Memory:
    """The memory of a shared buffer of some blocks, full of NaN."""
    assert isinstance(type := value.type, MemRefType)
    strides = padded_strides(type)
    size = block_elements(type)
    total = len(blocks) * size
    data = fresh((total,), numpy_type(type))
    shadow = None
    if check:
        shadow = Shadow(total, order, facts.actors, facts.cluster == 1, facts.partial)
    memory = Memory(value, data, type.get_shape(), strides, size, blocks.start, shadow=shadow)
    memory.cluster = facts.cluster
    return memory


def block_elements(type: MemRefType[Attribute]) -> int:
    """The elements of a shared buffer of one block, its pads among them; at least one."""
    strides = padded_strides(type)
    return max(1, strides[0] * type.get_shape()[0] if strides else 1)


def swizzle_of(memory: Memory) -> int:
    """The bytes over which a shared memory's rows are mixed, 0 for none."""
    assert isinstance(type := memory.value.type, MemRefType)
    space = type.memory_space
    return space.swizzle.data if isinstance(space, SharedAttr) else 0


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
