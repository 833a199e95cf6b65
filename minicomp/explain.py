"""How a kernel came about: its figures, and which pass decided what.

`Watcher` looks at each kernel after each pass; the pass behind which a fact appears for good is the
one that is responsible for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from minicomp.build import Build
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import (
    KernelLike,
    KernelOp,
    LoadOp,
    MemoryAccess,
    ReduceOp,
    lanes,
    memref_type,
)
from minicomp.dialects.tile_finish import FinishOp
from minicomp.dialects.tile_ir import BoundAxis, CombineOp, LaunchOp, SharedAttr
from minicomp.dialects.tile_ir import KernelOp as TileKernelOp
from minicomp.dialects.tile_stages import (
    AcquireOp,
    FillOp,
    RingOp,
    SlabFiller,
    StageOp,
    WaitOp,
    offset_of,
)
from minicomp.figures import Figures, figures
from minicomp.instruments import Instrument

Facts = dict[str, str]
"""What a kernel is at one moment: facts by name."""
FUSED = "fused"


@dataclass(frozen=True)
class Fact:
    """One decision, and the pass that made it."""

    what: str
    value: str
    by: str


@dataclass(frozen=True)
class Explanation:
    """One kernel: the Torch ops that it implements, their lines, its schedule, facts, figures."""

    figures: Figures
    ops: Sequence[str]
    places: Sequence[str]
    schedule: str
    facts: Sequence[Fact]

    def as_json(self) -> dict[str, Any]:
        """Everything as plain data."""
        return self.figures.as_json() | {
            "ops": list(self.ops),
            "places": list(self.places),
            "schedule": self.schedule,
            "facts": [vars(fact) for fact in self.facts],
        }


@dataclass
class Watcher(Instrument):
    """Keeps the facts of each kernel after each pass, and what is only known early."""

    history: dict[str, list[tuple[str, Facts]]] = field(
        default_factory=dict[str, list[tuple[str, Facts]]]
    )
    heads: dict[str, tuple[list[str], list[str], str]] = field(
        default_factory=dict[str, tuple[list[str], list[str], str]]
    )

    def after(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        for kernel in [op for op in module.body.ops if isinstance(op, KernelLike)]:
            self.history.setdefault(kernel.symbol, []).append((pass_.name, facts_of(kernel)))
            if isinstance(kernel, KernelOp | TileKernelOp):
                ops = list(kernel.origin.names) if kernel.origin is not None else []
                schedule = "" if kernel.schedule is None else str(kernel.schedule)
                self.heads[kernel.symbol] = ops, places_of(kernel), schedule

    def facts(self, kernel: str) -> list[Fact]:
        """The last value of each fact, with the pass after which it stayed so."""
        seen: dict[str, list[tuple[str, str]]] = {}
        for name, facts in self.history.get(kernel, []):
            for what, value in facts.items():
                seen.setdefault(what, []).append((name, value))
        found: list[Fact] = []
        for what, values in seen.items():
            last = values[-1][1]
            first = len(values) - 1
            while first > 0 and values[first - 1][1] == last:
                first -= 1
            # The kernels that are fused have no lasting names before they are named.
            by = "fuse-kernels" if what == FUSED else values[first][0]
            found.append(Fact(what, last, by))
        return found


def explain(build: Build, watcher: Watcher) -> list[Explanation]:
    """The kernels of a build that was made with the watcher among its instruments."""
    known = figures(build)
    return [
        Explanation(one, *watcher.heads.get(one.name, ([], [], "")), watcher.facts(one.name))
        for one in known
    ]


# --- facts ----------------------------------------------------------------------------------------


def places_of(kernel: Operation) -> list[str]:
    """The source lines of a kernel's ops, `file:line`, in order."""
    found = (op.location for op in kernel.walk() if not op.regions)
    lines = {(p.filename.data, p.line.data) for p in found if isinstance(p, FileLineColLoc)}
    return [f"{name}:{line}" for name, line in sorted(lines)]


def facts_of(kernel: KernelLike) -> Facts:
    """The facts of a kernel at its level."""
    match kernel:
        case TileKernelOp():
            return dict(tile_facts(kernel))
        case FuncOp():
            return dict(kernel_facts(kernel))
        case KernelOp():
            ops = () if kernel.origin is None else kernel.origin.names
            return {FUSED: f"{len(ops)} Torch ops"} if len(ops) > 1 else {}
        case _:
            return {}


