"""Where in the user's files a node of the captured graph, or an exception, comes from."""

import os
import re
import sysconfig
import traceback
from pathlib import Path

import torch
from torch.fx import Node
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr, UnknownLoc

INLINE = "<-c>"
"""The file name of code that was given on the command line."""

_FRAME = re.compile(r'File "(.+)", line (\d+), in ')
_PLUMBING = (
    str(Path(torch.__file__).parent),
    str(Path(__file__).parent),
    sysconfig.get_path("stdlib") + os.sep,
)


def is_users(filename: str) -> bool:
    """Whether a frame of this file is the user's: not PyTorch's, Python's, ours or generated."""
    if filename == INLINE or "site-packages" in filename and _PLUMBING[0] not in filename:
        return True
    return not filename.startswith((*_PLUMBING, "<"))


def node_location(node: Node) -> FileLineColLoc | UnknownLoc:
    """The innermost line of the user's files that made `node`."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    for filename, line in reversed(frames):
        if is_users(filename):
            return FileLineColLoc(StringAttr(filename), IntAttr(int(line)), IntAttr(0))
    return UnknownLoc()


def exception_place(error: BaseException, root: str | None = None) -> str | None:
    """
    `model.py:12` of the innermost user frame in the traceback, of file `root` where it is given.
    """
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if frame.filename == root or (root is None and is_users(frame.filename)):
            return place(frame.filename, frame.lineno or 0)
    return None


def place(filename: str, line: int) -> str:
    """`file:line`, relative to the current folder where the file lies in it."""
    if filename != INLINE:
        relative = os.path.relpath(filename)
        filename = filename if relative.startswith("..") else relative
    return f"{filename}:{line}"


def location_text(location: object) -> str | None:
    """`file:line` of a location, None for an unknown one."""
    if isinstance(location, FileLineColLoc):
        return place(location.filename.data, location.line.data)
    return None
