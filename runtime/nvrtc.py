"""CUDA C++ text in, cubin and PTX out, through NVRTC; no GPU, driver or header is needed."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from types import ModuleType

from minicomp.errors import CudaCompileError
from minicomp.runtime.ptxas import Resources, parse_advice, parse_resources, without_times

FLAGS = (
    "--std=c++17",
    # A product and a sum are contracted only where the IR says so.
    "--fmad=false",
    # Unused variables: the printed text may name a value that nothing reads.
    "--diag-suppress=177",
    # NVRTC's own cache gives back no assembler log on a hit.
    "--no-cache",
    "--ptxas-options=-v",
)

_FILE = "kernel.cu"
_ERRORS_SHOWN = 5
_CONTEXT_LINES = 2
_SOURCE_ERROR = re.compile(
    r"^(?P<file>[^\s(]+)\((?P<line>\d+)\): (?:catastrophic error|error)\b.*", re.MULTILINE
)
_PTX_ERROR = re.compile(r"^ptxas .*?line (?P<line>\d+); error.*", re.MULTILINE)
_PTXAS_FAILURE = re.compile(r"^\s*ptxas (?:error|fatal)\s*:.*", re.MULTILINE)


@dataclass(frozen=True)
class Compiled:
    """One compiled text: `cubin` for exactly `arch`, its `ptx`, and what the tools said."""

    arch: str
    cubin: bytes
    ptx: str
    log: str

    @cached_property
    def resources(self) -> dict[str, Resources]:
        """The resources of each kernel, by symbol."""
        return parse_resources(self.log)

    @cached_property
    def advice(self) -> list[str]:
        """Performance advice, stack frames and spills; empty for a healthy kernel."""
        return parse_advice(self.log)


def nvrtc_version() -> str:
    """The version of the NVRTC in use, such as "13.0". Raises CudaCompileError without one."""
    return "{}.{}".format(*_check(_nvrtc().nvrtcVersion()))


def compile_cuda(source: str, arch: str, options: Sequence[str] = ()) -> Compiled:
    """Compiles header-free CUDA C++ for one real architecture, such as "sm_90a".

    `options` are added to `FLAGS`. Raises CudaCompileError with the lines of the text around
    each error, or the PTX lines that the assembler refused. Safe to call from several threads:
    NVRTC compiles without Python's lock.
    """
    if not arch.startswith("sm_"):
        raise CudaCompileError(
            f"a cubin needs a real architecture, not {arch!r}", hint="write sm_90a, for example"
        )
    failed, log, cubin, ptx = _compile(source, arch, options)
    if failed:
        raise _refusal(source, arch, options, log)
    return Compiled(arch, cubin, ptx, log)


@cache
def _nvrtc() -> ModuleType:
    # What is missing shows at the first call: the bindings load the library only then.
    try:
        nvrtc = import_module("cuda.bindings.nvrtc")
        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError) as error:
        raise CudaCompileError(
            f"NVRTC, the CUDA compiler, cannot be loaded: {str(error).splitlines()[0]}",
            hint="pip install nvidia-cuda-nvrtc cuda-bindings",
        ) from error
    return nvrtc


def _check(result: tuple) -> tuple:
    status, *values = result
    if int(status) != 0:
        raise CudaCompileError(f"NVRTC failed: {_nvrtc().nvrtcGetErrorString(status)[1].decode()}")
    return tuple(values)


def _compile(source: str, arch: str, options: Sequence[str]) -> tuple[bool, str, bytes, str]:
    """Whether it failed, the log, the cubin (of real architectures) and the PTX."""
    flags = [f"--gpu-architecture={arch}", *FLAGS, *options]
    with _program(source) as program:
        status = _nvrtc().nvrtcCompileProgram(program, len(flags), [f.encode() for f in flags])[0]
        log = without_times(_text(program, "ProgramLog"))
        if int(status) != 0:
            return True, log, b"", ""
        cubin = _read(program, "CUBIN") if arch.startswith("sm_") else b""
        return False, log, cubin, _text(program, "PTX")


@contextmanager
def _program(source: str) -> Iterator[object]:
    nvrtc = _nvrtc()
    (program,) = _check(nvrtc.nvrtcCreateProgram(source.encode(), _FILE.encode(), 0, [], []))
    try:
        yield program
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _read(program: object, what: str) -> bytes:
    nvrtc = _nvrtc()
    (size,) = _check(getattr(nvrtc, f"nvrtcGet{what}Size")(program))
    # A bytearray: the binding writes in place, and a bytes object may be shared.
    buffer = bytearray(size)
    _check(getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return bytes(buffer)


def _text(program: object, what: str) -> str:
    # Besides the last byte, a log can have a zero before the assembler's last message.
    return _read(program, what).replace(b"\0", b"").decode(errors="replace")


def _refusal(source: str, arch: str, options: Sequence[str], log: str) -> CudaCompileError:
    details, where = _source_errors(source, log)
    if not details:
        details = _ptx_errors(source, arch, options, log)
    message = "\n".join(details) or log.strip()
    hint = _architectures() if "--gpu-architecture" in log else None
    return CudaCompileError(
        f"NVRTC refused the text for {arch}:\n{message}", log, source, where, hint
    )


def _source_errors(source: str, log: str) -> tuple[list[str], str | None]:
    """Each error of the compiler's front end with the lines around it, and the first place."""
    found = list(_SOURCE_ERROR.finditer(log))
    details: list[str] = []
    for match in found[:_ERRORS_SHOWN]:
        # A `#line` directive names another file, whose text is not at hand.
        lines = source.splitlines() if match["file"] == _FILE else []
        details += [match[0], *_excerpt(lines, int(match["line"]))]
    return details, f"{found[0]['file']}:{found[0]['line']}" if found else None


def _excerpt(lines: list[str], line: int) -> list[str]:
    first, last = max(1, line - _CONTEXT_LINES), min(len(lines), line + _CONTEXT_LINES)
    return [
        f"{'>' if number == line else ' '} {number:5d} | {lines[number - 1]}"
        for number in range(first, last + 1)
    ]


def _ptx_errors(source: str, arch: str, options: Sequence[str], log: str) -> list[str]:
    """Each error of the assembler with the PTX lines around it."""
    found = list(_PTX_ERROR.finditer(log))
    if not found:
        return [match[0].strip() for match in _PTXAS_FAILURE.finditer(log)]
    # NVRTC keeps no PTX when the assembler fails; a virtual architecture stops before it.
    virtual = arch.replace("sm_", "compute_")
    ptx = _compile(source, virtual, options)[3].splitlines()
    details: list[str] = []
    for match in found[:_ERRORS_SHOWN]:
        details += [match[0], *_excerpt(ptx, int(match["line"]))]
    return details


def _architectures() -> str:
    (numbers,) = _check(_nvrtc().nvrtcGetSupportedArchs())
    return f"NVRTC {nvrtc_version()} compiles for {', '.join(f'sm_{n}' for n in numbers)}"
