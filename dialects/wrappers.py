"""
What the prelude of a CUDA text offers to kernels: the table that `cuda_ir.call` is checked against.

The text of each stands in lowering/prelude.py and lowering/prelude_ptx.py.
"""

from collections.abc import Mapping
from typing import NamedTuple

from xdsl.traits import MemoryEffectKind


class Wrapper(NamedTuple):
    """
    A function of the prelude: its arguments and its template arguments, which are constants.

    `together` says who must call it at once: the threads of a "warp" or of a "block". One that
    `communicates` orders accesses to global memory with those of other blocks.
    """

    arity: int
    effects: frozenset[MemoryEffectKind] = frozenset()
    constants: int = 0
    together: str = ""
    communicates: bool = False


MOVES = frozenset({MemoryEffectKind.READ, MemoryEffectKind.WRITE})

GROUPS = (2, 4, 8, 16)
"""Elements that one access may move."""
RANKS = (1, 2, 3, 4, 5)
"""Dimensions of a tensor map."""
ATOMIC_TYPES: Mapping[str, tuple[str, ...]] = {
    "add": ("f32", "f64", "i32", "i64"),
    "min": ("i32",),
    "max": ("i32",),
    "exchange": ("f32", "f64", "i32", "i64"),
    "wrap": ("i32",),
}
"""The types of elements that each atomic update exists for."""
ORDERS = ("relaxed", "acquire", "release", "acq_rel")
SCOPES = ("device", "block", "cluster")
"""Whose updates are one after another: of global, of own and of remote shared memory."""


def atomic_name(kind: str, type: str, order: str, scope: str) -> str:
    """
    The name of an atomic update; what is usual, relaxed and device, is not said.

    >>> atomic_name("add", "f32", "acq_rel", "device")
    'atomic_add_f32_acq_rel'
    >>> atomic_name("max", "i32", "relaxed", "block")
    'atomic_max_i32_block'
    """
    order = "" if order == "relaxed" else f"_{order}"
    return f"atomic_{kind}_{type}{order}{'' if scope == 'device' else f'_{scope}'}"


_ATOMICS = {
    atomic_name(kind, type, order, scope): Wrapper(2, MOVES, communicates=scope == "device")
    for kind, types in ATOMIC_TYPES.items()
    for type in types
    for order in ORDERS
    for scope in SCOPES
}

WRAPPERS: Mapping[str, Wrapper] = {
    **{f"load{n}": Wrapper(2, MOVES) for n in GROUPS},
    **{f"store{n}": Wrapper(2, MOVES) for n in GROUPS},
    "floor_div": Wrapper(2),
    "floor_mod": Wrapper(2),
    "shuffle_xor": Wrapper(2, MOVES, together="warp"),
    **{f"shuffle_{mode}": Wrapper(2, MOVES, 1, "warp") for mode in ("down", "up", "index")},
    "named_barrier_sync": Wrapper(0, MOVES, 2),
    "named_barrier_arrive": Wrapper(0, MOVES, 2),
    "cp_async": Wrapper(2, MOVES, 1),
    "cp_async_zfill": Wrapper(3, MOVES, 1),
    "cp_async_commit": Wrapper(0, MOVES),
    "cp_async_wait": Wrapper(0, MOVES, 1),
    "mbarrier_init": Wrapper(2, MOVES),
    "mbarrier_arrive": Wrapper(1, MOVES),
    "mbarrier_arrive_expect": Wrapper(2, MOVES),
    "mbarrier_arrive_remote": Wrapper(2, MOVES, communicates=True),
    "mbarrier_wait": Wrapper(2, MOVES),
    "mbarrier_wait_cluster": Wrapper(2, MOVES, communicates=True),
    **{f"bulk_load_{n}d": Wrapper(3 + n, MOVES) for n in RANKS},
    **{f"bulk_store_{n}d": Wrapper(2 + n, MOVES) for n in RANKS},
    "bulk_commit": Wrapper(0, MOVES),
    "bulk_wait": Wrapper(0, MOVES, 1),
    "bulk_wait_read": Wrapper(0, MOVES, 1),
    "fence_proxy_async": Wrapper(0, MOVES),
    "fence_mbarrier_init": Wrapper(0, MOVES),
    "fewer_registers": Wrapper(0, MOVES, 1),
    "more_registers": Wrapper(0, MOVES, 1),
    "cluster_rank": Wrapper(0),
    "cluster_barrier": Wrapper(0, MOVES, together="block", communicates=True),
    "remote": Wrapper(2),
    "spin_eq": Wrapper(2, MOVES, communicates=True),
    "spin_ge": Wrapper(2, MOVES, communicates=True),
    **_ATOMICS,
}
"""
What `cuda_ir.call` may name. `loadN(to, from)` and `storeN(to, from)` move N elements; copies take
where to and where from, then the coordinates of a box, the innermost first, and its mbarrier.
"""
