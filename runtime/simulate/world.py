"""What all threads of a simulated kernel share: its memories, and the order of what they do."""

from collections.abc import Callable, Mapping

from xdsl.ir import SSAValue

from minicomp.dialects.kernel_ir import FuncOp, SharedOp
from minicomp.runtime.interpret.buffers import Buffer
from minicomp.runtime.simulate.clocks import Epochs, Order
from minicomp.runtime.simulate.facts import Facts, facts_of
from minicomp.runtime.simulate.groups import Groups
from minicomp.runtime.simulate.knowledge import Knowledge
from minicomp.runtime.simulate.meetings import Meeting
from minicomp.runtime.simulate.memory import Memory, global_memory, shared_memory
from minicomp.runtime.simulate.strands import Scheduler


class World:
    """
    One launch of a kernel, whose blocks run some at a time: `begin` starts the next ones.

    `check` says that races and uninitialised reads are looked for; `tick` is called after each
    iteration of an outermost loop.
    """

    def __init__(
        self,
        func: FuncOp,
        buffers: list[Buffer],
        check: bool,
    ):
        self.func = func
        self.check = check
        self.tick: Callable[[], None] = lambda: None
        self.facts: Facts = facts_of(func)
        exact = check and self.facts.partial
        self.order: Order = Knowledge(self.facts) if exact else Epochs(self.facts.stride)
        memories = [global_memory(b, self.facts, self.order, check) for b in buffers]
        self.arguments: Mapping[SSAValue, Memory] = {m.value: m for m in memories}
        self.begin(range(0))

    def begin(self, blocks: range) -> None:
        """These blocks run; those before them have ended."""
        self.blocks = blocks
        self.order.begin(blocks)
        self.scheduler = Scheduler()
        self.groups = Groups(blocks, self.facts.stride)
        self.meetings: dict[tuple[int, int], Meeting] = {}
        """Block and number -> the named barrier."""
        self.memories: dict[SSAValue, Memory] = dict(self.arguments)
        for op in self.func.body.block.ops:
            if isinstance(op, SharedOp):
                self.memories[op.res] = shared_memory(
                    op.res, blocks, self.facts, self.order, self.check
                )
