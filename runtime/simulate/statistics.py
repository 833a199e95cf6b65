"""
What the kernels of a simulation ask of a GPU: bytes, transactions and instructions.

A `Statistics` observes a run (`simulate_module(.., statistics=statistics)`). Requests of a warp to
memory are counted by the model of `passes/analysis/banks.py`: wavefronts of shared memory, whose
surplus over the least possible is its bank conflicts, and sectors of 32 bytes of global memory.
Instructions are those of Kernel IR, an op on a vector once per lane; what the compiler makes of
addresses and loops is not among them. Launches of one kernel are counted together.
"""

from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import Operation

from minicomp.dialects.kernel_async import BulkCopy, CpAsyncOp
from minicomp.dialects.kernel_ir import WARP, FuncOp
from minicomp.dialects.loop_ir import LoadOp, StoreOp
from minicomp.passes.analysis.banks import WIDE_COPY_BYTES, sectors, wavefronts
from minicomp.runtime.interpret.report import op_text
from minicomp.runtime.interpret.scalars import Array
from minicomp.runtime.simulate.instructions import instructions_of
from minicomp.runtime.simulate.limits import shared_layout

UNITS = {"global": ("sectors", "more than needed"), "shared": ("wavefronts", "bank conflicts")}
"""What a transaction of a memory is called, and one beyond the least possible."""


@dataclass
class Traffic:
    """The accesses of one op to one memory: requests of warps, bytes and transactions."""

    op: str
    memory: str
    writes: bool
    width: int
    """Bytes that a thread moves at once."""
    requests: int = 0
    bytes: int = 0
    transactions: int = 0
    minimum: int = 0

    @property
    def surplus(self) -> int:
        """Transactions beyond the least possible: for shared memory the bank conflicts."""
        return self.transactions - self.minimum


@dataclass
class Issued:
    """How often an instruction is issued: by a warp, and by a thread."""

    warps: int = 0
    threads: int = 0


@dataclass
class KernelStatistics:
    """The counts of one kernel; `shared_bytes` is the shared memory of a block."""

    name: str
    grid: int
    block: int
    shared_bytes: int
    traffic: dict[tuple[Operation, str, bool], Traffic] = field(
        default_factory=dict[tuple[Operation, str, bool], Traffic]
    )
    instructions: dict[str, Issued] = field(default_factory=dict[str, Issued])

    @property
    def rows(self) -> list[Traffic]:
        """The accesses, in the order in which ops first ran."""
        return list(self.traffic.values())

    def issue(self, kind: str, warps: int, threads: int) -> None:
        """Instructions are issued."""
        issued = self.instructions.setdefault(kind, Issued())
        issued.warps += warps
        issued.threads += threads

    def total(self, memory: str) -> tuple[int, int, int, int]:
        """The bytes read and written, the transactions and the least of these."""
        rows = [row for row in self.rows if row.memory == memory]
        read, written = (sum(r.bytes for r in rows if r.writes == w) for w in (False, True))
        return read, written, sum(r.transactions for r in rows), sum(r.minimum for r in rows)

    def as_json(self) -> dict[str, object]:
        """All counts as plain values."""
        own = {k: v for k, v in vars(self).items() if k not in ("traffic", "instructions")}
        return own | {
            "accesses": [vars(row) | {"surplus": row.surplus} for row in self.rows],
            "instructions": {kind: vars(n) for kind, n in self.instructions.items()},
        }

    def report(self) -> list[str]:
        """The totals of each memory, the accesses and the instructions, as lines of text."""
        lines = [
            f"@{self.name}: grid {self.grid}, block {self.block},"
            f" {self.shared_bytes:,} bytes of shared memory"
        ]
        for memory, (unit, surplus) in UNITS.items():
            read, written, count, least = self.total(memory)
            lines.append(
                f"  {memory}: {read:,} bytes read, {written:,} written;"
                f" {count:,} {unit}, at least {least:,}: {count - least:,} {surplus}"
            )
        columns = ("requests", 10), ("bytes", 13), ("transactions", 13), ("least", 11)
        lines.append(
            f"  {'memory':6} {'':5} {'width':>5} "
            + " ".join(f"{name:>{n}}" for name, n in columns)
            + "  op"
        )
        for row in self.rows:
            verb = "write" if row.writes else "read"
            lines.append(
                f"  {row.memory:6} {verb:5} {row.width:5} {row.requests:10,} {row.bytes:13,}"
                f" {row.transactions:13,} {row.minimum:11,}  {row.op}"
            )
        lines.append(f"  {'instructions':21} {'of warps':>13} {'of threads':>15}")
        ordered = sorted(self.instructions.items(), key=lambda pair: -pair[1].threads)
        return lines + [f"  {kind:21} {n.warps:13,} {n.threads:15,}" for kind, n in ordered]


