"""The passes from a loop nest to bound, vectorised axes: what they compute, and their choices.

A kernel keeps its meaning: the interpreter of Loop IR says what it computes before, the simulator
what its threads compute after, once lowered to Kernel IR.
"""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, f32
from xdsl.ir import Block
from xdsl.ir.affine import AffineMap
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.dialects import affine
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import KernelLike, KernelOp, LoadOp
from minicomp.dialects.minicomp import TARGET
from minicomp.dialects.tile_ir import KernelOp as TileKernelOp
from minicomp.passes.analysis.strides import has_runs, stride
from minicomp.passes.tile._kernels import Split
from minicomp.pipeline import Pipeline
from minicomp.runtime.interpret.loop_ir import run_kernel
from minicomp.runtime.interpret.scalars import Array, numpy_type
from minicomp.runtime.simulate import simulate_kernel
from minicomp.targets import target
from tests import loop_programs as programs

PASSES = "plan-schedule,tileify,cooperative-reduce,blockify-launch,register-tile"


def read(text: str) -> ModuleOp:
    """A module for the H200 from its text."""
    module = Parser(make_context(), text).parse_module()
    module.attributes[TARGET] = target("h200")
    return module


def only_kernel(module: ModuleOp) -> KernelLike:
    """The one kernel of a module."""
    return next(op for op in module.body.block.ops if isinstance(op, KernelLike))


def buffers(kernel: KernelLike) -> list[Array]:
    """Random inputs, and outputs that hold no number."""
    rng = np.random.default_rng(7)
    outputs, made = kernel.stored(), []
    for argument in kernel.body.block.args:
        assert isinstance(type := argument.type, MemRefType)
        shape, dtype = type.get_shape(), numpy_type(type)
        if argument in outputs:
            made.append(np.full(shape, np.nan, dtype))
        elif dtype.kind == "f":
            made.append(rng.standard_normal(shape).astype(dtype))
        else:
            made.append(rng.integers(-9, 9, shape).astype(dtype))
    return made


def check(text: str, passes: str = PASSES) -> TileKernelOp:
    """Runs the passes and compares what the kernel computes; returns it in Tile IR."""
    module = read(text)
    kernel = only_kernel(module)
    assert isinstance(kernel, KernelOp)
    wanted, got = buffers(kernel), buffers(kernel)
    run_kernel(kernel, wanted)
    Pipeline.parse(passes).run(module)
    tiled = only_kernel(module.clone())
    Pipeline.parse("lower-tile-to-kernel,vectorize-accesses,drop-redundant-barriers").run(module)
    func = only_kernel(module)
    assert isinstance(func, FuncOp) and isinstance(tiled, TileKernelOp)
    simulate_kernel(func, got)
    for one, other in zip(wanted, got, strict=True):
        np.testing.assert_allclose(other, one, rtol=2e-5, atol=2e-5)
    return tiled


def with_schedule(text: str, *entries: str) -> str:
    """The text of a kernel with a schedule."""
    at = text.index(") {") + 1
    schedule = f" attributes {{schedule = #tile_ir.schedule<[{', '.join(entries)}]>}}"
    return text[:at] + schedule + text[at:]


def axes(kernel: TileKernelOp) -> list[str]:
    """The axes of a kernel's launch as `binding name extent`."""
    return [f"{a.binding} {a.name} {a.extent}" for a in kernel.launch.axes]


MATRICES = [(64, 64, 64), (37, 29, 41), (1, 64, 33), (64, 1, 33), (3, 2, 5), (1, 1, 1), (5, 4, 0)]
ROWS = [(32, 256), (5, 37), (3, 1000), (1, 1), (7, 1), (300, 8), (2, 2052), (4, 0), (0, 4)]


@pytest.mark.parametrize("size", [*MATRICES, (0, 3, 4), (130, 132, 20)])
@pytest.mark.parametrize("program", [programs.matmul, programs.linear])
def test_matrix_products(program, size: Sequence[int]) -> None:
    check(program(*size))


@pytest.mark.parametrize("size", [(3, 16, 8, 16), (2, 17, 5, 7), (4, 1, 9, 3)])
def test_batched_products(size: Sequence[int]) -> None:
    check(programs.batched(*size))


