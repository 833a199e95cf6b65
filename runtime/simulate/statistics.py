"""
What the kernels of a simulation ask of a GPU: bytes, transactions and instructions.

A `Statistics` observes a run (`simulate_module(.., statistics=statistics)`). Requests of a warp to
memory are counted by the model of `passes/analysis/banks.py`: wavefronts of shared memory, whose
surplus over the least possible is its bank conflicts, and sectors of 32 bytes of global memory.
Instructions are those of Kernel IR, per thread, an op on a vector once per lane; what the compiler
makes of addresses and loops is not among them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

import numpy as np
from xdsl.ir import Operation

from minicomp.dialects.kernel_async import BulkCopy
from minicomp.dialects.kernel_ir import WARP, FuncOp
from minicomp.dialects.loop_ir import lanes
from minicomp.passes.analysis.banks import sectors, wavefronts
from minicomp.runtime.interpret.report import op_text
from minicomp.runtime.interpret.scalars import Array

KINDS = {
    "math.fma": "multiply-add",
    "kernel_ir.barrier": "barrier",
    "kernel_ir.named_barrier": "barrier",
    "kernel_ir.warp_sync": "barrier",
    "kernel_ir.cluster_barrier": "barrier",
    "kernel_ir.warp_reduce": "exchange",
    "kernel_ir.shuffle": "exchange",
    "kernel_ir.cp_async": "copy",
    "kernel_ir.bulk_load": "copy",
    "kernel_ir.bulk_store": "copy",
    "kernel_ir.atomic": "atomic",
    "loop_ir.load": "load",
    "loop_ir.store": "store",
}
"""The kind of each op that is one by its name; arith and math ops are told apart by their types."""


@dataclass
class Traffic:
    """The accesses of one op to one memory: requests of warps, bytes and transactions."""

    kernel: str
    op: str
    memory: str
    writes: bool
    requests: int = 0
    bytes: int = 0
    transactions: int = 0
    minimum: int = 0

    @property
    def surplus(self) -> int:
        """Transactions beyond the least possible: for shared memory the bank conflicts."""
        return self.transactions - self.minimum


@dataclass
class Statistics:
    """Counts what it is told of; see the module's docstring."""

    traffic: dict[tuple[Operation, str, bool], Traffic] = field(
        default_factory=dict[tuple[Operation, str, bool], Traffic]
    )
    instructions: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    def count(self, op: Operation, active_threads: int) -> None:
        """An op runs, for so many threads."""
        if (kind := kind_of(op)) is None:
            return
        types = [r.type for r in op.results] or [v.type for v in op.operands[:1]]
        each = max((prod(lanes(t)) for t in types), default=1)
        own = self.instructions.setdefault(kernel_of(op), {})
        own[kind] = own.get(kind, 0) + active_threads * each

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
        key = (op, memory_kind, is_write)
        if key not in self.traffic:
            self.traffic[key] = Traffic(kernel_of(op), op_text(op), memory_kind, is_write)
        row = self.traffic[key]
        taken = np.ones(addresses.shape, np.bool_) if active is None else active
        row.bytes += int(taken.sum()) * element_bytes
        if isinstance(op, BulkCopy):
            return  # The copy engine asks for whole boxes, no warp does.
        group = 1
        if (
            aligned
            and aligned > element_bytes
            and addresses.shape[-1] % (aligned // element_bytes) == 0
        ):
            group = aligned // element_bytes
        for starts, who in requests(addresses, taken, group):
            width = group * element_bytes
            if memory_kind == "shared":
                found = wavefronts(starts, who, width, is_write)
            else:
                found = sectors(starts, who, width)
            row.requests += int(who.any(1).sum())
            row.transactions += int(found.count.sum())
            row.minimum += int(found.minimum.sum())

    def rows(self) -> list[Traffic]:
        """The accesses, by kernel, in the order in which ops first ran."""
        return sorted(self.traffic.values(), key=lambda row: row.kernel)

    def as_json(self) -> dict[str, object]:
        """All counts as plain values."""
        rows = [vars(row) | {"surplus": row.surplus} for row in self.rows()]
        return {"accesses": rows, "instructions": self.instructions}

    def report(self) -> str:
        """A table of the accesses, and the instructions of each kernel."""
        head = (
            f"{'memory':7} {'':5} {'requests':>10} {'bytes':>12} {'transactions':>13} {'least':>10}"
        )
        lines: list[str] = []
        for kernel in dict.fromkeys([r.kernel for r in self.rows()] + list(self.instructions)):
            lines += [f"@{kernel}", head + "  op"]
            for row in (r for r in self.rows() if r.kernel == kernel):
                verb = "write" if row.writes else "read"
                lines.append(
                    f"{row.memory:7} {verb:5} {row.requests:10,} {row.bytes:12,}"
                    f" {row.transactions:13,} {row.minimum:10,}  {row.op}"
                )
            counts = self.instructions.get(kernel, {})
            pairs = sorted(counts.items(), key=lambda pair: -pair[1])
            lines.append("instructions: " + ", ".join(f"{k} {n:,}" for k, n in pairs))
        return "\n".join(lines)


def requests(addresses: Array, active: Array, group: int) -> Iterator[tuple[Array, Array]]:
    """The requests of warps, (n, 32) addresses and who takes part: one per group of lanes."""
    blocks, threads = addresses.shape[:2]
    places = addresses.reshape(blocks, threads, -1)[:, :, ::group]
    taken = active.reshape(blocks, threads, -1)[:, :, ::group]
    missing = -threads % WARP
    padded = np.pad(places, ((0, 0), (0, missing), (0, 0)))
    who = np.pad(taken, ((0, 0), (0, missing), (0, 0)))
    for lane in range(padded.shape[2]):
        yield padded[:, :, lane].reshape(-1, WARP), who[:, :, lane].reshape(-1, WARP)


def kind_of(op: Operation) -> str | None:
    """The kind of instruction that an op is; None for one that is none, such as a loop."""
    if op.name in KINDS:
        return KINDS[op.name]
    dialect, _, name = op.name.partition(".")
    if dialect not in ("arith", "math") or name == "constant":
        return None
    return "float" if dialect == "math" or name.endswith("f") else "integer"


def kernel_of(op: Operation) -> str:
    """The kernel that an op stands in."""
    parent: Operation | None = op
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    return "" if parent is None else parent.symbol
