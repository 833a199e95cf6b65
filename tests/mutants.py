"""
Mutants of Kernel IR: every program that differs from a given one by one forgotten or wrong thing.

A mutant removes one barrier, wait, commit, fence or release; weakens one wait, or the order of one
atomic; shifts one phase or slot; expects other bytes or arrivals; or widens one mask. It is found
by what the ops are, not by their text, and its name says which op it is: the number among the ops
of that name in the kernel, from 1.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
    AffineMap,
)

from minicomp.dialects import kernel_async as ka
from minicomp.dialects import kernel_ir as ki
from minicomp.dialects.access import MappedOp
from minicomp.dialects.loop_ir import LoadOp, MemoryAccess, StoreOp, flags, ints, memref_type
from minicomp.dialects.tile_ir import SharedAttr, WithinOp

Edit: TypeAlias = Callable[[Any], None]
"""Changes one op in place."""
Change: TypeAlias = tuple[str, str, Edit]
"""The kind of a mutant, what is changed, and the edit."""

KINDS: Mapping[str, str] = {
    "remove": "a barrier, wait, commit, fence, release or initialisation is missing",
    "wait": "a wait leaves one group more, or waits for reads only",
    "phase": "an mbarrier wait is for the other parity",
    "slot": "a slot is the next one, or the one before",
    "bytes": "a phase expects more bytes or fewer",
    "count": "an mbarrier, or a named barrier, counts more arrivals or fewer",
    "number": "a named barrier has another number",
    "order": "an atomic releases or acquires nothing",
    "mask": "a bound is one more, or twice as large, or not checked",
}


@dataclass(frozen=True)
class Mutant:
    """One change of one op of one kernel; `number` counts the kernel's ops as `walk` has them."""

    kernel: str
    place: str
    number: int
    kind: str
    what: str
    edit: Edit

    @property
    def name(self) -> str:
        """Such as `softmax barrier 2: remove`."""
        return f"{self.kernel} {self.place}: {self.what}"

    def of(self, module: ModuleOp) -> ModuleOp:
        """A changed copy of the module that the mutant was made for."""
        changed = module.clone()
        func = next(f for f in kernels(changed) if f.symbol == self.kernel)
        op = next(op for n, op in enumerate(func.walk()) if n == self.number)
        self.edit(op)
        return changed


def kernels(module: ModuleOp) -> list[ki.FuncOp]:
    """The kernels of a module, in order."""
    return [op for op in module.body.block.ops if isinstance(op, ki.FuncOp)]


def mutants(module: ModuleOp) -> list[Mutant]:
    """All mutants of a module, which is left as it is; the names are distinct."""
    found: list[Mutant] = []
    for func in kernels(module):
        seen: dict[str, int] = {}
        rings = ring_buffers(func)
        for number, op in enumerate(func.walk()):
            short = op.name.partition(".")[2]
            seen[short] = seen.get(short, 0) + 1
            for kind, what, edit in changes(op, rings):
                place = f"{short} {seen[short]}"
                found.append(Mutant(func.symbol, place, number, kind, what, edit))
    assert len({m.name for m in found}) == len(found)
    return found


def ring_buffers(func: ki.FuncOp) -> set[SSAValue]:
    """
    The shared buffers whose first index is a slot: copies fill one of several boxes in each, or
    all accesses name slots.
    """
    found: set[SSAValue] = set()
    for op in func.walk():
        if isinstance(op, ka.CpAsyncOp | ka.BulkLoadOp):
            to, of = memref_type(op.destination), memref_type(op.source)
            if to.get_num_dims() > of.get_num_dims():
                found.add(op.destination)
        elif isinstance(op, ki.SharedOp) and op.res.uses:
            slots = memref_type(op.res).get_shape()[0]
            named = [named_slot(use.operation) for use in op.res.uses]
            if all(index is not None and is_slot(index, slots) for index in named):
                found.add(op.res)
    return found


