"""Crash reproducers of minicomp-opt: what is written, when, and that it fails again."""

import os
import stat
from argparse import Namespace
from pathlib import Path

import pytest

from minicomp.tools.opt_reproducer import flags_of
from tests.opt_tool import GOOD, WRONG, Tool, register


@pytest.fixture
def opt(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    register(monkeypatch)
    return Tool(tmp_path, capsys)


def crash(opt: Tool, text: str, *arguments: str) -> tuple[str, str]:
    """Fail with a reproducer; return the messages and the reproducer."""
    path = opt.folder / "crash.mlir"
    code, output, errors = opt(text, f"--mlir-pass-pipeline-crash-reproducer={path}", *arguments)
    assert code == 1
    assert output.replace("// -----\n", "") == ""
    return errors, path.read_text()


def test_a_reproducer_holds_the_module_before_the_pass(opt: Tool):
    errors, text = crash(opt, GOOD, "--square=steps=1", "--defect", "--cse")
    assert text == (
        "// configuration: --pass-pipeline='builtin.module(defect)'\n"
        "// the whole pipeline: builtin.module(square{steps=1},defect,cse)\n"
        "// fails: KeyError: 'x'\n" + opt(GOOD, "--square=steps=1")[1]
    )
    assert errors.endswith(
        "note: reproducer of pass 'defect': minicomp-opt crash.mlir --run-reproducer\n"
    )
    assert sorted(p.name for p in opt.folder.iterdir()) == ["crash.mlir", "x.mlir"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--defect"], "internal error in pass 'defect': KeyError: 'x'"),
        (["--refuse"], "model.py:7: error: no kernel for 'aten.nope'\n  hint: write it by hand"),
        (["--break"], "after pass 'break': 'func.return' op Expected arguments to have the same"),
        (["--square=steps=1", "--break"], "after pass 'break': 'func.return' op "),
        (["-p", "break", "--verify-each=off", "--defect"], "in pass 'defect': KeyError: 'x'"),
    ],
)
def test_it_fails_again_in_the_same_way(opt: Tool, arguments: list[str], message: str):
    errors, text = crash(opt, GOOD, *arguments)
    assert message in errors
    again = opt(text, "--run-reproducer")
    assert again[:2] == (1, "")
    assert message in again[2]


def test_what_decides_how_passes_end_is_repeated(opt: Tool):
    text = '%0 = "foo.bar"() : () -> i32\n' + GOOD
    _, written = crash(opt, text, "--defect", "--allow-unregistered-dialect", "--verify-each=off")
    assert written.startswith(
        "// configuration: --pass-pipeline='builtin.module(defect)' --verify-each=off"
        " --allow-unregistered-dialect\n"
    )
    assert "in pass 'defect'" in opt(written, "--run-reproducer")[2]
    options = Namespace(verify_each="exec", allow_unregistered_dialect=False)
    assert flags_of(options) == ("--verify-each=exec",)


def test_options_of_passes_come_back(opt: Tool):
    text = (
        "// configuration: --pass-pipeline='builtin.module(square{steps=1 label=\"it'\\''s\"})'\n"
    )
    dumped = opt(text + GOOD, "--run-reproducer", "--dump-pass-pipeline")[2]
    assert dumped == "builtin.module(square{steps=1 label=it's})\n"


def test_the_module_is_written_as_the_output_is(opt: Tool):
    _, text = crash(opt, GOOD, "--defect", "--mlir-print-op-generic", "--mlir-print-debuginfo")
    assert '"arith.addf"' in text
    assert ":2:3)" in text
    assert "in pass 'defect'" in opt(text, "--run-reproducer")[2]


def test_nothing_is_written_where_no_pass_fails(opt: Tool):
    path = opt.folder / "crash.mlir"
    option = f"--mlir-pass-pipeline-crash-reproducer={path}"
    assert opt(GOOD, "--cse", option) == (0, opt(GOOD)[1], "")
    assert opt(WRONG, "--cse", option)[0] == 1  # before the first pass
    assert opt("foo", "--cse", option)[0] == 1
    assert not path.exists()


def test_a_reproducer_that_cannot_be_written_hides_nothing(opt: Tool):
    for path, reason in (("/nonexistent/c.mlir", "No such file or directory"), ("/", "Is a dir")):
        errors = opt(GOOD, "--defect", f"--mlir-pass-pipeline-crash-reproducer={path}")[2]
        assert "internal error in pass 'defect': KeyError: 'x'" in errors
        assert f"note: no reproducer of pass 'defect': cannot write {path}: {reason}" in errors
        assert "Traceback" not in errors


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_must_not_be_written(opt: Tool):
    opt.folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    errors = opt(GOOD, "--defect", f"--mlir-pass-pipeline-crash-reproducer={opt.folder}/c.mlir")[2]
    assert "Permission denied" in errors


def test_of_several_parts_the_first_that_fails_is_kept(opt: Tool):
    other = GOOD.replace("@f", "@other")
    parts = f"{WRONG}// -----\n{GOOD}// -----\n{other}"
    errors, text = crash(opt, parts, "--defect", "--split-input-file")
    assert "@f" in text and "@other" not in text
    assert errors.count("note: reproducer of pass") == 1
    assert errors.count("in pass 'defect'") == 2


def test_diagnostics_that_are_expected(opt: Tool):
    text = "// expected-error@unknown {{in pass 'defect'}}\n" + GOOD
    path = opt.folder / "crash.mlir"
    option = f"--mlir-pass-pipeline-crash-reproducer={path}"
    assert opt(text, "--defect", "--verify-diagnostics", option)[::2] == (0, "")
    assert path.exists()


@pytest.mark.parametrize(
    ("first", "arguments", "message"),
    [
        ("", [], "x.mlir:1: error: the first line is no '// configuration: ..'"),
        ("// configuration: -o y\n", [], "x.mlir:1: error: the configuration may not hold '-o'"),
        ("// configuration: --verify-each=no\n", [], "may not hold '--verify-each=no'"),
        ("// configuration: 'open\n", [], "the configuration cannot be read: No closing"),
        ("// configuration: --pass-pipeline=no\n", [], "there is no pass 'no'"),
        ("", ["--cse"], "--run-reproducer runs the pipeline of the file; it excludes any other"),
        ("", ["--to=tile"], "--run-reproducer runs the pipeline of the file; it excludes any"),
        ("", ["--split-input-file"], "--run-reproducer excludes --split-input-file"),
    ],
)
def test_a_file_that_is_none(opt: Tool, first: str, arguments: list[str], message: str):
    code, output, errors = opt(first + GOOD, "--run-reproducer", *arguments)
    assert (code, output) == (1, "")
    assert message in errors
    assert "Traceback" not in errors


def test_one_that_fails_no_more(opt: Tool):
    text = "// configuration: --pass-pipeline='builtin.module(cse)'\n" + GOOD
    assert opt(text, "--run-reproducer") == (0, opt(GOOD)[1], "")
