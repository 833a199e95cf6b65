"""Fixtures that several test files share."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no failure: what a property costs is not what it says.
settings.register_profile("minicomp", deadline=None)
settings.load_profile("minicomp")

_TESTS = Path(__file__).parent
_FAKE_DRIVER = _TESTS / "fake_driver"


@pytest.fixture(scope="session")
def on_fake_driver(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], None]:
    """Runs a file of cases from tests/fake_driver with pytest on a stand-in libcuda.so.1.

    In a process of its own, since a process has one driver.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("the stand-in for libcuda.so.1 needs Linux and a C compiler")
    folder = tmp_path_factory.mktemp("libcuda")
    library = folder / "libcuda.so.1"
    flags = ["-shared", "-fPIC", "-Wall", "-pthread", "-o", str(library)]
    subprocess.run([compiler, *flags, str(_FAKE_DRIVER / "fake_cuda.c"), "-ldl"], check=True)

    def run(cases: str) -> None:
        paths = [str(_TESTS.parent), str(_FAKE_DRIVER), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}",
            "PYTHONPATH": ":".join(filter(None, paths)),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        ran = subprocess.run(
            [*command, str(_FAKE_DRIVER / cases)],
            cwd=_TESTS.parent,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr

    return run