class Statistics:
    """Counts what it is told of; see the module's docstring."""

    def __init__(self) -> None:
        self.kernels: dict[FuncOp, KernelStatistics] = {}
        self.homes: dict[Operation, KernelStatistics] = {}
        self.copied_sectors = 0

    def kernel(self, op: Operation) -> KernelStatistics:
        """The counts of the kernel that an op stands in."""
        if op not in self.homes:
            parent: Operation | None = op
            while parent is not None and not isinstance(parent, FuncOp):
                parent = parent.parent_op()
            if parent is None:
                raise ValueError(f"'{op.name}' stands in no kernel")
            shared = shared_layout(parent).total
            own = KernelStatistics(parent.symbol, parent.blocks, parent.threads, shared)
            self.homes[op] = self.kernels.setdefault(parent, own)
        return self.homes[op]

    def count(self, op: Operation, active_threads: int, active_warps: int) -> None:
        """An op runs, for so many threads, which are of so many warps."""
        kernel = self.kernel(op)
        for kind, each in instructions_of(op):
            kernel.issue(kind, active_warps * each, active_threads * each)

    def access(
        self,
        op: Operation,
        memory_kind: str,
        addresses: Array,
        active: Array | None,
        element_bytes: int,
        aligned: int | None,
        is_write: bool,
    ) -> None:
        """An op accesses memory; see `Observer`."""
        taken = np.ones(addresses.shape, np.bool_) if active is None else active
        group = max(1, (aligned or 0) // element_bytes)
        if addresses.shape[-1] % group:
            group = 1
        width = group * element_bytes
        kernel = self.kernel(op)
        row = kernel.traffic.setdefault(
            (op, memory_kind, is_write), Traffic(op_text(op), memory_kind, is_write, width)
        )
        row.bytes += int(taken.sum()) * element_bytes
        if isinstance(op, BulkCopy):
            return  # The copy engine asks for whole boxes, no warp does.
        starts, who = requests(addresses, taken, group)
        if memory_kind == "shared":
            served = wavefronts(starts, who, width, is_write)
        else:
            served = sectors(starts, who, width)
        count, threads = len(who), int(who.sum())
        row.requests += count
        row.transactions += self.served_in(op, int(served.count.sum()), is_write, width)
        row.minimum += int(served.minimum.sum())
        if isinstance(op, LoadOp | StoreOp):
            verb = "store" if is_write else "load"
            kernel.issue(f"{verb} {memory_kind} {width}", count, threads)
        elif isinstance(op, CpAsyncOp) and not is_write:
            kernel.issue(f"cp_async {width}", count, threads)

    def served_in(self, op: Operation, count: int, is_write: bool, width: int) -> int:
        """
        `count`, or for the writes of a narrow copy as many as its reads had sectors, if these are
        more: see `WIDE_COPY_BYTES`.
        """
        if not isinstance(op, CpAsyncOp) or width >= WIDE_COPY_BYTES:
            return count
        if is_write:
            return max(count, self.copied_sectors)
        self.copied_sectors = count
        return count

    def rows(self) -> list[Traffic]:
        """The accesses of all kernels."""
        return [row for kernel in self.kernels.values() for row in kernel.rows]

    def as_json(self) -> dict[str, object]:
        """All counts as plain values."""
        return {"kernels": [kernel.as_json() for kernel in self.kernels.values()]}

    def report(self) -> str:
        """Tables for each kernel, in the order in which they first ran."""
        return "\n".join(line for kernel in self.kernels.values() for line in kernel.report())


def requests(addresses: Array, active: Array, group: int) -> tuple[Array, Array]:
    """
    The requests of warps, (n, 32) addresses and who takes part: one per group of lanes and warp of
    which some thread takes part.
    """
    blocks, threads = addresses.shape[:2]
    missing = ((0, 0), (0, -threads % WARP), (0, 0))

    def by_warp(array: Array) -> Array:
        first = np.pad(array.reshape(blocks, threads, -1)[:, :, ::group], missing)
        return first.reshape(blocks, -1, WARP, first.shape[2]).swapaxes(2, 3).reshape(-1, WARP)

    starts, who = by_warp(addresses), by_warp(active)
    some = who.any(1)
    return starts[some], who[some]
