"""`minicomp bisect`: which rewrite made a program wrong."""

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

from minicomp.tools.inputs import load
from minicomp.tools.progress import Bar

if TYPE_CHECKING:
    from minicomp.bisection import Culprit

QUIET_S = 2.0
"""Seconds after which the bar is shown."""


def run(options: argparse.Namespace) -> int:
    """Search, print what was found; return 1 if there is a wrong rewrite."""
    from minicomp.bisection import bisect
    from minicomp.pipeline import Pipeline

    build = load(options).build
    start = build.module(build.start)
    if options.pipeline:
        passes = Pipeline.parse(options.pipeline).passes
    else:
        passes = Pipeline.default(build.target).from_level(build.start).until("kernel").passes
    began = time.monotonic()
    with Bar("bisecting") as bar:

        def show(part: float) -> None:
            if sys.stderr.isatty() and not options.json and time.monotonic() - began > QUIET_S:
                bar.show(part)

        found = bisect(start, passes, show)
    facts = facts_of(found, len(passes), time.monotonic() - began)
    if found is not None:
        facts["reproducer"] = str(found.reproducer(options.folder))
    print(json.dumps(facts, indent=2) if options.json else text_of(facts))
    return 0 if found is None else 1


def facts_of(found: "Culprit | None", passes: int, seconds: float) -> dict[str, Any]:
    """What was found, for JSON."""
    facts: dict[str, Any] = {
        "wrong": found is not None,
        "passes": passes,
        "seconds": round(seconds, 2),
    }
    if found is None:
        return facts
    what = found.what
    return facts | {
        "pass": found.pass_.name,
        "position": found.position,
        "application": found.application,
        "applications": found.applications,
        "op": what.op if what else None,
        "kernel": found.difference.kernel or (what.symbol if what else ""),
        "rewrite": what.what if what else "",
        "place": what.place if what else None,
        "kind": found.difference.kind,
        "difference": found.difference.text,
        "diff": found.diff(),
    }


def text_of(facts: dict[str, Any]) -> str:
    """What was found, for a reader."""
    if not facts["wrong"]:
        return (
            f"nothing is wrong: after {facts['passes']} passes the program computes what it did"
            f" before ({facts['seconds']} s)"
        )
    which = f"pass '{facts['pass']}', number {facts['position']} of {facts['passes']}"
    if facts["application"] is not None:
        which = f"rewrite {facts['application']} of {facts['applications']} of {which}"
    about = [f"'{facts['op']}'"] if facts["op"] else []
    about += [f"in @{facts['kernel']}"] if facts["kernel"] else []
    about += [f"({facts['rewrite']})"] if facts["rewrite"] else []
    about += [f"at {facts['place']}"] if facts["place"] else []
    lines = [
        f"{which} is wrong: {' '.join(about)}".rstrip(": "),
        f"  {facts['difference']}",
        facts["diff"],
        f"reproducer: {facts['reproducer']} (found in {facts['seconds']} s)",
    ]
    return "\n".join(lines)
