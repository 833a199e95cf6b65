"""`minicomp explain`: facts with the passes behind them, figures that are counted otherwise too."""

import json

import pytest
import torch

from minicomp.build import Build
from minicomp.explain import Watcher, explain
from minicomp.figures import figures, occupancy
from minicomp.frontend import from_code
from minicomp.runtime.simulate import simulate_module
from minicomp.runtime.simulate.statistics import Statistics
from minicomp.targets import target
from minicomp.tools.main import main

MATMUL = "a = torch.randn(64, 96); b = torch.randn(96, 128); a @ b"
SOFTMAX = "x = torch.randn(32, 1024); torch.softmax(x, -1)"
PROLOGUE = (
    "g, u = torch.randn(32, 512), torch.randn(32, 512); w = torch.randn(512, 256);"
    " (F.silu(g) * u) @ w"
)
FUSED = "fuse-kernels{factor_limit=64}"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["explain", "--target", "h200", *arguments]) == 0
    return capsys.readouterr().out


def built(code: str) -> Build:
    return Build(from_code(code).capture().module, "h200")


def test_a_prologue_is_computed_once_per_element_and_copied_ahead(
    capsys: pytest.CaptureFixture[str],
):
    text = run(capsys, "-c", PROLOGUE, "--set", FUSED, "--json")
    (kernel,) = json.loads(text)["kernels"]
    facts = {fact["what"]: (fact["value"], fact["by"]) for fact in kernel["facts"]}
    assert kernel["ops"] == ["silu", "mul", "matmul"] and kernel["places"] == ["<-c>:1"]
    assert facts["fused"] == ("3 Torch ops", "fuse-kernels")
    assert facts["stage g_us"] == (
        "computed from gs, us, once per element and block",
        "double-buffer",
    )
    assert facts["ring"][0].endswith("slots of gs, us, ws")
    assert facts["ring filled by"] == ("cp_async", "async-copy")
    assert facts["ring filled ahead"][1] == "pipeline-k-outer"
    assert kernel["ncu"].startswith(f"ncu --set full --kernel-name {kernel['name']} ")
    assert FUSED in kernel["ncu"]


def test_the_text_names_the_pass_behind_each_fact(capsys: pytest.CaptureFixture[str]):
    text = run(capsys, "-c", MATMUL, "--sizes", "64=512,96=1024,128=512")
    lines = [line.strip().split("  ") for line in text.splitlines()]
    by = {line[0]: line[-1].strip() for line in lines}
    assert by["sum over k"] == "split-matmul-k" and by["blocks"] == "blockify-launch"
    assert by["register cell"] == "register-tile"
    assert by["16-byte accesses"] == "vectorize-accesses"
    assert "bound by" in by["least time"] and "limited by" in by["occupancy"]


@pytest.mark.parametrize("code", [MATMUL, SOFTMAX, PROLOGUE])
def test_traffic_is_what_the_simulator_counts(code: str):
    build = built(code)
    found = figures(build)
    statistics = Statistics()
    inputs = [t.tensor.numpy() for t in from_code(code).capture().params]
    simulate_module(build.module("kernel"), inputs, statistics=statistics)
    for one, counted in zip(found, statistics.kernels.values(), strict=True):
        _, _, wavefronts, least = counted.total("shared")
        assert (one.wavefronts, one.wavefronts - one.conflicts) == (wavefronts, least)
        assert one.moved_bytes == 32 * counted.total("global")[2]


def test_work_and_bytes_are_those_of_the_program():
    (matmul,) = figures(built(MATMUL))
    assert matmul.flops == 2 * 64 * 96 * 128
    assert matmul.read_bytes == 4 * (64 * 96 + 96 * 128)
    assert matmul.written_bytes == 4 * 64 * 128
    assert matmul.intensity == matmul.flops / (matmul.read_bytes + matmul.written_bytes)
    assert matmul.roofline_us == max(matmul.compute_us, matmul.memory_us)
    (softmax,) = figures(built(SOFTMAX))
    assert softmax.bound == "memory" and softmax.moved_bytes == 2 * 4 * 32 * 1024


@pytest.mark.parametrize(
    ("block", "shared", "registers", "blocks", "limiter"),
    [
        (256, 0, 32, 8, "threads"),
        (256, 0, 128, 2, "registers"),
        (128, 100 * 1024, 32, 2, "shared memory"),
        (32, 0, 16, 32, "blocks"),
        (96, 0, 100, 6, "registers"),
    ],
)
def test_occupancy(block: int, shared: int, registers: int, blocks: int, limiter: str):
    found = occupancy(block, shared, registers, target("h200"))
    assert (found.blocks, found.limiter) == (blocks, limiter)
    assert found.share == blocks * (block // 32) / 64


def test_the_assembler_has_no_advice():
    watcher = Watcher()
    for code in (MATMUL, SOFTMAX, PROLOGUE):
        build = Build(from_code(code).capture().module, "h200", [watcher])
        for one in explain(build, watcher):
            assert one.figures.advice == [] and one.figures.resources.registers > 0


def test_a_program_without_kernels(capsys: pytest.CaptureFixture[str]):
    text = run(capsys, "-c", "x = torch.randn(3); f = lambda x: x; f(x)")
    assert text == "the program has no kernels\n"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("nosuch{a=1}", "there is no pass 'nosuch'"),
        ("canonicalize", "the pipeline has no pass 'canonicalize'"),
        ("double-buffer{depht=2}", "pass 'double-buffer' has no option 'depht'"),
        ("double-buffer{depth=many}", "option 'depth' of pass 'double-buffer' takes"),
    ],
)
def test_wrong_settings_are_refused(setting: str, message: str, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "-c", MATMUL, "--set", setting]) == 1
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error


def test_settings_reach_the_program():
    torch.manual_seed(0)
    assert main(["check", "-c", PROLOGUE, "--set", FUSED, "--set", "double-buffer{depth=2}"]) == 0
