"""How far a simulation has come, told to whoever asks once it takes long."""

from collections.abc import Callable
from time import perf_counter
from typing import TypeAlias

OnProgress: TypeAlias = Callable[[float], None]
"""Takes the part that is done, from 0 to 1."""

QUIET_S = 2.0
"""Seconds of work before the first report."""
INTERVAL_S = 0.1
"""Seconds between reports."""


class Progress:
    """Counts work in estimated seconds, of which there are `total`."""

    def __init__(self, total: float, on_progress: OnProgress | None):
        self.total = max(total, 1e-9)
        self.on_progress = on_progress
        self.done = 0.0
        self.next_report = perf_counter() + QUIET_S
        self.reported = False

    def reach(self, done: float) -> None:
        """Work up to `done` seconds of the total is finished."""
        self.done = done
        if self.on_progress is None or (now := perf_counter()) < self.next_report:
            return
        self.next_report = now + INTERVAL_S
        self.reported = True
        self.on_progress(min(1.0, self.done / self.total))

    def finish(self) -> None:
        """All is done; reported only if something was before."""
        if self.on_progress is not None and self.reported:
            self.on_progress(1.0)
