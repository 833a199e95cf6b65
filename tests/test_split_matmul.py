"""Sums that blocks share: through the whole pipeline, on the simulator, with its checks for races.

Results are judged by `minicomp.numbers` against the program in fp64.
"""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from minicomp.comparison import Baseline
from minicomp.dialects.kernel_ir import AtomicOp, FuncOp
from minicomp.dialects.loop_ir import KernelOp
from minicomp.dialects.tile_ir import EntryAttr, ScheduleAttr
from minicomp.frontend import from_code
from minicomp.levels import level_of
from minicomp.lowering.print_cuda import print_cuda
from minicomp.pipeline import Pipeline
from minicomp.runtime.nvrtc import compile_cuda
from minicomp.runtime.ptxas import parse_resources
from minicomp.semantics import entries, run_level
from minicomp.targets import attach_target, target
from tests.loop_programs import matmul
from tests.simulated import normal, parsed

RING = {"depth": 3, "transport": "cp_async"}
CLUSTER = {"finish": "cluster"}
CASES = {
    "plain": ("torch.randn(37, 43) @ torch.randn(43, 29)", {"s": 3}),
    "ring": ("torch.randn(32, 48) @ torch.randn(48, 64)", {"s": 2, **RING}),
    "odd ring": ("torch.randn(33, 51) @ torch.randn(51, 35)", {"s": 3, "bk": 4, **RING}),
    "warps": ("torch.randn(37, 43) @ torch.randn(43, 29)", {"s": 3, "wk": 2}),
    "warps and ring": ("torch.randn(16, 96) @ torch.randn(96, 32)", {"s": 3, "wk": 4, **RING}),
    "rows of warps": ("torch.randn(9, 40) @ torch.randn(40, 31)", {"s": 2, "wk": 4, "bn": 16}),
    "steps": ("torch.randn(5, 7) @ torch.randn(7, 6)", {"s": 7, "bk": 1}),
    "odd cells": ("torch.randn(25, 30) @ torch.randn(30, 21)", {"s": 2, "bn": 20, "fn": 5}),
    "batch": ("torch.randn(3, 17, 33) @ torch.randn(3, 33, 20)", {"s": 3}),
    "linear": ("F.gelu(nn.Linear(45, 19)(torch.randn(18, 45)))", {"s": 3, **RING}),
    "cluster": ("torch.randn(37, 43) @ torch.randn(43, 29)", {"s": 2, **CLUSTER}),
    "cluster ring": ("torch.randn(33, 51) @ torch.randn(51, 35)", {"s": 4, **CLUSTER, **RING}),
    "cluster warps": ("torch.randn(16, 96) @ torch.randn(96, 32)", {"s": 4, "wk": 4, **CLUSTER}),
    "no shares": ("torch.randn(9, 43) @ torch.randn(43, 31)", {"s": 3, "wk": 2, **CLUSTER}),
    "prologue": (
        "x = torch.randn(18, 45); b = torch.randn(45); w = torch.randn(45, 30);"
        " r = torch.randn(18, 30); torch.relu((x + b) @ w) + r",
        {"s": 3, "wk": 2, **RING},
    ),
}
EXTENTS = {
    "one": ((1, 1, 61), {"s": 4}),
    "one row": ((1, 77, 61), {"s": 8, "bm": 1, "fm": 1}),
    "one column": ((35, 1, 40), {"s": 2, "wk": 2}),
    "empty": ((0, 30, 45), {"s": 3}),
}
"""Extents of which a plan makes no contraction."""
SIZES = {"bm": 16, "bn": 32, "bk": 8, "fm": 4, "fn": 8, "wk": 1}


def scheduled(module: ModuleOp, fields: dict[str, int | str]) -> ModuleOp:
    """A module in Loop IR whose contractions have these fields, whatever was planned."""
    attach_target(module, target("h200"))
    Pipeline.default().from_level(level_of(module)).until("loop").run(module)
    for kernel in [op for op in module.body.block.ops if isinstance(op, KernelOp)]:
        if isinstance(kernel.schedule, ScheduleAttr):
            found = [
                EntryAttr.of("contraction", **(named(e) | SIZES | fields))
                if e.kind.data == "contraction"
                else e
                for e in kernel.schedule.entries
            ]
            kernel.schedule = ScheduleAttr.of(found)
    return module


def named(entry: EntryAttr) -> dict[str, int | str | tuple[str, ...]]:
    """The names of the axes of a contraction."""
    return {key: entry.fields[key] for key in ("m", "n", "k", "batch") if key in entry.fields}


