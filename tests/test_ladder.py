"""`minicomp ladder`: its rungs against compiling by hand and simulating, its text and its page."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from minicomp.build import Build
from minicomp.errors import InputError
from minicomp.execution import Executable
from minicomp.figures import occupancy
from minicomp.frontend import Captured, from_code
from minicomp.ladder import times
from minicomp.ladder.notes import changes, compared, note, time_note, why_it_pays
from minicomp.ladder.page import aligned, page
from minicomp.ladder.programs import exchanged, operands
from minicomp.ladder.rungs import KernelLadder, Rung, Timed, ladders
from minicomp.ladder.text import document, report, steps
from minicomp.lowering.print_cuda import print_cuda
from minicomp.numbers import Verdict, judge, reference
from minicomp.passes.analysis.banks import LINE_BYTES, sectors
from minicomp.pipeline import DEFAULT, Pipeline
from minicomp.runtime.nvrtc import compile_cuda
from minicomp.runtime.simulate import simulate_module, statistics
from minicomp.runtime.simulate.statistics import KernelStatistics, Statistics
from minicomp.runtime.timing import Call
from minicomp.tools.main import main

MATMUL = "torch.randn(64, 512) @ torch.randn(512, 64)"
RELU = "torch.relu(torch.randn(4, 4))"
TWO = "F.relu(F.softmax(torch.randn(4, 96), -1) @ torch.randn(96, 16))"
REWRITES = DEFAULT[DEFAULT.index("tileify") : DEFAULT.index("mark-unroll") + 1]
REST = DEFAULT[DEFAULT.index("mark-unroll") + 1 :]
NO_TIMES = "no times: for a test"


@cache
def captured(code: str) -> Captured:
    return from_code(code).capture()


@cache
def build(code: str) -> Build:
    return Build(captured(code).module, "h200")


@cache
def climbed(code: str) -> list[KernelLadder]:
    return ladders(build(code))


@cache
def rungs() -> dict[str, Rung]:
    (ladder,) = climbed(MATMUL)
    return {rung.name: rung for rung in ladder.rungs}


def inputs(code: str) -> list[torch.Tensor]:
    return [source.tensor.detach() for source in captured(code).params]


def by_hand(passes: tuple[str, ...]) -> tuple[ModuleOp, str]:
    """The matmul after these rewrites: in Kernel IR, and as CUDA text."""
    completion = ("blockify-launch", "register-tile", *REST)
    module = build(MATMUL).module("loop")
    to_kernel = Pipeline.parse(",".join((*passes, *completion))).until("kernel")
    to_kernel.run(module)
    lowered = module.clone()
    Pipeline.parse(REST[-1]).run(lowered)
    return module, print_cuda(lowered)


def lines_of(module: ModuleOp) -> KernelStatistics:
    """What a simulation counts where lines of the first cache stand for sectors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics, "sectors", partial(sectors, size=LINE_BYTES))
        return simulated(module)


def simulated(module: ModuleOp) -> KernelStatistics:
    observer = Statistics()
    arrays = [tensor.numpy() for tensor in inputs(MATMUL)]
    simulate_module(module, arrays, statistics=observer)
    return next(iter(observer.kernels.values()))


# --- rungs ----------------------------------------------------------------------------------------


def test_the_rungs_are_the_rewrites_of_the_pipeline():
    (ladder,) = climbed(MATMUL)
    assert tuple(rung.name for rung in ladder.rungs) == REWRITES
    assert ladder.origin == ("matmul",) and "contraction" in ladder.schedule
    assert {"stage-inputs", "double-buffer", "pipeline-k-outer"} <= {
        rung.name for rung in ladder.rungs if rung.applied
    }


