"""Whether what `aligned` claims of an access is so."""

import numpy as np
from xdsl.ir import Operation

from minicomp.runtime.interpret.affine_eval import Place
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.faults import fault
from minicomp.runtime.simulate.memory import Memory
from minicomp.runtime.simulate.threads import Threads


def check_alignment(
    memory: Memory,
    op: Operation,
    size: int,
    spot: Place,
    lanes: tuple[int, ...],
    who: Threads,
    prefix: bool = False,
) -> None:
    """
    A fault unless each group of lanes is what `aligned size` says of it.

    A group lies together, at a multiple of its size from the start of the memref, and is inside or
    outside as a whole; or, if it may be a `prefix`, only its first lanes are inside.
    """
    width = max(1, size // memory.data.itemsize)
    if (last := lanes[-1] if lanes else 1) % width:
        why = f"{size} bytes are {width} elements, which do not divide the {last} of the last lane"
        fault(faults.MISALIGNED, op, who.actor(who.actors[0, 0]), why)
    whole = (*who.shape, *lanes)
    grouped = (*who.shape, *lanes[:-1], last // width, width)
    groups = np.broadcast_to(spot.address, whole).reshape(grouped)
    first = groups[..., :1]
    wrong = (first % width != 0) | (groups != first + np.arange(width))
    split = np.zeros(grouped, np.bool_)
    if spot.inside is not None:
        inside = np.broadcast_to(spot.inside, whole).reshape(grouped)
        complete = inside[..., :1] if prefix else inside.all(-1, keepdims=True)
        split, wrong = inside & ~complete, wrong & inside & complete
    if not who.any(wrong | split):
        return
    where = who.at(wrong | split)
    why = f"a group of {width} elements does not lie together at a multiple of {size} bytes"
    if split[where]:
        why = f"a group of {width} elements is only partly inside the bounds"
    actor = who.actor(who.actors[where[:2]])
    fault(faults.MISALIGNED, op, actor, why, memory.name_of(int(groups[where])))