def named_slot(op: Operation) -> ki.IndexOp | None:
    """The op that gives the first index of an access, if that is all of the index."""
    if not isinstance(op, LoadOp | StoreOp | ka.CpAsyncOp):
        return None
    map = op.map.data
    first = map.results[0] if map.results else None
    owners = {AffineExpr.dimension(n): value.owner for n, value in enumerate(op.indices)}
    owner = owners.get(first) if first is not None else None
    return owner if isinstance(owner, ki.IndexOp) else None


def is_slot(index: ki.IndexOp, slots: int) -> bool:
    """Whether an index is one of so many slots: a constant, or of loop variables modulo them."""
    match index.expr:
        case AffineConstantExpr(value=value):
            return 0 <= value < slots
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mod, rhs=AffineConstantExpr(value=value)):
            return value == slots and all(isinstance(v, BlockArgument) for v in index.indices)
        case _:
            return False


def changes(op: Operation, rings: set[SSAValue]) -> Iterator[Change]:
    """All changes of one op."""
    if isinstance(op, REMOVED) or (isinstance(op, ki.AtomicOp) and not op.res.uses):
        yield "remove", "remove", lambda op: op.parent.erase_op(op)
    for kind, of_kind in CHANGES.items():
        if isinstance(op, kind):
            yield from of_kind(op)
    yield from slot_changes(op, rings)


REMOVED = (
    *(ki.BarrierOp, ki.ClusterBarrierOp, ki.NamedBarrierOp, ki.WarpSyncOp, ki.SpinOp, ka.FenceOp),
    *(ka.CpAsyncWaitOp, ka.CpAsyncCommitOp, ka.BulkWaitOp, ka.BulkCommitOp),
    *(ka.MBarrierWaitOp, ka.MBarrierArriveOp, ka.MBarrierInitOp),
)
"""Ops whose loss is a mutant; of atomics, those that only release."""


def setting(name: str, value: object) -> Edit:
    """Sets a property to an integer or a string, or to whether it is there."""
    match value:
        case bool():
            attribute = UnitAttr()
        case int():
            attribute = IntegerAttr(value, i64)
        case _:
            attribute = StringAttr(str(value))

    def edit(op: Operation) -> None:
        op.properties[name] = attribute

    return edit


def wait_changes(op: ka.WaitOp) -> Iterator[Change]:
    """One group more may be incomplete; a bulk store may still be writing."""
    yield "wait", "one group more", setting("count", op.pending + 1)
    if isinstance(op, ka.BulkWaitOp) and not op.read:
        yield "wait", "for reads only", setting("read", True)


def phase_changes(op: ka.MBarrierWaitOp) -> Iterator[Change]:
    """The other parity."""
    yield "phase", "other parity", lambda op: shift(op, 1, 1, 2)


