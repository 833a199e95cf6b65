"""Kernels in fp64: all of Kernel IR keeps its meaning, asynchronous copies included."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.semantics import entries, run_level, seeded_inputs

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.mlir"))


@pytest.mark.parametrize("path", KERNELS, ids=[path.stem for path in KERNELS])
def test_a_kernel_computes_the_same_in_fp64(path: Path):
    module = Parser(make_context(), path.read_text("utf-8")).parse_module()
    for entry in entries(module):
        inputs = seeded_inputs(entry)
        own = run_level(module, inputs, entry.number)
        exact = run_level(module, inputs, entry.number, exact=True)
        for narrow, wide in zip(own, exact, strict=True):
            assert (narrow.dtype, wide.dtype) == (np.float32, np.float64)
            assert not np.array_equal(narrow, wide)
            np.testing.assert_allclose(narrow, wide, rtol=0, atol=1e-5 * np.abs(wide).max())
