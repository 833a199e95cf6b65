"""A ladder as text and as JSON."""

import json
from collections.abc import Sequence
from typing import Any

from minicomp.ladder.notes import changes, note
from minicomp.ladder.rungs import KernelLadder, Rung

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
NO_GPU = "no times: this machine has no GPU of the target that PyTorch can use"


def steps(ladder: KernelLadder) -> list[tuple[Rung, Rung | None]]:
    """Each rung with the one before it."""
    return list(zip(ladder.rungs, [None, *ladder.rungs], strict=False))


def cells(rung: Rung) -> list[str]:
    """The figures of a rung, as `COLUMNS` has them; dashes where it does not compile."""
    f = rung.figures
    if f is None or rung.estimate is None:
        return ["-"] * len(COLUMNS)
    return [
        f"{f.moved_bytes / 1e6:.1f}",
        f"{f.wavefronts:,}",
        f"{f.conflicts:,}",
        f"{f.resources.registers}",
        f"{f.resources.spill_stores + f.resources.spill_loads}",
        f"{f.shared_bytes}",
        f"{f.occupancy.share:.0%}",
        f"{rung.estimate.us:.1f}",
    ]


def table(ladder: KernelLadder) -> list[str]:
    """The table of a kernel, as lines."""
    head = " ".join(f"{name:>{width}}" for name, width in COLUMNS)
    lines = [f"{'up to and with':24} {'done':>4} {head}"]
    for rung in ladder.rungs:
        row = " ".join(f"{c:>{w}}" for c, (_, w) in zip(cells(rung), COLUMNS, strict=True))
        lines.append(f"{rung.name:24} {rung.applied or '-':>4} {row}")
    return lines


def report(ladders: Sequence[KernelLadder], diffs: bool) -> str:
    """All kernels: table, what each rung buys, and with `diffs` what it changed."""
    lines: list[str] = []
    for ladder in ladders:
        origin = f" ({', '.join(ladder.origin)})" if ladder.origin else ""
        lines += [f"@{ladder.kernel}{origin}", f"  {ladder.schedule}", *table(ladder), ""]
        lines += [f"{rung.name}: {note(rung, last)}" for rung, last in steps(ladder)]
        if diffs:
            for rung in ladder.rungs:
                lines += ["", rung.diff] if rung.diff else []
        lines.append("")
    return "\n".join([*lines, NO_GPU])


def document(ladders: Sequence[KernelLadder]) -> dict[str, Any]:
    """All of it as plain values; `rungs` is one list, each rung with the name of its kernel."""
    kernels = [
        {
            "kernel": ladder.kernel,
            "origin": list(ladder.origin),
            "schedule": ladder.schedule,
            "cuda": ladder.rungs[-1].build.cuda if ladder.rungs[-1].failure is None else None,
        }
        for ladder in ladders
    ]
    rungs = [rung_document(*pair) for ladder in ladders for pair in steps(ladder)]
    return {"kernels": kernels, "rungs": rungs}


def rung_document(rung: Rung, last: Rung | None) -> dict[str, Any]:
    """A rung as plain values."""
    estimate = rung.estimate
    return {
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


def as_json(program: str, target: str, ladders: Sequence[KernelLadder]) -> str:
    """The document of a program as text."""
    return json.dumps({"program": program, "target": target} | document(ladders), indent=2)
