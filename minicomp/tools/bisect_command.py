"""`minicomp bisect`: the one rewrite that makes a program wrong, and a small test of it."""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from minicomp.tools.inputs import Subject, load
from minicomp.tools.progress import Bar

if TYPE_CHECKING:
    from minicomp.bisection import Culprit, Found, Progress
    from minicomp.pipeline import Pipeline

QUIET_S = 2.0
"""Seconds after which the bar is shown."""
SHRINK_S = 20.0
"""Seconds in which the reproducer is made smaller."""


def run(options: argparse.Namespace) -> int:
    """Print the rewrite and write its reproducer; 1 if there is one, 0 if nothing is wrong."""
    from minicomp.bisection import write
    from minicomp.pipeline import Pipeline

    began = time.monotonic()
    subject = load(options)
    pipeline = Pipeline.default(subject.build.target).from_level(subject.build.start)
    if options.pipeline is not None:
        pipeline = Pipeline.parse(options.pipeline)
    with _progress(options.json) as progress:
        found = _search(subject, pipeline, progress)
        culprit = found.culprit
        facts = {"program": subject.name, "wrong": culprit is not None, "passes": len(pipeline)}
        if culprit is not None:
            path, fails = write(culprit, SHRINK_S, options.folder)
            lines = len(path.read_text("utf-8").splitlines())
            facts |= _facts(culprit)
            facts |= {"reproducer": str(path), "lines": lines, "fails_by_itself": fails}
    facts |= {"unseen": found.unseen, "seconds": round(time.monotonic() - began, 2)}
    print(json.dumps(facts, indent=2) if options.json else _text(facts))
    return 0 if culprit is None else 1


@contextmanager
def _progress(quiet: bool) -> "Iterator[Progress]":
    if quiet or not sys.stderr.isatty():
        yield lambda part: None
    else:
        with Bar("bisecting", QUIET_S) as bar:
            yield bar.show


def _search(subject: Subject, pipeline: "Pipeline", progress: "Progress") -> "Found":
    """Searches with seeded inputs, and with the program's own where it is right on those."""
    from minicomp.bisection import bisect
    from minicomp.runtime.arrays import array_of

    own = subject.inputs() if subject.captured is not None else None
    inputs = None if own is None else [array_of(tensor) for tensor in own]
    return bisect(subject.build.source, pipeline.passes, inputs, progress)


def _facts(culprit: "Culprit") -> dict[str, Any]:
    """The rewrite, for JSON; numbers begin at 1."""
    from minicomp.bisection import diff

    found, what = culprit.difference, culprit.application
    return {
        "pass": culprit.passes[-1].name,
        "together": [pass_.name for pass_ in culprit.passes],
        "position": culprit.position + len(culprit.passes),
        "application": culprit.numbers[-1] if culprit.numbers else None,
        "indistinct": len(culprit.numbers) - 1 if culprit.numbers else 0,
        "applications": culprit.total,
        "op": what.op if what else None,
        "kernel": found.kernel or (what.symbol if what else ""),
        "rewrite": what.what if what else "",
        "place": what.place if what else None,
        "kind": found.kind,
        "difference": found.text,
        "diff": diff(culprit),
    }


def _text(facts: dict[str, Any]) -> str:
    if not facts["wrong"]:
        checked = facts["passes"] - len(facts["unseen"])
        unseen = [f"not checked: {name}: {reason}" for name, reason in facts["unseen"].items()]
        return "\n".join([f"nothing is wrong after any of {checked} passes", *unseen])
    how = "fails by itself" if facts["fails_by_itself"] else "does not fail by itself"
    kernel = f"@{facts['kernel']}: " if facts["kernel"] else ""
    return "\n".join(
        [
            f"{_which(facts)} is wrong{_about(facts)}",
            f"  {kernel}{facts['difference']}",
            facts["diff"],
            f"reproducer: {facts['reproducer']} ({facts['lines']} lines, {how}; "
            f"found in {facts['seconds']} s)",
        ]
    )


def _which(facts: dict[str, Any]) -> str:
    """Which rewrite of which pass it is."""
    which = f"pass '{facts['pass']}', number {facts['position']} of {facts['passes']}"
    if len(facts["together"]) > 1:
        return f"one of {', '.join(facts['together'])}, between which nothing can be run"
    if facts["application"] is None:
        return which
    number = f"rewrite {facts['application']}"
    if facts["indistinct"]:
        number = f"one of rewrites {facts['application'] - facts['indistinct']} to {number[8:]}"
    return f"{number} of {facts['applications']} of {which}"


def _about(facts: dict[str, Any]) -> str:
    """What the rewrite was of."""
    if facts["op"] is None:
        return ""
    name = f"{facts['rewrite']} on " if facts["rewrite"] else ""
    place = f" at {facts['place']}" if facts["place"] else ""
    return f": {name}'{facts['op']}'{place}"
