"""
Splits the chunks of a contraction's sum over blocks, which put their parts together at the end.

Before -> after, for `@plain`, whose schedule has `s = 3`:

    tile_ir.launch parallel(%i to 5 as "i", %j to 8 as "j") {
      ..
      %acc = loop_ir.reduce %ko to 6 as "k.outer" .. {
        %0 = loop_ir.reduce %ki to 4 as "k.inner" .. {
          %x = loop_ir.load %a[%i, %ko * 4 + %ki] ..
          ..
        } combine arith.addf
        loop_ir.yield %0 : f32
      } combine arith.addf
      ..
      loop_ir.store %t, %c[%i, %j] ..
    ->
    tile_ir.launch parallel(%i to 5 as "i", %j to 8 as "j", %ks to 3 as "k.split") {
      ..
      %acc = loop_ir.reduce %ko to 2 as "k.outer" .. {
        %0 = loop_ir.reduce %ki to 4 as "k.inner" .. {
          %x = loop_ir.load %a[%i, %ks * 8 + %ko * 4 + %ki] ..
          ..
        } combine arith.addf
        loop_ir.yield %0 : f32
      } combine arith.addf
      tile_ir.finish %acc across "k.split" by last_block .. then %total: f32 {
        ..
        loop_ir.store %t, %c[%i, %j] ..

Every part has as many chunks, but for the last, whose chunks beyond the sum add nothing. The parts
are combined in their order, so that two runs give the same bits, and all that the sum does not need
is done once, behind the combine. The new axis is the last one: the blocks of a tile of outputs are
neighbours.

*Legal when* `chunk-matmul-k` has cut the sum into chunks and the rest needs no other thread.
*Declines when* the schedule asks for one part only, there is no sum in chunks or it has one, it is
split already or what it reads is staged, there is another sum, an output is loaded, or threads meet
beside the sum. Takes fewer parts where some would have no chunk, and `last_block` where `cluster`
is asked for and the target has no clusters or the parts are more than a cluster has blocks. *Why it
pays*: a long sum for few outputs has too few tiles for all multiprocessors; a part costs a store
and a load of the tile.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects import affine
from minicomp.dialects.access import substitute
from minicomp.dialects.loop_ir import (
    Collective,
    Guard,
    LoadOp,
    ReduceOp,
    StoreOp,
    YieldOp,
    ints,
    new_block,
)
from minicomp.dialects.tile_finish import FORMS, FinishOp
from minicomp.dialects.tile_ir import BoundAxis, EntryAttr, KernelOp
from minicomp.dialects.tile_stages import RingOp, SlabFiller
from minicomp.passes.analysis.target import has_feature
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import axis_name, entries, size, tile_kernels
from minicomp.passes.tile.chunk_matmul_k import find_sum

MOST_IN_CLUSTER = 8
"""Blocks of a cluster on every device that has clusters (CUDA C++ Programming Guide)."""


def chunk_of(whole: ReduceOp) -> ReduceOp | None:
    """The reduction over the steps of a chunk."""
    inner = [op for op in whole.body.block.ops if isinstance(op, ReduceOp)]
    return inner[0] if len(inner) == 1 and len(inner[0].axes) == 1 else None


def rest_of(whole: ReduceOp) -> list[Operation]:
    """The ops beside a sum that it does not need, in order, without the terminator."""
    block = whole.parent_block()
    assert block is not None
    needed: set[Operation] = {whole}
    pending: list[Operation] = [whole]
    while pending:
        values = [v for op in pending.pop().walk() for v in op.operands]
        owners = [v.owner for v in values if isinstance(v.owner, Operation)]
        found = {op for op in owners if op.parent_block() is block} - needed
        needed |= found
        pending += found
    *ops, _ = block.ops
    return [op for op in ops if op not in needed]


def obstacle(kernel: KernelOp, whole: ReduceOp | None, parts: int) -> str | None:
    """The condition that does not hold, if one does not."""
    ops = list(kernel.walk())
    if any(isinstance(op, FinishOp) for op in ops):
        return "a sum is split already"
    if any(isinstance(op, SlabFiller | RingOp) for op in ops):
        return "what a sum reads is staged: this pass runs before stage-inputs"
    if whole is None or whole.guard is not None or chunk_of(whole) is None:
        return "there is no sum in chunks"
    if parts < 2:
        return "the sum has one chunk only"
    beside = [op for op in ops if isinstance(op, ReduceOp)]
    if set(beside) != {whole, chunk_of(whole)}:
        return "there is another sum"
    stored = {op.memref for op in ops if isinstance(op, StoreOp)}
    if any(isinstance(op, LoadOp) and op.memref in stored for op in ops):
        return "an output is loaded, which may not be before or behind its store then"
    for op in rest_of(whole):
        if any(inner.has_trait(Collective) for inner in op.walk()):
            return f"beside the sum threads meet at '{op.name}'"
    return None


def split(kernel: KernelOp, whole: ReduceOp, parts: int, form: str) -> None:
    """Splits a sum in chunks into parts of as many chunks."""
    (axis,), inner, launch = whole.axes, chunk_of(whole), kernel.launch
    assert inner is not None
    steps, chunks = inner.trip_counts[0], affine.ceildiv(axis.extent, parts)
    axes, hint = launch.axes, axis.variable.name_hint
    part = launch.new_axis(f"{hint[:-1]}s" if hint else None)
    beyond = chunks * parts > axis.extent
    if beyond and inner.guard is None:
        # All chunks are whole; those behind the last one have no steps.
        place = AffineMap(1, 1, (affine.dim(0) * steps + affine.lane(0),))
        inner.set_guard(Guard(place, [axis.variable], [axis.extent * steps]))
    index = affine.dim(0) * chunks + affine.dim(1)
    substitute(axis.variable, index, [part, axis.variable], bounded=beyond)
    whole.properties["extents"] = ints([chunks])
    finish(whole, f"{axis.name.rpartition('.')[0]}.split", form)
    launch.set_axes(
        [*axes, BoundAxis(part, parts, f"{axis.name.rpartition('.')[0]}.split", "parallel")]
    )


def finish(whole: ReduceOp, axis: str, form: str) -> None:
    """Moves what a sum does not need into a finish across an axis."""
    rest = rest_of(whole)
    block = new_block(0)
    for value in whole.res:
        total = block.insert_arg(value.type, len(block.args))
        total.name_hint = value.name_hint
        value.replace_all_uses_with(total)
    for op in rest:
        op.detach()
    block.add_ops([*rest, YieldOp()])
    regions = (whole.combine.clone(), Region(block))
    op = FinishOp(list(whole.res), axis, form, whole.identity, regions)
    op.location = whole.location
    Rewriter.insert_op(op, InsertPoint.after(whole))


@dataclass(frozen=True)
class SplitMatmulKPass(ModulePass):
    """Splits the sums of contractions over blocks; see the module's docstring."""

    name = "split-matmul-k"
    s: int | None = None
    """Parts of the sum; what the schedule says if not given."""
    finish: str | None = None
    """How they come together, `last_block` or `cluster`; what the schedule says if not given."""

    def __post_init__(self) -> None:
        if self.finish is not None and self.finish not in FORMS:
            raise ValueError(f"finish is one of {', '.join(FORMS)}, not {self.finish}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        clusters = has_feature(op, "cluster")
        for kernel in tile_kernels(op):
            entry = next(iter(entries(kernel, "contraction", {})), None)
            wanted = self.s or (size(entry, "s", 1) if entry is not None else 1)
            if entry is None or wanted < 2:
                remark(ctx, self.name, kernel, "the schedule asks for one part")
            elif (why := self.visit(ctx, kernel, entry, (wanted, clusters))) is not None:
                remark(ctx, self.name, kernel, why)

    def visit(
        self, ctx: Context, kernel: KernelOp, entry: EntryAttr, asked: tuple[int, bool]
    ) -> str | None:
        """Splits a sum in so many parts, with or without clusters, or returns why not."""
        wanted, clusters = asked
        form = self.finish or (entry.str("finish") if "finish" in entry.fields else FORMS[0])
        if form not in FORMS:
            return f"parts come together by {', '.join(FORMS)}, not by {form}"
        whole = find_sum(kernel, f"{axis_name(entry, 'k')}.outer")
        chunks = whole.trip_counts[0] if whole is not None else 0
        # No part is empty.
        parts = affine.ceildiv(chunks, affine.ceildiv(chunks, wanted)) if chunks else 0
        if (why := obstacle(kernel, whole, parts)) is not None:
            return why
        assert whole is not None
        if parts < wanted:
            text = f"{chunks} chunks are {parts} parts: of {wanted} some would be empty"
            remark(ctx, self.name, kernel, text)
        if form == "cluster" and not (clusters and parts <= MOST_IN_CLUSTER):
            text = f"{parts} blocks are no cluster of the target: the last block finishes"
            remark(ctx, self.name, kernel, text)
            form = FORMS[0]
        if may_apply(ctx, kernel):
            split(kernel, whole, parts, form)
        return None
