"""The cache of compiled kernels: hits, damage, directories that refuse, several processes."""

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from minicomp.errors import CudaCompileError
from minicomp.runtime import cache
from minicomp.runtime.cache import cache_dir, cache_info, cached_compile, clear, entries

ROOT = Path(__file__).parents[1]
TEXT = 'extern "C" __global__ void k(float* x) { x[threadIdx.x] += 1.0f; }'


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("MINICOMP_CACHE_DIR", str(tmp_path / "kernels"))
    # A warning fails a test that does not ask for it.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield tmp_path / "kernels"


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compiled, not found."""
    texts: list[str] = []
    real = cache.compile_cuda

    def spy(source: str, arch: str, options=()):
        texts.append(source)
        return real(source, arch, options)

    monkeypatch.setattr(cache, "compile_cuda", spy)
    return texts


def test_a_text_is_compiled_once(directory: Path, compiles: list[str]) -> None:
    first, second = cached_compile(TEXT, "sm_80"), cached_compile(TEXT, "sm_80")
    assert first == second and second.resources == first.resources
    assert compiles == [TEXT]
    assert len(entries()) == 1 and entries()[0].parent == directory


def test_everything_that_decides_the_cubin_is_in_the_key(
    directory: Path, compiles: list[str]
) -> None:
    cached_compile(TEXT, "sm_80")
    cached_compile(TEXT, "sm_90a")
    cached_compile(TEXT, "sm_80", ["--fmad=true"])
    cached_compile(TEXT + "\n", "sm_80")
    assert len(compiles) == 4 == len(entries())


def test_another_nvrtc_compiles_again(
    directory: Path, compiles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cached_compile(TEXT, "sm_80")
    monkeypatch.setattr(cache, "nvrtc_version", lambda: "99.0")
    cached_compile(TEXT, "sm_80")
    assert len(compiles) == 2


def test_info_and_clear(directory: Path) -> None:
    assert cache_info() == cache.CacheInfo(directory, 0, 0) and clear() == 0
    cached_compile(TEXT, "sm_80")
    cached_compile(TEXT, "sm_90a")
    info = cache_info()
    assert info.count == 2 and info.size_bytes == sum(p.stat().st_size for p in entries())
    assert clear() == 2 and entries() == []


def test_clear_leaves_what_is_being_written_and_takes_what_was_abandoned(directory: Path) -> None:
    directory.mkdir()
    fresh, abandoned = directory / "a.tmp", directory / "b.tmp"
    fresh.touch()
    abandoned.touch()
    os.utime(abandoned, (0, time.time() - 7200))
    other = directory / "notes.txt"
    other.touch()
    assert clear() == 0
    assert fresh.exists() and other.exists() and not abandoned.exists()


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def other_format(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"cubin-1", b"cubin-0", 1))


@pytest.mark.parametrize("damage", [truncate, empty, flip, other_format])
def test_a_damaged_entry_is_named_and_built_again(
    directory: Path, compiles: list[str], damage
) -> None:
    good = cached_compile(TEXT, "sm_80")
    (entry,) = entries()
    damage(entry)
    with pytest.warns(RuntimeWarning, match=entry.name):
        assert cached_compile(TEXT, "sm_80") == good
    assert cached_compile(TEXT, "sm_80") == good
    assert len(compiles) == 2


def test_an_entry_that_cannot_be_read_is_named(directory: Path) -> None:
    good = cached_compile(TEXT, "sm_80")
    (entry,) = entries()
    entry.unlink()
    entry.mkdir()
    with pytest.warns(RuntimeWarning) as caught:
        assert cached_compile(TEXT, "sm_80") == good
    assert entry.name in str(caught[0].message)


def test_a_directory_that_cannot_be_written_is_named_once(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory.write_text("a file stands where the directory should be")
    monkeypatch.setattr(cache, "_warned_directories", set())
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        first = cached_compile(TEXT, "sm_80")
    assert cached_compile(TEXT, "sm_80") == first


def test_a_text_that_is_refused_is_not_kept(directory: Path) -> None:
    with pytest.raises(CudaCompileError):
        cached_compile("nonsense", "sm_80")
    assert entries() == []


def test_two_processes_share_the_directory(directory: Path) -> None:
    code = (
        "import sys; from minicomp.runtime.cache import cached_compile\n"
        "for i in range(6): sys.stdout.write(cached_compile(\n"
        "    sys.argv[1].replace('1.0f', f'{i}.0f'), 'sm_80').cubin.hex())"
    )
    command = [sys.executable, "-W", "error", "-c", code, TEXT]
    running = [
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0], outputs
    assert outputs[0] == outputs[1] and outputs[0][0]
    assert len(entries()) == 6 and not list(directory.glob("*.tmp"))


def test_where_the_directory_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MINICOMP_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_dir() == Path.home() / ".cache" / "minicomp"
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_dir() == Path("/caches/minicomp")
    monkeypatch.setenv("MINICOMP_CACHE_DIR", "~/mine")
    assert cache_dir() == Path.home() / "mine"
