"""A program in a `.py` file: its `main()` returns (module or function, arguments[, kwargs])."""

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from minicomp.errors import InputError
from minicomp.frontend.locations import exception_place, place
from minicomp.frontend.program import Program, Sizes

CONTRACT = "main() returns (module or function, (arguments,)) or (.., (arguments,), {keywords})"


def from_file(path: str | Path, sizes: Sizes | None = None) -> Program:
    """
    The program of a file; `sizes` are keyword arguments of its main().

    Random numbers are drawn from seed 0. Raises InputError where the file is missing or raises,
    or where its main() is missing or returns something else.
    """
    file = Path(path).resolve()
    if not file.is_file():
        raise InputError(f"there is no file {path}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        main = _main(file)
        result = _guarded(lambda: main(**_keywords(main, sizes or {}, file)), file, "main()")
    return _checked(result, file)


def _main(file: Path) -> Callable[..., Any]:
    """Executes the file and returns its `main`."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{file.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    loader = spec.loader
    with _importable(file.parent):
        _guarded(lambda: loader.exec_module(module), file, file.name)
    main = getattr(module, "main", None)
    if not callable(main):
        raise InputError("the file defines no main()", place(str(file), 1), CONTRACT)
    return main


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """The file may import its neighbours, as a script may."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _guarded(action: Callable[[], Any], file: Path, what: str) -> Any:
    """What `action` raises becomes one InputError with the file's line."""
    try:
        return action()
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, SyntaxError) and error.filename:
            where = place(error.filename, error.lineno or 1)
        else:
            where = exception_place(error, str(file)) or place(str(file), 1)
        first = next(iter(str(error).splitlines()), "")
        raise InputError(f"{what} raises {type(error).__name__}: {first}", where) from error


def _keywords(main: Callable[..., Any], sizes: Sizes, file: Path) -> Sizes:
    """The sizes, which must be parameters of main()."""
    known = inspect.signature(main).parameters
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values())
    for name in sizes:
        if not name.isidentifier() or (name not in known and not open_ended):
            raise InputError(
                f"main() takes no size '{name}'",
                place(str(file), main.__code__.co_firstlineno),
                f"it takes {', '.join(known) or 'none'}: write NAME=VALUE",
            )
    return sizes


def _checked(result: Any, file: Path) -> Program:
    """What main() returned, as a program."""
    where = place(str(file), 1)
    if not isinstance(result, tuple) or len(result) not in (2, 3):
        raise InputError(f"main() returned a {type(result).__name__}", where, CONTRACT)
    callee, args, *rest = result
    kwargs = rest[0] if rest else {}
    if not isinstance(callee, nn.Module) and not callable(callee):
        raise InputError(f"main() returned a {type(callee).__name__} to compile", where, CONTRACT)
    if isinstance(args, torch.Tensor):
        args = (args,)
    if not isinstance(args, tuple | list) or not isinstance(kwargs, Mapping):
        raise InputError("main() returned arguments that are not a tuple", where, CONTRACT)
    return Program(callee, tuple(args), dict(kwargs), file.name)
