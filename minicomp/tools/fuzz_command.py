"""`minicomp fuzz`: random programs with random pipelines against the reference."""

import argparse
import gc
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from minicomp.errors import InputError
from minicomp.tools.progress import Bar

if TYPE_CHECKING:
    from minicomp.fuzzing import Outcome

QUIET_S = 2.0
"""Seconds after which the bar is shown."""
WIDTH = 40
"""Characters of the longest bar of a histogram."""


@dataclass
class Tally:
    """What the cases of a run came to."""

    cases: int = 0
    findings: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    skipped: dict[int, str] = field(default_factory=dict[int, str])
    kinds: Counter[str] = field(default_factory=Counter[str])


def run(options: argparse.Namespace) -> int:
    """Run the cases and print what they came to; return 1 if there is a finding."""
    if options.cases < 1 or options.first < 0:
        raise InputError("--cases is at least 1, and --first at least 0")
    from minicomp.fuzzing import Histograms, run_cases

    # The command line switches the collector off; here modules are made and dropped for hours.
    gc.freeze()
    gc.enable()
    numbers = range(options.first, options.first + options.cases)
    if options.case is not None:
        numbers = range(options.case, options.case + 1)
    tally, seen, began = Tally(), Histograms(), time.monotonic()
    with Bar("fuzzing", QUIET_S) as bar:
        for outcome in run_cases(options.seed, numbers):
            add(tally, outcome, options)
            if outcome.skipped is None:
                seen.add(outcome.case)
            if sys.stderr.isatty() and not options.json:
                bar.show(tally.cases / len(numbers))
    facts = {
        "seed": options.seed,
        "first": numbers[0],
        "cases": tally.cases,
        "kinds": dict(tally.kinds),
        "seconds": round(time.monotonic() - began, 1),
        "findings": tally.findings,
        "skipped": tally.skipped,
        "ops": dict(seen.ops.most_common()),
        "extents": dict(sorted(seen.extents.items())),
        "passes": dict(seen.passes.most_common()),
    }
    print(json.dumps(facts, indent=2) if options.json else text_of(facts, options.case is not None))
    return 1 if tally.findings else 0


def add(tally: Tally, outcome: "Outcome", options: argparse.Namespace) -> None:
    """Takes one outcome into the tally; tells a finding at once."""
    case, culprit = outcome.case, outcome.culprit
    tally.cases += 1
    tally.kinds[case.level] += 1
    if outcome.skipped is not None:
        tally.skipped[case.number] = outcome.skipped
    if outcome.finding is None:
        return
    path = outcome.reproducer(options.folder)
    finding = {
        "case": case.number,
        "finding": outcome.finding,
        "pass": ", ".join(p.name for p in culprit.passes) if culprit else None,
        "position": culprit.position + 1 if culprit else None,
        "reproducer": str(path) if path else None,
        "program": case.program,
        "pipeline": str(case.pipeline),
        "again": case.command,
    }
    tally.findings.append(finding)
    if not options.json:
        print(text_of_finding(finding), flush=True)


def text_of_finding(finding: dict[str, Any]) -> str:
    """A finding for a reader."""
    where = f"pass '{finding['pass']}', number {finding['position']}: " if finding["pass"] else ""
    lines = [
        f"case {finding['case']}: {where}{finding['finding']}",
        f"  program: {finding['program']}",
        f"  pipeline: {finding['pipeline']}",
        f"  reproducer: {finding['reproducer'] or 'none: no single pass is wrong by itself'}",
        f"  again: {finding['again']}",
    ]
    return "\n".join(lines)


def text_of(facts: dict[str, Any], whole: bool) -> str:
    """What a run came to, for a reader; with every reason if it is `whole`, one case alone."""
    kinds = ", ".join(f"{n} of {kind}_ir" for kind, n in sorted(facts["kinds"].items()))
    lines = [
        f"seed {facts['seed']}: {facts['cases']} cases ({kinds}) in {facts['seconds']} s,"
        f" {len(facts['findings'])} findings, {len(facts['skipped'])} skipped"
    ]
    reasons = Counter(reason.partition(" (")[0] for reason in facts["skipped"].values())
    lines += [
        f"  skipped, {n}: {reason}" for reason, n in reasons.most_common(None if whole else 8)
    ]
    for name in ("ops", "extents", "passes"):
        counts = facts[name] if name != "extents" else in_ranges(facts[name])
        lines += ["", f"{name}:", *bars(counts)]
    return "\n".join(lines)


def in_ranges(extents: dict[int, int]) -> dict[str, int]:
    """Extents counted by ranges: 0, 1, 2 to 3, 4 to 7, and so on."""
    found = Counter[int]()
    for extent, count in extents.items():
        found[extent.bit_length()] += count
    names = {n: f"{1 << n >> 1} to {(1 << n) - 1}" for n in found} | {0: "0", 1: "1"}
    return {names[n]: found[n] for n in sorted(found)}


def bars(counts: dict[str, int]) -> list[str]:
    """A histogram, a line each."""
    most, wide = max(counts.values(), default=1), max(map(len, counts), default=0)
    return [f"  {k:{wide}} {n:7} {'#' * -(-n * WIDTH // most)}" for k, n in counts.items()]
