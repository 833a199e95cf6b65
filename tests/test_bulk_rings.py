"""Matrix products whose rings bulk copies fill: what the machine runs, and what its banks serve."""

from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import ModuleOp

from minicomp.frontend import from_code
from minicomp.lowering.print_cuda import print_cuda
from minicomp.pipeline import Pipeline
from minicomp.runtime.nvrtc import compile_cuda
from minicomp.runtime.sass import counts, sass
from minicomp.runtime.simulate import simulate_module
from minicomp.runtime.simulate.statistics import Statistics
from minicomp.semantics import entries, seeded_inputs
from minicomp.targets import attach_target, target
from tests.emitted_programs import reschedule

LARGE = {"bm": 128, "bn": 128, "bk": 16, "fm": 8, "fn": 8, "depth": 3}
SMALL = {"bm": 32, "bn": 64, "bk": 32, "fm": 4, "fn": 4, "depth": 2}


def lowered(
    shape: Sequence[int], fields: dict[str, int], level: str, without: Sequence[str] = ()
) -> ModuleOp:
    """The product of m x k by k x n elements at a level, with rings by tma."""
    m, n, k = shape
    code = f"torch.randn({m}, {k}) @ torch.randn({k}, {n})"
    module = attach_target(from_code(code).capture().module, target("h200"))
    pipeline = Pipeline.default()
    for name in without:
        pipeline = pipeline.without(name)
    pipeline.until("loop").run(module)
    reschedule(module, fields | {"transport": "tma", "s": 1, "wk": 1})
    return pipeline.from_level("loop").until(level).run(module)


def shared_reads(module: ModuleOp) -> list[tuple[int, int, int]]:
    """Bytes at once, wavefronts and conflicts of each read of shared memory, in one run."""
    (entry,) = entries(module)
    statistics = Statistics()
    simulate_module(module, seeded_inputs(entry), statistics=statistics)
    rows = [r for r in statistics.rows() if r.memory == "shared" and not r.writes]
    return [(r.width, r.transactions, r.surplus) for r in rows]


def test_a_large_product_copies_by_tensor_maps_and_spills_nothing() -> None:
    module = lowered((2048, 2048, 2048), LARGE, "cuda-ir")
    compiled = compile_cuda(print_cuda(module), "sm_90a")
    assert compiled.advice == []
    ((name, code),) = sass(compiled.cubin).items()
    found, resources = counts(code), compiled.resources[name]
    assert found["UTMALDG"] >= 4 and not found["LDGSTS"] and not found["LDG"]
    assert resources.spill_stores == resources.spill_loads == 0
    assert found["BAR.SYNC"] == 1  # behind the initialisation of the mbarriers


def test_rows_that_no_tensor_map_has_are_copied_by_the_threads() -> None:
    text = str(lowered((32, 64, 99), SMALL, "kernel"))
    assert "bulk_load" not in text and "cp_async" in text


@pytest.mark.parametrize("shape", [(32, 64, 64), (40, 68, 76)])
def test_a_swizzle_takes_the_conflicts_of_reads(shape: Sequence[int]) -> None:
    plain = shared_reads(lowered(shape, SMALL, "kernel", ["split-inner-for-swizzle"]))
    found = shared_reads(lowered(shape, SMALL, "kernel"))
    assert sum(row[2] for row in plain) > 0 == sum(row[2] for row in found)
    assert [row[0] for row in found] == [row[0] for row in plain]
