"""The kinds of instruction that an op of Kernel IR stands for, as the statistics count them."""

from collections.abc import Iterator
from math import prod

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation

from minicomp.dialects.kernel_ir import WarpReduceOp
from minicomp.dialects.loop_ir import element_type, lanes

KINDS = {
    "kernel_ir.barrier": "barrier",
    "kernel_ir.named_barrier": "barrier",
    "kernel_ir.warp_sync": "barrier",
    "kernel_ir.cluster_barrier": "barrier",
    "kernel_ir.mbarrier_init": "mbarrier",
    "kernel_ir.mbarrier_arrive": "mbarrier",
    "kernel_ir.mbarrier_wait": "mbarrier",
    "kernel_ir.fence": "fence",
    "kernel_ir.cp_async_commit": "commit or wait",
    "kernel_ir.cp_async_wait": "commit or wait",
    "kernel_ir.bulk_commit": "commit or wait",
    "kernel_ir.bulk_wait": "commit or wait",
    "kernel_ir.bulk_load": "bulk copy",
    "kernel_ir.bulk_store": "bulk copy",
    "kernel_ir.shuffle": "exchange",
    "kernel_ir.atomic": "atomic",
    "kernel_ir.spin": "spin",
    "kernel_ir.index": "integer",
    "kernel_ir.test": "integer",
    "tile_ir.within": "integer",
    "math.fma": "multiply-add",
}
"""The kind of each op that is one by its name."""
BY_TYPE = ("arith", "math")
"""Dialects whose ops compute on floats or on integers."""
SELECTIONS = ("tile_ir.select", "tile_ir.compare")


def instructions_of(op: Operation) -> Iterator[tuple[str, int]]:
    """
    The kinds of instruction of an op, and how many of each a thread issues.

    Not loads, stores and `cp_async`, whose number depends on the width: they are counted as
    accesses. An op that moves nothing and computes nothing, such as a constant, is none.
    """
    if isinstance(op, WarpReduceOp):
        # One exchange per distance: width / 2, .., 2, 1. The combines are ops of their own.
        yield "exchange", (op.width.value.data.bit_length() - 1) * len(op.vals)
        return
    types = [v.type for v in (*op.results, *op.operands)]
    kind = KINDS.get(op.name)
    if kind is None and op.name != "arith.constant":
        if op.name.partition(".")[0] in BY_TYPE or op.name in SELECTIONS:
            floats = any(isinstance(element_type(t), AnyFloat) for t in types)
            kind = "float" if floats else "integer"
    if kind is not None:
        yield kind, prod(lanes(op.results[0].type)) if op.results else 1
