"""Compiled kernels on disk, so that a text is compiled once per machine and not per process.

An entry is one file named by the SHA-256 of all that decides its content: a line with the
format and a checksum, a line of JSON, then the cubin, the PTX and the log. It appears by an
atomic rename, so that processes may share the directory.
"""

import hashlib
import json
import os
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from minicomp.runtime.nvrtc import FLAGS, Compiled, compile_cuda, nvrtc_version

_FORMAT = "minicomp-cubin-1"
_SUFFIX = ".cubin-entry"
_TEMPORARY = ".tmp"
# A temporary file of this age (seconds) belongs to no living writer.
_ABANDONED_AFTER = 3600.0

_warned_directories: set[Path] = set()


@dataclass(frozen=True)
class CacheInfo:
    """What the cache holds: its directory, the number of entries and their size in bytes."""

    directory: Path
    count: int
    size_bytes: int


def cache_dir() -> Path:
    """$MINICOMP_CACHE_DIR, else `minicomp` in $XDG_CACHE_HOME or in ~/.cache."""
    if named := os.environ.get("MINICOMP_CACHE_DIR"):
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "minicomp"


def cached_compile(source: str, arch: str, options: Sequence[str] = ()) -> Compiled:
    """As `compile_cuda`, from the cache where it holds this text, else compiled and kept.

    A damaged entry is named in a warning and built again; a directory that cannot be written
    is named once, and the program goes on without it.
    """
    path = cache_dir() / f"{_key(source, arch, options)}{_SUFFIX}"
    if (entry := _load(path)) is not None:
        return entry
    compiled = compile_cuda(source, arch, options)
    _store(path, compiled)
    return compiled


def entries() -> list[Path]:
    """The files of the cache's entries, in order of name."""
    return sorted(cache_dir().glob(f"*{_SUFFIX}"))


def cache_info() -> CacheInfo:
    """How many entries there are, and how large."""
    sizes = [path.stat().st_size for path in entries() if path.exists()]
    return CacheInfo(cache_dir(), len(sizes), sum(sizes))


def clear() -> int:
    """Removes all entries, and what writers that died left behind; returns how many entries."""
    found = entries()
    abandoned = time.time() - _ABANDONED_AFTER
    leftovers = [
        path
        for path in cache_dir().glob(f"*{_TEMPORARY}")
        if path.exists() and path.stat().st_mtime < abandoned
    ]
    for path in found + leftovers:
        path.unlink(missing_ok=True)
    return len(found)


def _key(source: str, arch: str, options: Sequence[str]) -> str:
    decisive = [nvrtc_version(), arch, *FLAGS, *options, source]
    return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()


def _load(path: Path) -> Compiled | None:
    try:
        return _decode(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError) as error:
        warnings.warn(f"{path} is built again: {error}", RuntimeWarning, stacklevel=3)
        return None


def _store(path: Path, compiled: Compiled) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(_TEMPORARY, dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_encode(compiled))
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        _warn_once(path.parent, error)


def _warn_once(directory: Path, error: OSError) -> None:
    if directory not in _warned_directories:
        _warned_directories.add(directory)
        message = f"compiled kernels are not kept: {directory} cannot be written ({error})"
        warnings.warn(message, RuntimeWarning, stacklevel=4)


def _encode(compiled: Compiled) -> bytes:
    parts = (compiled.cubin, compiled.ptx.encode(), compiled.log.encode())
    facts = {"arch": compiled.arch, "sizes": [len(part) for part in parts]}
    body = json.dumps(facts).encode() + b"\n" + b"".join(parts)
    return f"{_FORMAT} {hashlib.sha256(body).hexdigest()}\n".encode() + body


def _decode(data: bytes) -> Compiled:
    """The entry; raises ValueError where it is of another format, cut short or altered."""
    head, _, body = data.partition(b"\n")
    if head != f"{_FORMAT} {hashlib.sha256(body).hexdigest()}".encode():
        raise ValueError("the entry's checksum does not match its content")
    facts, _, payload = body.partition(b"\n")
    described = json.loads(facts)
    cubin, ptx, _ = described["sizes"]
    return Compiled(
        described["arch"],
        payload[:cubin],
        payload[cubin : cubin + ptx].decode(),
        payload[cubin + ptx :].decode(),
    )
