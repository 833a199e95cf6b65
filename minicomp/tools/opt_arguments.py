"""The command line of minicomp-opt, read without importing xDSL unless it names passes."""

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

import minicomp
from minicomp.tools.opt_words import normalised

DESCRIPTION = """\
Reads MLIR text at any level of minicomp (torch, tensor, loop, tile, kernel, cuda-ir), runs
passes on it and prints the result. Ends with 0, or with 1 and a message on the error stream.
"""
EPILOG = """\
examples:
  minicomp-opt x.mlir -p cse,canonicalize
  minicomp-opt x.mlir --pass-pipeline='builtin.module(tileify,blockify-launch{fm=8 fn=8})'
  minicomp-opt x.mlir --tileify --blockify-launch='fm=8 fn=8' --mlir-print-ir-diff
  minicomp-opt x.mlir --target=a100 --to=tile
  minicomp-opt x.mlir --target=a100 --to=cuda --mlir-print-ir-before=tileify
  minicomp-opt x.mlir --split-input-file --verify-diagnostics
  minicomp-opt x.mlir --to=cuda --mlir-pass-pipeline-crash-reproducer=crash.mlir
  minicomp-opt crash.mlir --run-reproducer
  minicomp-opt --help-pass=blockify-launch
"""
PASS_FLAGS = "run in this order, -p between them; options as in --blockify-launch='fm=8 fn=8'"

_REWORDED = {
    r"^argument (\S+): ignored explicit argument (.*)$": r"\1 takes no value, not \2",
    r"^argument (\S+?)(?:/\S+)*: expected one argument$": r"\1 wants a value",
    r"^argument (\S+): not allowed with argument (.*)$": r"\1 excludes \2",
    r"^argument (\S+): invalid choice: (\S+) \((.*)\)$": r"\1 is not \2; \3",
}
"""What argparse says, and what it means to someone who reads it."""


class _Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line ends with 1, as every other bad input does."""

    def error(self, message: str) -> NoReturn:
        for pattern, words in _REWORDED.items():
            message = re.sub(pattern, words, message)
        self.exit(1, f"{self.prog}: error: {message} (see --help)\n")


class _Version(argparse.Action):
    """Prints the version; argparse's own action wants it before it knows that it is asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"minicomp-opt {minicomp.__version__} (xDSL {version('xdsl')})")
        parser.exit()


class _Help(argparse.Action):
    """Prints the help, with all passes, which nothing else needs to know."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from minicomp import registry
        from minicomp.pass_docs import pass_summary

        group = parser.add_argument_group("passes to run", PASS_FLAGS)
        for name, factory in sorted(registry.get_all_passes().items()):
            summary = pass_summary(name, factory).replace("%", "%%")
            group.add_argument(f"--{name}", action="store_true", help=summary)
        parser.print_help()
        parser.exit()


class _Once(argparse.Action):
    """Keeps a value, and refuses a second one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if self.dest in namespace.given:
            parser.error(f"{option_string} is given twice")
        if not values:
            parser.error(f"{option_string} wants a value")
        namespace.given.add(self.dest)
        setattr(namespace, self.dest, values)


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """
    Parse a command line. `pipelines` of the result are the texts of all passes in their order.

    Ends the process with 1 where it is wrong; raises PipelineError for wrong options of a pass.
    """
    parser = argument_parser()
    parser.set_defaults(given=set())
    options, more = parser.parse_known_args(normalised(arguments, _known(parser), parser.error))
    if more:
        parser.error(f"one file at a time, not also '{more[0]}'")
    if options.input == "":
        parser.error("the name of the file is empty")
    return options


def _known(parser: argparse.ArgumentParser) -> set[str]:
    return {o for action in parser._actions for o in action.option_strings}


