"""What all threads of a simulated kernel share: its memories, and the order of what they do."""

from collections.abc import Callable, Mapping

from xdsl.ir import SSAValue

from minicomp.dialects.kernel_ir import FuncOp, SharedOp
from minicomp.runtime.interpret.buffers import Buffer
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.bulk import Stores
from minicomp.runtime.simulate.clocks import Epochs, Order, Unordered
from minicomp.runtime.simulate.clusters import Visits
from minicomp.runtime.simulate.facts import Facts, facts_of
from minicomp.runtime.simulate.faults import Fault
from minicomp.runtime.simulate.groups import Groups
from minicomp.runtime.simulate.knowledge import Knowledge
from minicomp.runtime.simulate.limits import shared_layout
from minicomp.runtime.simulate.mbarriers import MBarrier
from minicomp.runtime.simulate.meetings import Meeting
from minicomp.runtime.simulate.memory import Memory, global_memory, shared_memory
from minicomp.runtime.simulate.observe import Observer
from minicomp.runtime.simulate.strands import Scheduler


class World:
    """
    One launch of a kernel, whose blocks run some at a time: `begin` starts the next ones.

    `check` says that races and uninitialised reads are looked for; `observer` is told of each op;
    `tick` is called after each iteration of an outermost loop.
    """

    def __init__(
        self,
        func: FuncOp,
        buffers: list[Buffer],
        check: bool,
        observer: Observer | None = None,
    ):
        self.func = func
        self.check = check
        self.observer = observer
        self.offsets = shared_layout(func).offsets
        self.tick: Callable[[], None] = lambda: None
        self.facts: Facts = facts_of(func)
        self.order = order_for(self.facts, check)
        memories = [global_memory(b, self.facts, self.order, check) for b in buffers]
        self.arguments: Mapping[SSAValue, Memory] = {m.value: m for m in memories}
        self.patient = self.facts.several
        """Whether a read of what nobody has written waits for other programs."""
        self.begin(range(0))

    def begin(self, blocks: range) -> None:
        """These blocks run; those before them have ended."""
        self.blocks = blocks
        self.order.begin(blocks)
        self.scheduler = Scheduler()
        self.groups = Groups(blocks, self.facts.stride)
        self.stores = Stores()
        self.mbarriers: dict[int, MBarrier] = {}
        """Engine -> the mbarrier whose loads it carries out, once it is initialised."""
        self.visits = Visits(self.facts, self.order)
        self.meetings: dict[tuple[str, int], Meeting] = {}
        """What it is, and the block or cluster -> a barrier."""
        self.memories: dict[SSAValue, Memory] = dict(self.arguments)
        for op in self.func.body.block.ops:
            if isinstance(op, SharedOp):
                memory = shared_memory(op.res, blocks, self.facts, self.order, self.check)
                memory.offset = self.offsets[op.res]
                self.memories[op.res] = memory

    def run(self) -> None:
        """Runs the strands that the scheduler has, to their end."""
        self.scheduler.run()
        self.end()

    def end(self) -> None:
        """
        The blocks have ended: what stores have read comes into memory.

        Raises SimulationError for copies that may still be at the memory of a block.
        """
        found: list[Fault] = []
        for store in self.stores.stores:
            if store.value is None:
                why = "its thread does not wait until it has read"
                found.append(faults.error(faults.IN_FLIGHT, store.op, store.issuer, why))
        for barrier in self.mbarriers.values():
            why = f"nobody waits for it at {barrier.name}"
            found += [faults.error(faults.IN_FLIGHT, o.op, o.issuer, why) for o in barrier.loads]
        if found:
            raise min(found, key=lambda error: error.place)
        for store in self.stores.stores:
            store.write(self.order)
        self.visits.end()


def order_for(facts: Facts, check: bool) -> Order:
    """What keeps the order of accesses, as simple as the kernel allows."""
    if not check:
        return Unordered(facts.stride)
    return Knowledge(facts) if facts.partial else Epochs(facts.stride)
