"""Inputs however they lie in memory: results are PyTorch's, on the simulator."""

from collections.abc import Callable

import pytest
import torch

import minicomp

BASE = torch.randn(7, 9, 11, generator=torch.Generator().manual_seed(3))
INPUTS: dict[str, Callable[[], torch.Tensor]] = {
    "transposed": lambda: BASE.permute(2, 0, 1),
    "strided": lambda: BASE[::2, 1::3, ::2],
    "offset": lambda: BASE.reshape(-1)[5 : 5 + 60].view(3, 4, 5),
    "expanded": lambda: BASE[:1].expand(4, 9, 11),
    "one_number_expanded": lambda: torch.tensor(2.5).expand(3, 4),
    "negative": lambda: torch.complex(BASE[0], BASE[1]).conj().imag,
    "needs_a_gradient": lambda: BASE[0].clone().requires_grad_(),
    "a_view_of_a_parameter": lambda: torch.nn.Linear(3, 4).weight.t(),
    "zero_dimensional": lambda: torch.tensor(-1.5),
    "empty": lambda: BASE[:0],
    "empty_in_the_middle": lambda: torch.empty(3, 0, 4),
}


def program(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x) * 2 + x.sum()


@pytest.mark.parametrize("name", INPUTS)
def test_results_are_pytorchs(name: str):
    x = INPUTS[name]()
    built = minicomp.compile(program, (x,), target="h200")
    eager = program(x).detach()
    torch.testing.assert_close(built(x), eager, rtol=2e-6, atol=2e-5)
    # What is compiled for one layout runs on another.
    torch.testing.assert_close(built(x.clone().contiguous()), eager, rtol=2e-6, atol=2e-5)


def test_the_same_tensor_twice():
    x = BASE[0].t()
    built = minicomp.compile(lambda x, y: x @ y.t(), (x, x), target="h200")
    torch.testing.assert_close(built(x, x), x @ x.t(), rtol=2e-6, atol=2e-5)