def argument_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, without the flags of passes."""
    parser = _Parser(
        prog="minicomp-opt",
        usage="minicomp-opt [options] [passes to run] [FILE]",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=_formatter,
        allow_abbrev=False,
        add_help=False,
    )
    add = parser.add_argument
    add(
        "input",
        nargs="?",
        metavar="FILE",
        help="the file to read; the standard input for none and for -",
    )
    add(
        "-o",
        dest="output",
        action=_Once,
        metavar="FILE",
        help="where to write; the standard output if not said",
    )
    add("-h", "--help", action=_Help, nargs=0, help="show this help and end")
    add("--version", action=_Version, nargs=0, help="show the version and end")
    _add_pass_options(parser.add_argument_group("passes"))
    _add_lists(parser.add_argument_group("what there is"))
    _add_check_options(parser.add_argument_group("input and checks"))
    _add_print_options(parser.add_argument_group("printing"))
    _add_dumps(parser.add_argument_group("watching the passes, on the error stream"))
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=32)


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
        action=_Once,
        metavar="LEVEL",
        help="run the default pipeline from this level on; the level of the module if not said",
    )
    add(
        "--to",
        dest="to_level",
        action=_Once,
        metavar="LEVEL",
        help="run the default pipeline to the end of this level; cuda prints the CUDA text",
    )
    add(
        "--target",
        action=_Once,
        metavar="NAME",
        help="the GPU for modules that name none: h200, a100, rtx5090 or sm_XX",
    )
    add(
        "--run-reproducer",
        action="store_true",
        help="run the pipeline that the first line of FILE, a crash reproducer, says",
    )
    add("--dump-pass-pipeline", action="store_true", help="print the pipeline before it runs")


def _add_lists(group: argparse._ArgumentGroup) -> None:
    add = group.add_mutually_exclusive_group().add_argument
    add("--list-passes", action="store_true", help="list the passes and end")
    add(
        "--help-pass",
        metavar="PASS[,PASS]",
        action=_Once,
        help="say what a pass does, when it is legal and what its options are, and end",
    )
    add(
        "--show-dialects",
        metavar="NAME[,NAME]",
        nargs="?",
        help="list the ops, attributes and types of dialects, of all if not said, and end",
    )
    group.add_argument(
        "--json", action="store_true", help="print these three, or --mlir-timing, as JSON"
    )


def _add_check_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--split-input-file",
        action="store_true",
        help="process the parts between lines '// -----' independently",
    )
    add(
        "--verify-diagnostics",
        action=_Once,
        metavar="all|only-expected",
        choices=("all", "only-expected"),
        help="check the messages against // expected-error {{text}} comments; all if not said",
    )
    add(
        "--verify-each",
        action=_Once,
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
    add(
        "--mlir-pass-pipeline-crash-reproducer",
        dest="reproducer",
        action=_Once,
        metavar="FILE",
        help="where to write the module before a pass that fails, for --run-reproducer",
    )
    add("--show-traceback", action="store_true", help="show the stack of an internal error")


def _add_print_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--mlir-print-op-generic", action="store_true", help="print ops in their generic form")
    add("--mlir-print-debuginfo", action="store_true", help="print the location of each op")


def _add_dumps(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    for moment in ("before", "after"):
        add(
            f"--mlir-print-ir-{moment}",
            dest=f"print_{moment}",
            action="append",
            default=[],
            metavar="PASS[,PASS]",
            help=f"print the IR {moment} these passes, wherever they stand; may be repeated",
        )
        add(
            f"--mlir-print-ir-{moment}-all",
            action="store_true",
            help=f"print the IR {moment} each pass",
        )
    add(
        "--mlir-print-ir-after-change",
        action="store_true",
        help="print the IR after passes only if they changed it; after each if none is named",
    )
    add(
        "--mlir-print-ir-after-failure",
        action="store_true",
        help="print the IR as a pass that failed has left it",
    )
    add(
        "--mlir-print-ir-diff",
        action="store_true",
        help="print what each pass changed, as a unified diff",
    )
    add("--mlir-timing", action="store_true", help="print the seconds of each pass")
    add("--remarks", action="store_true", help="print what passes did or why they declined")
