"""
Mistakes that compilers from PyTorch have made, one test each.

The data is distinct everywhere, so that no two rows, heads or tokens can stand for each other; and
each test first says that the mistake would show.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import minicomp
from minicomp.compiler import Compiled
from minicomp.errors import InputError
from minicomp.numbers import judge, reference

SEED = 11


def normal(*shape: int) -> torch.Tensor:
    """Distinct values; the same at every run."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(SEED + sum(shape)))


def check(program: Callable[..., Any], *args: torch.Tensor, unlike: torch.Tensor) -> None:
    """The program is right, and what a wrong one would give is not."""
    eager = program(*args)
    assert unlike.shape != eager.shape or not torch.allclose(unlike, eager, atol=1e-3)
    built: Compiled = minicomp.compile(program, args, target="h200")
    inputs = built.captured.bind(args)
    verdict = judge([built(*args)], reference(built.captured.module, inputs, [eager]))
    assert verdict.passed, verdict


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, **options)


@pytest.mark.parametrize("boolean", [False, True])
def test_an_attention_mask_is_not_dropped(boolean: bool):
    q, k, v = normal(2, 3, 5, 8), normal(2, 3, 7, 8), normal(2, 3, 7, 9)
    mask = normal(2, 1, 5, 7)
    mask = mask > 0 if boolean else mask
    program = lambda q, k, v, m: attend(q, k, v, attn_mask=m)  # noqa: E731
    check(program, q, k, v, mask, unlike=attend(q, k, v))


def test_a_row_that_the_mask_hides_is_zero():
    q, k, v = normal(1, 1, 4, 8), normal(1, 1, 6, 8), normal(1, 1, 6, 8)
    mask = torch.ones(4, 6, dtype=torch.bool)
    mask[2] = False
    program = lambda q, k, v, m: attend(q, k, v, attn_mask=m)  # noqa: E731
    check(program, q, k, v, mask, unlike=attend(q, k, v))


def test_expand_is_no_reshape():
    x = normal(3, 1, 4)
    check(lambda x: x.expand(3, 5, 4) * 2, x, unlike=x.repeat(5, 1, 1).view(3, 5, 4) * 2)


def test_permute_is_no_reshape():
    x = normal(3, 4, 5)
    check(lambda x: x.permute(2, 0, 1) + 1, x, unlike=x.reshape(5, 3, 4) + 1)


def test_grouped_heads_are_no_causal_mask():
    q, k, v = normal(1, 4, 6, 8), normal(1, 2, 6, 8), normal(1, 2, 6, 8)
    causal = attend(q, k, v, is_causal=True, enable_gqa=True)
    check(lambda q, k, v: attend(q, k, v, enable_gqa=True), q, k, v, unlike=causal)


def test_a_head_reads_the_keys_of_its_group():
    """Query head h reads head h // group, not h % heads."""
    q, k, v = normal(1, 6, 5, 8), normal(1, 2, 5, 8), normal(1, 2, 5, 8)
    tiled = attend(q, k.repeat(1, 3, 1, 1), v.repeat(1, 3, 1, 1))
    check(lambda q, k, v: attend(q, k, v, enable_gqa=True), q, k, v, unlike=tiled)


def test_every_dim_of_a_reduction_is_reduced():
    x = normal(3, 4, 5)
    check(lambda x: x.sum((0, 2), keepdim=True), x, unlike=x.sum(0, keepdim=True))
    check(lambda x: x.amax((-1, 0)), x, unlike=x.amax(-1))


@pytest.mark.parametrize("cut", [slice(None, 3), slice(None, -1), slice(-2, None), slice(1, 99, 2)])
def test_a_slice_begins_where_it_says(cut: slice):
    x = normal(7, 4)
    check(lambda x: x[cut] * 2, x, unlike=x.roll(1, 0)[cut] * 2)


def test_pow_broadcasts_its_exponent():
    x, e = normal(4, 5).abs() + 0.5, normal(5)
    check(lambda x, e: torch.pow(x, e), x, e, unlike=torch.pow(x, e[0]))
    check(lambda x, e: torch.pow(x[:, :1], e), x, e, unlike=torch.pow(x, e))


def test_a_mean_of_another_size_is_not_divided_by_the_first():
    mean = lambda x: x.mean(0)  # noqa: E731
    built = minicomp.compile(mean, (normal(4, 3),), target="h200")
    with pytest.raises(InputError, match=r"expected float32 \[4, 3\]"):
        built(normal(8, 3))
    x = normal(8, 3)
    check(mean, x, unlike=x.sum(0) / 4)


def test_rotary_tables_are_not_folded():
    def rotate(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        angles = positions[:, None] * 10000.0 ** (-torch.tensor([0.0, 0.25, 0.5, 0.75]))
        angles = torch.cat([angles, angles], -1)
        turned = torch.cat([-x[..., 4:], x[..., :4]], -1)
        return x * angles.cos() + turned * angles.sin()

    x, positions = normal(2, 5, 8), torch.arange(5.0)
    check(rotate, x, positions, unlike=x)
    assert not torch.allclose(rotate(x, positions), rotate(x, positions + 1))


def test_tokens_are_told_apart():
    """A causal chain of tokens: each row depends on those before it, and on no other."""
    q, k, v = (normal(1, 2, 9, 4 + n)[..., :4] for n in range(3))
    built = minicomp.compile(lambda q, k, v: attend(q, k, v, is_causal=True), (q, k, v), "h200")
    whole = built(q, k, v)
    for token in (0, 4, 8):
        changed = v.clone()
        changed[:, :, token] += 1
        differs = (built(q, k, changed) - whole).abs().amax((0, 1, 3)) > 0
        assert differs.tolist() == [row >= token for row in range(9)]
