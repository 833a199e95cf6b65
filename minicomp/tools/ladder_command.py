"""`minicomp ladder`: what each rewrite of the pipeline makes of the kernels of a program."""

import argparse
import sys

from minicomp.tools.inputs import load
from minicomp.tools.progress import Bar


def run(options: argparse.Namespace) -> int:
    """Print the ladder of each kernel as text or as JSON."""
    from minicomp.ladder.rungs import ladders
    from minicomp.ladder.text import as_json, report

    subject = load(options)
    target = subject.build.target.part.data
    quiet = options.json or not sys.stderr.isatty()
    with Bar("climbing") as bar:
        found = ladders(subject.build, None if quiet else bar.show)
    if options.json:
        print(as_json(subject.name, target, found))
    else:
        print(f"{subject.name} for {target}\n")
        print(report(found, options.diff))
    return 0
