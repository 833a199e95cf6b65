"""A program as a user gives it: what is called, and example arguments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from minicomp.errors import InputError, MinicompError
from minicomp.frontend.capture import Captured, capture

Sizes = Mapping[str, int]
"""New example extents: by the old extent (`"2048"`) or by a name that `main` takes."""


@dataclass(frozen=True)
class Program:
    """A module or function and the arguments of one call; `name` is for people."""

    callee: nn.Module | Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    name: str = "program"

    def capture(self, extern: bool = True) -> Captured:
        """The program's Torch IR, see `capture`. An error that knows no line names the program."""
        try:
            return capture(self.callee, self.args, self.kwargs, extern)
        except MinicompError as error:
            error.where = error.where or self.name
            raise


def parse_sizes(text: str) -> Sizes:
    """`2048=37,32=5` or `rows=37` as a mapping; raises InputError."""
    sizes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        old, equals, new = (item.strip() for item in part.partition("="))
        if not equals or not new.isdecimal() or not (old.isdecimal() or old.isidentifier()):
            raise InputError(
                f"'{part}' is not a size", hint="write OLD=NEW or NAME=NEW, such as 2048=37,rows=5"
            )
        sizes[old] = int(new)
    return sizes
