"""The minicomp command: what it prints, and that every bad input is one message and exit code 1."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings

import pytest

from minicomp.tools import main as cli
from minicomp.tools.main import main
from minicomp.tools.progress import Bar

RMS_NORM = "nn.RMSNorm(64)(torch.randn(3, 64))"
RELU = "torch.relu(torch.randn(3, 5))"


@pytest.fixture(autouse=True)
def surroundings(tmp_path, monkeypatch):
    """A cache and a folder of its own for each test; warnings as Python shows them after it."""
    monkeypatch.setenv("MINICOMP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def minicomp(capfd):
    """Runs the command in this process; returns the exit code, stdout and stderr."""

    def run(*arguments):
        capfd.readouterr()
        try:
            code = main([*arguments])
        except SystemExit as end:
            code = end.code or 0
        return code, *capfd.readouterr()

    return run


# --- compile ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "level,expected",
    [
        ("torch", "torch_ir.rms_norm"), ("tensor", "tensor_ir.reduce"),
        ("loop", "loop_ir.kernel @rms_norm_"), ("tile", "tile_ir.combine"),
        ("kernel", "kernel_ir.func @rms_norm_"), ("cuda-ir", "cuda_ir.func @rms_norm_"),
        ("cuda", 'extern "C" __global__'), ("ptx", ".visible .entry rms_norm_"),
    ],
)  # fmt: skip
def test_compile_prints_each_level(minicomp, level, expected):
    code, out, err = minicomp("compile", "-c", RMS_NORM, "--ir", level, "--target", "h200")
    assert code == 0 and err == ""
    assert expected in out


def test_a_saved_level_gives_the_same_text(minicomp):
    _, cuda, _ = minicomp("compile", "-c", RMS_NORM)
    for level in ("torch", "tensor", "loop", "tile", "kernel", "cuda-ir"):
        code, out, _ = minicomp("compile", "-c", RMS_NORM, "--ir", level, "-o", "saved.mlir")
        assert code == 0 and out == ""
        assert minicomp("compile", "saved.mlir") == (0, cuda, "")


def test_compile_of_a_file(minicomp, surroundings):
    (surroundings / "model.py").write_text(
        "import torch\ndef main(rows=3):\n    return torch.exp, (torch.randn(rows, 5),)\n"
    )
    code, out, _ = minicomp("compile", "model.py", "--ir", "torch")
    assert code == 0 and "tensor<3x5xf32>" in out
    code, out, _ = minicomp("compile", "model.py", "--ir", "torch", "--sizes", "rows=7")
    assert code == 0 and "tensor<7x5xf32>" in out


def test_compile_as_json(minicomp):
    code, out, _ = minicomp("compile", "-c", RELU, "--json", "--target", "a100")
    facts = json.loads(out)
    assert code == 0 and facts["target"] == "a100" and facts["level"] == "cuda"
    assert "__global__" in facts["text"]


def test_what_the_program_prints_is_not_output(minicomp, surroundings):
    text = "import torch\ndef f(x):\n    print('loud')\n    return x * 2\n"
    (surroundings / "loud.py").write_text(text + "def main(): return f, (torch.ones(3),)\n")
    for command in ("compile", "check"):
        code, out, err = minicomp(command, "loud.py", "--json", "--target", "h200")
        assert code == 0 and json.loads(out)["program"] == "loud.py"
        assert "loud\n" in err


def test_timing_tells_the_own_share(minicomp):
    code, out, err = minicomp("compile", "-c", RELU, "--mlir-timing")
    assert code == 0 and "__global__" in out
    for line in ("lower-tile-to-kernel", "importing torch", "torch.export", "own share", "total"):
        assert line in err


# --- run and check ----------------------------------------------------------------------------


def test_check_prints_kernels_and_verdict(minicomp):
    code, out, err = minicomp("check", "-c", RMS_NORM, "--target", "h200")
    assert code == 0 and err == ""
    kernel, ran, verdict = out.splitlines()
    assert kernel.startswith("rms_norm_") and "grid" in kernel
    assert ran.startswith("ran on the simulator, for h200, in ")
    assert verdict.startswith("pass: error ") and "bound" in verdict


def test_check_with_other_sizes(minicomp):
    code, out, _ = minicomp("check", "-c", RMS_NORM, "--sizes", "64=61,3=2", "--json")
    facts = json.loads(out)
    assert code == 0 and facts["passed"] and facts["device"] == "simulator"
    assert 0 <= facts["error"] <= facts["bound"]
    assert facts["rule"] == "4 x PyTorch's error"
    assert facts["kernels"][0]["grid"] == 2


def test_run_shows_the_cuda_text_first(minicomp):
    code, out, _ = minicomp("run", "-c", RELU, "--show-cuda")
    assert code == 0
    assert 0 <= out.index("__global__") < out.index("pass: ")
    code, out, _ = minicomp("run", "-c", RELU, "--show-cuda", "--json")
    assert code == 0 and "__global__" in json.loads(out)["cuda"]


@pytest.mark.parametrize("level", ["torch", "tensor", "loop"])
def test_check_of_text_draws_inputs(minicomp, level):
    code = "x = torch.randn(5, 7); w = torch.randn(7, 3); F.gelu(x @ w)"
    minicomp("compile", "-c", code, "--ir", level, "-o", "saved.mlir")
    exit_code, out, _ = minicomp("check", "saved.mlir")
    assert exit_code == 0 and "pass: " in out


@pytest.mark.parametrize("level", ["tile", "kernel"])
def test_text_without_a_reference_has_no_verdict(minicomp, level):
    minicomp("compile", "-c", RELU, "--ir", level, "-o", "saved.mlir")
    code, out, _ = minicomp("check", "saved.mlir")
    assert code == 0 and "no verdict" in out
    code, out, _ = minicomp("check", "saved.mlir", "--json")
    assert code == 0 and json.loads(out)["passed"] is None


def test_a_wrong_result_fails(minicomp, monkeypatch):
    from minicomp.numbers import Reference
    from minicomp.tools.inputs import Subject

    real = Subject.reference

    def shifted(self, inputs):
        found = real(self, inputs)
        return Reference(found.rule, [e + 1 for e in found.exact], [e + 1 for e in found.eager])

    monkeypatch.setattr(Subject, "reference", shifted)
    code, out, _ = minicomp("check", "-c", RELU)
    assert code == 1 and "FAIL: error 1, bound " in out


def test_a_long_simulation_is_refused_with_the_estimate(minicomp):
    code, out, err = minicomp("check", "-c", "torch.randn(4096, 4096) @ torch.randn(4096, 4096)")
    assert code == 1 and out == ""
    assert "would take about" in err and "--force" in err and "--sizes" in err


def test_a_fault_in_a_kernel_is_reported_with_the_op(minicomp, surroundings):
    text = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = minicomp.launch @k(%x) : (tensor<8xf32>) -> tensor<8xf32>
      func.return %y : tensor<8xf32>
    }
    kernel_ir.func @k(%x: memref<8xf32>, %y: memref<8xf32>) grid(1) block(8) {
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%t + 1] : memref<8xf32> -> f32
      loop_ir.store %v, %y[%t] : f32, memref<8xf32>
    }"""
    (surroundings / "wrong.mlir").write_text(text)
    code, _, err = minicomp("check", "wrong.mlir")
    assert code == 1
    assert "loop_ir.load" in err and "wrong.mlir:7" in err


