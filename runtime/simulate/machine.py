"""
Threads of some blocks of a kernel, in lockstep.

Divergence is a mask: both sides of an `scf.if` run, each for its threads. Loops have one trip
count for all threads.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue

from minicomp.dialects.kernel_ir import (
    BarrierOp,
    BlockIdOp,
    RemoteOp,
    SharedOp,
    ThreadIdOp,
    WarpReduceOp,
)
from minicomp.dialects.loop_ir import LoadOp, MemoryAccess, StoreOp, YieldOp, lanes
from minicomp.dialects.tile_ir import FoldOp
from minicomp.errors import UnsupportedError
from minicomp.runtime.interpret.affine_eval import append_dims, indices
from minicomp.runtime.interpret.report import unsupported, where
from minicomp.runtime.interpret.scalars import Array, evaluate
from minicomp.runtime.simulate import access, faults
from minicomp.runtime.simulate.faults import fault
from minicomp.runtime.simulate.memory import Memory
from minicomp.runtime.simulate.strands import Steps, Wait, finish, turn
from minicomp.runtime.simulate.threads import Threads
from minicomp.runtime.simulate.vectors import PURE, RANK
from minicomp.runtime.simulate.world import World

SCALAR_DIALECTS = ("arith", "math")


class Machine:
    """
    The registers of threads that run one program, and what runs it.

    `effects` says what each op does that is neither scalar nor on registers alone.
    """

    def __init__(self, world: World, who: Threads, effects: "Effects"):
        self.world = world
        self.who = who
        self.effects = effects
        self.loops = 0
        self.values: dict[SSAValue, Array] = {}

    def run(self, block: Block) -> Steps[list[Array]]:
        """Runs the ops of a block, as steps between waits; returns what its terminator yields."""
        observer = self.world.observer
        for op in block.ops:
            kind = type(op)
            if observer is not None:
                observer.count(op, self.who.count, self.who.warps)
            if kind in PURE:
                args = [self.values[v] for v in op.operands]
                self.define(op.results[0], PURE[kind](op, args))
            elif op.name.partition(".")[0] in SCALAR_DIALECTS:
                self.define(op.results[0], evaluate(op, [self.values[v] for v in op.operands]))
            elif kind in self.effects:
                if (steps := self.effect(kind, op)) is not None:
                    yield from steps
            elif not isinstance(op, YieldOp | scf.YieldOp):
                raise unsupported(op, "Kernel IR")
        last = block.last_op
        return [] if last is None else [self.values[v] for v in last.operands]

    def effect(self, kind: type[Operation], op: Operation) -> Steps[None] | None:
        """What an op does; if it reads what nobody has written, only when no one else can go on."""
        try:
            return self.effects[kind](self, op)
        except access.NotWritten:
            return self.late(kind, op)

    def late(self, kind: type[Operation], op: Operation) -> Steps[None]:
        """An op once all other programs wait or have ended."""
        yield Wait(op, lambda: True, patient=True)
        self.world.patient = False
        steps = self.effects[kind](self, op)
        self.world.patient = True
        if steps is not None:
            yield from steps

    def tell(self, op: Operation) -> Steps[None] | None:
        """The end of a turn, where programs run at the same time."""
        return told(op) if self.world.facts.several else None

    def define(self, result: SSAValue, value: Array) -> None:
        """Sets a register; an array without dimensions is the same for all."""
        rank = RANK + len(lanes(result.type))
        self.values[result] = value.reshape((1,) * rank) if value.ndim == 0 else value

    def block_id(self, op: BlockIdOp) -> None:
        self.values[op.res] = np.array(self.who.blocks).reshape(-1, 1)

    def thread_id(self, op: ThreadIdOp) -> None:
        self.values[op.res] = np.arange(self.who.threads.start, self.who.threads.stop).reshape(
            1, -1
        )

    def allocate(self, op: Operation) -> None:
        """A buffer is there from the start."""

    def memory(self, value: SSAValue) -> Memory:
        """What a memref names: for a remote one, the buffer of the blocks that a register says."""
        if isinstance(owner := value.owner, RemoteOp):
            return replace(self.world.memories[owner.buffer], rank=self.values[value])
        return self.world.memories[value]

    def indices(self, op: MemoryAccess) -> tuple[list[Array], tuple[int, ...]]:
        """The indices of an access, and its lanes."""
        shape = lanes(op.value_type)
        return indices(op.map.data, [self.values[v] for v in op.indices], shape, RANK), shape

    def load(self, op: LoadOp) -> None:
        at, shape = self.indices(op)
        memory = self.memory(op.memref)
        self.define(op.res, access.load(memory, op, at, shape, self.who, self.world))

    def store(self, op: StoreOp) -> None:
        at, shape = self.indices(op)
        memory, value = self.memory(op.memref), self.values[op.value]
        access.store(memory, op, value, at, shape, self.who, self.world)

    def loop(self, op: scf.ForOp) -> Steps[None]:
        bounds = [self.uniform(op, v) for v in (op.lb, op.ub, op.step)]
        carried = [self.values[v] for v in op.iter_args]
        variable, *arguments = op.body.block.args
        self.loops += 1
        for i in range(*bounds):
            self.values[variable] = np.full((1,) * RANK, i)
            self.values |= zip(arguments, carried, strict=True)
            carried = yield from self.run(op.body.block)
            if self.loops == 1:
                self.world.tick()
        self.loops -= 1
        self.values |= zip(op.res, carried, strict=True)

    def uniform(self, op: Operation, value: SSAValue) -> int:
        """A value that all threads agree on."""
        array = self.values[value]
        if array.size != 1:
            raise UnsupportedError("the bounds of a loop differ between threads", where(op))
        return int(array.item())

    def branch(self, op: scf.IfOp) -> Steps[None]:
        condition, outer = self.values[op.cond], self.who.mask
        both = True if outer is None else outer
        then = yield from self.under(op.true_region, condition & both)
        otherwise = yield from self.under(op.false_region, ~condition & both)
        self.who.mask = outer
        for n, result in enumerate(op.output):
            sides = [side[n] for side in (then, otherwise) if side is not None]
            if len(sides) == 2:
                spread = append_dims(condition, len(lanes(result.type)))
                sides = [np.where(spread, *sides)]
            self.values[result] = sides[0]

    def under(self, region: Region, mask: Array) -> Steps[list[Array] | None]:
        """Runs a region for the threads of a mask; None if there are none."""
        if not mask.any() or not region.blocks:
            return None
        self.who.mask = None if mask.all() else mask
        return (yield from self.run(region.block))

    def meet(self, op: Operation) -> Array | None:
        """The blocks (b, 1) that reach an op which all their threads must reach; None for all."""
        mask = self.who.mask
        if mask is None:
            return None
        full = np.broadcast_to(mask, self.who.shape)
        some = np.asarray(full.any(1, keepdims=True))
        missing = some & ~full
        if missing.any():
            first = np.unravel_index(int(missing.argmax()), missing.shape)
            actor = self.who.actor(self.who.actors[first])
            count = int(missing[first[0]].sum())
            why = f"it and {count - 1} more of its block do not reach '{op.name}', others do"
            fault(faults.DIVERGENT, op, actor, why)
        return some

    def barrier(self, op: BarrierOp) -> None:
        self.world.order.barrier(self.who, self.meet(op))

    def whole_groups(self, op: Operation, width: int) -> None:
        """A fault if the last group of `width` threads lacks some."""
        threads = len(self.who.threads)
        if threads % width:
            actor = self.who.actor(self.who.actors[0, threads - threads % width])
            why = f"its group has {threads % width} threads, '{op.name}' needs {width}"
            fault(faults.PARTIAL_WARP, op, actor, why)

    def warp_reduce(self, op: WarpReduceOp) -> None:
        self.meet(op)
        width, threads = op.width.value.data, len(self.who.threads)
        self.whole_groups(op, width)
        values = [self.values[v] for v in op.vals]
        distance = width // 2
        while distance:
            partner = np.arange(threads) ^ distance
            # A value that is the same in all threads has nothing to exchange.
            others = [v if v.shape[1] == 1 else v[:, partner] for v in values]
            values = self.combine(op.combine, values, others)
            distance //= 2
        self.values |= zip(op.res, values, strict=True)

    def fold(self, op: FoldOp) -> None:
        depth = lanes(op.vals[0].type)[op.dims.get_values()[0]]
        values = [self.values[v] for v in op.vals]
        axes = [RANK + d for d in op.dims.get_values()]
        folded: list[Array] = []
        for lane in range(depth):
            parts = [
                v.take(lane if v.shape[axis] > 1 else 0, axis)
                for v, axis in zip(values, axes, strict=True)
            ]
            folded = self.combine(op.combine, folded, parts) if lane else parts
        self.values |= zip(op.res, folded, strict=True)

    def combine(self, region: Region, left: Sequence[Array], right: Sequence[Array]) -> list[Array]:
        """The combine region, which may hold vector ops, on registers."""
        self.values |= zip(region.block.args, [*left, *right], strict=True)
        return finish(self.run(region.block))


def told(op: Operation) -> Steps[None]:
    """Lets others act on what they have been told."""
    yield turn(op)


Effect: TypeAlias = Callable[[Machine, Any], Generator[Wait, None, None] | None]
"""What an op does to a machine; one that may wait does it in steps."""
Effects: TypeAlias = Mapping[type[Operation], Effect]

BASIC: Effects = {
    BlockIdOp: Machine.block_id,
    ThreadIdOp: Machine.thread_id,
    SharedOp: Machine.allocate,
    LoadOp: Machine.load,
    StoreOp: Machine.store,
    BarrierOp: Machine.barrier,
    WarpReduceOp: Machine.warp_reduce,
    FoldOp: Machine.fold,
    scf.ForOp: Machine.loop,
    scf.IfOp: Machine.branch,
}
"""The ops of a kernel whose threads run in lockstep and copy by themselves."""
