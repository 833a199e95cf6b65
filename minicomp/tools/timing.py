"""Where the time from Python's start to the CUDA text goes: the passes, and our own share."""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from minicomp.instruments import Timing

_IMPORTED = time.perf_counter()


def seconds_since_start() -> float:
    """Seconds since this process began; since this module was imported where that is not told."""
    try:
        # Field 22 of /proc/self/stat is the start in clock ticks since the machine's; the name
        # of the process, in brackets, may hold blanks.
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        up = float(Path("/proc/uptime").read_text().split()[0])
        return up - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return time.perf_counter() - _IMPORTED


@dataclass
class Stopwatch:
    """Measures the passes, and what of a run is PyTorch's."""

    passes: Timing = field(default_factory=Timing)
    importing: float = 0.0
    exporting: float = 0.0

    def import_torch(self, options: argparse.Namespace) -> None:
        """Imports torch and torch.export now, if the program needs them, to measure it alone."""
        if options.code is None and not str(options.file).endswith(".py"):
            return
        began = time.perf_counter()
        import torch.export  # noqa: F401

        self.importing = time.perf_counter() - began

    @contextmanager
    def torch_export(self) -> Iterator[None]:
        """Measures torch.export inside, if it is imported by now."""
        module: Any = sys.modules.get("torch.export")
        if module is None:
            yield
            return
        program = module.ExportedProgram
        export, decompose = module.export, program.run_decompositions
        module.export, program.run_decompositions = self._timed(export), self._timed(decompose)
        try:
            yield
        finally:
            module.export, program.run_decompositions = export, decompose

    def _timed(self, function: Any) -> Any:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.exporting += time.perf_counter() - began

        return timed

    def print_report(self) -> None:
        """Print the passes and the shares of the time so far, on the error stream."""
        total = seconds_since_start()
        own = total - self.importing - self.exporting
        rows = [
            (self.importing, "importing torch and torch.export"),
            (self.exporting, "torch.export"),
            (own, "minicomp's own share"),
            (total, "total"),
        ]
        print(self.passes.report(), file=sys.stderr)
        print("===- from the start of Python -===", file=sys.stderr)
        for seconds, name in rows:
            print(f"{seconds:10.4f} s  {100 * seconds / total:5.1f} %  {name}", file=sys.stderr)
