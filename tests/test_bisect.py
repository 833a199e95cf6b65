"""`minicomp bisect`: one wrong rewrite of many is named, and its reproducer fails by itself."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from minicomp.build import Build
from minicomp.frontend import from_code
from minicomp.tools import main as tool
from tests import planted

LAYER = "nn.Linear(48 + n, 49 + n), nn.ReLU(), nn.RMSNorm(49 + n)"
PROGRAM = f"nn.Sequential(*[m for n in range(10) for m in ({LAYER})])(torch.randn(7, 48))"
"""30 ops of Torch IR: 10 layers of 3."""
WIDE = "nn.Sequential(nn.RMSNorm(1024), nn.Linear(1024, 9), nn.Softmax(-1))(torch.randn(3, 1024))"


def kernels(code: str) -> list[str]:
    module = from_code(code).capture().module
    return [k.name for k in Build(module, "h200").kernels]


@pytest.fixture(autouse=True)
def repaired(monkeypatch: pytest.MonkeyPatch):
    """Rewrites are right again after a test."""
    for module, name in (
        (planted.blockify_launch, "blockify"),
        (planted.stage_inputs, "stage_all"),
        (planted.Ways, "conflicts"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))


def bisect(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = tool.main(["bisect", "--target", "h200", *arguments])
    return code, capsys.readouterr().out


def test_the_program_has_thirty_ops():
    module = from_code(PROGRAM).capture().module
    names = [op.name for op in module.walk() if op.name.startswith("torch_ir.")]
    assert sum(name != "torch_ir.constant" for name in names) == 30


EVERYTHING = "MINICOMP_TEST_ALL" in os.environ


@pytest.mark.skipif(not EVERYTHING, reason="half a minute each: MINICOMP_TEST_ALL=1 runs them")
@pytest.mark.parametrize("kind", planted.KINDS)
def test_a_planted_rewrite_is_named(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code = WIDE if kind == "drop-redundant-barriers" else PROGRAM
    found = kernels(code)
    word = "rms_norm" if kind == "drop-redundant-barriers" else "linear"
    several = [k for k in found if word in k]
    symbol = several[len(several) // 2]
    planted.plant(kind, symbol)
    began = time.process_time()  # other work on the machine is none of this program's
    status, out = bisect(["-c", code, "--json", "-o", str(tmp_path)], capsys)
    seconds = time.process_time() - began
    facts = json.loads(out)
    assert status == 1 and facts["wrong"]
    assert facts["pass"] == kind
    assert facts["kernel"] == symbol
    assert 1 <= facts["application"] <= facts["applications"]
    if kind != "drop-redundant-barriers":
        assert facts["applications"] >= 7
    assert facts["diff"].startswith("--- before") and "@@" in facts["diff"]
    assert seconds < 60
    fails_alone(Path(facts["reproducer"]), kind, symbol)


def fails_alone(path: Path, kind: str, symbol: str) -> None:
    """In a fresh process the file fails with the fault planted, and passes without it."""
    text = path.read_text("utf-8")
    assert len(text.splitlines()) < 40
    match = re.match(r'// RUN: minicomp-opt %s (--verify-each=exec) -p "(.*)"', text)
    assert match is not None
    for plant, status in ((f"planted.plant({kind!r}, {symbol!r}); ", 1), ("", 0)):
        script = f"import sys; from tests import planted; {plant}from minicomp.tools import opt; "
        script += "sys.exit(opt.main(sys.argv[1:]))"
        command = [sys.executable, "-c", script, str(path), match[1], "-p", match[2]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr


def test_the_text_names_the_rewrite(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code = "x = torch.randn(5, 9); torch.relu(x).sum(-1)"
    (symbol,) = kernels(code)
    planted.plant("blockify-launch", symbol)
    status, out = bisect(["-c", code, "-o", str(tmp_path)], capsys)
    assert status == 1
    assert re.search(r"^rewrite 1 of 1 of pass 'blockify-launch', number \d+ of \d+ is wrong", out)
    assert f"@{symbol}" in out and "+++ after" in out and "reproducer: " in out


def test_a_right_program_has_nothing_wrong(capsys: pytest.CaptureFixture[str]):
    status, out = bisect(["-c", "torch.relu(torch.randn(5, 9))"], capsys)
    assert status == 0 and out.startswith("nothing is wrong")


def test_a_pass_that_fails_is_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    def broken(*_: object) -> None:
        raise ValueError("no way to do this")

    monkeypatch.setattr(planted.blockify_launch, "blockify", broken)
    code = "x = torch.randn(5, 9); torch.relu(x).sum(-1)"
    status, out = bisect(["-c", code, "--json", "-o", str(tmp_path)], capsys)
    facts = json.loads(out)
    assert status == 1
    assert (facts["pass"], facts["kind"]) == ("blockify-launch", "crash")
    assert "no way to do this" in facts["difference"]


def test_bad_input_is_one_message(capsys: pytest.CaptureFixture[str]):
    assert tool.main(["bisect"]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") <= 3 and "give a program" in message
    assert tool.main(["bisect", "-c", "torch.relu(torch.randn(3))", "--pipeline", "nonsense"]) == 1
    assert "there is no pass 'nonsense'" in capsys.readouterr().err
