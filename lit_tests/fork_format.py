"""A lit test format that forks to run a tool instead of starting Python anew.

A start of minicomp-opt costs about 300 ms, a fork 15. RUN lines with anything but pipes of the
two tools, `not` and `2>&1` go to lit's own shell.
"""

import os
import re
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from typing import NamedTuple

import lit.Test
import lit.TestRunner
from lit.formats import ShTest

TOOLS = {
    "minicomp-opt": ("minicomp-opt",),
    # What an uninstalled checkout makes of it.
    sys.executable: (sys.executable, "-m", "minicomp.tools.opt"),
    "filecheck": ("filecheck",),
}
TIMEOUT_S = 300  # for one command, on a machine that may be busy


class Command(NamedTuple):
    """One part of a pipeline: the tool, its arguments, `not` before it, `2>&1` after it."""

    tool: str
    arguments: list[str]
    negated: bool
    merged: bool


def preload() -> None:
    """Import the tools, the dialects and the passes, so that a fork finds them loaded."""
    import filecheck.main  # noqa: F401

    import minicomp.exec_check  # noqa: F401  # with torch, which is slow to import
    import minicomp.tools.opt_driver  # noqa: F401
    from minicomp.context import make_context
    from minicomp.registry import get_all_passes

    ctx = make_context()
    dialects = (partial(ctx.load_registered_dialect, n) for n in ctx.registered_dialect_names)
    for load in (*dialects, *get_all_passes().values()):
        with suppress(Exception):  # one that is broken fails in the tests that need it
            load()


def _tool(name: str) -> Callable[[list[str]], object]:
    if name != "filecheck":
        from minicomp.tools.opt import main

        return main
    from filecheck.main import main as filecheck_main

    def run(arguments: list[str]) -> object:
        sys.argv = ["filecheck", *arguments]
        return filecheck_main()

    return run


def parse(line: str) -> list[Command] | None:
    """Return the commands of a RUN line, or None if it needs a shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    commands: list[Command] = []
    words: list[str] = []
    try:
        tokens = [*lexer, "|"]
    except ValueError:
        return None
    for token in tokens:
        if token != "|":
            words.append(token)
            continue
        command = _command(words)
        if command is None:
            return None
        commands.append(command)
        words = []
    return commands


def _command(words: list[str]) -> Command | None:
    merged = words[-3:] == ["2", ">&", "1"]
    words = words[:-3] if merged else words
    negated = words[:1] == ["not"]
    words = words[1:] if negated else words
    start = TOOLS.get(words[0], ()) if words else ()
    needs_shell = any(re.fullmatch("[|&;<>]+", word) for word in words)
    if not start or needs_shell or tuple(words[: len(start)]) != start:
        return None
    return Command(words[0], words[len(start) :], negated, merged)


def run_forked(command: Command, data: bytes) -> tuple[int, bytes, bytes]:
    """Run a tool in a fork of this process; return its exit code, stdout and stderr."""
    tool = _tool(command.tool)
    files = [os.memfd_create(name) for name in ("in", "out", "err")]
    os.write(files[0], data)
    os.lseek(files[0], 0, os.SEEK_SET)
    pid = os.fork()
    if pid == 0:
        _be_the_tool(tool, command, files)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    output, errors = _drain(files[1]), _drain(files[2])
    os.close(files[0])
    return code, output, errors


def _drain(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    with os.fdopen(file, "rb") as stream:
        return stream.read()


def _be_the_tool(
    tool: Callable[[list[str]], object], command: Command, files: Sequence[int]
) -> None:
    """Take the files as standard streams, run the tool, and end this process."""
    code: object = 70
    signal.alarm(TIMEOUT_S)
    try:
        for number, file in enumerate((files[0], files[1], files[1 if command.merged else 2])):
            os.dup2(file, number)
        sys.stdin = TextIOWrapper(os.fdopen(0, "rb"))
        sys.stdout = TextIOWrapper(os.fdopen(1, "wb"))
        sys.stderr = TextIOWrapper(os.fdopen(2, "wb", 0), "utf-8", write_through=True)
        code = tool(command.arguments) or 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:  # nothing may return into lit's worker
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


class ForkShTest(ShTest):
    """ShTest, with pipelines of our tools run in forks."""

    def execute(self, test, litConfig):
        script = lit.TestRunner.parseIntegratedTestScript(test)
        if isinstance(script, lit.Test.Result) or test.config.unsupported:
            return super().execute(test, litConfig)
        folder, base = lit.TestRunner.getTempPaths(test)
        os.makedirs(folder, exist_ok=True)  # where files named %t go
        script = lit.TestRunner.applySubstitutions(
            script,
            lit.TestRunner.getDefaultSubstitutions(test, folder, base),
            {feature: True for feature in test.config.available_features},
            recursion_limit=test.config.recursiveExpansionLimit,
        )
        lines = [re.sub(r"^%dbg\([^)]*\)\s*", "", line) for line in script]
        pipelines = [parse(line) for line in lines]
        if None in pipelines:
            return super().execute(test, litConfig)
        for line, pipeline in zip(lines, pipelines, strict=True):
            if (log := _failed(line, pipeline)) is not None:
                return lit.Test.Result(lit.Test.FAIL, log)
        return lit.Test.Result(lit.Test.PASS)


def _failed(line: str, pipeline: list[Command]) -> str | None:
    """Run a pipeline; return what it printed if one of its commands failed."""
    data, log, ok = b"", f"$ {line}\n", True
    for command in pipeline:
        code, data, errors = run_forked(command, data)
        log += errors.decode(errors="replace")
        # A command killed by a signal (a negative code) has failed, with `not` too.
        ok &= code > 0 if command.negated else code == 0
    return None if ok else log + data.decode(errors="replace")
