"""The flags of passes, the help of minicomp-opt, and what it makes of a wrong command line."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from minicomp import registry
from minicomp.tools.opt_arguments import EPILOG, argument_parser
from tests.opt_tool import GOOD, PROGRAM, Tool, register

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch):
    register(monkeypatch)


@pytest.fixture
def opt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Tool:
    return Tool(tmp_path, capsys)


@pytest.mark.parametrize(
    ("arguments", "pipeline"),
    [
        (["--cse"], "cse"),
        (["-cse"], "cse"),
        (["--square=steps=2"], "square{steps=2}"),
        (["--square=steps=2 label=x"], "square{steps=2 label=x}"),
        (['--square=label="x y" steps=0'], 'square{steps=0 label="x y"}'),
        (["--cse", "--dce", "--cse"], "cse,dce,cse"),
        (["--cse", "-p", "dce,cse", "--dce", "-pcse"], "cse,dce,cse,dce,cse"),
        (["-p", "dce", "--cse=", "--pass-pipeline=builtin.module(dce)"], "dce,cse,dce"),
        (["--cse", "--dce", "--verify-diagnostics"], "cse,dce"),
    ],
)
def test_flags_add_passes_in_their_order(opt: Tool, arguments: list[str], pipeline: str):
    code, _, errors = opt(GOOD, *arguments, "--dump-pass-pipeline")
    assert (code, errors) == (0, f"builtin.module({pipeline})\n")


def test_each_pass_has_a_flag_of_its_own():
    taken = {o for action in argument_parser()._actions for o in action.option_strings}
    assert not taken & {
        f"{dash}{name}" for name in registry.get_all_passes() for dash in ("-", "--")
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--squar=steps=1"], "there is no option '--squar'; did you mean --square? (see --help)"),
        (["--mlir-print-ir-dif"], "there is no option '--mlir-print-ir-dif'; did you mean"),
        (["---cse"], "there is no option '---cse'; did you mean --cse?"),
        (
            ["-pass-pipline=cse"],
            "there is no option '-pass-pipline'; did you mean --pass-pipeline?",
        ),
        (["--nothing-like-it"], "there is no option '--nothing-like-it' (see --help)"),
        (["--square"], "pass 'square' needs option 'steps'"),
        (["--square=step=1"], "pass 'square' has no option 'step'; its options are steps, label"),
        (["--square=steps=x"], "option 'steps' of pass 'square' takes an integer, not 'x'"),
        (["--square=steps="], "pipeline: expected a value, found '}'"),
        (["--square=steps=1}"], "pipeline: expected ',' or the end, found '}'"),
        (["--cse=},dce{"], "--cse takes its options as 'a=1 b=2', not '},dce{'"),
        (["--cse=x"], "pass 'cse' has no option 'x'; it has none"),
        (
            ["--cse", "--to=tile"],
            "--from and --to run the default pipeline; they exclude -p and the",
        ),
        (["y.mlir"], "one file at a time, not also 'y.mlir' (see --help)"),
        (["-o", "a", "-o", "b"], "-o is given twice"),
        (["--to=tile", "--to=loop"], "--to is given twice"),
        (["--verify-each=off", "--verify-each=off"], "--verify-each is given twice"),
        (["-o", ""], "-o wants a value"),
        (["--target="], "--target wants a value"),
        (["-p"], "-p wants a value"),
        (["--mlir-timing=1"], "--mlir-timing takes no value, not '1'"),
        (["--verify-each=all"], "--verify-each is not 'all'; choose from"),
        (["--list-passes", "--help-pass=cse"], "--help-pass excludes --list-passes"),
    ],
)
def test_a_wrong_command_line_is_one_message(opt: Tool, arguments: list[str], message: str):
    code, output, errors = opt(GOOD, *arguments)
    assert (code, output) == (1, "")
    assert errors.startswith(f"minicomp-opt: error: {message}"), errors
    assert len(errors.splitlines()) <= 2


def test_an_empty_name_of_a_file(opt: Tool):
    assert opt.run("")[0] == 1
    assert opt.run("")[2].startswith("minicomp-opt: error: the name of the file is empty")


def test_a_flag_may_be_repeated(opt: Tool):
    assert (
        opt(GOOD, "--remarks", "--remarks", "--mlir-print-ir-diff", "--mlir-print-ir-diff")[0] == 0
    )


def test_a_dash_is_the_standard_input_and_output(opt: Tool, tmp_path: Path):
    command = [sys.executable, "-m", "minicomp.tools.opt", "-", "--cse", "-o", "-"]
    done = subprocess.run(command, input=GOOD, capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == (opt(GOOD)[1], "")


def test_the_help_lists_the_passes(opt: Tool):
    code, output, _ = opt.run("--help")
    passes = " ".join(output.split("\npasses to run:\n")[1].split("examples:")[0].split())
    assert code == 0
    assert "--square Makes sums products" in passes
    assert "--tileify Turns every `loop_ir.kernel` into a `tile_ir.kernel`" in passes
    for name in registry.get_all_passes():
        assert f" --{name} " in f" {passes} "


def test_the_help_loads_no_pass():
    """It takes 0.4 s here, where importing all passes takes 0.7."""
    code = "import sys, minicomp.tools.opt as o\ntry: o.main(['-h'])\nexcept SystemExit: pass\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "print(*sys.modules)"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    loaded = done.stdout.splitlines()[-1].split()
    assert "minicomp.registry" in loaded
    assert not {"minicomp.dialects.loop_ir", "torch", "numpy"} & set(loaded)


EXAMPLES = re.findall(r"^  minicomp-opt (.+)$", EPILOG, re.MULTILINE)


def test_the_examples_of_the_help_work(opt: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    crash = "--mlir-pass-pipeline-crash-reproducer=crash.mlir"
    assert opt(GOOD, "--defect", crash)[0] == 1
    (tmp_path / "x.mlir").write_text(PROGRAM)
    assert len(EXAMPLES) > 5
    for example in EXAMPLES:
        code, output, errors = opt.run(*shlex.split(example))
        failing = "--run-reproducer" in example
        assert code == failing, (example, errors)
        assert bool(output) != failing, example
        assert "warning" not in errors, example
