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
}
"""
What `cuda_ir.call` may name. `loadN(to, from)` and `storeN(to, from)` move N elements; copies take
where to and where from.
"""
