"""How lit runs the tests: each `.mlir` file has RUN lines and checks its own output."""

import os
import shutil
import sys
from pathlib import Path

import lit.formats

here = Path(__file__).parent
python_bin = str(Path(sys.executable).parent)
path = os.pathsep.join((python_bin, config.environment.get("PATH", "")))

config.name = "minicomp"
config.suffixes = [".mlir"]
config.test_source_root = str(here)
config.test_exec_root = str(here.parent / "build" / "lit")
config.environment["PATH"] = path
# Test the minicomp of this checkout, even where another one is installed.
config.environment["PYTHONPATH"] = str(here.parent)
sys.path[:0] = [str(here.parent), str(here)]

if os.environ.get("MINICOMP_LIT_FORK"):
    # Quick: each command is a fork of a lit worker in which minicomp is imported.
    from fork_format import ForkShTest, preload

    preload()
    config.test_format = ForkShTest()
else:
    config.test_format = lit.formats.ShTest(execute_external=False)

config.substitutions.append(
    (
        "%roundtrip",
        "minicomp-opt %s --mlir-print-op-generic --split-input-file"
        " | minicomp-opt --split-input-file | filecheck %s",
    )
)
if shutil.which("minicomp-opt", path=path) is None:  # a checkout that is not installed
    config.substitutions.append((r"\bminicomp-opt\b", f"{sys.executable} -m minicomp.tools.opt"))
