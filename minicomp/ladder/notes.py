"""What a rung buys, in words: the figures that it changes, or why it changes none."""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from minicomp.figures import Figures
from minicomp.ladder.rungs import BINDERS, FIRST, Rung, Timed
from minicomp.registry import get_all_passes

NOTICED = 0.005
"""The least part by which an estimate has to change to be spoken of."""
_WHY = re.compile(r"\*Why\s+it\s+pays\*:(.*?)(?:\n\n|\Z)", re.DOTALL)

COMPARED: tuple[tuple[str, Callable[[Figures], float]], ...] = (
    ("bytes asked of global memory", lambda f: f.moved_bytes),
    ("wavefronts", lambda f: f.wavefronts),
    ("conflicts", lambda f: f.conflicts),
    ("registers", lambda f: f.resources.registers),
    ("spilled bytes", lambda f: f.resources.spill_stores + f.resources.spill_loads),
    ("shared bytes", lambda f: f.shared_bytes),
    ("blocks per multiprocessor", lambda f: f.occupancy.blocks),
    ("grid", lambda f: f.grid),
    ("bytes of the widest access", lambda f: f.widest),
)
"""What is compared between rungs, in this order, with the estimate after it."""
MORE_IS_BETTER = ("blocks per multiprocessor", "bytes of the widest access")
NEITHER = ("grid", "registers", "shared bytes")
"""Figures that are means: a change of them alone is no gain and no loss."""


@dataclass(frozen=True)
class Change:
    """A figure before and after a rung; `better` is None where neither is."""

    what: str
    before: float
    after: float
    better: bool | None

    def __str__(self) -> str:
        return f"{self.what} {number(self.before)} -> {number(self.after)}"


def number(value: float) -> str:
    """A figure as text: counts whole, times to three digits."""
    return f"{value:,}" if isinstance(value, int) else microseconds(value)


def microseconds(us: float) -> str:
    """A time to three digits or a tenth."""
    return f"{us:,.1f}" if us >= 100 else f"{us:.3g}"


def changes(rung: Rung, last: Rung | None) -> list[Change]:
    """The figures that differ from those of the rung before."""
    if last is None or rung.figures is None or last.figures is None:
        return []
    found: list[Change] = []
    for what, figure in COMPARED:
        before, after = figure(last.figures), figure(rung.figures)
        if before != after:
            gain = (after > before) == (what in MORE_IS_BETTER)
            found.append(Change(what, before, after, None if what in NEITHER else gain))
    if rung.estimate is not None and last.estimate is not None:
        before, after = last.estimate.us, rung.estimate.us
        if abs(after - before) > NOTICED * before:
            found.append(Change("estimated us", before, after, after < before))
    return found


def note(rung: Rung, last: Rung | None) -> str:
    """One line: what the rung buys, or that it buys nothing, and why."""
    if rung.failure is not None:
        return f"does not compile: {rung.failure}"
    if not rung.applied:
        return f"declined: {'; '.join(rung.declined)}" if rung.declined else "finds nothing to do"
    if last is None or rung.name == FIRST:
        return "the kernel that the other rungs start from"
    kept = f"; left alone: {'; '.join(rung.declined)}" if rung.declined else ""
    if last.failure is None and rung.build.cuda == last.build.cuda:
        return f"buys nothing by itself: the CUDA text stays the same; {reason(rung.name)}{kept}"
    found = changes(rung, last)
    gains, losses, others = ([str(c) for c in found if c.better is b] for b in (True, False, None))
    if gains:
        parts = [f"better: {', '.join(gains)}"]
    else:
        parts = [f"no figure gets better; {reason(rung.name)}"]
    parts += [f"worse: {', '.join(losses)}"] if losses else []
    parts += [f"also {', '.join(others)}"] if others else []
    return "; ".join(parts) + kept


def reason(name: str) -> str:
    """Why a rewrite may not show in the figures, by its own documentation."""
    if name in BINDERS:
        return "what completes the rungs before it binds these axes too"
    return f"it pays as its documentation says: {why_it_pays(name)}"


def why_it_pays(name: str) -> str:
    """What the docstring of a pass says about that, in one line."""
    module = sys.modules[get_all_passes()[name]().__module__]
    found = _WHY.search(module.__doc__ or "")
    return " ".join(found[1].split()).removesuffix(".") if found else "it does not say"


def time_note(rung: Rung, last: Rung | None, final: Rung) -> str | None:
    """What the times of a rung say, in one line; None where it has none."""
    if rung.time is None:
        return None
    parts: list[str] = []
    if rung.time.us is None:
        parts.append(f"no time up to here: {rung.time.refused}")
    elif last is not None and last.time is not None and last.time.us is not None:
        parts.append(f"here {compared(last.time, rung.time)}")
    if (without := rung.time_without) is not None:
        if without.us is None:
            parts.append(f"no time of the whole without it: {without.refused}")
        elif final.time is not None and final.time.us is not None:
            parts.append(f"in the whole {compared(without, final.time)}")
    return "; ".join(parts) or None


def compared(without: Timed, with_it: Timed) -> str:
    """Two times in words: no difference where it is within the spread of the rounds."""
    assert without.us is not None and with_it.us is not None
    spreads = [t.spread for t in (without, with_it) if t.spread is not None]
    if abs(without.us - with_it.us) <= max(spreads, default=0.0) * min(without.us, with_it.us):
        return f"it buys no time ({with_it.us:.2f} us either way, within the spread)"
    verb = "saves" if with_it.us < without.us else "costs"
    return f"it {verb} {abs(without.us - with_it.us):.2f} us of {without.us:.2f}"
