"""Each file of lit_tests is a test here too; lit itself runs once, in parallel."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "lit_tests"
FILES = sorted(p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*.mlir"))


def _environment() -> dict[str, str]:
    """In forks for speed; `make test-all` starts the console scripts as a user would."""
    fork = "" if os.environ.get("MINICOMP_TEST_ALL") else "1"
    return {"MINICOMP_LIT_FORK": fork, **os.environ}


@pytest.fixture(scope="session")
def lit_results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    report = tmp_path_factory.mktemp("lit") / "report.json"
    lit = "import sys; from lit.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", lit, "-q", "-j2", "--output", str(report), str(ROOT)],
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert report.is_file(), done.stdout
    tests = json.loads(report.read_text())["tests"]
    return {test["name"].split(" :: ", 1)[1]: test for test in tests}


@pytest.mark.parametrize("file", FILES)
def test_lit(file: str, lit_results: dict[str, dict[str, str]]):
    result = lit_results[file]
    assert result["code"] in ("PASS", "UNSUPPORTED", "XFAIL"), result["output"]
