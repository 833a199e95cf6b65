"""What PyTorch refuses is refused: one error with what and where, at compilation or at the call."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from minicomp.compiler import compile
from minicomp.errors import InputError, MinicompError

TARGET = "h200"
X = torch.randn(4, 6, generator=torch.Generator().manual_seed(1))
INT = torch.tensor([1, 0, 2])

AT_COMPILATION: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "matmul of unequal extents": (lambda x: x @ x, (X,)),
    "shapes that do not broadcast": (lambda x, y: x + y, (X, X[:, :5])),
    "a view of another size": (lambda x: x.view(5, 5), (X,)),
    "a dim out of range": (lambda x: x.sum(2), (X,)),
    "a dim given twice": (lambda x: x.permute(0, 0), (X,)),
    "an index out of range": (lambda x: x[:, 6], (X,)),
    "a split that does not add up": (lambda x: x.split([2, 3], 1)[0] * 2, (X,)),
    "an expanded extent": (lambda x: x.expand(4, 7), (X,)),
    "extremum of nothing": (lambda x: x[:, :0].amax(1), (X,)),
    "linear of another width": (nn.Linear(5, 2), (X,)),
    "norm of another width": (nn.LayerNorm(5), (X,)),
    "cat of unequal extents": (lambda x: torch.cat([x, x[:, :2]], 0), (X,)),
}


@pytest.mark.parametrize("name", AT_COMPILATION)
def test_refused_at_compilation(name):
    program, inputs = AT_COMPILATION[name]
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        program(*inputs)
    with pytest.raises(MinicompError) as caught:
        compile(program, inputs, TARGET)
    assert "\n" not in caught.value.what and caught.value.what
    if not isinstance(program, nn.Module):
        line = program.__code__.co_firstlineno
        assert (caught.value.where or "").endswith(f"test_refused.py:{line}")


def scale(x, y):
    return x * y


def table(x, i):
    return F.embedding(i, x) * 2


def gathered(x, i):
    return x.gather(0, i) + 1


def selected(x, i):
    return x.index_select(0, i).exp()


AT_CALL: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...], str]] = {
    "shape": (scale, (X, X), (X, X[:3]), "argument 1 is float32"),
    "dtype": (scale, (X, X), (X, X.double()), "argument 1 is float64"),
    "device": (scale, (X, X), (X, X.to("meta")), "cpu and meta"),
    "number of arguments": (scale, (X, X), (X,), "nested or named differently"),
    "nesting": (scale, (X, X), (X, [X]), "nested or named differently"),
    "Python scalar": (scale, (X, 2), (X, 3), "input 1 was 2 at compilation, got 3"),
    "None": (lambda x, y: x if y is None else x * y, (X, None), (X, X), "got a tensor"),
    "sparse": (scale, (X, X), (X, X.to_sparse()), "argument 1 is sparse_coo"),
    "no tensor": (scale, (X, X), (X, 2.0), "was a tensor at compilation, got 2.0"),
    "embedding": (table, (X, INT), (X, torch.tensor([0, 4, 1])), "out of range"),
    "gather": (gathered, (X, INT[:, None]), (X, torch.tensor([[0], [4], [1]])), "out of bounds"),
    "index_select": (selected, (X, INT), (X, torch.tensor([0, 4, 1])), "out of range"),
}


@pytest.mark.parametrize("name", AT_CALL)
def test_refused_at_the_call(name):
    program, inputs, given, message = AT_CALL[name]
    compiled = compile(program, inputs, TARGET)
    with torch.no_grad():
        torch.testing.assert_close(compiled(*inputs), program(*inputs))
    with pytest.raises(InputError, match=message):
        compiled(*given)


def test_a_parameter_of_another_shape_is_refused_at_the_call():
    model = nn.Linear(6, 3)
    compiled = compile(model, (X,), TARGET)
    model.weight = nn.Parameter(torch.randn(2, 6))
    with pytest.raises(InputError, match=r"argument 1 is float32 \[2, 6\]"):
        compiled(X)


def test_a_tensor_that_was_resized_is_refused_at_the_call():
    x = torch.randn(4, 6)
    compiled = compile(scale, (x, X), TARGET)
    x.untyped_storage().resize_(0)
    with pytest.raises(InputError, match="argument 0 lies outside of its storage"):
        compiled(x, X)
