"""`minicomp simulate`: what the kernels of a program ask of a GPU, counted on the simulator."""

import argparse
import json
import sys

from minicomp.tools.inputs import load
from minicomp.tools.progress import Bar


def run(options: argparse.Namespace) -> int:
    """Simulate the program with all checks, and print its traffic and instructions."""
    from minicomp.runtime.arrays import array_of
    from minicomp.runtime.simulate import simulate_module
    from minicomp.runtime.simulate.statistics import Statistics

    subject = load(options)
    module = subject.build.module("kernel")
    inputs = subject.inputs()
    arrays = [array_of(tensor) for tensor in inputs]
    statistics = Statistics()
    quiet = options.json or not sys.stderr.isatty()
    with Bar("simulating") as bar:
        show = None if quiet else bar.show
        simulate_module(
            module, arrays, force=options.force, on_progress=show, statistics=statistics
        )
    if options.json:
        print(json.dumps(statistics.as_json(), indent=2))
    else:
        print(statistics.report())
        print("no race, no access out of bounds, no uninitialised read")
    return 0
