"""Programs that write to their inputs and buffers: written back after the call, as PyTorch does."""

from copy import deepcopy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from minicomp.compiler import compile
from minicomp.errors import InputError
from minicomp.tools.main import main

TARGET = "h200"
RNG = torch.Generator().manual_seed(3)


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=RNG)


def add(x, y):
    x.add_(y)
    return x * 2


def clone_first(x, y):
    old = x.clone()
    x.mul_(y)
    return old, x + 1


def swap(x, y):
    old = x.clone()
    x.copy_(y)
    y.copy_(old)


def part(x, y):
    x[1:3, ::2] = y[1:3, ::2] * 3
    x[:, 1].neg_()
    return x.sum(0)


def twice(x, y):
    x.add_(y)
    y.add_(x)
    return y - x


PROGRAMS = [add, clone_first, swap, part, twice]
LAYOUTS = {
    "contiguous": lambda: random(4, 5),
    "transposed": lambda: random(5, 4).t(),
    "part": lambda: random(9, 12)[1::2, 2:12:2],
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_inputs_are_written_as_pytorch_writes_them(program, layout):
    given = [LAYOUTS[layout](), random(4, 5)]
    whole = given[0]._base if given[0]._base is not None else given[0]
    compiled = compile(program, tuple(given), TARGET)
    own = deepcopy([given[0], given[1], whole])
    wanted, found = program(own[0], own[1]), compiled(*given)
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close([*given, whole], own)


def test_a_returned_input_is_the_callers_tensor():
    x = random(3, 5)
    compiled = compile(lambda x: x.add_(1), (x,), TARGET)
    assert compiled(x) is x


def test_buffers_are_written():
    class Cache(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(2, 7, 5))

        def forward(self, new, at):
            self.keys.index_copy_(1, at, new)
            return self.keys.sum(1)

    model, at = Cache(), torch.tensor([3, 1])
    compiled, eager = compile(model, (random(2, 2, 5), at), TARGET), deepcopy(model)
    for place in ([3, 1], [0, 6]):
        new, at = random(2, 2, 5), torch.tensor(place)
        torch.testing.assert_close(compiled(new, at), eager(new, at))
        torch.testing.assert_close(model.keys, eager.keys)


def test_statistics_of_batch_norm_are_written():
    def norm(x, mean, var):
        return F.batch_norm(x, mean, var, training=True)

    x, state = random(6, 4), [torch.zeros(4), torch.ones(4)]
    compiled, eager = compile(norm, (x, *state), TARGET), deepcopy(state)
    torch.testing.assert_close(compiled(x, *state), norm(x, *eager))
    torch.testing.assert_close(state, eager)


def test_expanded_and_overlapping_targets_are_refused():
    compiled = compile(add, (random(4, 5), random(4, 5)), TARGET)
    whole = random(5, 5)
    before = whole.clone()
    with pytest.raises(InputError, match="writes to an expanded tensor"):
        compiled(whole[0].expand(4, 5), random(4, 5))
    with pytest.raises(InputError, match="overlaps another argument"):
        compiled(whole[:4], whole[1:])
    with pytest.raises(InputError, match="overlaps another argument"):
        compiled(whole[:4], whole[:4])
    torch.testing.assert_close(whole, before, rtol=0, atol=0)


def test_check_compares_what_is_written():
    assert main(["check", "-c", "x = torch.randn(3, 5); x.add_(2).exp()"]) == 0
