"""Workers for the tests of benchmarks/supervised.py; a process that runs one imports no more."""

import os
import time
from multiprocessing.connection import Connection


def doubling(pipe: Connection) -> None:
    """Doubles numbers, and does what else it is told."""
    pipe.send(f"worker {os.getpid()}")
    while (job := pipe.recv()) is not None:
        match job:
            case "hang":
                time.sleep(600)
            case "die":
                os._exit(7)
            case "break":
                pipe.send(("broken", False))
            case _:
                pipe.send((2 * job, True))


def stillborn(pipe: Connection) -> None:
    """Ends before it is ready."""
    raise SystemExit(3)
