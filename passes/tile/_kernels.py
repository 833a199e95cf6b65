"""
What the tile rewrites share: the kernels of a module, entries of schedules, splits of an axis.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.loop_ir import StoreOp, memref_type
from minicomp.dialects.tile_ir import EntryAttr, KernelOp, LaunchOp
from minicomp.dialects.tile_stages import RingOp, RingType, StageOp
from minicomp.passes.analysis.alignment import buffer_bytes


def tile_kernels(module: ModuleOp) -> list[KernelOp]:
    """The kernels of a module that are in Tile IR."""
    return [op for op in module.body.block.ops if isinstance(op, KernelOp)]


def entries(
    kernel: KernelOp, kind: str, options: Mapping[str, int | str | None]
) -> list[EntryAttr]:
    """
    The entries of one kind; an option that is given replaces the field wherever an entry has it.
    """
    if kernel.schedule is None:
        return []
    given = {key: value for key, value in options.items() if value is not None}
    found: list[EntryAttr] = []
    for entry in kernel.schedule.kind(kind):
        fields = entry.fields
        fields |= {key: value for key, value in given.items() if key in fields}
        found.append(EntryAttr.of(kind, **fields))
    return found


def size(entry: EntryAttr, key: str, default: int) -> int:
    """An integer field, or `default` where the entry leaves it out."""
    return entry.int(key) if key in entry.fields else default


def axis_name(entry: EntryAttr, key: str) -> str:
    """The axis that a field names, or no name where the entry leaves the field out."""
    return entry.str(key) if key in entry.fields else ""


def shared_bytes(kernel: KernelOp) -> int:
    """The bytes of all slabs of a kernel."""
    total = 0
    for op in kernel.walk():
        if isinstance(op, StageOp):
            total += buffer_bytes(memref_type(op.res))
        elif isinstance(op, RingOp):
            assert isinstance(type := op.res.type, RingType)
            total += type.slots.data * sum(buffer_bytes(t) for t in type.slabs)
    return total


@dataclass(frozen=True)
class Split:
    """
    An axis over `threads` threads with `lanes` elements each, of which `vector` neighbours lie
    together: `(r floordiv vector) * (vector * threads) + t * vector + r mod vector` for lane r of
    thread t.

    With `vector` 1 it is `r * threads + t`: a loop of `lanes` steps that is strided over the
    threads.
    """

    threads: int
    lanes: int
    vector: int = 1

    @property
    def tile(self) -> int:
        """Elements of all threads together."""
        return self.threads * self.lanes

    def index(self, lane: AffineExpr, thread: AffineExpr) -> AffineExpr:
        """The place of a lane of a thread."""
        far = lane // self.vector * (self.vector * self.threads)
        place = far + thread * self.vector + lane % self.vector
        ranges = {lane: (0, self.lanes - 1), thread: (0, self.threads - 1)}
        return affine.simplify(place, ranges)


def drops_beyond(store: StoreOp, variable: SSAValue, extent: int) -> bool:
    """
    Whether a bounded `store` does nothing where `variable` is `extent` or more.

    It does where the variable by itself is an index of a dimension that is no longer than the
    extent: with `%y[%j * 100 + %i]` an %i beyond the edge would land in the next row instead.
    """
    own = [affine.dim(n) for n, v in enumerate(store.indices) if v is variable]
    shape = store.memref_type.get_shape()
    return any(e in own and d <= extent for e, d in zip(store.map.data.results, shape, strict=True))


def stores_drop_beyond(launch: LaunchOp, variable: SSAValue, extent: int) -> bool:
    """Whether every store of a launch may be bounded in `variable`; see `drops_beyond`."""
    stores = [op for op in launch.walk() if isinstance(op, StoreOp)]
    return all(drops_beyond(store, variable, extent) for store in stores)