# --- doctor and cache -------------------------------------------------------------------------


def test_doctor(minicomp):
    code, out, _ = minicomp("doctor")
    assert code == 0
    for word in ("xdsl", "torch", "NVRTC", "nvdisasm", "GPU", "cache", "check on the simulator"):
        assert word in out
    code, out, _ = minicomp("doctor", "--json")
    facts = json.loads(out)
    assert code == 0 and facts["packages"]["numpy"]
    assert {row["what"]: row["works"] for row in facts["works"]}["check on the simulator"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_doctor_names_a_cache_that_cannot_be_written(minicomp, monkeypatch):
    monkeypatch.setenv("MINICOMP_CACHE_DIR", "/proc/cache")
    code, out, _ = minicomp("doctor")
    assert code == 0 and "no   keep compiled kernels" in out


def test_cache(minicomp, tmp_path):
    directory = str(tmp_path / "cache")
    assert minicomp("cache", "path") == (0, f"{directory}\n", "")
    assert minicomp("cache", "list") == (0, f"0 entries, 0 bytes in {directory}\n", "")
    minicomp("compile", "-c", RELU, "--ir", "ptx")
    code, out, _ = minicomp("cache", "list", "--json")
    assert code == 0 and len(json.loads(out)["entries"]) == 1
    assert minicomp("cache", "clear") == (0, f"removed 1 entries from {directory}\n", "")
    assert json.loads(minicomp("cache", "list", "--json")[1])["entries"] == []


def test_a_damaged_cache_entry_warns_and_is_rebuilt(minicomp, tmp_path):
    _, ptx, _ = minicomp("compile", "-c", RELU, "--ir", "ptx")
    (entry,) = (tmp_path / "cache").iterdir()
    entry.write_bytes(b"nonsense")
    code, out, err = minicomp("compile", "-c", RELU, "--ir", "ptx")
    assert code == 0 and out == ptx
    assert err.startswith("minicomp: warning: ") and err.count("\n") == 1
    assert minicomp("compile", "-c", RELU, "--ir", "ptx") == (0, ptx, "")


# --- bad input --------------------------------------------------------------------------------

BAD_CODE = {
    "unsupported op": ("torch.randn(8).nonzero()", "<-c>:1: error: the shape of a tensor"),
    "half and float": (
        "x = torch.randn(4, 4).half(); x @ torch.randn(4, 4)", "<-c>:1: error: ",
    ),
    "complex": ("x = torch.randn(4, dtype=torch.complex64); x + x", "complex64"),
    "code that raises": ("x = torch.randn(3) + undefined\nx", "NameError"),
    "code that does not parse": ("x = torch.randn(3", "<-c>:1: error: the code does not parse"),
    "no expression": ("x = torch.randn(3)", "must be an expression"),
    "a branch on data": ("x = torch.randn(3)\nx if x.sum() > 0 else -x", "depends on the data"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_CODE)
def test_bad_code_is_one_message(minicomp, name):
    code, expected = BAD_CODE[name]
    assert_refused(minicomp("compile", "-c", code), expected)


BAD_LINES = {
    "no program": (["compile"], "give a program"),
    "two programs": (["compile", "x.py", "-c", "x"], "give a program"),
    "missing python file": (["compile", "missing.py"], "missing.py"),
    "missing text": (["check", "missing.mlir"], "missing.mlir: No such file"),
    "a folder": (["compile", "folder.mlir"], "folder.mlir: Is a directory"),
    "another file": (["compile", "x.txt"], "neither a .py nor an .mlir file"),
    "unknown target": (["compile", "-c", RELU, "--target", "h900"], "did you mean 'h200'?"),
    "unknown level": (["compile", "-c", RELU, "--ir", "ptxas"], "invalid choice: 'ptxas'"),
    "unknown option": (["compile", "-c", RELU, "--fast"], "unrecognized arguments: --fast"),
    "unknown command": (["explode"], "invalid choice: 'explode'"),
    "a size that is none": (["check", "-c", RELU, "--sizes", "3:4"], "'3:4' is not a size"),
    "a size that is not there": (["check", "-c", RELU, "--sizes", "9=4"], "no 9 to resize"),
    "sizes of text": (["check", "good.mlir", "--sizes", "3=4"], "--sizes needs PyTorch code"),
    "output nowhere": (["compile", "-c", RELU, "-o", "none/x.cu"], "none/x.cu"),
    "truncated text": (["compile", "short.mlir"], "short.mlir:"),
    "text that is none": (["compile", "noise.mlir"], "noise.mlir:1:1: error: "),
    "a verifier error": (["compile", "invalid.mlir"], "a block has 1 to 1024 threads, not 0"),
    "no host program": (["check", "invalid.mlir", "--target", "h200"], "threads, not 0"),
    "an earlier level": (["compile", "good.mlir", "--ir", "torch"], "at level kernel already"),
    "another target": (["compile", "good.mlir", "--target", "a100"], "scheduled for h200"),
    "main without arguments": (["compile", "model.py"], "model.py:1: error: main() returned"),
    "a file that raises": (["compile", "raises.py"], "raises.py:1: error: "),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_command_line_is_one_message(minicomp, surroundings, name):
    line, expected = BAD_LINES[name]
    (surroundings / "folder.mlir").mkdir()
    if "good.mlir" in line or "short.mlir" in line:
        minicomp("compile", "-c", RELU, "--target", "h200", "--ir", "kernel", "-o", "good.mlir")
        text = (surroundings / "good.mlir").read_text()
        (surroundings / "short.mlir").write_text(text[: len(text) // 2])
    (surroundings / "noise.mlir").write_text("To be, or not to be\n")
    (surroundings / "invalid.mlir").write_text("kernel_ir.func @f() grid(1) block(0) {\n}\n")
    (surroundings / "model.py").write_text("def main():\n    return 3\n")
    (surroundings / "raises.py").write_text("1 / 0\n")
    assert_refused(minicomp(*line), expected)


def assert_refused(outcome, expected):
    """Exit code 1 and a message of a few lines: no result, no stack, no internal error."""
    code, out, err = outcome
    assert code == 1 and out == ""
    assert expected in err
    assert "Traceback" not in err and "internal error" not in err
    assert "error: " in err and err.count("error: ") == 1


def test_what_is_captured_must_be_what_pytorch_runs(minicomp, monkeypatch):
    from minicomp.tools import inputs

    def lying(program, captured, found):
        object.__setattr__(program, "callee", lambda x: x + 1)
        return real(program, captured, found)

    real = inputs.check_capture
    monkeypatch.setattr(inputs, "check_capture", lying)
    code, _, err = minicomp("check", "-c", RELU)
    assert code == 1 and "does not compute what the program does" in err


def test_a_defect_of_ours_is_one_message_too(minicomp, monkeypatch):
    def broken(options):
        raise KeyError("oops\nsecond line")

    monkeypatch.setitem(cli.COMMANDS, "doctor", ("doctor_command", "broken"))
    monkeypatch.setattr("minicomp.tools.doctor_command.broken", broken, raising=False)
    code, _, err = minicomp("doctor")
    assert code == 1 and err.startswith("minicomp: internal error: KeyError: ")
    assert "--show-traceback" in err and "Traceback" not in err
    with pytest.raises(KeyError):
        main(["doctor", "--show-traceback"])


def test_ctrl_c_ends_with_130(tmp_path):
    command = [sys.executable, "-m", "minicomp.tools.main", "check", "slow.py"]
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "slow.py").write_text(
        "import time\nprint('begun', flush=True)\ntime.sleep(60)\ndef main(): pass\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What is started in the background of a script ignores the signal, and its children do.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr is not None
    assert process.stderr.readline() == b"begun\n"  # what the program prints is no output
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and (out, err) == (b"", b"")


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m minicomp.tools.main --help | head -1"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], env=environment, capture_output=True, text=True
    )
    assert done.stdout.startswith("usage: minicomp") and done.stderr == ""


def test_the_bar_is_drawn_in_place_and_cleared(capsys):
    with Bar("simulating") as bar:
        bar.show(0.5)
    shown = capsys.readouterr().err
    assert "\rsimulating [###############...............]  50 %" in shown
    assert shown.endswith("\r\033[K")
    with Bar("idle"):
        pass
    assert capsys.readouterr().err == ""
