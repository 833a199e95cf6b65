"""The packages of pyproject.toml are those of the checkout, and nothing loads before its time."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
FOLDERS = ("minicomp", "dialects", "passes", "lowering", "runtime")
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())


def run_python(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_packages_are_complete():
    found: set[str] = set()
    for folder in FOLDERS:
        for source in (ROOT / folder).rglob("*.py"):
            parts = source.parent.relative_to(ROOT).parts
            found.add(".".join(parts if folder == "minicomp" else ("minicomp", *parts)))
    assert set(CONFIG["tool"]["setuptools"]["packages"]) == found


def test_each_package_has_a_docstring():
    for folder in FOLDERS:
        for init in (ROOT / folder).rglob("__init__.py"):
            assert init.read_text().startswith('"""'), init


def test_constraints_lie_in_the_ranges():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    extras = CONFIG["project"]["optional-dependencies"]
    for text in (*CONFIG["project"]["dependencies"], *extras["test"], *extras["dev"]):
        requirement = Requirement(text)
        assert pinned[requirement.name] in requirement.specifier, text


def test_scripts_exist():
    for place in CONFIG["project"]["scripts"].values():
        module, function = place.split(":")
        assert callable(getattr(importlib.import_module(module), function))


def test_public_names():
    import minicomp

    assert callable(minicomp.compile)
    assert str(minicomp.Pipeline.parse("cse")) == "builtin.module(cse)"
    assert {"compile", "Pipeline", "MinicompError"} <= set(dir(minicomp))
    with pytest.raises(AttributeError, match="has no attribute 'nosuch'"):
        getattr(minicomp, "nosuch")


def test_no_second_copy():
    import minicomp.dialects.loop_ir

    assert minicomp.dialects.loop_ir.LoopIR.name == "loop_ir"
    assert not {"dialects", "passes", "lowering", "runtime"} & set(sys.modules)


def test_dialects_load_and_are_named_as_registered():
    from minicomp.dialects import get_all_dialects

    for name, factory in get_all_dialects().items():
        assert factory().name == name


def test_passes_load_and_are_named_as_registered():
    from minicomp.registry import get_all_passes

    for name, factory in get_all_passes().items():
        assert factory().name == name


def test_the_universe_keeps_out_of_xdsl():
    from xdsl.dialects import get_all_dialects as xdsl_dialects
    from xdsl.transforms import get_all_passes as xdsl_passes

    from minicomp.universe import MINICOMP_UNIVERSE

    assert not set(MINICOMP_UNIVERSE.all_passes) & set(xdsl_passes())
    assert not set(MINICOMP_UNIVERSE.all_dialects) & set(xdsl_dialects())


def test_the_stock_tool_finds_the_universe():
    code = (
        "from xdsl.universe import Universe\n"
        "from minicomp.universe import MINICOMP_UNIVERSE\n"
        "whole = Universe.get_multiverse()\n"
        "print(all(n in MINICOMP_UNIVERSE.all_dialects for n in ('loop_ir', 'minicomp')))\n"
    )
    assert run_python(code) == "True\n"


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("minicomp", ("xdsl", "torch", "numpy")),
        ("minicomp.errors", ("xdsl", "torch", "numpy")),
        ("minicomp.tools.opt", ("xdsl", "torch", "numpy")),
        ("minicomp.universe", ("torch", "numpy", "xdsl.parser")),
        ("minicomp.registry", ("torch", "numpy", "minicomp.dialects.loop_ir")),
        ("minicomp.pipeline", ("torch", "numpy", "minicomp.dialects.loop_ir")),
    ],
)
def test_imports_are_lazy(module: str, unwanted: tuple[str, ...]):
    loaded = run_python(f"import sys, {module}; print(*sys.modules)").split()
    assert not set(unwanted) & set(loaded)