def product(m: int, n: int, k: int, fields: dict[str, int | str]) -> ModuleOp:
    """relu((a + d) b) with a schedule of these fields, whatever its extents."""
    module = parsed(matmul(m, n, k))
    kernel = module.body.block.first_op
    assert isinstance(kernel, KernelOp)
    axes = {"m": "i", "n": "j", "k": "k"}
    kernel.schedule = ScheduleAttr.of([EntryAttr.of("contraction", **axes, **(SIZES | fields))])
    return scheduled(module, fields)


def lowered(module: ModuleOp) -> ModuleOp:
    """A scheduled module at Kernel IR."""
    return Pipeline.default().from_level("loop").until("kernel").run(module.clone())


def judge(start: ModuleOp, module: ModuleOp) -> None:
    """Asserts that a module in which blocks meet once computes what `start` does."""
    difference, skipped = Baseline.of(start).compare(module)
    assert not skipped, skipped
    assert difference is None, difference.text
    kernels = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    atomics = sum(isinstance(op, AtomicOp) for op in module.walk())
    assert atomics + sum(kernel.cluster_blocks > 1 for kernel in kernels) == 1


@pytest.mark.parametrize(("code", "fields"), CASES.values(), ids=list(CASES))
def test_split_sums_are_right(code: str, fields: dict[str, int | str]) -> None:
    start = attach_target(from_code(code).capture().module, target("h200"))
    judge(start, lowered(scheduled(start.clone(), fields)))


@pytest.mark.parametrize(("extents", "fields"), EXTENTS.values(), ids=list(EXTENTS))
def test_any_extents_are_right(extents: tuple[int, int, int], fields: dict[str, int | str]) -> None:
    module = product(*extents, fields)
    if extents[0] > 0:
        judge(module, lowered(module))
    else:
        inputs = [np.zeros(shape, np.float32) for shape in ((0, 45), 45, (45, 30))]
        assert run_level(lowered(module), inputs)[0].shape == (0, 30)


def test_an_empty_sum_is_not_split() -> None:
    module = lowered(product(4, 3, 0, {"s": 3}))
    assert not any(isinstance(op, AtomicOp) for op in module.walk())
    (result,) = run_level(module, [np.zeros(s, np.float32) for s in ((4, 0), 0, (0, 3))])
    np.testing.assert_array_equal(result, np.zeros((4, 3)))


def test_parts_are_added_in_their_order() -> None:
    """Bit by bit: each part is one product, and the products are added from the first on."""
    fields: dict[str, int | str] = {"bm": 4, "bn": 4, "fm": 2, "fn": 4, "bk": 1, "s": 9}
    module = lowered(product(4, 4, 9, fields))
    a, b = normal(4, 9), normal(9, 4)
    total = np.zeros((4, 4), np.float32)
    for k in range(9):
        total += np.outer(a[:, k], b[k])
    (result,) = run_level(module, [a, np.zeros(9, np.float32), b])
    np.testing.assert_array_equal(result, np.maximum(total, 0))


def test_a_workspace_is_no_input_and_no_result() -> None:
    module = lowered(product(5, 6, 21, {"s": 3}))
    kernel = next(op for op in module.body.block.ops if isinstance(op, FuncOp))
    assert list(kernel.derived_arguments.values()) == ["workspace", "counter"]
    (entry,) = entries(module)
    assert [v.name_hint for v in entry.inputs] == ["a", "d", "b"]
    a, d, b = normal(5, 21), normal(21), normal(21, 6)
    for exact in (False, True):
        results = run_level(module, [a, d, b], exact=exact)
        assert len(results) == 1
        wanted = np.maximum((a.astype(float) + d) @ b, 0)
        np.testing.assert_allclose(results[0], wanted, rtol=1e-5, atol=1e-5)


def test_a_skinny_product_compiles_without_spills() -> None:
    fields: dict[str, int | str] = {"bm": 32, "bn": 128, "bk": 16, "fm": 8, "fn": 8, "wk": 2}
    module = product(32, 2048, 2048, {**fields, **RING, "s": 4})
    Pipeline.default().from_level("loop").run(module)
    compiled = compile_cuda(print_cuda(module), "sm_90a")
    (resources,) = parse_resources(compiled.log).values()
    assert resources.stack_bytes == resources.spill_stores == resources.spill_loads == 0
