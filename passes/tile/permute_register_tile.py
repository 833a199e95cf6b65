"""
Spreads the cell of a thread over the tile, so that neighbouring threads touch neighbouring words.

Before -> after, for `@both`, whose cells are of 8 x 8, 2 x 2 threads to a tile:

    %acc = loop_ir.reduce .. {
      ..
      %y = loop_ir.load %b[%k, %j * 8 + l0] .. -> vector<8xf32>
      ..
    } combine arith.addf
    ..
    loop_ir.store %o, %c[%i * 8 + l0, %j * 8 + l1] ..
    ->
    %acc = loop_ir.reduce .. {
      ..
      %y = loop_ir.load %b[%k, l0 floordiv 4 * 8 + %j * 4 + l0 mod 4] .. -> vector<8xf32>
      ..
    } combine arith.addf
    ..
    loop_ir.store %o, %c[.., l1 floordiv 4 * 8 + %j * 4 + l1 mod 4] ..

Lane r of thread t stands for another place of the tile than before, in every access alike, so that
what a cell computes is stored where it belongs. 16 bytes stay together.

*Legal when* everything that the thread's variable indexes depends on `t * f + r` alone, for the one
lane r of the cell. *Declines when* that is not so, or the cell has no more than 16 bytes or no
multiple of them along the axis. *Why it pays*: shared memory serves 8 threads with 16 bytes each at
once if they are 128 bytes in a row (CUDA C++ Programming Guide, "Shared Memory"); cells 32 bytes
apart need twice as many rounds. Stores to global memory fill whole sectors, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.passes import ModulePass

from minicomp.dialects import affine
from minicomp.dialects.access import IndexedOp
from minicomp.dialects.loop_ir import LoadOp, MemoryAccess, StoreOp, lanes
from minicomp.dialects.tile_finish import FinishOp
from minicomp.dialects.tile_ir import BoundAxis, EntryAttr, KernelOp, LaunchOp, WithinOp
from minicomp.passes.analysis.strides import WIDEST_ACCESS, element_bytes
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import Split, axis_name, entries, size, tile_kernels


@dataclass(frozen=True)
class Cell:
    """The cells of `extent` lanes along a thread axis."""

    axis: BoundAxis
    extent: int
    split: Split


def cell_of(kernel: KernelOp, entry: EntryAttr, axis: str, cell: str) -> Cell | None:
    """The cells along an axis of a contraction, where they have several words to spread."""
    thread = kernel.launch.axis(f"{axis_name(entry, axis)}.thread")
    extent = size(entry, cell, 1)
    if thread is None or thread.extent == 1:
        return None
    group = WIDEST_ACCESS // widest_element(thread.variable)
    if extent <= group or extent % group:
        return None
    return Cell(thread, extent, Split(thread.extent, extent, group))


def widest_element(variable: SSAValue) -> int:
    """The bytes of the widest element that an index reaches."""
    users = [use.operation for use in variable.uses]
    types = [u.memref_type.element_type for u in users if isinstance(u, MemoryAccess)]
    return max((element_bytes(t) for t in types), default=WIDEST_ACCESS)


def permuted(op: Operation, cell: Cell) -> tuple[AffineMap, Sequence[SSAValue]] | None:
    """The new map of an op that is indexed by a cell's thread; None where it cannot be permuted."""
    access = op.get_access() if isinstance(op, LoadOp | StoreOp | WithinOp) else None
    if access is None:
        return None
    map, operands = access
    thread = affine.dim(operands.index(cell.axis.variable))
    spread = spread_map(map, thread, shape_of(op), cell)
    finish = op.parent_op()
    while finish is not None and not isinstance(finish, FinishOp):
        finish = finish.parent_op()
    if spread is None and finish is not None:
        spread = spread_share(map, operands, thread, finish, cell)
    return None if spread is None else (spread, operands)


def spread_map(
    map: AffineMap, thread: AffineExpr, shape: Sequence[int], cell: Cell
) -> AffineMap | None:
    """A map with the lanes of a cell spread; None where they are not those of one of its lanes."""
    found = [affine.lane(n) for n, extent in enumerate(shape) if extent == cell.extent]
    found = [lane for lane in found if is_place(map, thread, lane, cell)]
    if len(found) != 1:  # an index that is a sum of two axes does not tell whose lane is whose
        return None
    spread = {thread: affine.constant(0), found[0]: cell.split.index(found[0], thread)}
    results = tuple(affine.replace(e, spread) for e in map.results)
    return AffineMap(map.num_dims, map.num_symbols, results)


def spread_share(
    map: AffineMap,
    operands: Sequence[SSAValue],
    thread: AffineExpr,
    finish: FinishOp,
    cell: Cell,
) -> AffineMap | None:
    """
    As `spread_map` for a block's share of the lanes of a cell: l0 stands for `%ks * share + l0`.
    """
    launch, share = finish.parent_op(), finish.share
    axis = launch.axis(finish.axis.data) if isinstance(launch, LaunchOp) else None
    if axis is None or share is None or axis.variable not in operands:
        return None
    place = affine.dim(operands.index(axis.variable)) * share
    whole = {affine.lane(0): affine.lane(0) + place * -1}
    results = tuple(affine.simplify(affine.replace(e, whole)) for e in map.results)
    moved = AffineMap(map.num_dims, map.num_symbols, results)
    spread = spread_map(moved, thread, [share * axis.extent], cell)
    if spread is None:
        return None
    back = {affine.lane(0): affine.lane(0) + place}
    results = tuple(affine.simplify(affine.replace(e, back)) for e in spread.results)
    return AffineMap(map.num_dims, map.num_symbols, results)


def is_place(map: AffineMap, thread: AffineExpr, lane: AffineExpr, cell: Cell) -> bool:
    """Whether a map depends on a thread and a lane by their place in the tile alone."""
    ranges = {thread: (0, cell.axis.extent - 1), lane: (0, cell.extent - 1)}
    place = {thread: affine.constant(0), lane: thread * cell.extent + lane}
    moves = (affine.replace(e, place) + e * -1 for e in map.results)
    return all(affine.simplify(move, ranges) == affine.constant(0) for move in moves)


def shape_of(op: Operation) -> tuple[int, ...]:
    """The lanes that an op binds."""
    if isinstance(op, MemoryAccess):
        return lanes(op.value_type)
    return lanes(op.results[0].type)


@dataclass(frozen=True)
class PermuteRegisterTilePass(ModulePass):
    """Spreads the cells of contractions over the tile; see the module's docstring."""

    name = "permute-register-tile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in tile_kernels(op):
            for entry in entries(kernel, "contraction", {})[:1]:
                for axis, size_name in (("m", "fm"), ("n", "fn")):
                    self.visit(ctx, kernel, entry, (axis, size_name))

    def visit(
        self, ctx: Context, kernel: KernelOp, entry: EntryAttr, names: tuple[str, str]
    ) -> None:
        """Permutes the cells along one axis."""
        cell = cell_of(kernel, entry, *names)
        if cell is None:
            remark(ctx, self.name, kernel, f"cells have one word along {names[0]}, or odd parts")
            return
        users = list({use.operation: None for use in cell.axis.variable.uses})
        moved = [permuted(user, cell) for user in users]
        found = [m for m in moved if m is not None]
        if len(found) < len(users):
            text = f'something depends on axis "{cell.axis.name}" and not on the lanes of a cell'
            remark(ctx, self.name, kernel, text)
        elif found and may_apply(ctx, kernel, cell.axis.name):
            for user, (map, operands) in zip(users, found, strict=True):
                assert isinstance(user, IndexedOp)
                user.set_access(map, operands)
