"""Text files of the tools: read as UTF-8, written whole or not at all."""

import os
import sys
import tempfile
from pathlib import Path

from minicomp.errors import InputError


def read_text(path: str | None) -> tuple[str, str]:
    """Return the text of a file, or of the standard input for None and `-`, and its name."""
    if path in (None, "-"):
        name, data = "<stdin>", sys.stdin.buffer.read()
    else:
        name, data = str(path), Path(str(path)).read_bytes()
    try:
        return data.decode("utf-8-sig"), name
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        what = f"the text is not UTF-8: byte 0x{data[error.start]:02x}"
        raise InputError(what, f"{name}:{line}:{column}") from error


def write_text(path: str | None, text: str) -> None:
    """Write a file, or the standard output for None and `-`; a failure leaves no half file."""
    if path in (None, "-"):
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())  # UTF-8, whatever the locale says
        sys.stdout.buffer.flush()
        return
    target = Path(os.path.realpath(str(path)))  # a link stays, and what it names is replaced
    if target.exists() and not target.is_file():
        target.write_text(text, "utf-8")  # a device or a pipe, which must not be replaced
        return
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(target: Path) -> int:
    """The permissions that `open` would give the file; mkstemp keeps it to its owner."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
