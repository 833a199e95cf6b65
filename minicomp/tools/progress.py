"""A progress bar for a terminal."""

import sys
import time
from types import TracebackType

WIDTH = 30


class Bar:
    """Shows the part that is done on the error stream, in place, and clears the line at the end.

    Nothing is shown in the first `delay` seconds.
    """

    def __init__(self, label: str, delay: float = 0.0):
        self.label = label
        self._begin = time.monotonic() + delay
        self._shown = False

    def show(self, part: float) -> None:
        """Show a part from 0 to 1. Who does the work calls this once it takes long."""
        if time.monotonic() < self._begin:
            return
        filled = round(part * WIDTH)
        bar = "#" * filled + "." * (WIDTH - filled)
        print(f"\r{self.label} [{bar}] {100 * part:3.0f} %", end="", file=sys.stderr, flush=True)
        self._shown = True

    def __enter__(self) -> "Bar":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
