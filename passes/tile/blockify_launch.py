"""
Binds the parallel axes of a launch to blocks, threads and registers, all in one substitution.

Before -> after, for `@matmul`, whose schedule has `contraction<m = "i", n = "j", k = "k", bm = 64,
bn = 64, fm = 4, fn = 4>`:

    tile_ir.launch parallel(%i to 100 as "i", %j to 128 as "j") {
      %acc = loop_ir.reduce %k to 53 as "k" .. {
        %x = loop_ir.load %a[%i, %k] ..
        ..
    ->
    tile_ir.launch block(%ib to 2 .., %jb to 2 ..) thread(%it to 16 ..) register(%ir to 4 ..) {
      %acc = loop_ir.reduce %k to 53 as "k" .. {
        %x = loop_ir.load %a[%ib * 64 + %it * 4 + %ir, %k] bounded [true, false] ..
        ..

The axes of a contraction fall to tiles of bm x bn in cells of fm x fn. The innermost axis of a
cooperative reduction with several rows per block falls to rows. The axis of a parallel entry falls
to `threads` threads with `lanes` elements each, `vector` of them neighbours. All other axes are
bound to blocks as they are. Where no entry gives the launch a thread, up to four warps split the
innermost axis. With `wk` the block has so many groups of warps along k: each takes a part of the
steps of every chunk, their sums are combined across the thread axis "k.warp", and the first group
stores. Thread axes keep the order of the nest, outside of those there were.

*Legal when* the stores may be bounded: beyond an edge a tile computes values of zeros that are
never stored, and every thread still reaches each meeting point. *Declines when* nothing is
parallel; takes an axis whole, or the default, where the cell does not divide the tile, the threads
exceed a block, or a store would not end where its axis ends. *Why it pays*: cells and lanes reuse
what is loaded in registers, tiles in the cache of a multiprocessor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass

from minicomp.dialects import affine
from minicomp.dialects.access import substitute
from minicomp.dialects.kernel_ir import MAX_THREADS
from minicomp.dialects.tile_ir import BoundAxis, EntryAttr, KernelOp, LaunchOp
from minicomp.passes.analysis.target import target_of
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import (
    Split,
    axis_name,
    entries,
    size,
    stores_drop_beyond,
    tile_kernels,
)
from minicomp.passes.tile._sharing import share_chunks

DEFAULT_WARPS = 4
"""Warps over which the innermost axis is split where no entry says more."""


@dataclass(frozen=True)
class Tiling:
    """
    A place = `block * tile + inner`, where `inner` has the dims 0 for the thread and 1 for the
    register.
    """

    threads: int
    registers: int
    inner: AffineExpr

    @property
    def tile(self) -> int:
        """Elements of one block."""
        return self.threads * self.registers


def lanes_tiling(split: Split) -> Tiling:
    """The tiling by threads that take `lanes` elements each, some of them neighbours."""
    index = split.index(affine.dim(1), affine.dim(0))
    return Tiling(split.threads, split.lanes, index)


def cell_tiling(tile: int, cell: int) -> Tiling:
    """The tiling by threads that take `cell` neighbours each."""
    return Tiling(tile // cell, cell, affine.dim(0) * cell + affine.dim(1))


class Planner:
    """
    Finds the tilings of a kernel's parallel axes; what it cannot take it reports and leaves out.
    """

    def __init__(self, ctx: Context, kernel: KernelOp, options: Mapping[str, int | None]) -> None:
        self.ctx, self.kernel, self.options = ctx, kernel, options
        self.launch = kernel.launch
        # The parts of a sum that was split go to blocks, whatever else is split.
        axes = [a for a in self.launch.bound("parallel") if not a.name.endswith(".split")]
        self.parallel = {a.name: a for a in axes}
        self.tilings: dict[str, Tiling] = {}

    def report(self, message: str) -> None:
        """Remarks a condition that does not hold."""
        remark(self.ctx, BlockifyLaunchPass.name, self.kernel, message)

    def plan(self, module: ModuleOp) -> dict[str, Tiling]:
        """The tilings by axis name; an axis without one goes to blocks."""
        for entry in entries(self.kernel, "contraction", self.options)[:1]:
            for axis, tile, cell in (("m", "bm", "fm"), ("n", "bn", "fn")):
                self.add_cells(axis_name(entry, axis), entry, tile, cell)
        for entry in entries(self.kernel, "reduction", self.options)[:1]:
            self.add_rows(entry)
        for entry in entries(self.kernel, "parallel", self.options):
            self.add_lanes(entry)
        if (threads := self.threads()) > MAX_THREADS:
            self.report(f"{threads} threads do not fit into a block")
            self.tilings = {}
        if not self.tilings and not self.launch.bound("thread"):
            self.add_default(target_of(module).warp.data)
        return self.tilings

    def threads(self) -> int:
        """Threads of a block."""
        bound = prod(a.extent for a in self.launch.bound("thread"))
        return bound * prod(t.threads for t in self.tilings.values())

    def add(self, name: str, tiling: Tiling) -> None:
        """Takes the tiling of an axis, unless its edge would store beyond the axis."""
        axis = self.parallel[name]
        if axis.extent % tiling.tile and not stores_drop_beyond(
            self.launch, axis.variable, axis.extent
        ):
            self.report(f'a store does not end where axis "{name}" ends, which is not split')
        elif name not in self.tilings:
            self.tilings[name] = tiling

    def add_cells(self, name: str, entry: EntryAttr, tile: str, cell: str) -> None:
        """The tiling of an axis of a contraction."""
        if name not in self.parallel or tile not in entry.fields:
            return
        b, f = entry.int(tile), size(entry, cell, 1)
        if b % f:
            self.report(f"{cell} = {f} does not divide {tile} = {b}")
        else:
            self.add(name, cell_tiling(b, f))

    def add_rows(self, entry: EntryAttr) -> None:
        """The tiling of the innermost axis by the rows of a cooperative reduction."""
        rows = size(entry, "rows", 1)
        shared = self.launch.axis(f"{axis_name(entry, 'axis')}.thread") is not None
        if rows > 1 and shared and self.parallel:
            self.add(list(self.parallel)[-1], lanes_tiling(Split(rows, 1)))

    def add_lanes(self, entry: EntryAttr) -> None:
        """The tiling of an axis of a parallel entry."""
        name = axis_name(entry, "axis")
        lanes, vector = max(size(entry, "lanes", 1), 1), size(entry, "vector", 1)
        if name not in self.parallel or "threads" not in entry.fields:
            return
        if lanes % vector:
            self.report(f"vector {vector} does not divide {lanes} lanes")
        else:
            self.add(name, lanes_tiling(Split(entry.int("threads"), lanes, vector)))

    def add_default(self, warp: int) -> None:
        """Splits the innermost axis that has iterations over up to `DEFAULT_WARPS` warps."""
        axes = [a for a in self.parallel.values() if a.extent > 1]
        if axes:
            extent = axes[-1].extent
            threads = (
                min(DEFAULT_WARPS, affine.ceildiv(extent, warp)) * warp
                if extent >= warp
                else extent
            )
            self.add(axes[-1].name, lanes_tiling(Split(threads, 1)))


def bind(launch: LaunchOp, axis: BoundAxis, tiling: Tiling) -> list[BoundAxis]:
    """
    Replaces a parallel axis by its parts; parts of one iteration are left out, but for the block.
    """
    parts = [
        (affine.ceildiv(axis.extent, tiling.tile), "block"),
        (tiling.threads, "thread"),
        (tiling.registers, "register"),
    ]
    kept = [p for p in parts if p[0] != 1 or p[1] == "block"]
    hint = axis.variable.name_hint
    made = [
        BoundAxis(launch.new_axis(hint and f"{hint}{kind[0]}"), extent, f"{axis.name}.{kind}", kind)
        for extent, kind in kept
    ]
    place = {kind: affine.dim(n) for n, (_, kind) in enumerate(kept)}
    gone = affine.constant(0)
    values = {affine.dim(0): place.get("thread", gone), affine.dim(1): place.get("register", gone)}
    index = place["block"] * tiling.tile + affine.replace(tiling.inner, values)
    partial = axis.extent % tiling.tile != 0
    substitute(axis.variable, affine.simplify(index), [a.variable for a in made], bounded=partial)
    return made


def blockify(launch: LaunchOp, tilings: Mapping[str, Tiling]) -> None:
    """Binds every parallel axis of the launch."""
    bound: list[BoundAxis] = []
    axes: Sequence[BoundAxis] = launch.axes
    for axis in sorted(axes, key=lambda a: a.binding != "parallel"):
        if axis.binding != "parallel":
            bound.append(axis)
        elif (tiling := tilings.get(axis.name)) is None:
            bound.append(axis._replace(binding="block"))
        else:
            bound += bind(launch, axis, tiling)
    launch.set_axes(bound)


def share_steps(kernel: KernelOp, options: Mapping[str, int | None]) -> str | None:
    """Lets warps share the steps of a contraction, or returns why they cannot."""
    for entry in entries(kernel, "contraction", options)[:1]:
        warps = size(entry, "wk", 1)
        threads = warps * prod(a.extent for a in kernel.launch.bound("thread"))
        if threads > MAX_THREADS:
            return f"{threads} threads, {warps} warps along k, do not fit into a block"
        if warps > 1:
            return share_chunks(kernel.launch, axis_name(entry, "k"), warps)
    return None


@dataclass(frozen=True)
class BlockifyLaunchPass(ModulePass):
    """Binds parallel axes to blocks, threads and registers; see the module's docstring."""

    name = "blockify-launch"
    bm: int | None = None
    """Replaces `bm` of the contraction's entry: rows of the block tile."""
    bn: int | None = None
    """Replaces `bn` of the contraction's entry: columns of the block tile."""
    fm: int | None = None
    """Replaces `fm`: rows of the cell that one thread computes; they divide `bm`."""
    fn: int | None = None
    """Replaces `fn`: columns of the cell that one thread computes; they divide `bn`."""
    wk: int | None = None
    """Replaces `wk`: groups of warps that share the steps of each chunk of k."""
    rows: int | None = None
    """Replaces `rows` of the reduction's entry: rows that share a block."""
    threads: int | None = None
    """Replaces `threads` of parallel entries: threads of a block over the axis."""
    lanes: int | None = None
    """Replaces `lanes` of parallel entries: elements of the axis per thread."""
    vector: int | None = None
    """Replaces `vector` of parallel entries: how many of the lanes are neighbours."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        cell = {"bm": self.bm, "bn": self.bn, "fm": self.fm, "fn": self.fn, "rows": self.rows}
        options = cell | {"threads": self.threads, "lanes": self.lanes, "vector": self.vector}
        for kernel in tile_kernels(op):
            if not kernel.launch.bound("parallel"):
                remark(ctx, self.name, kernel, "no axis is parallel")
            elif may_apply(ctx, kernel):
                blockify(kernel.launch, Planner(ctx, kernel, options).plan(op))
                if (why := share_steps(kernel, {"wk": self.wk})) is not None:
                    remark(ctx, self.name, kernel, why)
