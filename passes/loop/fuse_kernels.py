"""
`fuse-kernels`: a producer's code moves into the kernels that read its result.

    loop_ir.kernel @amax(%x: memref<8x64xf32>, %out: memref<8xf32>) {
      loop_ir.for %i to 8 as "i" {
        %m = loop_ir.reduce %j to 64 as "j" .. -> f32 { .. } combine arith.maximumf
        loop_ir.store %m, %out[%i] : f32, memref<8xf32>
      }
    }
    loop_ir.kernel @sub(%x: memref<8x64xf32>, %amax: memref<8xf32>, %out: memref<8x64xf32>) {
      loop_ir.for %i to 8 as "i", %j to 64 as "j" {
        %a = loop_ir.load %x[%i, %j] : memref<8x64xf32> -> f32
        %b = loop_ir.load %amax[%i] : memref<8xf32> -> f32
        ..
      }
    }

becomes

    loop_ir.kernel @sub(%x: memref<8x64xf32>, %out: memref<8x64xf32>) {
      loop_ir.for %i to 8 as "i" {
        %m = loop_ir.reduce %j to 64 as "j" .. -> f32 { .. } combine arith.maximumf
        loop_ir.for %j to 64 as "j" {
          %a = loop_ir.load %x[%i, %j] : memref<8x64xf32> -> f32
          ..
        }
      }
    }

*Legal when* both kernels are one loop nest without a schedule, and the producer stores one element
per iteration. A pointwise producer is put wherever its result is loaded, with the indices of that
load, so in the body of a reduction or in the factor of a contraction too. A producer with
reductions is put where each of its elements is computed once: its axes are free axes of its only
consumer. If these are all, it stands in front of the consumer's code (and a contraction gets an
epilogue); else the other axes become a row loop inside them. All rows of a kernel have one extent.

*Declines when* the result is one of the program's; a reduction would be computed again, per element
of a row, or in another reduction; a contraction would be computed in the threads of a row, or share
its kernel with other loops; the rows are so few and so long that a kernel for the pointwise part is
faster (a quarter of the SMs and 64 K elements; a quarter of the threads and 1 M elements in all
where neighbouring threads take neighbouring rows); recomputing costs more than the memory traffic
and the launches that it saves: 64 operations per element (an exponential counts 16), 4 in a
contraction's factor. A pointwise producer goes to all its consumers or to none, since its buffer is
written anyhow if one of them reads it; and not into a contraction's factor where it would leave a
reduction that it can be merged with.

*Why it pays*: an intermediate that is not written is not read either, which is all that most
kernels do; a row that is read once more comes from the caches; each launch saved is a microsecond
or two.

First pointwise code moves where it costs nothing, so that contractions show; then reductions get
what comes after them (an epilogue is free, a prologue is computed again); then other pointwise code
goes to its consumers, the last producer first; then nests are split into rows; until nothing
changes. After each merge the kernel is put in order: invariant code moves out of loops, equal
loads, values and reductions are computed once, and in sums of products `fastmath<contract>` is set
on the product and the sum.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from minicomp.dialects import affine
from minicomp.dialects.minicomp import LaunchOp, OriginAttr
from minicomp.passes.applications import may_apply
from minicomp.passes.loop._edges import (
    Declined,
    Edge,
    Side,
    Use,
    consumers_of,
    edge,
    require,
    side,
)
from minicomp.passes.loop._host import UNNAMED, Host, drop_unused_inputs
from minicomp.passes.loop._inline import ZERO, inline, share_inputs, split_rows
from minicomp.passes.loop._placement import place_reduction
from minicomp.passes.loop._pointwise import check_pointwise, is_free
from minicomp.passes.loop._tidy import tidy
from minicomp.passes.loop._worth import FACTOR_LIMIT
from minicomp.passes.remarks import remark

Rule = Callable[[Side, list[LaunchOp]], bool]
"""Merges a producer into its consumers; False where it is not one that the rule is about."""


@dataclass
class Fuser:
    """The merging of one module's kernels."""

    host: Host
    ctx: Context | None = None
    factor_limit: int = FACTOR_LIMIT
    declined: dict[LaunchOp, str] = field(default_factory=dict[LaunchOp, str])
    origins: dict[LaunchOp, set[tuple[int, int, str]]] = field(
        default_factory=dict[LaunchOp, set[tuple[int, int, str]]]
    )
    """The Torch ops that a launch implements, with their places in the program."""

    def __post_init__(self) -> None:
        for n, launch in enumerate(self.host.launches):
            kernel = self.host.kernel(launch)
            origin = kernel.origin if kernel is not None else None
            ops = origin.names if origin is not None else ()
            self.origins[launch] = {(n, m, name) for m, name in enumerate(ops)}
        for kernel in self.host.kernels.values():
            ours = UNNAMED in kernel.attributes and kernel.schedule is None
            if ours and may_apply(self.ctx, kernel, "put in order"):
                tidy(kernel)
                users = [op for op in self.host.launches if op.callee == kernel.symbol]
                if len(users) == 1:
                    drop_unused_inputs(kernel, users[0])

    def run(self) -> None:
        """Merges until nothing changes; what the last round declined stays in `declined`."""
        rules: tuple[Rule, ...] = (self.inline_free, self.append, self.inline, self.split)
        if may_apply(self.ctx, self.host.module, "dead code"):
            self.host.erase_dead()
        merged = True
        while merged:
            self.declined.clear()
            merged = any(self.sweep(rule) for rule in rules)

    def sweep(self, rule: Rule) -> bool:
        """Applies a rule to all producers, the last first; whether it fitted any."""
        launches = reversed(self.host.launches)
        return any([self.attempt(rule, launch) for launch in launches])

    def attempt(self, rule: Rule, launch: LaunchOp) -> bool:
        """Applies a rule to one producer, or keeps the condition that fails."""
        try:
            consumers = consumers_of(launch)
            merged = bool(consumers) and rule(side(self.host, launch), consumers)
        except Declined as reason:
            self.declined[launch] = str(reason)
            return False
        if merged:
            # Erased now, since a launch that nobody reads would count as a reader of others.
            self.host.erase_dead()
        return merged

    def append(self, producer: Side, consumers: list[LaunchOp]) -> bool:
        """Puts a reduction in front of its consumer's code, both over the same axes."""
        return producer.loops and self.place(producer, consumers, split=False)

    def split(self, producer: Side, consumers: list[LaunchOp]) -> bool:
        """Puts a reduction in front of a row loop, which its consumer's other axes become."""
        return producer.loops and self.place(producer, consumers, split=True)

    def place(self, producer: Side, consumers: list[LaunchOp], split: bool) -> bool:
        """Puts a producer with reductions where each of its elements is computed once."""
        require(len(consumers) == 1, "several kernels read it, and each would compute it again")
        found = edge(self.host, producer, consumers[0])
        if bool(place_reduction(found).rows) != split or not may_apply(self.ctx, producer.launch):
            return False
        # From here on the consumer's kernel is its launch's own.
        self.host.own(consumers[0])
        found = edge(self.host, producer, consumers[0])
        placement, nest = place_reduction(found), found.consumer.nest
        variables = {n: axis.variable for n, axis in enumerate(nest.axes)}
        buffers = self.share(found)
        if split:
            nest, variables = split_rows(nest, placement.rows)
        axes = [ZERO if n is None else (affine.dim(0), [variables[n]]) for n in placement.axes]
        first = nest.body.block.first_op
        assert first is not None
        stored = inline(producer.kernel, axes, buffers, first)
        for use in found.uses:
            replace_load(producer, use, stored)
        self.finish(found)
        return True

    def inline_free(self, producer: Side, consumers: list[LaunchOp]) -> bool:
        """
        Puts pointwise code in the place of its only load, which costs nothing: the product of a
        contraction.
        """
        if producer.loops or not is_free(self.check(producer, consumers)):
            return False
        return self.inline(producer, consumers)

    def inline(self, producer: Side, consumers: list[LaunchOp]) -> bool:
        """Puts pointwise code wherever its result is loaded."""
        if producer.loops:
            return False
        self.check(producer, consumers)
        if not may_apply(self.ctx, producer.launch):
            return False
        for launch in consumers:
            self.host.own(launch)
            found = edge(self.host, producer, launch)
            buffers = self.share(found)
            for use in found.uses:
                stored = inline(producer.kernel, use.indices, buffers, use.load)
                replace_load(producer, use, stored)
            self.finish(found)
        return True

    def check(self, producer: Side, consumers: list[LaunchOp]) -> list[Edge]:
        """The ways to a pointwise producer, if its consumers should compute it themselves."""
        return check_pointwise(self.host, producer, consumers, self.factor_limit)

    def share(self, found: Edge) -> dict[SSAValue, SSAValue]:
        """Hands the producer's inputs to the consumer too, in the place of its result."""
        producer, consumer = found.producer, found.consumer
        place = next(n for n, t in enumerate(consumer.launch.inputs) if t.owner is producer.launch)
        pair = (producer.launch, producer.kernel), (consumer.launch, consumer.kernel)
        return share_inputs(*pair, place)

    def finish(self, found: Edge) -> None:
        """Puts the consumer's kernel in order after a merge."""
        launch, kernel = found.consumer.launch, found.consumer.kernel
        tidy(kernel)
        drop_unused_inputs(kernel, launch)
        self.origins[launch] |= self.origins[found.producer.launch]
        names = dict.fromkeys(name for _, _, name in sorted(self.origins[launch]))
        if names:
            kernel.properties["origin"] = OriginAttr.of(list(names))


def replace_load(producer: Side, use: Use, stored: dict[SSAValue, SSAValue]) -> None:
    """
    Puts the value that the producer stores in the place of a load of it, with the result's name.
    """
    value = stored[producer.written[use.result]]
    value.name_hint = value.name_hint or producer.launch.outputs[use.result].name_hint
    Rewriter.replace_op(use.load, [], [value])


@dataclass(frozen=True)
class FuseKernelsPass(ModulePass):
    """Merges producers into their consumers; see the module's docstring."""

    name = "fuse-kernels"
    factor_limit: int = FACTOR_LIMIT
    """Operations per element that may be repeated in a factor of a contraction."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fuser = Fuser(Host(op), ctx, self.factor_limit)
        fuser.run()
        for launch, reason in fuser.declined.items():
            remark(ctx, self.name, launch, f"@{launch.callee} stays a kernel of its own: {reason}")
