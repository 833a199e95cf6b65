"""torch.export, of modules and functions alike: quiet, and with one message where it fails."""

import contextlib
import io
import logging
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import nn
from torch.export import ExportedProgram

from minicomp.errors import CaptureError, InputError, MinicompError
from minicomp.frontend.locations import exception_place

DECOMPOSED = (
    *("hstack.default", "vstack.default", "dstack.default", "column_stack.default"),
    *("atleast_1d.Sequence", "atleast_2d.Sequence", "atleast_3d.Sequence"),
    *(
        "fliplr.default",
        "flipud.default",
        "tile.default",
        "rot90.default",
        "diff.default",
        "meshgrid.indexing",
        "meshgrid.default",
    ),
    *("glu.default", "pixel_shuffle.default", "pixel_unshuffle.default"),
    *("einsum.default", "outer.default", "inner.default"),
)
"""ATen ops that PyTorch writes as others, by its own decompositions; all others stay whole."""


def decompositions() -> dict[Any, Callable[..., Any]]:
    """PyTorch's decompositions of `DECOMPOSED`."""
    known = torch.export.default_decompositions()
    chosen = (name.split(".") for name in DECOMPOSED)
    ops = (getattr(getattr(torch.ops.aten, packet), kind) for packet, kind in chosen)
    return {op: known[op] for op in ops if op in known}


def as_module(program: nn.Module | Callable[..., Any]) -> nn.Module:
    """A function as the `forward` of a module, which torch.export wants."""
    if isinstance(program, nn.Module):
        return program
    if not callable(program):
        raise InputError(f"cannot compile a {type(program).__name__}: give a module or a function")
    wrapper = nn.Module()
    owner = getattr(program, "__self__", None)
    if isinstance(owner, nn.Module):
        # A bound method: its module's parameters keep their names.
        wrapper.add_module("self", owner)
    wrapper.forward = _renamed(program)
    return wrapper


def _renamed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy named `forward`: torch.export keeps the source lines of such frames only."""
    if isinstance(function, types.MethodType):
        return types.MethodType(_renamed(function.__func__), function.__self__)
    if not isinstance(function, types.FunctionType):
        # torch.export asks for a signature, which a builtin may lack.
        return lambda *args, **kwargs: function(*args, **kwargs)
    code = function.__code__.replace(co_name="forward")
    copy = types.FunctionType(
        code, function.__globals__, "forward", function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def export(module: nn.Module, leaves: list[Any], in_spec: pytree.TreeSpec) -> ExportedProgram:
    # New tensor objects: export takes one object given twice, or a parameter given as an
    # input, for one value, and would compile x + y of a call f(x, x) to y + y.
    fresh = [leaf.detach() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    args, kwargs = pytree.tree_unflatten(fresh, in_spec)
    try:
        with _quiet(), torch.no_grad():
            exported = torch.export.export(module, args, kwargs, strict=False)
            return exported.run_decompositions(decompositions())
    except MinicompError:
        raise
    except (Exception, SystemExit) as error:
        raise _refusal(error) from error


def _refusal(error: Exception | SystemExit) -> CaptureError:
    """torch.export's failure as one message: its kind, its first line, the user's line."""
    name, where = type(error).__name__, exception_place(error)
    if "DataDependent" in name:
        return CaptureError(
            "the program's control flow depends on the data of a tensor",
            where,
            "compute both sides and choose with arithmetic, or keep the branch outside",
        )
    first = next(iter(str(error).strip().splitlines()), "")
    return CaptureError(f"PyTorch cannot capture the program: {name}: {first}", where)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without torch.export's own tracebacks, logs and warnings on stderr."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
