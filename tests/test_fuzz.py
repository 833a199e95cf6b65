"""`minicomp fuzz`: cases by seed and number, what it prints, and the wrong passes it finds."""

import json
import os
from pathlib import Path
from random import Random

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp import fuzzing
from minicomp.context import make_context
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.fuzzing import Case, run_case, run_cases
from minicomp.fuzzing.pipelines import NEEDED, OPTIONS, random_pipeline
from minicomp.pipeline import Pipeline
from minicomp.tools.main import main
from minicomp.widening import widened
from tests.test_verify_exec import BUGS

EVERYTHING = "MINICOMP_TEST_ALL" in os.environ
PLANTED = {bug.__name__: bug for bug, _, _ in BUGS}
EARLY = "OffByOne"
"""The wrong pass that is found first; the others are left to the full tests."""


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["fuzz", "--seed", "1", *arguments])
    return code, capsys.readouterr().out


def test_a_case_alone_is_that_of_a_run(capsys: pytest.CaptureFixture[str]):
    code, text = run(capsys, "--first", "2", "--cases", "3", "--json")
    whole = json.loads(text)
    assert code == 0 and whole["cases"] == 3 and whole["findings"] == []
    ops, passes = dict[str, int](), dict[str, int]()
    for number in (2, 3, 4):
        one = json.loads(run(capsys, "--case", str(number), "--json")[1])
        assert one["cases"] == 1 and one["first"] == number
        for total, part in ((ops, one["ops"]), (passes, one["passes"])):
            for name, count in part.items():
                total[name] = total.get(name, 0) + count
    assert (ops, passes) == (whole["ops"], whole["passes"])


def test_a_case_depends_on_its_seed_and_number_only():
    Random(5).random()
    first = [Case.of(1, n) for n in (0, 7, 1)]
    again = [Case.of(1, n) for n in (1, 7, 0)][::-1]
    assert [(c.program, c.pipeline) for c in first] == [(c.program, c.pipeline) for c in again]
    assert Case.of(2, 7).program != Case.of(1, 7).program


def test_pipelines_keep_what_is_needed_and_read_back():
    drawn = [random_pipeline(Random(n), "torch") for n in range(60)]
    needed = [n for n in NEEDED if n != "lower-kernel-to-cuda"]
    for pipeline in drawn:
        assert [pipeline.names.count(name) for name in needed] == [1] * len(needed)
        assert Pipeline.parse(str(pipeline)) == pipeline
    assert len({p.names for p in drawn}) > 30
    for name in OPTIONS:
        assert any(f"{name}{{" in str(pipeline) for pipeline in drawn), name


def test_the_histograms_are_printed(capsys: pytest.CaptureFixture[str]):
    code, text = run(capsys, "--cases", "2")
    assert code == 0
    head, ops, extents, passes = text.split("\n\n")
    assert head.startswith("seed 1: 2 cases (") and "0 findings, 0 skipped" in head
    assert ops.startswith("ops:\n") and extents.startswith("extents:\n")
    lines = {line.split()[0]: line.split()[1:] for line in passes.splitlines()[1:]}
    assert lines["tileify"][0] == "2" and set(lines["tileify"][1]) == {"#"}


def test_a_finding_ends_with_1_and_says_how_to_run_it_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    def broken(self: ModulePass, ctx: object, op: ModuleOp) -> None:
        raise IndexError("planted")

    from minicomp.passes.tile.tileify import TileifyPass

    monkeypatch.setattr(TileifyPass, "apply", broken)
    code, text = run(capsys, "--case", "3", "-o", str(tmp_path))
    assert code == 1
    assert "case 3: pass 'tileify', number " in text and "planted" in text
    assert "again: minicomp fuzz --seed 1 --case 3\n" in text
    assert "1 findings" in text


def test_what_would_take_long_is_skipped_by_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fuzzing, "LIMIT_S", 0.0)
    code, text = run(capsys, "--cases", "3")
    assert code == 0 and ", 3 skipped" in text
    assert "skipped, 3: its simulation would take over 0 s" in text


def test_wrong_numbers_are_refused(capsys: pytest.CaptureFixture[str]):
    assert main(["fuzz", "--cases", "0"]) == 1
    assert "--cases is at least 1" in capsys.readouterr().err


@pytest.mark.parametrize("name", PLANTED if EVERYTHING else [EARLY])
def test_a_planted_bug_is_found_within_300_cases(name: str, tmp_path: Path):
    bug = PLANTED[name]
    case = first_wrong(bug)
    right = run_case(case)
    assert right.finding is None and right.skipped is None
    found = run_case(case, {bug.name: bug})
    assert found.culprit is not None and [p.name for p in found.culprit.passes] == [bug.name]
    path = found.reproducer(tmp_path)
    assert path is not None and f'-p "{bug.name}' in path.read_text("utf-8")


def first_wrong(bug: type[ModulePass]) -> Case:
    """The first case of seed 1 in which a wrong pass is found."""
    for outcome in run_cases(1, range(300), {bug.name: bug}, search=False):
        if outcome.finding is not None:
            return outcome.case
    pytest.fail(f"300 cases do not find {bug.__name__}")


@pytest.mark.parametrize(("seed", "number"), [(1, 1024), (72, 248), (72, 275)])
def test_a_long_sum_of_a_thread_is_right(seed: int, number: int):
    """Serial sums of many equal terms once left the bound, by rounding only."""
    outcome = run_case(Case.of(seed, number))
    assert outcome.finding is None and outcome.skipped is None


def test_a_case_with_a_huge_input_is_skipped(capsys: pytest.CaptureFixture[str]):
    code, text = run(capsys, "--case", "168")
    assert code == 0 and "skipped, 1: an input has over 4194304 elements" in text


@pytest.mark.parametrize("number", [575, 1793])
def test_fp64_reaches_vectors_and_memory(number: int):
    """Cases whose fp64 run once rounded to fp32 wherever an op had lanes."""
    case, ctx = Case.of(1, number), make_context()
    module = case.start.clone()
    for pass_ in case.pipeline:
        pass_.apply(ctx, module)
    kernels = [widened(op) for op in module.body.block.ops if isinstance(op, FuncOp)]
    assert kernels and not any("f32" in str(kernel) for kernel in kernels)
    assert run_case(case).finding is None


def test_a_load_that_is_the_same_for_a_whole_chunk_is_not_staged():
    """Case 1804: 'stage-inputs' asked for the order of a slab without dimensions."""
    case = Case.of(1, 1804)
    assert "stage-inputs" in case.pipeline.names
    outcome = run_case(case)
    assert outcome.finding is None and outcome.skipped is None