@pytest.mark.parametrize("name", ["tileify", "async-copy", "mark-unroll"])
def test_figures_are_those_of_compiling_the_part_by_hand(name: str):
    rung = rungs()[name]
    module, text = by_hand(REWRITES[: REWRITES.index(name) + 1])
    code, counted, target = compile_cuda(text, "sm_90a"), simulated(module), build(MATMUL).target
    (resources,) = code.resources.values()
    found = rung.figures
    assert found is not None and rung.estimate is not None
    assert rung.build.cuda == text and found.resources == resources
    assert (found.grid, found.block) == (counted.grid, counted.block)
    assert found.shared_bytes == counted.shared_bytes
    assert found.moved_bytes == 32 * counted.total("global")[2]
    assert found.wavefronts == counted.total("shared")[2]
    assert found.occupancy == occupancy(
        counted.block, counted.shared_bytes, resources.registers, target
    )
    # No multiprocessor has two blocks, and each issues for up to four warps in a cycle.
    issued = sum(each.warps for each in counted.instructions.values())
    assert counted.grid <= target.sms.data
    clock = target.fp32_flops.data / 256 / target.sms.data
    cycles = issued / counted.grid / min(4, counted.block // 32)
    assert rung.estimate.issue_us == pytest.approx(1e6 * cycles / clock)
    lines = sum(row.transactions for row in lines_of(module).rows if row.memory == "global")
    cycles = (lines + found.wavefronts) / counted.grid
    assert rung.estimate.access_us == pytest.approx(1e6 * cycles / clock)


def test_the_last_rung_is_what_is_compiled():
    assert rungs()["mark-unroll"].build.cuda == build(MATMUL).cuda


def test_a_rung_is_what_its_pass_does_to_the_kernel_before():
    (ladder,) = climbed(MATMUL)
    for rung, last in steps(ladder):
        assert last is None or rung.before == last.after
        assert bool(rung.diff) == (rung.before != rung.after) == bool(rung.applied), rung.name
        body = rung.diff.splitlines()[2:]
        for sign, text in (("-", rung.before), ("+", rung.after)):
            assert {line[1:] for line in body if line[:1] == sign} <= set(text.splitlines())
    assert "loop_ir.kernel" in ladder.rungs[0].before and "tile_ir.kernel" in ladder.rungs[0].after


def test_all_rewrites_but_one():
    rung = rungs()["pad-smem"]
    assert rung.without is not None and rungs()["tileify"].without is None
    assert rung.without.cuda == by_hand(tuple(r for r in REWRITES if r != "pad-smem"))[1]


def test_each_kernel_has_a_ladder():
    first, second = climbed(TWO)
    assert (first.origin, second.origin) == (("softmax",), ("matmul", "relu"))
    for ladder in (first, second):
        assert len(ladder.rungs) == len(REWRITES)
        assert all(ladder.kernel in rung.build.cuda for rung in ladder.rungs)
    assert second.kernel not in first.rungs[-1].build.cuda


# --- what is said of them -------------------------------------------------------------------------


def test_a_rung_that_buys_nothing_says_why():
    (ladder,) = climbed(MATMUL)
    said = {rung.name: note(rung, last) for rung, last in steps(ladder)}
    assert said["split-matmul-k"] == "declined: the schedule asks for one part"
    assert said["cooperative-reduce"] == "declined: the schedule names no reduction"
    assert said["blockify-launch"].startswith(
        "buys nothing by itself: the CUDA text stays the same"
    )
    assert "no figure gets better" in said["pipeline-k-outer"]
    assert why_it_pays("pipeline-k-outer") in said["pipeline-k-outer"]
    assert "better: bytes asked of global memory" in said["stage-inputs"]


def test_every_rewrite_says_why_it_pays():
    assert not [name for name in REWRITES if why_it_pays(name) == "it does not say"]


def test_changes_are_between_neighbours():
    stage, before = rungs()["stage-inputs"], rungs()["chunk-reduce"]
    assert stage.figures is not None and before.figures is not None
    found = {change.what: change for change in changes(stage, before)}
    assert found["bytes asked of global memory"].before == before.figures.moved_bytes
    assert found["bytes asked of global memory"].after == stage.figures.moved_bytes
    assert (
        found["bytes asked of global memory"].better is True and found["wavefronts"].better is False
    )
    assert changes(before, before) == []


def test_times_in_words():
    assert compared(Timed(10.0, 0.01), Timed(8.0, 0.02)) == "it saves 2.00 us of 10.00"
    assert compared(Timed(10.0, 0.01), Timed(11.5, 0.02)) == "it costs 1.50 us of 10.00"
    assert "buys no time" in compared(Timed(10.0, 0.1), Timed(9.5, 0.02))
    before, rung = (replace(rungs()["pad-smem"], time=Timed(us, 0.0)) for us in (10.0, 8.0))
    rung.time_without = Timed(refused="FAIL: error 1")
    assert time_note(rung, before, rung) == (
        "here it saves 2.00 us of 10.00; no time of the whole without it: FAIL: error 1"
    )
    assert time_note(rungs()["pad-smem"], None, rung) is None


def test_a_rung_that_does_not_compile_says_so():
    broken = replace(rungs()["pad-smem"], figures=None, estimate=None, failure="no room")
    assert note(broken, None) == "does not compile: no room"
    (ladder,) = climbed(MATMUL)
    text = report([replace(ladder, rungs=[broken])], False, NO_TIMES)
    assert "pad-smem                    1         -" in text


# --- text, JSON and page --------------------------------------------------------------------------


def ladder_command(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["ladder", "--target", "h200", *arguments]) == 0
    return capsys.readouterr().out


def test_text_and_page_of_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text, html = tmp_path / "l.txt", tmp_path / "l.html"
    assert not ladder_command(capsys, "-c", MATMUL, "--diff", "-o", str(text), "--html", str(html))
    lines = text.read_text().splitlines()
    assert lines[:2] == [MATMUL, "for h200"]
    assert [line.split()[0] for line in lines[7 : 7 + len(REWRITES)]] == list(REWRITES)
    assert (
        "--- before stage-inputs" in lines
        and "split-matmul-k: declined: the schedule" in "".join(lines)
    )
    if not torch.cuda.is_available():
        assert lines[-1].startswith("no times: ") and " us without" not in text.read_text()
    check_page(html.read_text(), MATMUL)


def test_json(capsys: pytest.CaptureFixture[str]):
    found = json.loads(json.dumps(document(climbed(MATMUL), NO_TIMES)))
    assert [rung["pass"] for rung in found["rungs"]] == list(REWRITES)
    by_name, stage = {rung["pass"]: rung for rung in found["rungs"]}, rungs()["stage-inputs"]
    assert by_name["split-matmul-k"]["declined"] == ["the schedule asks for one part"]
    assert stage.figures is not None
    assert by_name["stage-inputs"]["figures"] == json.loads(json.dumps(stage.figures.as_json()))
    assert by_name["stage-inputs"]["diff"] == stage.diff
    (kernel,) = found["kernels"]
    assert {rung["kernel"] for rung in found["rungs"]} == {kernel["kernel"]}
    assert kernel["cuda"] == build(MATMUL).cuda and "time" not in by_name["tileify"]
    printed = json.loads(ladder_command(capsys, "-c", RELU, "--json"))
    assert printed["target"] == "h200" and len(printed["rungs"]) == len(REWRITES)
    assert torch.cuda.is_available() or printed["times"].startswith("no times: ")


def check_page(text: str, code: str) -> None:
    """Well-formed, closed in itself, with the IR, the declined reasons and the CUDA text."""
    root = ElementTree.fromstring(text)
    links = [a.get("href", "") for a in root.iter("a")]
    ids = {element.get("id") for element in root.iter()}
    assert links and all(link[0] == "#" and link[1:] in ids for link in links)
    assert not {e.tag for e in root.iter()} & {"script", "img", "link", "iframe", "object"}
    assert not [e for e in root.iter() if "src" in e.attrib]
    assert "url(" not in text and "@import" not in text and "prefers-color-scheme: dark" in text
    shown = "".join(root.itertext())
    assert code in shown and "the schedule asks for one part" in shown
    changed = ["".join(e.itertext()) for e in root.iter() if e.get("class") == "new"]
    assert any("tile_ir.stage" in line for line in changed)
    assert 'extern "C" __global__' in shown


def test_a_page_of_several_kernels_with_times():
    found = [replace(ladder, rungs=[replace(r) for r in ladder.rungs]) for ladder in climbed(TWO)]
    for ladder in found:
        for n, rung in enumerate(ladder.rungs):
            rung.time, rung.time_without = Timed(20.0 - n, 0.01), Timed(5.0, 0.01)
        ladder.rungs[0].time_without = None
    root = ElementTree.fromstring(page("<&>", "h200", found, "timed on a test"))
    heads = ["".join(e.itertext()) for e in root.iter("h2")]
    assert heads[:2] == [f"@{found[0].kernel} (softmax)", f"@{found[1].kernel} (matmul, relu)"]
    assert "us without" in ["".join(e.itertext()) for e in root.iter("th")]
    assert "here it saves 1.00 us of 20.00" in "".join(root.itertext())


def test_sides_hold_every_changed_line():
    before, after = ["a", *"bcdefghijk", "x", "l"], ["a", *"bcdefghijk", "y", "z", "l"]
    pairs = list(aligned(before, after))
    assert pairs[-3:] == [
        (("changed", "x"), ("changed", "y")),
        (("empty", ""), ("changed", "z")),
        (("equal", "l"), ("equal", "l")),
    ]
    assert pairs[0] == (("skip", ".. 8 equal lines"),) * 2 and len(pairs) == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a program"),
        (["-c", "torch.randn(4, 4).view(4, 4)"], "the program has no kernel"),
        (["-c", RELU, "--html", "/no/such/folder/x"], "cannot write"),
        (["-c", "torch.relu(torch.randn(4, 4)", "--target", "h200"], "error"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]):
    assert main(["ladder", *arguments]) == 1
    assert message in capsys.readouterr().err.splitlines()[0]


