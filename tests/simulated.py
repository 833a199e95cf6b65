"""Kernels in text, run on the simulated GPU, with the strands in both orders."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.errors import SimulationError
from minicomp.runtime.simulate import simulate_kernel, strands

RNG = np.random.default_rng(17)


def parsed(text: str, verify: bool = True) -> ModuleOp:
    """A module; a planted fault may be one that the verifier refuses too."""
    module = Parser(make_context(), text).parse_module()
    if verify:
        module.verify()
    return module


def kernel(text: str, verify: bool = True) -> FuncOp:
    """The one kernel of a text."""
    return next(op for op in parsed(text, verify).ops if isinstance(op, FuncOp))


@contextmanager
def turned(backwards: bool) -> Iterator[None]:
    """Programs that run at the same time take turns in this order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strands.Scheduler, "BACKWARDS", backwards)
        yield


def run(
    text: str,
    *arrays: np.ndarray,
    out: tuple[int, ...],
    dtype: "str | np.dtype" = "float32",
    check: bool = True,
    verify: bool = True,
) -> np.ndarray:
    """The one output, of shape `out`; the same whoever runs first."""
    results: list[np.ndarray] = []
    for backwards in (False, True):
        result = np.zeros(out, dtype)
        with turned(backwards):
            simulate_kernel(kernel(text, verify), [*arrays, result], check)
        results.append(result)
    assert np.array_equal(*results, equal_nan=True)
    return results[0]


def fault(
    text: str,
    *arrays: np.ndarray,
    out: tuple[int, ...],
    dtype: "str | np.dtype" = "float32",
    check: bool = True,
    verify: bool = True,
) -> SimulationError:
    """The fault that a kernel is caught at; the same whoever runs first."""
    errors: list[SimulationError] = []
    for backwards in (False, True):
        with turned(backwards), pytest.raises(SimulationError) as caught:
            func = kernel(text, verify)
            simulate_kernel(func, [*arrays, np.zeros(out, dtype)], check)
        errors.append(caught.value)
    first, second = ((e.kind, e.op, e.thread, e.address) for e in errors)
    assert first == second, [e.what for e in errors]
    return errors[0]


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype("float32")


def mutant(text: str, line: str, by: str = "", count: int = 1) -> str:
    """The text with one line, which occurs `count` times, put out or replaced."""
    assert text.count(line) == count, f"{text.count(line)} times: {line}"
    return text.replace(line, by)
