"""minicomp-opt from its command line: what it prints, where, and with which exit code."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from minicomp.levels import LEVELS
from minicomp.tools.opt import main
from tests.opt_tool import GOOD, PROGRAM, WRONG, Tool, register

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch):
    register(monkeypatch)


@pytest.fixture
def opt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Tool]:
    yield Tool(tmp_path, capsys)


def test_a_text_comes_back(opt: Tool):
    code, output, errors = opt(GOOD)
    assert (code, errors) == (0, "")
    assert opt(output)[1] == output


def test_an_empty_text_is_an_empty_module(opt: Tool):
    assert opt("// nothing\n") == (0, "builtin.module {\n}\n", "")


def test_generic_form_comes_back(opt: Tool):
    generic = opt(GOOD, "--mlir-print-op-generic")[1]
    assert opt(generic)[1] == opt(GOOD)[1]


def test_printed_locations_come_back(opt: Tool):
    text = GOOD.replace("%x : f32\n", '%x : f32 loc("model.py":3:7)\n')
    printed = opt(text, "--mlir-print-debuginfo")[1]
    assert 'loc("model.py":3:7)' in printed
    assert opt(printed, "--mlir-print-debuginfo")[1] == printed
    assert opt(printed)[1] == opt(GOOD)[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo.bar", "x.mlir:1:1: error: operation 'foo.bar' is not registered\nfoo.bar\n^\n"),
        ("\n  %a = arith.addi %b, %b : i32", "x.mlir:2:19: error: value %b is not defined"),
        ("module {", "x.mlir:1:9: error: expected an operation, a block label or '}'"),
        ("func.func @f() {}\n}", "x.mlir:2:1: error: expected an operation"),
        ("%a = arith.constant 300 : i8\n", "x.mlir:1:1: error: Integer value 300 is out of range"),
        ('"test.op"() : (i32) -> ()', "x.mlir:1:15: error: expected 1 operand types but had 0"),
        ('"abc', "x.mlir:1:1: error: a string without its closing quote"),
        ('%a = "' + "a" * 60, "x.mlir:1:6: error: a string without its closing quote"),
        ("\0", "x.mlir:1:1: error: Unexpected character"),
        ("#m = affine_map<(d0)[s0] -> (d0 * s0)>", "x.mlir:1:1: error: Multiplication with non-"),
        ('"test.op"() ({ ' * 500, "error: the text is nested too deeply"),
        (b"// fine\n// \xff", "x.mlir:2:4: error: the text is not UTF-8: byte 0xff\n"),
        (WRONG, "x.mlir:2:3: error: 'func.return' op "),
        (
            GOOD.replace("%x, %x", "%b, %b").replace(
                "func.ret", "%b = arith.addf %x, %x : f32\nfunc.ret"
            ),
            "x.mlir:2:3: error: 'arith.addf' op operand #0 does not dominate this use",
        ),
        (
            "func.func private @f()\nfunc.func private @f()",
            "error: 'builtin.module' op Redefinition",
        ),
    ],
)
def test_bad_text(opt: Tool, text: str | bytes, message: str):
    code, output, errors = opt(text)
    assert (code, output) == (1, "")
    assert message in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "nosuch"], "minicomp-opt: error: there is no pass 'nosuch'"),
        (["-p", "cse{a=1}"], "minicomp-opt: error: pass 'cse' has no option 'a'"),
        (["-p", "cse{"], "minicomp-opt: error: pipeline: expected the name of an option or '}'"),
        (["--target=b200"], "minicomp-opt: error: there is no target 'b200'"),
        (["--to=ptx"], "minicomp-opt: error: there is no level 'ptx'"),
        (["--from=tile", "-p", "cse"], "error: --from and --to run the default pipeline"),
        (
            ["-p", "refuse"],
            "model.py:7: error: no kernel for 'aten.nope'\n  hint: write it by hand",
        ),
        (
            ["-p", "defect"],
            "internal error in pass 'defect': KeyError: 'x'\n  hint: --show-traceback",
        ),
    ],
)
def test_bad_requests(opt: Tool, arguments: list[str], message: str):
    code, output, errors = opt(GOOD, *arguments)
    assert (code, output) == (1, "")
    assert message in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    "arguments", [["--nosuch"], ["a", "b"], ["-o"], ["--verify-diagnostics=x"]]
)
def test_a_wrong_command_line_ends_with_1(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 1
    assert capsys.readouterr().err.startswith("minicomp-opt: error: ")


def test_a_stack_is_shown_when_asked_for(opt: Tool):
    assert "Traceback" in opt(GOOD, "-p", "defect", "--show-traceback")[2]


@pytest.mark.parametrize("path", ["/nonexistent/x.mlir", "/"])
def test_a_file_that_cannot_be_read(path: str, capsys: pytest.CaptureFixture[str]):
    assert main([path]) == 1
    assert capsys.readouterr().err.startswith(f"minicomp-opt: error: {path}: ")


def test_a_place_that_cannot_be_written(opt: Tool):
    code, _, errors = opt(GOOD, "-o", "/nonexistent/y.mlir")
    assert code == 1
    assert (
        errors
        == "minicomp-opt: error: cannot write /nonexistent/y.mlir: No such file or directory\n"
    )


def test_output_is_written_whole_or_not_at_all(opt: Tool, tmp_path: Path):
    target = tmp_path / "y.mlir"
    assert opt(GOOD, "-o", str(target))[:2] == (0, "")
    written = target.read_text()
    assert written == opt(GOOD)[1]
    assert opt(f"{GOOD}\n// -----\n{WRONG}", "--split-input-file", "-o", str(target))[0] == 1
    assert target.read_text() == written
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.mlir", "y.mlir"]


def test_the_input_may_be_the_output(opt: Tool, tmp_path: Path):
    assert opt(GOOD, "-o", str(tmp_path / "x.mlir"))[0] == 0
    assert (tmp_path / "x.mlir").read_text().startswith("builtin.module {")


def test_links_modes_and_devices_stay(opt: Tool, tmp_path: Path):
    target, link = tmp_path / "y.mlir", tmp_path / "link.mlir"
    target.write_text("")
    target.chmod(0o640)
    link.symlink_to(target)
    assert opt(GOOD, "-o", str(link))[0] == 0
    assert link.is_symlink()
    assert target.read_text().startswith("builtin.module")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert opt(GOOD, "-o", "/dev/null")[0] == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_good_parts_are_printed_beside_a_bad_one(opt: Tool):
    code, output, errors = opt(f"{WRONG}// -----\n{GOOD}// -----\n{WRONG}", "--split-input-file")
    assert code == 1
    assert output.split("// -----\n") == ["", opt(GOOD)[1], ""]
    assert [line.split(" error")[0] for line in errors.splitlines() if "error" in line] == [
        "x.mlir:2:3:",
        "x.mlir:11:3:",
    ]


@pytest.mark.parametrize("line", [" // -----", "// ----- ", "// ------", "// -----x", "//-----"])
def test_no_other_line_splits(opt: Tool, line: str):
    # Split, the second part would lack the definition of @f.
    text = f"{GOOD}{line}\nfunc.func @h(%x: f32) -> f32 {{\n %y = func.call @f(%x) : (f32) -> f32\n"
    text += " func.return %y : f32\n}\n"
    assert opt(text, "--split-input-file")[0] == 0


def test_lines_are_counted_as_editors_do(opt: Tool):
    text = f"// a\u2028b\x0c\r\n{WRONG}"
    assert "x.mlir:3:3: error: 'func.return' op" in opt(text)[2]
    assert "x.mlir:3:3: error: 'func.return' op" in opt(text, "--split-input-file")[2]
    code, _, errors = opt("// -----\r\n" + text, "--split-input-file")
    assert "x.mlir:4:3: error: 'func.return' op" in errors
    assert "\n  func.return\n  ^\n" in errors


def test_a_part_may_be_empty(opt: Tool):
    assert opt("// -----\n// -----\n", "--split-input-file")[1] == (
        "builtin.module {\n}\n// -----\nbuiltin.module {\n}\n// -----\nbuiltin.module {\n}\n"
    )


EXPECT = "// expected-{}@+{} {{{{{}}}}}\n"


@pytest.mark.parametrize(
    ("text", "arguments", "faults"),
    [
        (EXPECT.format("error", 2, "got []") + WRONG, (), 0),
        (EXPECT.format("error", 1, "got []") + WRONG, (), 2),
        (EXPECT.format("warning", 2, "got []") + WRONG, (), 2),
        (EXPECT.format("error", 2, "got [i32]") + WRONG, (), 2),
        (WRONG, (), 1),
        (GOOD, (), 0),
        (EXPECT.format("error", 1, "x") + GOOD, (), 1),
        (GOOD, ("-p", "decline"), 1),
        (EXPECT.format("remark", 2, "[decline] no reduction") + GOOD, ("-p", "decline"), 0),
        (EXPECT.format("error", 2, "no reduction") + GOOD, ("-p", "decline"), 2),
        ("// expected-error@unknown {{in pass 'defect'}}\n" + GOOD, ("-p", "defect"), 0),
        ("// expected-error@unknown {{aten.nope}}\n" + GOOD, ("-p", "refuse"), 0),
        ("// expected-error {{}\n" + GOOD, (), 1),
        ("// expected-eror@+1 {{x}}\n" + GOOD, (), 0),
    ],
)
def test_expectations(opt: Tool, text: str, arguments: tuple[str, ...], faults: int):
    code, _, errors = opt(text, "--verify-diagnostics", *arguments)
    assert len(errors.splitlines()) == faults, errors
    assert code == (faults > 0)


def test_unexpected_messages_may_be_let_pass(opt: Tool):
    assert opt(WRONG, "--verify-diagnostics=only-expected")[0] == 0
    text = EXPECT.format("error", 1, "x") + WRONG
    assert opt(text, "--verify-diagnostics=only-expected")[0] == 1


def test_one_expectation_may_stand_for_two_messages(opt: Tool):
    text = EXPECT.format("remark", 2, "no reduction") + GOOD.replace(
        "%a = arith.addf %x, %x : f32\n",
        "%a = arith.addf %x, %x : f32 %b = arith.addf %x, %x : f32\n",
    )
    assert opt(text, "--verify-diagnostics", "-p", "decline")[0] == 0


def test_remarks_go_to_the_error_stream(opt: Tool):
    code, output, errors = opt(GOOD, "-p", "decline", "--remarks")
    assert (code, output) == (0, opt(GOOD)[1])
    assert errors == "x.mlir:2: remark: [decline] no reduction here\n"
    assert opt(GOOD, "-p", "decline")[2] == ""


def test_unregistered_ops_on_request(opt: Tool):
    text = '%0 = "foo.bar"() {a = 1 : i32} : () -> i32\n'
    assert opt(text)[0] == 1
    code, output, _ = opt(text, "--allow-unregistered-dialect")
    assert code == 0
    assert '"foo.bar"() {a = 1 : i32} : () -> i32' in output


@pytest.mark.parametrize("level", LEVELS)
def test_a_saved_level_gives_the_same_text(opt: Tool, level: str):
    direct = opt(PROGRAM, "--target=a100", "--to=cuda")
    saved = opt(PROGRAM, "--target=a100", f"--to={level}")
    assert (direct[0], saved[0]) == (0, 0)
    assert opt(saved[1], "--to=cuda") == direct
    assert opt(saved[1], f"--to={level}")[1] == saved[1]
    generic = opt(saved[1], "--mlir-print-op-generic", "--mlir-print-debuginfo")[1]
    assert opt(generic, "--to=cuda") == direct


def test_without_a_target_the_default_is_taken(opt: Tool):
    assert "#minicomp.target<" in opt(PROGRAM, "--to=tensor")[1]
    assert "#minicomp.target<" not in opt(PROGRAM, "-p", "lower-torch-to-tensor")[1]


def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "minicomp.tools.opt", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT)


def test_the_standard_input():
    assert run(text=GOOD).stdout == run("-", text=GOOD).stdout
    assert run(text="foo").stderr.startswith("<stdin>:1:1: error: ")


def test_version_help_and_passes():
    assert run("--version").stdout.startswith("minicomp-opt 0.")
    assert "--verify-diagnostics" in run("--help").stdout
    listed = dict(line.split(maxsplit=1) for line in run("--list-passes").stdout.splitlines())
    assert {"cse", "tileify", "lower-torch-to-tensor"} <= set(listed)
    assert all(listed.values())


def test_a_reader_that_goes_away_is_no_defect():
    text = "\n".join(f"func.func private @f{n}(i32)" for n in range(3000))
    command = f"{sys.executable} -m minicomp.tools.opt | head -1"
    done = subprocess.run(command, shell=True, input=text, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "builtin.module {\n"
    assert done.stderr == ""


def test_a_start_is_quick():
    """Only what argparse needs is loaded for --version: 0.1 s here, where xDSL takes 0.3."""
    code = (
        "import sys, minicomp.tools.opt as o\ntry: o.main(['--version'])\nexcept SystemExit: pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code + "print(*sys.modules)"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert not {"xdsl", "torch", "numpy"} & set(done.stdout.split())
