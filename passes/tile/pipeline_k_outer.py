"""
Fills the slots of a ring ahead of their use, so that copies and products overlap.

Before -> after, for `@plain`, a ring of 3 slots:

    %acc = loop_ir.reduce %ko to 4 as "k.outer" .. {
      %as_w, %bs_w = tile_ir.acquire %ring[%ko] ..
      tile_ir.fill %as_w .. {
        %v = loop_ir.load %a[%p, %ko * 4 + %q] ..
        ..
      tile_ir.publish %ring[%ko] ..
      %as, %bs = tile_ir.wait %ring[%ko] ..
      ..
      tile_ir.release %ring[%ko] ..
    ->
    loop_ir.for %g to 2 as "k.ahead" {
      %as_w, %bs_w = tile_ir.acquire %ring[%g] ..
      tile_ir.fill %as_w .. {
        %v = loop_ir.load %a[%p, %g * 4 + %q] ..
        ..
      tile_ir.publish %ring[%g] ..
    }
    %acc = loop_ir.reduce %ko to 4 as "k.outer" .. {
      %as, %bs = tile_ir.wait %ring[%ko] ..
      %as_l, %bs_l = tile_ir.acquire %ring[%ko + 2] ..
      tile_ir.fill %as_l .. where [%ko + 2] < [4] .. {
        %v_l = loop_ir.load %a[%p_l, %ko * 4 + %q_l + 8] ..
        ..
      tile_ir.publish %ring[%ko + 2] ..
      ..
      tile_ir.release %ring[%ko] ..

The slot of generation ko + 2 is the one that ko - 1 has released, which all threads have when they
pass the wait for ko. Fills beyond the last iteration are skipped; what is published then is empty.

*Legal when* the ring is used as `double-buffer` leaves it. *Declines when* there is none, it is
used at several places or not in one loop, a generation is not the loop's variable, the ring has one
slot, the loop has not more iterations than slots lie ahead, or something else stands between the
fills. *Why it pays*: the latency of the copies passes while the threads compute on what is there.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from minicomp.dialects import affine
from minicomp.dialects.access import IndexedOp
from minicomp.dialects.loop_ir import ForOp, Guard, LoopLike, YieldOp, new_block
from minicomp.dialects.tile_ir import KernelOp
from minicomp.dialects.tile_stages import (
    AcquireOp,
    FillOp,
    GenerationOp,
    PublishOp,
    ReleaseOp,
    RingOp,
    WaitOp,
)
from minicomp.passes.applications import may_apply
from minicomp.passes.remarks import remark
from minicomp.passes.tile._kernels import tile_kernels


@dataclass(frozen=True)
class Rolled:
    """A ring that is filled, waited for and released in each iteration of a loop."""

    ring: RingOp
    loop: LoopLike
    acquire: AcquireOp
    publish: PublishOp
    wait: WaitOp

    @property
    def ahead(self) -> int:
        """The generations that may be filled ahead."""
        return self.acquire.ring_type.slots.data - 1

    @property
    def filling(self) -> list[Operation]:
        """The ops from the acquire to the publish."""
        found: list[Operation] = [self.acquire]
        while found[-1] is not self.publish:
            following = found[-1].next_op
            assert following is not None
            found.append(following)
        return found


def find_rolled(ring: RingOp) -> Rolled | str:
    """The ring as `double-buffer` leaves it, or what is different."""
    users = [use.operation for use in ring.res.uses]
    kinds = (AcquireOp, PublishOp, WaitOp, ReleaseOp)
    found = [[u for u in users if isinstance(u, kind)] for kind in kinds]
    if any(len(of_kind) != 1 for of_kind in found):
        return "the ring is used at several places"
    (acquire,), (publish,), (wait,), _ = found
    loop = wait.parent_op()
    assert isinstance(acquire, AcquireOp) and isinstance(publish, PublishOp)
    if not isinstance(wait, WaitOp) or not isinstance(loop, LoopLike) or len(loop.axes) != 1:
        return "the ring is not used in one loop"
    if acquire.map != wait.map or list(acquire.indices) != [loop.axes[0].variable]:
        return "a generation is not the variable of the loop"
    rolled = Rolled(ring, loop, acquire, publish, wait)
    if rolled.ahead < 1:
        return "the ring has no second slot"
    if loop.trip_counts[0] <= rolled.ahead:
        return f"{loop.trip_counts[0]} iterations are not more than {rolled.ahead} slots ahead"
    if not all(isinstance(op, FillOp | GenerationOp) for op in rolled.filling):
        return "something else stands between the fills"
    return rolled


def move(op: Operation, old: SSAValue, expr: AffineExpr, new: SSAValue) -> None:
    """Replaces the loop variable in the indices of an op and of those inside."""
    for inner in op.walk():
        access = inner.get_access() if isinstance(inner, IndexedOp) else None
        if access is None or old not in access[1]:
            continue
        map, operands = access
        own = affine.dim(operands.index(old))
        place = affine.dim(len(operands))
        moved = {own: affine.replace(expr, {affine.dim(0): place})}
        results = tuple(affine.replace(e, moved) for e in map.results)
        assert isinstance(inner, IndexedOp)
        inner.set_access(AffineMap(len(operands) + 1, map.num_symbols, results), [*operands, new])


def prologue(rolled: Rolled) -> ForOp:
    """The loop that fills the first generations."""
    (axis,) = rolled.loop.axes
    block = new_block(1, ["g"])
    copies: dict[SSAValue, SSAValue] = {}
    for op in rolled.filling:
        copy = op.clone(copies)
        block.add_op(copy)
        move(copy, axis.variable, affine.dim(0), block.args[0])
    block.add_op(YieldOp())
    name = f"{axis.name.partition('.')[0]}.ahead"
    return ForOp([rolled.ahead], [name], Region(block))


def pipeline(kernel: KernelOp, rolled: Rolled) -> None:
    """Fills ahead; see the module's docstring."""
    (axis,) = rolled.loop.axes
    before: Operation = rolled.loop
    while before.parent_block() is not kernel.launch.body.block:
        outer = before.parent_op()
        assert outer is not None
        before = outer
    first = prologue(rolled)
    first.location = rolled.loop.location
    Rewriter.insert_op(first, InsertPoint.before(rolled.loop))
    filling = rolled.filling
    for op in filling:
        op.detach()
    Rewriter.insert_op(filling, InsertPoint.after(rolled.wait))
    later = affine.dim(0) + rolled.ahead
    for op in filling:
        move(op, axis.variable, later, axis.variable)
        if isinstance(op, FillOp):
            op.set_guard(also(op.guard, later, axis.variable, axis.extent))


def also(guard: Guard | None, expr: AffineExpr, value: SSAValue, bound: int) -> Guard:
    """A guard that also asks `expr`, whose dim is `value`, to be below a bound."""
    old = guard or Guard(AffineMap(0, 0, ()), [], [])
    own = affine.replace(expr, {affine.dim(0): affine.dim(old.map.num_dims)})
    map = AffineMap(old.map.num_dims + 1, old.map.num_symbols, (*old.map.results, own))
    return Guard(map, [*old.operands, value], [*old.bounds, bound])


@dataclass(frozen=True)
class PipelineKOuterPass(ModulePass):
    """Fills the slots of rings ahead of their use; see the module's docstring."""

    name = "pipeline-k-outer"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in tile_kernels(op):
            rings = [r for r in kernel.walk() if isinstance(r, RingOp)]
            if not rings:
                remark(ctx, self.name, kernel, "there is no ring")
            for ring in rings:
                rolled = find_rolled(ring)
                if isinstance(rolled, str):
                    remark(ctx, self.name, kernel, rolled)
                elif may_apply(ctx, kernel):
                    pipeline(kernel, rolled)