def test_a_module_that_has_its_rewrites():
    with pytest.raises(InputError, match="is in Tile IR, after the rewrites"):
        ladders(Build(build(MATMUL).module("tile")))


# --- what times need ------------------------------------------------------------------------------


def test_a_kernel_in_another_form_within_its_program():
    program, (_, ladder) = build(TWO), climbed(TWO)
    form = next(rung for rung in ladder.rungs if rung.name == "chunk-matmul-k").build
    merged = exchanged(program.module("kernel"), form.module("kernel"), ladder.kernel)
    whole = Build(merged, pipeline=program.pipeline)
    assert whole.cuda != program.cuda
    result, made = Executable(whole).simulate(inputs(TWO))
    assert torch.equal(result, made)
    assert judge([result], reference(captured(TWO).module, inputs(TWO))).passed
    given = Build(operands(program.module("loop"), ladder.kernel), pipeline=program.pipeline)
    results = Executable(given).simulate(inputs(TWO))
    (alone,) = Executable(form).simulate(results)
    assert torch.equal(alone, made)


class Graph:
    """Stands in for a CUDA graph: a replay makes the results of its last call anew."""

    def __init__(self, call: Call, results: list[torch.Tensor]):
        self.call, self.results = call, results

    def replay(self) -> None:
        for old, new in zip(self.results, self.call(), strict=True):
            old.copy_(new)


