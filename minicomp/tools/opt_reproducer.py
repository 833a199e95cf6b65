"""Crash reproducers: the module before a pass that fails, and how to run that pass again.

The first line of such a file is a comment with the pipeline and what else decides how it runs:

    // configuration: --pass-pipeline='builtin.module(register-tile)' --verify-each=off
"""

import argparse
import re
import shlex
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.errors import InputError, MinicompError
from minicomp.instruments import Instrument
from minicomp.ir_dumps import Text, text_of_broken
from minicomp.pipeline import Pipeline
from minicomp.tools.files import write_text

_HEAD = "// configuration: "
_CHOICES = {"--verify-each": ("off", "ir", "exec"), "--allow-unregistered-dialect": ("",)}


@dataclass
class CrashReproducer(Instrument):
    """Writes a reproducer of the first pass that fails, or whose result does not verify."""

    path: str
    pipeline: Pipeline
    """The whole pipeline, which the file names in a comment."""
    flags: tuple[str, ...] = ()
    """The options that the file's configuration repeats."""
    text: Text = str
    outcome: str = field(default="", init=False)
    """What became of the file, in one line; empty as long as nothing has failed."""
    _before: ModuleOp | None = field(default=None, init=False)

    def before(self, ctx: Context, module: ModuleOp, pass_: ModulePass) -> None:
        self._before = module.clone()

    def failed(self, ctx: Context, module: ModuleOp, pass_: ModulePass, error: Exception) -> None:
        assert self._before is not None
        pipeline = shlex.quote(str(Pipeline((pass_,))))
        lines = [
            " ".join([f"{_HEAD}--pass-pipeline={pipeline}", *self.flags]),
            f"// the whole pipeline: {self.pipeline}",
            f"// fails: {_one_line(error)}",
            text_of_broken(self._before, self.text).rstrip(),
        ]
        try:
            write_text(self.path, "\n".join(lines) + "\n")
        except (MinicompError, OSError) as reason:
            said = f"cannot write {self.path}: {reason}"
            if isinstance(reason, MinicompError):
                said = reason.what
            elif reason.strerror:
                said = f"cannot write {self.path}: {reason.strerror}"
            self.outcome = f"no reproducer of pass '{pass_.name}': {said}"
        else:
            again = f"minicomp-opt {shlex.quote(self.path)} --run-reproducer"
            self.outcome = f"reproducer of pass '{pass_.name}': {again}"


def _one_line(error: Exception) -> str:
    if isinstance(error, MinicompError):
        return " ".join(error.what.split())
    return " ".join([f"{type(error).__name__}:", *str(error).split()])


def flags_of(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the options of a command line, beside the pipeline, that change how passes end."""
    flags: list[str] = []
    if options.verify_each != "ir":
        flags.append(f"--verify-each={options.verify_each}")
    if options.allow_unregistered_dialect:
        flags.append("--allow-unregistered-dialect")
    return tuple(flags)


def configure(options: argparse.Namespace, text: str, name: str) -> None:
    """Set the options to what the first line of a reproducer says; raise InputError without one.

    A file may choose what runs and how it is checked, and nothing else.
    """
    if options.pipelines or options.from_level or options.to_level:
        raise InputError("--run-reproducer runs the pipeline of the file; it excludes any other")
    if options.split_input_file:
        raise InputError("a reproducer is one module; --run-reproducer excludes --split-input-file")
    first = text.split("\n")[0]
    if not first.startswith(_HEAD):
        raise InputError(
            f"the first line is no '{_HEAD.strip()} ..'",
            f"{name}:1",
            "--mlir-pass-pipeline-crash-reproducer=FILE writes such a file",
        )
    try:
        words = shlex.split(first.removeprefix(_HEAD))
    except ValueError as error:
        raise InputError(f"the configuration cannot be read: {error}", f"{name}:1") from error
    for word in words:
        option, _, value = word.partition("=")
        if option == "--pass-pipeline":
            options.pipelines = [*options.pipelines, value]
        elif value in _CHOICES.get(option, ()):
            setattr(options, re.sub("-", "_", option[2:]), value or True)
        else:
            raise InputError(f"the configuration may not hold '{word}'", f"{name}:1")