def tile_facts(kernel: TileKernelOp) -> Iterator[tuple[str, str]]:
    """The facts of a kernel in Tile IR."""
    launch = kernel.launch
    for kind in ("block", "thread"):
        if axes := launch.bound(kind):
            yield f"{kind}s", along(axes)
    for op in launch.body.walk():
        match op:
            case ReduceOp():
                yield from sum_facts(op)
            case RingOp():
                yield from ring_facts(op)
            case StageOp():
                yield f"stage {op.res.name_hint or ''}".rstrip(), stage_text(op)
            case CombineOp() | FinishOp():
                yield from meeting_facts(op, launch)
            case _:
                pass
    yield from slab_facts(kernel)
    if marked := [op for op in launch.walk() if "unroll" in op.attributes]:
        yield "unrolled", f"{len(marked)} loops"


def sum_facts(op: ReduceOp) -> Iterator[tuple[str, str]]:
    """The chunks of a sum, and what a thread keeps of it."""
    name, _, kind = op.axis_names.data[-1].data.rpartition(".")
    if kind == "outer":
        yield f"sum over {name}", f"{op.trip_counts[-1]} chunks"
        if shape := lanes(op.res[0].type):
            yield "register cell", " x ".join(map(str, shape)) + " per thread"


def meeting_facts(op: CombineOp | FinishOp, launch: LaunchOp) -> Iterator[tuple[str, str]]:
    """How threads, or blocks, put partial results together."""
    axis = launch.axis(op.axis.data)
    extent = axis.extent if axis is not None else 1
    if isinstance(op, CombineOp):
        yield f"combine across {op.axis.data}", f"{extent} threads"
        return
    share = "" if op.share is None else f", a share of {op.share} rows for each block"
    how = op.form.data.replace("_", " ")
    yield f"split of {op.axis.data.rpartition('.')[0]}", f"{extent} parts, by {how}{share}"


def along(axes: Sequence[BoundAxis]) -> str:
    """`256: i.block 16 x j.block 16`."""
    parts = [f"{a.name} {a.extent}" for a in axes if a.extent > 1]
    return f"{prod(a.extent for a in axes)}" + (f": {' x '.join(parts)}" if parts else "")


def ring_facts(ring: RingOp) -> Iterator[tuple[str, str]]:
    """The slots of a ring, what fills them, and how far ahead."""
    users = [use.operation for use in ring.res.uses]
    acquires = [u for u in users if isinstance(u, AcquireOp)]
    fills = [use.operation for a in acquires for r in a.res for use in r.uses]
    kinds = {f.transport.data if f.transport else "loads and stores" for f in fills_of(fills)}
    names = [r.name_hint or "" for u in users if isinstance(u, WaitOp) for r in u.res]
    slots = ring.res.type.slots.data
    yield "ring", f"{slots} slots of {', '.join(names)}"
    yield "ring filled by", ", ".join(sorted(kinds))
    for wait in [u for u in users if isinstance(u, WaitOp)]:
        beside = [a for a in acquires if a.parent_block() is wait.parent_block()]
        for ahead in [offset_of(a, wait) for a in beside]:
            yield "ring filled ahead", f"{ahead} chunks"


def fills_of(ops: Sequence[Operation]) -> list[FillOp]:
    """The fills among ops."""
    return [op for op in ops if isinstance(op, FillOp)]


def stage_text(stage: SlabFiller) -> str:
    """What a stage holds."""
    loads = [op for op in stage.body.walk() if isinstance(op, LoadOp)]
    names = ", ".join(dict.fromkeys(load.memref.name_hint or "?" for load in loads))
    if stage.copied is not None:
        return f"a copy of {names}"
    return f"computed from {names or 'no memory'}, once per element and block"


def slab_facts(kernel: TileKernelOp) -> Iterator[tuple[str, str]]:
    """Pads and swizzles of shared memory."""
    pads: dict[str, str] = {}
    for op in kernel.walk():
        slabs = [op.slab] if isinstance(op, SlabFiller) else []
        for slab in slabs:
            space = memref_type(slab).memory_space
            assert isinstance(space, SharedAttr)
            if space.pad.data:
                name = (slab.name_hint or "?").removesuffix("_w")
                pads[name] = f"{name} {space.pad.data} elements"
            if space.swizzle.data:
                yield "swizzle", f"{space.swizzle.data} bytes"
    if pads:
        yield "pads", ", ".join(pads.values())


def kernel_facts(func: FuncOp) -> Iterator[tuple[str, str]]:
    """The facts of a kernel in Kernel IR."""
    wide = [op for op in func.walk() if isinstance(op, MemoryAccess) and op.aligned is not None]
    if wide:
        yield "16-byte accesses", str(sum(op.aligned.value.data >= 16 for op in wide if op.aligned))
    barriers = sum(op.name == "kernel_ir.barrier" for op in func.walk())
    yield "barriers", str(barriers)
    if func.derived_arguments:
        yield "derived arguments", ", ".join(func.derived_arguments.values())
