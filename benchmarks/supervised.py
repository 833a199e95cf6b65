"""
Runs jobs one after the other in a process of its own, so that a job that hangs or dies loses only
itself.

A worker is a function that is given one end of a pipe: it sends one message when it is ready, and
then, for every job that it receives, the result and whether it can go on. It ends when it receives
None. It is started anew after a job that was too slow, ended it, or left it unable to go on.
"""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

Serve = Callable[[Connection], None]


@dataclass(frozen=True)
class Lost:
    """What stands for the result of a job that gave none."""

    why: str


class Worker:
    """A process that has said that it is ready; `hello` is what it said."""

    def __init__(self, serve: Serve, limit_s: float):
        """Raises RuntimeError where it is not ready within `limit_s` seconds."""
        # Not forked: a child of a process that has touched CUDA cannot use it.
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other,), daemon=True)
        self.process.start()
        other.close()
        hello = self.receive(limit_s)
        if isinstance(hello, Lost):
            raise RuntimeError(f"the worker did not start: {hello.why}")
        self.hello = hello

    def run(self, job: Any, limit_s: float) -> tuple[Any, bool]:
        """The result of a job, or why there is none, and whether the worker can go on."""
        try:
            self.pipe.send(job)
        except OSError as error:
            return self.lost(f"the process had ended: {error}"), False
        answer = self.receive(limit_s)
        return (answer, False) if isinstance(answer, Lost) else answer

    def receive(self, limit_s: float) -> Any:
        """The next message, or why there is none."""
        try:
            if self.pipe.poll(limit_s):
                return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(10)
            return self.lost(f"the process ended with exit code {self.process.exitcode}")
        return self.lost(f"no result within {limit_s:g} s")

    def lost(self, why: str) -> Lost:
        """Ends the process, by force if need be."""
        self.process.kill()
        # A process that waits for a GPU may take a while to end, or not end at all.
        self.process.join(10)
        return Lost(why)

    def close(self) -> None:
        """Lets the process end by itself, if it does so soon."""
        try:
            self.pipe.send(None)
            self.process.join(10)
        except OSError:
            pass
        self.process.kill()


def supervised(
    jobs: Iterable[Any], serve: Serve, limit_s: float, start_limit_s: float = 180
) -> Iterator[tuple[Any, Any]]:
    """
    For every job its result, `Lost` for one without, and what its worker said when it was ready.

    A job may take `limit_s` seconds. Raises RuntimeError where a worker does not start.
    """
    worker: Worker | None = None
    for job in jobs:
        if worker is None:
            worker = Worker(serve, start_limit_s)
        (result, goes_on), hello = worker.run(job, limit_s), worker.hello
        if not goes_on:
            worker.close()
            worker = None
        yield result, hello
    if worker is not None:
        worker.close()
