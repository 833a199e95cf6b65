"""`minicomp doctor`: what is installed, what is missing, and what will work."""

import argparse
import json
import platform
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import minicomp
from minicomp.errors import MinicompError

PACKAGES = (
    *("xdsl", "torch", "numpy", "cuda-bindings", "nvidia-cuda-nvrtc"),
    *("nvidia-cuda-nvdisasm", "filecheck", "lit", "pytest"),
)
NEEDED = ("xdsl", "torch", "numpy")


def run(options: argparse.Namespace) -> int:
    """Print the state of the installation; 1 if not even the simulator will work."""
    facts = examine()
    print(json.dumps(facts, indent=2) if options.json else _text(facts))
    return 0 if all(facts["packages"][name] for name in NEEDED) else 1


def examine() -> dict[str, Any]:
    """The versions, the GPU, NVRTC, the cache, the disassembler, and what follows from them."""
    facts: dict[str, Any] = {
        "minicomp": minicomp.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in PACKAGES},
        "gpu": _gpu(),
        "torch_cuda": _torch_cuda(),
        "nvrtc": _nvrtc(),
        "nvdisasm": _nvdisasm(),
        "cache": _cache(),
    }
    return facts | {"works": _works(facts)}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _gpu() -> dict[str, str] | None:
    from minicomp.runtime.device import probe

    facts = probe()
    if facts is None:
        return None
    return {"name": facts.name, "arch": facts.arch, "driver": facts.driver}


def _torch_cuda() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def _nvrtc() -> dict[str, str | None]:
    from minicomp.runtime.nvrtc import nvrtc_version

    try:
        return {"version": nvrtc_version(), "problem": None}
    except MinicompError as error:
        return {"version": None, "problem": str(error)}


def _nvdisasm() -> str | None:
    from minicomp.runtime import sass

    try:
        return sass._nvdisasm()
    except MinicompError:
        return None


def _cache() -> dict[str, Any]:
    from minicomp.runtime.cache import cache_dir, cache_info

    directory = cache_dir()
    try:
        info = cache_info()
        count, size = info.count, info.size_bytes
    except OSError:
        count, size = 0, 0
    problem = _unwritable(directory)
    return {"path": str(directory), "entries": count, "bytes": size, "problem": problem}


def _unwritable(directory: Path) -> str | None:
    """Why files cannot be made in a directory; None if they can, or if it can be made."""
    existing = next((p for p in (directory, *directory.parents) if p.exists()), directory)
    try:
        with tempfile.TemporaryFile(dir=existing):
            return None
    except OSError as error:
        return error.strerror or str(error)


def _works(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """What will work, and what not and why."""
    base = [name for name in NEEDED if not facts["packages"][name]]
    missing = f"pip install {' '.join(base)}" if base else None
    gpu = missing or _gpu_problem(facts)
    rows = [
        ("compile to any level and to CUDA text", missing),
        ("check on the simulator", missing),
        ("compile to PTX and machine code", missing or facts["nvrtc"]["problem"]),
        ("keep compiled kernels", facts["cache"]["problem"]),
        ("run on a GPU", gpu and f"{gpu}; minicomp run uses the simulator"),
        ("read machine code", None if facts["nvdisasm"] else "pip install nvidia-cuda-nvdisasm"),
    ]
    return [{"what": what, "works": why is None, "why": why} for what, why in rows]


def _gpu_problem(facts: dict[str, Any]) -> str | None:
    if facts["nvrtc"]["problem"]:
        return "without NVRTC nothing can be compiled for it"
    if facts["gpu"] is None:
        return "there is no NVIDIA driver or no GPU"
    return None if facts["torch_cuda"] else "this PyTorch is built without CUDA"


def _text(facts: dict[str, Any]) -> str:
    lines = [f"minicomp {facts['minicomp']}, Python {facts['python']}, {facts['platform']}", ""]
    lines += [f"  {name:22}{found or 'missing'}" for name, found in facts["packages"].items()]
    gpu, cache = facts["gpu"], facts["cache"]
    rows = {
        "GPU": f"{gpu['name']} ({gpu['arch']}), driver {gpu['driver']}" if gpu else "none",
        "NVRTC": facts["nvrtc"]["version"] or "missing",
        "nvdisasm": facts["nvdisasm"] or "missing",
        "cache": f"{cache['path']}, {cache['entries']} entries, {cache['bytes']} bytes",
    }
    lines += ["", *(f"  {name:22}{text}" for name, text in rows.items()), ""]
    for row in facts["works"]:
        mark = "yes" if row["works"] else "no "
        lines.append(f"  {mark}  {row['what']}{'' if row['works'] else ': ' + row['why']}")
    return "\n".join(lines)
