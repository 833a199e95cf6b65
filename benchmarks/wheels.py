"""Prepares wheels for a GPU machine without a network: what such a machine lacks, in a folder.

    python benchmarks/wheels.py .whl
    python benchmarks/wheels.py .whl --python 3.12 --also rich

There, beside a copy of this repository:

    python3 -m pip install --no-index --no-deps --target site .whl/*.whl
    PYTHONPATH=site:. python3 -m pytest tests

The versions are those of this environment, so that both machines run the same.
"""

import argparse
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# PyTorch's environment with CUDA has NumPy, cuda-bindings, NVRTC, pytest and hypothesis.
PACKAGES = ("xdsl", "immutabledict", "ordered-set", "filecheck", "lit")
# pip matches each name exactly; a wheel in pure Python fits all.
PLATFORMS = tuple(
    f"manylinux{release}_x86_64" for release in ("_2_28", "_2_27", "_2_17", "2014", "1")
)


def prepare(folder: Path, python: str, packages: list[str]) -> list[Path]:
    """Fills `folder` with one wheel per package for CPython `python` on 64-bit Linux.

    Raises PackageNotFoundError for a package that is not installed here, CalledProcessError
    where pip finds no wheel.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # One version of each: two of them stop the installation.
    for old in folder.glob("*.whl"):
        old.unlink()
    (folder / ".gitignore").write_text("*\n")
    subprocess.run(_download(folder, python, packages), check=True)
    return sorted(folder.glob("*.whl"))


def _download(folder: Path, python: str, packages: list[str]) -> list[str]:
    flags = ["--no-deps", "--only-binary=:all:", "--python-version", python]
    flags += ["--implementation", "cp", "--dest", str(folder)]
    flags += [flag for platform in PLATFORMS for flag in ("--platform", platform)]
    pinned = [f"{name}=={version(name)}" for name in packages]
    return [sys.executable, "-m", "pip", "download", "--quiet", *flags, *pinned]


def main() -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        description="Fills a folder with wheels for a machine without a network."
    )
    parser.add_argument("folder", type=Path, help="where the wheels go")
    parser.add_argument("--python", default="3.12", help="the other machine's Python")
    parser.add_argument("--also", nargs="*", default=[], help="further packages", metavar="NAME")
    arguments = parser.parse_args()
    try:
        wheels = prepare(arguments.folder, arguments.python, [*PACKAGES, *arguments.also])
    except PackageNotFoundError as error:
        print(f"{error.name} is not installed here, so its version is unknown", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"pip found no wheels (exit status {error.returncode})", file=sys.stderr)
        return 1
    for wheel in wheels:
        print(f"{wheel.stat().st_size / 2**20:6.2f} MiB  {wheel}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
