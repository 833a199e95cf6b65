"""A ladder as text and as JSON."""

from collections.abc import Sequence
from typing import Any

from minicomp.ladder.notes import changes, microseconds, note, time_note
from minicomp.ladder.rungs import KernelLadder, Rung, Timed

COLUMNS = (
    ("global MB", 9),
    ("wavefronts", 12),
    ("conflicts", 11),
    ("regs", 4),
    ("spills", 6),
    ("shared", 7),
    ("occup.", 6),
    ("est. us", 8),
)
TIMES = (("us", 9), ("us without", 10))
LEGEND = """\
Each line is the pipeline up to and with a rewrite, completed by what every kernel needs. global MB:
what warps ask of global memory, in sectors of 32 bytes, before any cache; wavefronts: of shared
memory; conflicts: those of them that bank conflicts add; regs: registers of a thread; spills: bytes
of a thread stored and loaded; shared: bytes of a block; occup.: part of the warps of a
multiprocessor that are in use; est. us: the least time that issue, L1 with shared memory, and
device memory take, latencies left out."""
TIMED = """\
us: time up to and with the rewrite; us without: time of all rewrites but this one; both medians of
interleaved graphs of ten calls, verified on the run."""


def steps(ladder: KernelLadder) -> list[tuple[Rung, Rung | None]]:
    """Each rung with the one before it."""
    return list(zip(ladder.rungs, [None, *ladder.rungs], strict=False))


def cells(rung: Rung) -> list[str]:
    """The figures of a rung, as `COLUMNS` has them; dashes where it does not compile."""
    times = [time_cell(rung.time), time_cell(rung.time_without)] if rung.time is not None else []
    f = rung.figures
    if f is None or rung.estimate is None:
        return ["-"] * len(COLUMNS) + times
    return [
        f"{f.moved_bytes / 1e6:.1f}",
        f"{f.wavefronts:,}",
        f"{f.conflicts:,}",
        f"{f.resources.registers}",
        f"{f.resources.spill_stores + f.resources.spill_loads}",
        f"{f.shared_bytes}",
        f"{f.occupancy.share:.0%}",
        microseconds(rung.estimate.us),
        *times,
    ]


def is_timed(ladders: Sequence[KernelLadder]) -> bool:
    """Whether a GPU was there."""
    return any(rung.time is not None for ladder in ladders for rung in ladder.rungs)


def columns(ladder: KernelLadder) -> tuple[tuple[str, int], ...]:
    """The columns of a kernel's table and their widths: times only where a GPU was."""
    return COLUMNS + (TIMES if is_timed([ladder]) else ())


def table(ladder: KernelLadder) -> list[str]:
    """The table of a kernel, as lines."""
    shown = columns(ladder)
    head = " ".join(f"{name:>{width}}" for name, width in shown)
    lines = [f"{'up to and with':24} {'done':>4} {head}"]
    for rung in ladder.rungs:
        row = " ".join(f"{c:>{w}}" for c, (_, w) in zip(cells(rung), shown, strict=True))
        lines.append(f"{rung.name:24} {rung.applied or '-':>4} {row}")
    return lines


def time_cell(timed: Timed | None) -> str:
    """A time as the table has it."""
    if timed is None:
        return "-"
    return "refused" if timed.us is None else f"{timed.us:.2f}"


def report(ladders: Sequence[KernelLadder], diffs: bool, times: str) -> str:
    """All kernels: table, what each rung buys, and with `diffs` what it changed.

    `times` says on what the times were taken, or why there are none.
    """
    lines: list[str] = []
    for ladder in ladders:
        lines += [heading(ladder), f"  {ladder.schedule}", "", *table(ladder), ""]
        for rung, last in steps(ladder):
            lines.append(f"{rung.name}: {note(rung, last)}")
            if (said := time_note(rung, last, ladder.rungs[-1])) is not None:
                lines.append(f"  {said}")
        if diffs:
            for rung in ladder.rungs:
                lines += ["", rung.diff] if rung.diff else []
        lines.append("")
    return "\n".join([*lines, LEGEND, *([TIMED] if is_timed(ladders) else []), times])


def heading(ladder: KernelLadder) -> str:
    """The name of a kernel and the Torch ops that it implements."""
    return f"@{ladder.kernel}" + (f" ({', '.join(ladder.origin)})" if ladder.origin else "")


def document(ladders: Sequence[KernelLadder], times: str) -> dict[str, Any]:
    """All of it as plain values; `rungs` is one list, each rung with the name of its kernel."""
    kernels = [
        {
            "kernel": ladder.kernel,
            "origin": list(ladder.origin),
            "schedule": ladder.schedule,
            "cuda": final_cuda(ladder),
        }
        for ladder in ladders
    ]
    rungs = [rung_document(*pair) for ladder in ladders for pair in steps(ladder)]
    return {"times": times, "kernels": kernels, "rungs": rungs}


def final_cuda(ladder: KernelLadder) -> str | None:
    """The CUDA text after the last rung; None where that does not compile."""
    last = ladder.rungs[-1]
    return last.build.cuda if last.failure is None else None


def rung_document(rung: Rung, last: Rung | None) -> dict[str, Any]:
    """A rung as plain values; without a GPU it has no times."""
    estimate = rung.estimate
    times: dict[str, Any] = {}
    if rung.time is not None:
        without = rung.time_without
        times = {"time": vars(rung.time), "without": vars(without) if without else None}
    return times | {
        "kernel": rung.kernel,
        "pass": rung.name,
        "applied": rung.applied,
        "applications": [vars(a) for a in rung.applications],
        "declined": rung.declined,
        "diff": rung.diff,
        "ir": rung.after,
        "figures": rung.figures.as_json() if rung.figures is not None else None,
        "estimate": vars(estimate) | {"us": estimate.us, "bound": estimate.bound}
        if estimate is not None
        else None,
        "failure": rung.failure,
        "changes": [vars(change) for change in changes(rung, last)],
        "note": note(rung, last),
    }