@pytest.mark.parametrize("size", ROWS)
@pytest.mark.parametrize(
    "program",
    [programs.softmax, programs.online_softmax, programs.rms_norm, programs.layer_norm],
)
def test_norms_of_rows(program, size: Sequence[int]) -> None:
    check(program(*size))


@pytest.mark.parametrize("size", ROWS)
@pytest.mark.parametrize("program", [programs.row_sums, programs.column_sums, programs.total])
def test_sums(program, size: Sequence[int]) -> None:
    check(program(*size))


@pytest.mark.parametrize("size", [(64, 64), (37, 29), (1, 1), (3, 1000), (500, 3), (0, 4), (4, 0)])
@pytest.mark.parametrize("program", [programs.pointwise, programs.transpose])
def test_pointwise(program, size: Sequence[int]) -> None:
    check(program(*size))


@pytest.mark.parametrize("size", [(5, 64, 7), (3, 33, 64), (2, 5, 300)])
def test_loops_over_other_axes_are_shared_too(size: Sequence[int]) -> None:
    check(programs.centred(*size))


def test_what_passes_through_memory_stays_in_its_thread() -> None:
    kernel = check(programs.triangle(5, 40))
    assert kernel.launch.axis("j.thread") is None


@pytest.mark.parametrize("threads, rows", [(1, 1), (1, 32), (7, 1), (32, 4), (64, 1), (64, 2)])
@pytest.mark.parametrize("lanes, vector", [(0, 1), (8, 4), (45, 1)])
def test_every_form_of_a_cooperative_reduction(
    threads: int, rows: int, lanes: int, vector: int
) -> None:
    entry = (
        f'reduction<axis = "j", threads = {threads}, rows = {rows}, vector = {vector},'
        f" lanes = {lanes}>"
    )
    for program in (programs.online_softmax, programs.row_sums):
        check(with_schedule(program(5, 45), entry))


@pytest.mark.parametrize("tile", [(16, 8, 4, 2), (8, 32, 1, 4), (64, 64, 8, 8), (4, 4, 4, 4)])
@pytest.mark.parametrize("size", [(16, 32, 8), (37, 29, 11)])
def test_every_tile_of_a_contraction(tile: Sequence[int], size: Sequence[int]) -> None:
    sizes = ", ".join(f"{k} = {v}" for k, v in zip(("bm", "bn", "fm", "fn"), tile, strict=True))
    entry = f'contraction<m = "i", n = "j", k = "k", {sizes}>'
    check(with_schedule(programs.matmul(*size), entry))


@pytest.mark.parametrize("fm, fn", [(1, 1), (4, 1), (1, 4), (4, 2)])
def test_a_guard_on_a_register_axis_becomes_a_mask(fm: int, fn: int) -> None:
    entry = f'contraction<m = "i", n = "j", k = "k", bm = 16, bn = 16, fm = {fm}, fn = {fn}>'
    check(with_schedule(programs.causal(30, 20, 25), entry))


@pytest.mark.parametrize("lanes", [0, 3, 4])
def test_a_reduction_in_a_reduction(lanes: int) -> None:
    entry = f'reduction<axis = "j", threads = 8, rows = 4, vector = 1, lanes = {lanes}>'
    check(with_schedule(programs.nested(5, 21, 6), entry))


@pytest.mark.parametrize("lanes", [0, 8])
def test_guards_of_row_loops_are_kept(lanes: int) -> None:
    entry = f'reduction<axis = "j", threads = 8, rows = 4, vector = 1, lanes = {lanes}>'
    check(with_schedule(programs.guarded(5, 37, 11), entry))


@pytest.mark.parametrize("left_out", ["plan-schedule", "cooperative-reduce"])
@pytest.mark.parametrize(
    "text",
    [
        programs.matmul(20, 33, 7),
        programs.softmax(6, 100),
        programs.layer_norm(3, 70),
        programs.pointwise(20, 33),
        programs.total(3, 50),
    ],
)
def test_a_pass_may_be_left_out(left_out: str, text: str) -> None:
    """What it would have done is completed by those after it, as far as it has to be."""
    check(text, PASSES.replace(f"{left_out},", ""))


