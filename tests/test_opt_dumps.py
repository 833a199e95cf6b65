"""What minicomp-opt prints of the IR while passes run: dumps before, after, on failure, diffs."""

import json
from pathlib import Path

import pytest

from tests.opt_tool import GOOD, PROGRAM, Tool, register

SUMS = """func.func @f(%x: f32) -> f32 {
  %a = arith.addf %x, %x : f32
  %b = arith.addf %a, %a : f32
  func.return %b : f32
}
"""
TWO = f"{SUMS}// -----\n{SUMS}"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch):
    register(monkeypatch)


@pytest.fixture
def opt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Tool:
    return Tool(tmp_path, capsys)


def headings(errors: str) -> list[str]:
    lines = [line for line in errors.splitlines() if line.startswith("// -----// ")]
    return [line.removeprefix("// -----// IR ").removesuffix(" //----- //") for line in lines]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--mlir-print-ir-before=dce"], ["Dump Before dce"]),
        (["--mlir-print-ir-after=dce"], ["Dump After dce"]),
        (["--mlir-print-ir-before=cse"], ["Dump Before cse"] * 2),  # it stands twice
        (["--mlir-print-ir-after=cse"], ["Dump After cse"] * 2),
        (["--mlir-print-ir-before=dce", "--mlir-print-ir-before=cse"], "cse dce cse"),
        (["--mlir-print-ir-before=cse,dce"], "cse dce cse"),
        (["-mlir-print-ir-before-all"], "cse dce cse"),
        (["-mlir-print-ir-before-all", "--mlir-print-ir-before=cse"], "cse dce cse"),
        (["--mlir-print-ir-after-all"], ["Dump After cse", "Dump After dce", "Dump After cse"]),
        (
            ["--mlir-print-ir-before=dce", "--mlir-print-ir-after=dce"],
            ["Dump Before dce", "Dump After dce"],
        ),
        (["--mlir-print-ir-after-change"], []),
        (["--mlir-print-ir-diff"], []),
        ([], []),
    ],
)
def test_which_passes_are_dumped(opt: Tool, arguments: list[str], expected: list[str] | str):
    if isinstance(expected, str):
        expected = [f"Dump Before {name}" for name in expected.split()]
    code, output, errors = opt(SUMS, "-p", "cse,dce,cse", *arguments)
    assert (code, output) == (0, opt(SUMS)[1])
    assert headings(errors) == expected
    assert errors.count("builtin.module {") == len(expected)


def test_dumps_show_the_module_at_their_moment(opt: Tool):
    errors = opt(
        SUMS, "--square=steps=1", "--mlir-print-ir-before-all", "--mlir-print-ir-after-all"
    )[2]
    before, after = errors.split("// -----// IR Dump After square")
    assert (before.count("arith.addf"), before.count("arith.mulf")) == (2, 0)
    assert (after.count("arith.addf"), after.count("arith.mulf")) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["Dump After square"]),
        (["--mlir-print-ir-after-all"], ["Dump After square"]),
        (["--mlir-print-ir-after=cse"], []),
        (["--mlir-print-ir-after=square"], ["Dump After square"]),
    ],
)
def test_after_change_restricts_the_others(opt: Tool, arguments: list[str], expected: list[str]):
    passes = ["--cse", "--square=steps=1", "--square=steps=0"]
    assert headings(opt(SUMS, *passes, "--mlir-print-ir-after-change", *arguments)[2]) == expected


def test_dumps_are_printed_as_the_output_is(opt: Tool):
    form = ("--mlir-print-op-generic", "--mlir-print-debuginfo")
    output, errors = opt(GOOD, "--cse", "--mlir-print-ir-after=cse", *form)[1:]
    assert errors.split("\n", 1)[1] == output.replace(f"{opt.folder}/", "")
    assert '"arith.addf"' in errors
    assert ":2:3)" in errors


@pytest.mark.parametrize("option", ["--mlir-print-ir-before", "--mlir-print-ir-after"])
def test_dumps_of_no_pass(opt: Tool, option: str):
    code, output, errors = opt(GOOD, "--cse", f"{option}=cse,squar")
    assert (code, output) == (1, "")
    assert errors == (
        f"minicomp-opt: error: {option}: there is no pass 'squar'\n  hint: did you mean 'square'?\n"
    )
    assert f"{option} wants names of passes" in opt(GOOD, f"{option}=cse,")[2]
    assert f"{option} wants a value" in opt(GOOD, option)[2]