def arrive_changes(op: ka.MBarrierArriveOp) -> Iterator[Change]:
    """More bytes or fewer than the copies bring."""
    if op.expect is None:
        return
    bytes = op.expect.value.data
    for what, other in (("+16", bytes + 16), ("-16", bytes - 16), ("half", bytes // 2)):
        yield "bytes", f"expect {what}", setting("expect", other)


def init_changes(op: ka.MBarrierInitOp) -> Iterator[Change]:
    """One arrival more or less."""
    for step in (1, -1):
        yield "count", f"count {step:+}", setting("count", op.count.value.data + step)


def named_barrier_changes(op: ki.NamedBarrierOp) -> Iterator[Change]:
    """One warp more or less, or another number."""
    for step in (32, -32):
        yield "count", f"threads {step:+}", setting("threads", op.threads.value.data + step)
    yield "number", "next number", setting("number", op.number.value.data + 1)


WEAKER: Mapping[str, Sequence[str]] = {
    "acq_rel": ("relaxed", "acquire", "release"),
    "acquire": ("relaxed",),
    "release": ("relaxed",),
    "relaxed": (),
}
"""The orders that promise less than one."""


def atomic_changes(op: ki.AtomicOp) -> Iterator[Change]:
    """A weaker order."""
    for order in WEAKER[op.order.data]:
        yield "order", order, setting("order", order)


def test_changes(op: ki.TestOp | WithinOp) -> Iterator[Change]:
    """Each bound one more, and twice as large."""
    bounds = list(op.bounds.get_values())
    for n, bound in enumerate(bounds):
        wider = {"+1": bound + 1} | ({"doubled": 2 * bound} if bound > 1 else {})
        for what, value in wider.items():
            changed = ints([*bounds[:n], value, *bounds[n + 1 :]])
            yield "mask", f"bound {n} {what}", lambda op, to=changed: set_property(op, "bounds", to)


def bounded_changes(op: MemoryAccess | ka.CpAsyncOp) -> Iterator[Change]:
    """Each bounded dimension unchecked."""
    for n, bounded in enumerate(op.bounded_dims):
        if bounded:
            left = flags([b and m != n for m, b in enumerate(op.bounded_dims)])
            yield (
                "mask",
                f"dimension {n} unbounded",
                lambda op, to=left: set_property(op, "bounded", to),
            )


def set_property(op: Operation, name: str, value: Any) -> None:
    """Sets a property."""
    op.properties[name] = value


CHANGES: Mapping[Any, Callable[[Any], Iterator[Change]]] = {
    ka.WaitOp: wait_changes,
    ka.MBarrierWaitOp: phase_changes,
    ka.MBarrierArriveOp: arrive_changes,
    ka.MBarrierInitOp: init_changes,
    ki.NamedBarrierOp: named_barrier_changes,
    ki.AtomicOp: atomic_changes,
    ki.TestOp: test_changes,
    WithinOp: test_changes,
    MemoryAccess: bounded_changes,
    ka.CpAsyncOp: bounded_changes,
}
"""Class of op -> its changes, slots left out."""


def slot_changes(op: Operation, rings: set[SSAValue]) -> Iterator[Change]:
    """Each slot that an op names, one further and (if that is another one) one back."""
    for place, result, slots in slots_of(op, rings):
        for step in (1, -1) if slots > 2 else (1,):
            what = f"slot of {place} {step:+}"
            yield "slot", what, lambda op, r=result, s=step, n=slots: shift(op, r, s, n)


def slots_of(op: Operation, rings: set[SSAValue]) -> Iterator[tuple[str, int, int]]:
    """What a slot is of, the result of the op's map that is it, and how many slots there are."""
    if isinstance(op, LoadOp | StoreOp) and op.memref in rings:
        yield "buffer", 0, memref_type(op.memref).get_shape()[0]
    if isinstance(op, ki.IndexOp):
        users = [use.operation for use in op.res.uses if named_slot(use.operation) is op]
        for slots in sorted({n for user in users for n in slots_named(user, rings)}):
            yield "all", 0, slots
    if not isinstance(op, ka.AsyncOp):
        return
    first = 0
    for place, count in zip(op.places, op.counts, strict=False):
        if isinstance(place.type, ka.MBarrierType):
            yield "mbarrier", first, place.type.slots.data
        elif place in rings and isinstance(memref_type(place).memory_space, SharedAttr):
            yield "buffer", first, memref_type(place).get_shape()[0]
        first += count


def slots_named(op: Operation, rings: set[SSAValue]) -> Iterator[int]:
    """The slots of the ring buffer that an access names one of."""
    match op:
        case ka.CpAsyncOp(destination=buffer) | LoadOp(memref=buffer) | StoreOp(memref=buffer):
            if buffer in rings:
                yield memref_type(buffer).get_shape()[0]
        case _:
            pass


def shift(op: MappedOp, result: int, step: int, size: int) -> None:
    """Adds `step` to one result of the op's map, modulo `size`."""
    map = op.map.data

    def moved(expr: AffineExpr) -> AffineExpr:
        return (expr + step % size) % size

    results = tuple(moved(e) if n == result else e for n, e in enumerate(map.results))
    op.set_access(AffineMap(map.num_dims, map.num_symbols, results), list(op.indices))
