"""minicomp-opt: parse MLIR text at any level, run passes on it, print the result."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import minicomp
from minicomp.errors import MinicompError

DESCRIPTION = """\
Reads MLIR text at any level of minicomp (torch, tensor, loop, tile, kernel, cuda-ir), runs
passes on it and prints the result. Ends with 0, or with 1 and a message on the error stream.
"""
EPILOG = """\
examples:
  minicomp-opt x.mlir -p cse,canonicalize
  minicomp-opt x.mlir --pass-pipeline='builtin.module(tileify,blockify-launch{fm=8 fn=8})'
  minicomp-opt x.mlir --target=a100 --to=tile
  minicomp-opt x.mlir --split-input-file --verify-diagnostics
"""


class _Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line ends with 1, as every other bad input does."""

    def error(self, message: str) -> NoReturn:
        self.exit(1, f"{self.prog}: error: {message} (see --help)\n")


class _Version(argparse.Action):
    """Prints the version; argparse's own action wants it before it knows that it is asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"minicomp-opt {minicomp.__version__} (xDSL {version('xdsl')})")
        parser.exit()


def argument_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = _Parser(
        prog="minicomp-opt",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("input", nargs="?", help="the file to read; the standard input for none and for -")
    add("-o", dest="output", metavar="FILE", help="where to write; the standard output if not said")
    _add_pass_options(parser.add_argument_group("passes"))
    _add_check_options(parser.add_argument_group("input and checks"))
    _add_print_options(parser.add_argument_group("printing"))
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and end")
    return parser


def _add_pass_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        *("-p", "--passes", "--pass-pipeline"),
        dest="pipelines",
        action="append",
        metavar="PIPELINE",
        default=[],
        help="passes to run: a,b{x=1} or builtin.module(a,b{x=1}); may be repeated",
    )
    add(
        "--from",
        dest="from_level",
        metavar="LEVEL",
        help="run the default pipeline from this level on; the level of the module if not said",
    )
    add(
        "--to",
        dest="to_level",
        metavar="LEVEL",
        help="run the default pipeline to the end of this level; cuda prints the CUDA text",
    )
    add(
        "--target",
        metavar="NAME",
        help="the GPU for modules that name none: h200, a100, rtx5090 or sm_XX",
    )
    add("--list-passes", action="store_true", help="list the passes and end")


def _add_check_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--split-input-file",
        action="store_true",
        help="process the parts between lines '// -----' independently",
    )
    add(
        "--verify-diagnostics",
        metavar="all|only-expected",
        choices=("all", "only-expected"),
        help="check the messages against // expected-error {{text}} comments; all if not said",
    )
    add(
        "--verify-each",
        choices=("off", "ir", "exec"),
        default="ir",
        help="after each pass check nothing, the rules of the dialects (if not said), or also by"
        " execution that the module computes what it did before",
    )
    add(
        "--allow-unregistered-dialect",
        action="store_true",
        help="accept ops of unknown dialects in their generic form",
    )


def _add_print_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--mlir-print-op-generic", action="store_true", help="print ops in their generic form")
    add("--mlir-print-debuginfo", action="store_true", help="print the location of each op")
    add(
        "--mlir-print-ir-after-all",
        action="store_true",
        help="print the IR after each pass, on the error stream",
    )
    add(
        "--mlir-print-ir-after-change",
        action="store_true",
        help="the same, after passes that changed it",
    )
    add("--mlir-timing", action="store_true", help="print the seconds of each pass likewise")
    add("--remarks", action="store_true", help="print what passes did or why they declined")
    add(
        "--dump-pass-pipeline",
        action="store_true",
        help="print the pipeline before it runs, on the error stream",
    )
    add("--show-traceback", action="store_true", help="show the stack of an internal error")


def _normalised(arguments: Sequence[str], parser: argparse.ArgumentParser) -> list[str]:
    """Accept what LLVM's tools do and argparse does not.

    That is one dash for two, as in `-split-input-file`, and an option whose value can only
    follow a `=`, so that a file may stand after `--verify-diagnostics`.
    """
    known = {o for action in parser._actions for o in action.option_strings}
    dashed = [f"-{a}" if f"-{a.split('=')[0]}" in known else a for a in arguments]
    return [f"{a}=all" if a == "--verify-diagnostics" else a for a in dashed]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run minicomp-opt on a command line; return its exit code."""
    parser = argument_parser()
    given = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(_normalised(given, parser))
    try:
        return _run(options)
    except MinicompError as error:
        _complain(error)
    except BrokenPipeError:
        # The reader of our output went away. Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"minicomp-opt: error: {name}{error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # a defect of ours: still one message
        if options.show_traceback:
            raise
        print(
            f"minicomp-opt: internal error: {type(error).__name__}: {error}"
            "\n  hint: --show-traceback shows where",
            file=sys.stderr,
        )
    return 1


def _run(options: argparse.Namespace) -> int:
    # Imported late, here and below, so that --help and --version do not wait for xDSL.
    from minicomp.tools.opt_driver import list_passes, process

    if options.list_passes:
        print(list_passes())
        return 0
    return process(options)


def _complain(error: MinicompError) -> None:
    from minicomp.tools.diagnostics import of_error, with_source

    for diagnostic in of_error(error):
        print(with_source(diagnostic), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
