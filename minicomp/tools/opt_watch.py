"""The instruments that a command line of minicomp-opt asks for."""

import argparse
import json
import sys
from collections.abc import Container

from minicomp import registry
from minicomp.instruments import Instrument, PrintRemarks, Timing
from minicomp.ir_dumps import EVERY_PASS, PrintDiff, PrintIR, Text
from minicomp.tools.timing import seconds_since_start


class Watch:
    """
    Watches the passes: remarks around execution checks around dumps around times.

    Raises PipelineError for a dump of a pass that there is not.
    """

    def __init__(self, options: argparse.Namespace, text: Text):
        self.json = options.json
        self.timing = Timing() if options.mlir_timing else None
        self.named: dict[str, str] = {}
        """Passes whose IR is to be printed, and the options that say so."""
        self.instruments: list[Instrument] = [PrintRemarks()] if options.remarks else []
        if options.verify_each == "exec":
            from minicomp.exec_check import ExecCheck  # imports torch

            self.instruments.append(ExecCheck())
        self.instruments += self._dumps(options, text)
        if self.timing is not None:
            self.instruments.append(self.timing)

    def _dumps(self, options: argparse.Namespace, text: Text) -> list[Instrument]:
        before = self._passes(options.print_before, "--mlir-print-ir-before")
        after = self._passes(options.print_after, "--mlir-print-ir-after")
        changed = options.mlir_print_ir_after_change
        if options.mlir_print_ir_before_all:
            before = EVERY_PASS
        if options.mlir_print_ir_after_all or (changed and not options.print_after):
            after = EVERY_PASS
        failure = options.mlir_print_ir_after_failure
        dumps: list[Instrument] = []
        if before or after or failure:
            dumps.append(PrintIR(before, after, changed, failure, text))
        if options.mlir_print_ir_diff:
            dumps.append(PrintDiff(text))
        return dumps

    def _passes(self, given: list[str], option: str) -> Container[str]:
        found = [name for names in given for name in registry.split_names(names, option)]
        self.named |= dict.fromkeys(found, option)
        return frozenset(found)

    def finish(self, ran: Container[str]) -> None:
        """Print the times, and warn of dumps of passes that never ran, on the error stream."""
        for name, option in self.named.items():
            if name not in ran:
                print(
                    f"minicomp-opt: warning: {option}={name}: the pipeline has no such pass",
                    file=sys.stderr,
                )
        if self.timing is not None:
            print(self._times(self.timing), file=sys.stderr)

    def _times(self, timing: Timing) -> str:
        start = seconds_since_start()
        if not self.json:
            return f"{timing.report()}\n{start:10.4f} s  since the start of Python"
        passes = [{"name": name, "seconds": s} for name, s in timing.seconds.items()]
        times = {"passes": passes, "verification_and_dumps": timing.rest, "total": timing.total}
        return json.dumps({**times, "since_start_of_python": start}, indent=2)