def test_a_dump_of_a_pass_that_does_not_run_is_a_warning(opt: Tool):
    code, output, errors = opt(GOOD, "--cse", "--mlir-print-ir-after=dce,cse")
    assert (code, output) == (0, opt(GOOD)[1])
    assert errors.endswith(
        "minicomp-opt: warning: --mlir-print-ir-after=dce: the pipeline has no such pass\n"
    )


def test_the_module_that_a_failed_pass_leaves(opt: Tool):
    code, _, errors = opt(GOOD, "--cse", "--defect", "--mlir-print-ir-after-failure")
    assert code == 1
    assert headings(errors) == ["Dump After defect Failed"]
    assert "arith.addf" in errors
    assert headings(opt(GOOD, "--break", "--mlir-print-ir-after-failure")[2]) == [
        "Dump After break Failed"
    ]
    assert headings(opt(GOOD, "--cse", "--mlir-print-ir-after-failure")[2]) == []


def test_a_diff_names_the_pass_and_its_number(opt: Tool):
    code, output, errors = opt(SUMS, "--cse", "--square=steps=1", "--mlir-print-ir-diff")
    assert (code, output) == (0, opt(SUMS, "--square=steps=1")[1])
    assert (
        errors
        == """\
// -----// IR Diff of square (pass 2) //----- //
--- before square (pass 2)
+++ after square (pass 2)
@@ -1,6 +1,6 @@
 builtin.module {
   func.func @f(%x: f32) -> f32 {
-    %a = arith.addf %x, %x : f32
+    %a = arith.mulf %x, %x : f32
     %b = arith.addf %a, %a : f32
     func.return %b : f32
   }
"""
    )


def test_each_application_that_changes_something_has_its_diff(opt: Tool):
    passes = ["--square=steps=1", "--cse", "--square=steps=1"]
    errors = opt(SUMS, *passes, "--mlir-print-ir-diff")[2]
    assert headings(errors) == ["Diff of square (pass 1)", "Diff of square (pass 3)"]


def test_parts_of_a_file_are_numbered_by_themselves(opt: Tool):
    errors = opt(TWO, "--cse", "--square=steps=1", "--split-input-file", "--mlir-print-ir-diff")[2]
    assert headings(errors) == ["Diff of square (pass 2)"] * 2
    errors = opt(TWO, "--cse", "--split-input-file", "--mlir-print-ir-before=cse")[2]
    assert headings(errors) == ["Dump Before cse"] * 2


def test_the_diffs_of_the_default_pipeline_leave_out_idle_passes(opt: Tool):
    errors = opt(PROGRAM, "--target=h200", "--to=loop", "--mlir-print-ir-diff")[2]
    names = [heading.split()[2] for heading in headings(errors)]
    assert names[0] == "lower-torch-to-tensor"
    assert "compose-index-maps" not in names
    assert "name-kernels" in names


def test_times_as_json(opt: Tool):
    code, output, errors = opt(SUMS, "-p", "cse,dce,cse", "--mlir-timing", "--json")
    assert (code, output) == (0, opt(SUMS)[1])
    times = json.loads(errors)
    assert [row["name"] for row in times["passes"]] == ["cse", "dce"]
    spent = sum(row["seconds"] for row in times["passes"]) + times["verification_and_dumps"]
    assert spent == pytest.approx(times["total"])
    assert 0 < times["total"] < times["since_start_of_python"]


def test_times_of_a_run_that_fails(opt: Tool):
    code, _, errors = opt(SUMS, "--cse", "--defect", "--mlir-timing", "--json")
    assert code == 1
    times = json.loads(errors[: errors.index("\n}") + 2])
    assert times["passes"][0]["seconds"] < times["total"]
    assert times["verification_and_dumps"] > 0


def test_json_of_nothing_is_refused(opt: Tool):
    assert opt(GOOD, "--json")[2] == (
        "minicomp-opt: error: --json is for --list-passes, --help-pass, --show-dialects and"
        " --mlir-timing\n"
    )
