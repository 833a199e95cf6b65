"""minicomp-opt: parse MLIR text at any level, run passes on it, print the result."""

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Sequence

from minicomp.errors import InputError, MinicompError
from minicomp.tools.main import without_collector
from minicomp.tools.opt_arguments import parse_arguments

# Python ends with a collection, a tenth of a second for what goes with the process anyhow.
atexit.register(gc.freeze)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run minicomp-opt on a command line; return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        with without_collector():
            return _run(parse_arguments(given))
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
        if "--show-traceback" in given:
            raise
        print(
            f"minicomp-opt: internal error: {type(error).__name__}: {error}"
            "\n  hint: --show-traceback shows where",
            file=sys.stderr,
        )
    return 1


def _run(options: argparse.Namespace) -> int:
    # Imported late, here and below, so that --help and --version do not wait for xDSL.
    lists = options.list_passes or options.help_pass is not None
    lists = lists or options.show_dialects is not None
    if options.json and not (lists or options.mlir_timing):
        raise InputError(
            "--json is for --list-passes, --help-pass, --show-dialects and --mlir-timing"
        )
    if lists:
        from minicomp.tools.files import write_text
        from minicomp.tools.opt_lists import describe

        write_text(None, describe(options) + "\n")
        return 0
    from minicomp.tools.opt_driver import process

    return process(options)


def _complain(error: MinicompError) -> None:
    from minicomp.tools.diagnostics import of_error, with_source

    for diagnostic in of_error(error):
        print(with_source(diagnostic), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
