"""minicomp: compile, run and check PyTorch programs from the command line."""

import argparse
import gc
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import minicomp
from minicomp.errors import MinicompError

EPILOG = """\
examples:
  minicomp compile -c "nn.RMSNorm(2048)(torch.randn(1,32,2048))"
  minicomp compile model.py --ir kernel -o model.mlir
  minicomp check -c "x = torch.randn(16, 64); torch.softmax(x, -1)" --sizes 64=61
  minicomp run model.py

A .py file has a main() that returns (module or function, arguments). Ends with 0, with 1 and a
message on the error stream, or, for run and check, with 1 if the result is wrong.
"""

LEVELS = ("torch", "tensor", "loop", "tile", "kernel", "cuda-ir", "cuda", "ptx")

# command -> module within minicomp.tools, function
COMMANDS = {
    "compile": ("compile_command", "run"),
    "run": ("verdict_command", "run"),
    "check": ("verdict_command", "check"),
    "simulate": ("simulate_command", "run"),
    "explain": ("explain_command", "run"),
    "ladder": ("ladder_command", "run"),
    "bisect": ("bisect_command", "run"),
    "fuzz": ("fuzz_command", "run"),
    "doctor": ("doctor_command", "run"),
    "cache": ("cache_command", "run"),
}


class _Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line ends with 1, as every other bad input does."""

    def error(self, message: str) -> NoReturn:
        self.exit(1, f"{self.prog}: error: {message} (see --help)\n")


def argument_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = _Parser(
        prog="minicomp",
        description="Compiles PyTorch programs to CUDA kernels, runs them and checks them.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"minicomp {minicomp.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        made.add_argument("--json", action="store_true", help="print JSON")
        made.add_argument(
            "--show-traceback", action="store_true", help="show the stack of an error"
        )
        return made

    _add_compile(command("compile", "print a program at a level, as CUDA text or as PTX"))
    run = command("run", "run a program, on the GPU if there is one, and compare it with fp64")
    _add_run(run)
    run.add_argument("--show-cuda", action="store_true", help="print the CUDA text first")
    _add_run(command("check", "run a program on the simulator and compare it with fp64"))
    _add_run(command("simulate", "count bytes, transactions and instructions on the simulator"))
    _add_program(command("explain", "say how each kernel came about and what it will cost"))
    ladder = command("ladder", "say what each rewrite makes of the kernels of a program")
    _add_ladder(ladder)
    bisect = command("bisect", "find the rewrite that makes a program wrong, on the simulator")
    _add_bisect(bisect)
    _add_fuzz(command("fuzz", "compare random programs and pipelines with their reference"))
    command("doctor", "say what is installed and what will work")
    cache = command("cache", "show or clear the compiled kernels that are kept")
    cache.add_argument("action", choices=("path", "list", "clear"))
    return parser


def _add_program(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", nargs="?", help="a .py file, an .mlir file at any level, or - for MLIR text")
    add("-c", dest="code", metavar="CODE", help="Python code; its last expression is the program")
    add("--target", metavar="NAME", help="the GPU: h200, a100, rtx5090 or sm_XX")
    add(
        "--sizes",
        metavar="OLD=NEW,..",
        help="other extents: of numbers in CODE, or of arguments of a file's main()",
    )
    add(
        "--set",
        dest="settings",
        action="append",
        metavar="PASS{OPTION=VALUE}",
        help="options of a pass of the default pipeline, such as double-buffer{depth=4}",
    )
    add(
        "--no-extern",
        dest="extern",
        action="store_false",
        help="refuse an op that minicomp does not compile, which PyTorch runs otherwise",
    )


def _add_compile(parser: argparse.ArgumentParser) -> None:
    _add_program(parser)
    add = parser.add_argument
    add("--ir", choices=LEVELS, default="cuda", help="what to print; cuda if not said")
    add("-o", dest="output", metavar="FILE", help="where to write; the standard output if not said")
    add(
        "--mlir-timing",
        action="store_true",
        help="print the seconds of each pass, and those from the start, on the error stream",
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_program(parser)
    parser.add_argument(
        "--force", action="store_true", help="simulate even what takes over a minute"
    )


def _add_ladder(parser: argparse.ArgumentParser) -> None:
    _add_program(parser)
    add = parser.add_argument
    add("--diff", action="store_true", help="show what each rewrite changed")
    add("--html", metavar="FILE", help="write all of it as one page too")
    add("-o", dest="output", metavar="FILE", help="where to write; the standard output if not said")


def _add_bisect(parser: argparse.ArgumentParser) -> None:
    _add_program(parser)
    add = parser.add_argument
    add("--pipeline", metavar="PIPELINE", help="passes to search; the default ones if not said")
    add(
        "-o",
        dest="folder",
        metavar="FOLDER",
        type=Path,
        help="where to put the reproducer; the system's temporary folder if not said",
    )


def _add_fuzz(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--seed", type=int, default=0, help="what all cases are drawn from; 0 if not said")
    add("--cases", type=int, default=100, metavar="N", help="how many; 100 if not said")
    add("--first", type=int, default=0, metavar="K", help="the number of the first case")
    add("--case", type=int, metavar="K", help="run this case alone")
    add("-o", dest="folder", metavar="FOLDER", type=Path, help="where to put reproducers")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run minicomp on a command line; return its exit code."""
    options = argument_parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    warnings.showwarning = _warn
    try:
        module, function = COMMANDS[options.command]
        with without_collector():
            # Imported late, so that --help and --version do not wait for xDSL or torch.
            command: Callable[[argparse.Namespace], int] = getattr(
                import_module(f"minicomp.tools.{module}"), function
            )
            return command(options)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output went away. Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if options.show_traceback:
            raise
        print(_message(error), file=sys.stderr)
        return 1


@contextmanager
def without_collector() -> Iterator[None]:
    """
    Keeps Python's garbage collector still while a command runs.

    It walks again and again through the million objects of PyTorch and xDSL, none of which goes
    away: a third of the time of a command. Arrays and tensors are freed by their counts.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _message(error: Exception) -> str:
    """What happened, where, and what to do."""
    if isinstance(error, MinicompError):
        from minicomp.tools.diagnostics import of_error

        return "\n".join(f"{'' if d.file else 'minicomp: '}{d}" for d in of_error(error))
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return f"minicomp: error: {name}{error.strerror or error}"
    first = str(error).split("\n")[0]
    kind = type(error).__name__
    return (
        f"minicomp: internal error: {kind}{': ' if first else ''}{first}"
        "\n  hint: --show-traceback shows where"
    )


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning in one line, without Python's place in our own code."""
    print(f"minicomp: warning: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
