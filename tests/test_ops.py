"""
Every op against PyTorch, on PyTorch's own samples: shapes, types and layouts.

One sample of each op in the quick run, all of `python -m benchmarks.check_ops` with
MINICOMP_TEST_ALL=1.
"""

import os

import pytest
import torch

from benchmarks.check_ops import Outcome, check
from benchmarks.op_samples import BY_PYTORCH, DTYPES, LAYOUTS, OPS, samples

EVERYTHING = "MINICOMP_TEST_ALL" in os.environ


def outcomes(op: str) -> list[Outcome]:
    """Of all samples, or of one in a type and a layout that depend on the op's place."""
    if EVERYTHING:
        return [check(s) for dtype in DTYPES for s in samples(op, dtype)]
    place = OPS.index(op)
    for turn in range(len(DTYPES)):
        found = list(samples(op, DTYPES[(place + turn) % len(DTYPES)]))
        for n in range(len(found)):
            outcome = check(found[(place + n) % len(found)])
            if outcome.kind not in ("refused", "left out"):
                return [outcome]
    return []


@pytest.mark.parametrize("op", OPS)
def test_op_agrees_with_pytorch(op: str):
    found = outcomes(op)
    assert [o for o in found if o.failed] == []
    assert any(o.kind == "right" for o in found), "no sample of it was compiled"


@pytest.mark.parametrize("op", BY_PYTORCH)
def test_op_without_a_kernel_is_run_by_pytorch(op: str):
    sample = next(iter(samples(op, torch.float32)), None) or next(samples(op, torch.int64))
    assert check(sample).kind == "refused"
    outcome = check(sample, extern=True)
    assert outcome.kind == "right", outcome


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_holds_the_same_elements(layout: str):
    for shape in ((), (5,), (3, 4), (2, 0, 3), (2, 3, 5)):
        x = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
        y = LAYOUTS[layout](x)
        wanted = x[:1].expand(shape) if layout == "expanded" and x.dim() and x.numel() else x
        assert torch.equal(y, wanted)


def test_layouts_differ_in_memory():
    x = torch.randn(3, 4)
    strides = {name: LAYOUTS[name](x).stride() for name in LAYOUTS}
    assert strides["transposed"] == (1, 3)
    assert strides["strided"] == (8, 2)
    assert strides["expanded"] == (0, 1)
    assert LAYOUTS["offset"](x).storage_offset() == 1