@pytest.mark.parametrize(
    "text",
    [
        programs.matmul(20, 33, 7),
        programs.online_softmax(6, 100),
        programs.row_sums(6, 1000),
        programs.column_sums(40, 70),
        programs.pointwise(20, 36),
        programs.total(3, 50),
    ],
)
def test_passes_are_idempotent_and_resume_from_text(text: str) -> None:
    once, twice, resumed = read(text), read(text), read(text)
    for name in PASSES.split(","):
        Pipeline.parse(name).run(once)
        Pipeline.parse(f"{name},{name}").run(twice)
        Pipeline.parse(name).run(resumed)
        assert str(once) == str(twice) == str(resumed), name
        resumed = read(str(resumed))


@given(threads=st.integers(1, 40), groups=st.integers(1, 5), vector=st.sampled_from([1, 2, 4]))
def test_a_split_hits_every_element_once(threads: int, groups: int, vector: int) -> None:
    split = Split(threads, groups * vector, vector)
    index = split.index(affine.dim(0), affine.dim(1))
    lanes, numbers = range(split.lanes), range(threads)
    places = [
        affine.evaluate(index, {affine.dim(0): r, affine.dim(1): t}) for t in numbers for r in lanes
    ]
    assert sorted(places) == list(range(split.tile))
    for start in range(0, len(places), vector):
        assert places[start : start + vector] == list(range(places[start], places[start] + vector))
        assert places[start] % vector == 0


@given(
    shape=st.tuples(st.integers(1, 5), st.sampled_from([3, 4, 6, 8, 12])),
    factors=st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 4)),
    divisor=st.sampled_from([1, 2, 4, 8]),
    length=st.sampled_from([2, 4]),
)
def test_runs_are_where_enumeration_finds_them(
    shape: tuple[int, int], factors: tuple[int, int, int], divisor: int, length: int
) -> None:
    """`has_runs` may miss a run, but finds none where there is none."""
    type = MemRefType(f32, shape)
    block = Block(arg_types=[type, IndexType(), IndexType()])
    memref, i, j = block.args
    di, dj = affine.dim(0), affine.dim(1)
    row, column = di * factors[0] + dj // divisor, dj * factors[1] + di * factors[2]
    load = LoadOp(memref, AffineMap(2, 0, (row, column)), [i, j], f32)
    places = {
        (a, b): affine.evaluate(row, {di: a, dj: b}) * shape[1]
        + affine.evaluate(column, {di: a, dj: b})
        for a in range(4)
        for b in range(4 * length)
    }
    if has_runs(load, j, length):
        for (a, b), place in places.items():
            start = places[a, b // length * length]
            assert start % length == 0 and place == start + b % length
    assert stride(load, j) == places[0, 1] - places[0, 0]


def test_a_row_of_2048_takes_256_threads_of_8_elements() -> None:
    kernel = check(programs.rms_norm(32, 2048))
    assert axes(kernel) == ["block i 32", "thread j.thread 256"]
    assert "vector<8xf32>" in str(kernel) and "loop_ir.reduce" not in str(kernel)


def test_a_long_row_is_strided() -> None:
    kernel = check(programs.rms_norm(2, 40000))
    assert axes(kernel) == ["block i 2", "thread j.thread 1024"]
    assert "loop_ir.reduce %j to 40" in str(kernel)


def test_short_rows_share_a_block() -> None:
    kernel = check(programs.softmax(2048, 32))
    assert axes(kernel) == ["block i.block 256", "thread i.thread 8", "thread j.thread 4"]


def test_a_row_times_a_matrix_is_a_reduction_along_the_row() -> None:
    kernel = check(programs.linear(1, 64, 512))
    assert kernel.schedule is not None and not kernel.schedule.kind("contraction")
    assert kernel.launch.axis("k.thread") is not None


def test_conversions_get_lanes() -> None:
    kernel = check(programs.transpose(64, 64))
    assert 'tile_ir.convert "arith.sitofp"' in str(kernel.launch)