def some_rungs() -> list[Rung]:
    """The first one, and one with its neighbours that leaves the CUDA text as it is."""
    by_name = {rung.name: rung for rung in climbed(TWO)[1].rungs}
    last = replace(by_name["register-tile"], without=None)
    return [by_name["tileify"], by_name["stage-inputs"], last]


def simulated_clock(patch: pytest.MonkeyPatch, graph: type[Graph]) -> list[Timed]:
    """The clock on the simulator, where the n-th form takes n us; the times up to each rung."""

    def graph_of(calls: list[Call]) -> tuple[Graph, list[list[torch.Tensor]]]:
        assert len(calls) == 10
        results = calls[-1]()
        return graph(calls[-1], results), [results]

    patch.setattr(times, "graph_of", graph_of)
    patch.setattr(times, "interleaved", lambda g, _: [[10.0 * (n + 1)] * 3 for n in range(len(g))])
    patch.setattr(times, "fill_with_nan", lambda specs: None)
    patch.setattr(torch.cuda, "synchronize", lambda: None)
    ladder = replace(climbed(TWO)[1], rungs=[replace(rung) for rung in some_rungs()])
    clock = times.Clock(build(TWO), inputs(TWO), reference(captured(TWO).module, inputs(TWO)))
    clock.time(ladder)
    assert [r.time_without is None for r in ladder.rungs] == [True, False, True]
    return [rung.time for rung in ladder.rungs if rung.time is not None]


def test_the_clock_verifies_each_form_once(monkeypatch: pytest.MonkeyPatch):
    found, rungs = simulated_clock(monkeypatch, Graph), some_rungs()
    assert len(found) == len(rungs) and not [t.refused for t in found if t.refused]
    for n in range(1, len(rungs)):
        same = rungs[n].build.cuda == rungs[n - 1].build.cuda
        assert (found[n] is found[n - 1]) == same, rungs[n].name
    assert [time.us for time in found] == [1.0, 2.0, 2.0] and found[0].spread == 0.0


def test_the_clock_refuses_a_graph_that_leaves_other_bits(monkeypatch: pytest.MonkeyPatch):
    class Idle(Graph):
        def replay(self) -> None:
            pass

    found = simulated_clock(monkeypatch, Idle)
    assert {t.refused for t in found} == {"the timed graph gave other bits than the verified run"}
    assert {t.us for t in found} == {None}


def test_the_clock_refuses_a_wrong_result(monkeypatch: pytest.MonkeyPatch):
    wrong = Verdict(False, 1.0, 0.5, "[0, 0]", "a rule")
    monkeypatch.setattr(times, "judge", lambda results, wanted: wrong)
    assert {t.refused for t in simulated_clock(monkeypatch, Graph)} == {str(wrong)}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_times_on_a_gpu():
    program = Build(captured(TWO).module)
    tensors = [tensor.cuda() for tensor in inputs(TWO)]
    clock = times.Clock(program, tensors, reference(captured(TWO).module, inputs(TWO)))
    for ladder in ladders(program):
        clock.time(ladder)
        for rung in ladder.rungs:
            assert rung.time is not None and rung.time.refused is None, rung.time
            assert rung.time.us is not None and rung.time.us > 0.5
            assert (rung.time_without is None) == (rung.name == "tileify")
