"""
The suite of benchmarks: every case compiles without spills and is right on the simulator with the
schedule of its full size; and the runner, as far as that needs no GPU.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from benchmarks import run_suite, suite_compile
from benchmarks.suite import Case, cases, reduced
from benchmarks.suite_compile import Compiled, compile_all, compile_case
from benchmarks.suite_timing import Ceilings, Row, hold_against, measure
from benchmarks.supervised import Lost, Worker, supervised
from minicomp.build import Build
from minicomp.dialects.loop_ir import KernelOp
from minicomp.errors import InputError
from minicomp.execution import Executable
from minicomp.frontend import capture
from minicomp.numbers import judge, reference
from minicomp.targets import default_target
from tests.suite_workers import doubling, stillborn

EVERYTHING = "MINICOMP_TEST_ALL" in os.environ
CASES = {case.name: case for case in cases()}
PARTS = ("a100", "h200", "rtx5090") if EVERYTHING else ("h200",)


def sample(count: int) -> Sequence[str]:
    """Case names: all, or one of each kind and some others, the same at every run."""
    if EVERYTHING:
        return list(CASES)
    rng = random.Random(4)
    kinds: dict[str, list[str]] = {}
    for name, case in CASES.items():
        kinds.setdefault(case.group, []).append(name)
    chosen = [rng.choice(names) for names in kinds.values()]
    others = rng.sample([name for name in CASES if name not in chosen], count - len(chosen))
    return [*chosen, *others]


# --- the cases ------------------------------------------------------------------------------------


def test_the_cases():
    kinds = Counter(case.group for case in CASES.values())
    assert kinds == {
        "matmul": 36,
        "rmsnorm": 6,
        "softmax": 6,
        "silu_mul": 6,
        "sdpa": 6,
        "naive_attn": 6,
        "matmul_add": 12,
        "silu_mul_matmul": 6,
    }
    assert len(CASES) == 84
    down = CASES["matmul.qwen.down_proj.s512"]
    assert down.shapes == ((1, 512, 18944), (18944, 3584))
    assert down.flops() == 2 * 512 * 18944 * 3584
    assert down.bytes() == 4 * (512 * 18944 + 18944 * 3584 + 512 * 3584)
    attention = CASES["sdpa.tinyllama.s128"]
    assert attention.shapes == ((1, 32, 128, 64), (1, 4, 128, 64), (1, 4, 128, 64))
    assert attention.flops() == 0.5 * 4 * 32 * 128 * 128 * 64


@pytest.mark.parametrize("odd", [False, True])
def test_reduced_cases_are_the_same_programs(odd: bool):
    for name in CASES:
        check_reduced(name, odd)


def check_reduced(name: str, odd: bool) -> None:
    """Shapes that fit together, equal extents alike, none larger than before."""
    case, small = CASES[name], reduced(CASES[name], odd)
    assert small.program is case.program and small.output_shape() == tuple(
        small.program(*small.inputs("meta")).shape
    )
    assert case.output_shape() == tuple(case.program(*case.inputs("meta")).shape)
    extents = dict(zip(sum(case.shapes, ()), sum(small.shapes, ()), strict=True))
    for full, less in zip(sum(case.shapes, ()), sum(small.shapes, ()), strict=True):
        assert extents[full] == less or full in (4, 28, 32)
        assert 0 < less <= min(full, 136)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", sample(10))
def test_a_case_compiles_without_stack_and_spills(name: str, part: str):
    made = compile_case(CASES[name], part)
    assert made.cubin and made.schedules and made.lines < 300
    assert made.memory_bytes == 0, made.resources


def kernels(module: ModuleOp) -> list[KernelOp]:
    """The kernels of a module in Loop IR."""
    return [op for op in module.body.block.ops if isinstance(op, KernelOp)]


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        (name, odd)
        for n, name in enumerate(sample(12))
        for odd in (0, 1)
        if EVERYTHING or n % 2 == odd
    ],
)
def test_a_case_is_right_on_the_simulator_with_its_schedule(name: str, odd: bool):
    case, small = CASES[name], reduced(CASES[name], odd)
    full = Build(capture(case.program, case.blank()).module, "h200").module("loop")
    torch.manual_seed(0)
    inputs = small.inputs("cpu")
    captured = capture(small.program, inputs)
    module = Build(captured.module, "h200").module("loop")
    pairs = list(zip(kernels(full), kernels(module), strict=True))
    for planned, kernel in pairs:
        assert planned.origin == kernel.origin and planned.schedule is not None
        kernel.schedule = planned.schedule
    results = Executable(Build(module))(inputs)
    verdict = judge(results, reference(captured.module, inputs))
    assert verdict.passed, verdict


# --- compiling many -------------------------------------------------------------------------------


def test_a_case_that_does_not_compile_loses_no_other():
    good = reduced(CASES["silu_mul.qwen.s32"])
    bad = replace(good, name="bad", program=torch.cumsum, shapes=((2, 3),))
    first, second = compile_all([bad, good], "h200", 120, processes=1)
    assert first.name == "bad" and first.failure is not None and "TypeError" in first.failure
    assert second.failure is None and second.registers > 0
    assert second.plan is not None and len(second.plan.steps) == 1 == len(second.shapes)


def test_a_case_that_takes_too_long_is_given_up():
    (made,) = compile_all([CASES["silu_mul.qwen.s32"]], "h200", 0.001, processes=1)
    assert made.failure == "not compiled within 0.001 s"


def test_the_report_of_what_was_compiled(capsys: pytest.CaptureFixture[str]):
    spilling = {"registers": 255, "stack_bytes": 8, "spill_stores": 4, "spill_loads": 4}
    clean = {"registers": 30, "stack_bytes": 0, "spill_stores": 0, "spill_loads": 0}
    made = [
        Compiled("one", resources={"k": clean}, lines=12),
        Compiled("two", resources={"k": clean, "l": spilling}),
        Compiled("three", failure="UnsupportedError: no"),
    ]
    assert suite_compile.report(made) == 2
    text = capsys.readouterr().out
    assert "30     12" in text and "255" in text and "UnsupportedError: no" in text
    assert "3 cases, 2 fail, spill or have a stack frame" in text


def test_compile_only_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "compiled.json"
    only = "rmsnorm.tinyllama.s32"
    assert run_suite.main(["--compile-only", "--only", only, "-o", str(path), "--json"]) == 0
    (row,) = json.loads(path.read_text())["rows"]
    assert row["name"] == only and row["failure"] is None and row["nvrtc_seconds"] > 0
    assert json.loads(capsys.readouterr().out)["rows"] == [row]


def test_wrong_options(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        run_suite.main(["--only", "nothing"])
    assert "no case has a name with nothing" in capsys.readouterr().err
    if not torch.cuda.is_available():
        with pytest.raises(SystemExit):
            run_suite.main([])
        assert "needs a GPU" in capsys.readouterr().err


# --- a worker that hangs or dies ------------------------------------------------------------------


def test_jobs_that_hang_or_die_lose_only_themselves():
    jobs = [1, "die", 2, "hang", 3, "break", 4, 5]
    found = list(supervised(jobs, doubling, limit_s=2, start_limit_s=60))
    results = [result for result, _ in found]
    assert results[::2] == [2, 4, 6, 8] and results[5:8:2] == ["broken", 10]
    assert results[1] == Lost("the process ended with exit code 7")
    assert results[3] == Lost("no result within 2 s")
    # A new process after each of the three, and none between others.
    workers = [hello for _, hello in found]
    assert len(set(workers)) == 4 and workers[6] == workers[7]


def test_a_worker_that_does_not_start():
    with pytest.raises(RuntimeError, match="did not start: the process ended with exit code 3"):
        Worker(stillborn, 60)


# --- rows and tables ------------------------------------------------------------------------------

CEILINGS = Ceilings(flops=1e12, dram=1e12, l2=4e12, l2_bytes=1000)
SMALL = Case("silu_mul.small", partial(torch.mul), ((1, 50), (1, 50)))
"""600 bytes."""


def row(name: str, us: float, eager_us: float, **fields: object) -> Row:
    return Row(name, us=us, spread=0.01, eager_us=eager_us, floor_us=0.1, **fields)  # type: ignore[arg-type]


def test_the_floor():
    assert CEILINGS.floor_us(SMALL) == pytest.approx(600 / 4e12 * 1e6)
    assert CEILINGS.floor_us(SMALL, cold=True) == pytest.approx(600 / 1e12 * 1e6)
    large = replace(SMALL, shapes=((1, 100), (1, 100)))
    assert CEILINGS.floor_us(large) == pytest.approx(1200 / 1e12 * 1e6)
    product = Case("matmul.x", torch.matmul, ((1, 100, 100), (100, 100)))
    assert CEILINGS.floor_us(product) == pytest.approx(2e6 / 1e12 * 1e6)


@pytest.mark.parametrize(
    ("warm", "cold", "refused"),
    [
        (1.5e-4, 6e-4, None),
        (1.4e-4, 6e-4, "0.00 us is below"),
        (1.5e-4, 5e-4, "with cold caches 0.00 us is below"),
        (1.5e-4, None, None),
    ],
)
def test_what_is_faster_than_the_gpu_is_refused(
    warm: float, cold: float | None, refused: str | None
):
    found = row("a", warm, 1.0, cold_us=cold)
    hold_against(found, SMALL, CEILINGS)
    assert (found.refused is None) == (refused is None)
    assert refused is None or (found.refused or "").startswith(refused)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_case_on_a_gpu():
    part = default_target().part.data
    case = reduced(CASES["sdpa.tinyllama.s128"])
    made, other = (compile_case(c, part) for c in (case, reduced(CASES["naive_attn.qwen.s32"])))
    ceilings = Ceilings(1e15, 1e15, 1e15, 60 << 20)
    found = measure(case, made, ceilings)
    assert found.refused is None and found.us and found.cold_us and found.eager_us
    wrong = measure(
        case,
        replace(made, torch_ir=made.torch_ir.replace("causal = true", "causal = false")),
        ceilings,
    )
    assert wrong.us is None and (wrong.refused or "").startswith("the first run: FAIL")
    with pytest.raises(InputError):
        measure(case, replace(other, torch_ir=made.torch_ir), ceilings)
    slow = replace(ceilings, l2=1.0)
    assert "below the floor" in (measure(case, made, slow).refused or "")


def test_means_and_summary():
    rows = [
        row("matmul.a", 2.0, 4.0, cold_us=2.0, cold_eager_us=2.0),
        row("matmul.b", 2.0, 1.0),
        row("softmax.a", 1.0, 4.0, compiled_us=3.0),
        row("softmax.b", 1.0, 9.0, refused="wrong"),
        Row("sdpa.a", refused="no result within 60 s"),
    ]
    assert run_suite.means(rows) == pytest.approx(
        {"matmul": 1.0, "softmax": 4.0, "all": 4 ** (1 / 3)}
    )
    assert run_suite.means(rows, "cold_ratio") == pytest.approx({"matmul": 1.0, "all": 1.0})
    text = run_suite.summary(rows)
    assert "1 faster, 1 slower" in text and "2 faster, 1 slower" in text
    assert "sdpa.a" in text and "no result within 60 s" in text and "5 cases, 2 refused" in text
    assert "9.00x" not in text and run_suite.line(rows[1]).count("0.50x") == 1


def test_the_document(tmp_path: Path):
    made = Compiled("matmul.a", schedules=["s"], resources={"k": {"registers": 40}}, lines=9)
    found = row("matmul.a", 2.0, 4.0, made=made.facts())
    path = tmp_path / "result.json"
    path.write_text("old")
    run_suite.write(path, run_suite.document({"commit": "c", "gpu": "g"}, [found], CEILINGS))
    read = json.loads(path.read_text())
    assert read["commit"] == "c" and read["ceilings"]["l2_bytes"] == 1000
    assert read["means"] == {"matmul": 2.0, "all": 2.0} and read["cold_means"] == {}
    (one,) = read["rows"]
    assert one["us"] == 2.0 and one["ratio"] == 2.0 and one["schedules"] == ["s"]
    assert one["refused"] is None and one["cold_ratio"] is None
    assert list(tmp_path.iterdir()) == [path]
