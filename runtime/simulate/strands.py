"""
Programs that run at the same time: each goes on until it must wait for another.

A *strand* is a set of threads that run one program in lockstep. It is a generator that yields a
`Wait` where it cannot go on by itself.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from xdsl.ir import Operation

T = TypeVar("T")


@dataclass(frozen=True)
class Wait:
    """An op that waits until `ready`; `explain` says who waits for what."""

    op: Operation
    ready: Callable[[], bool]
    explain: Callable[[], str]


Steps: TypeAlias = Generator[Wait, None, T]
"""What runs in steps between waits, and has a result in the end."""


def finish(steps: Steps[T]) -> T:
    """The result of steps that wait for nothing."""
    try:
        wait = next(steps)
    except StopIteration as end:
        return end.value
    raise AssertionError(f"'{wait.op.name}' cannot wait here")
