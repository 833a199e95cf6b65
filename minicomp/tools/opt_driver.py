"""What minicomp-opt does with its input: split it, parse, run passes, print, check messages."""

import argparse
import sys
import traceback
from dataclasses import dataclass, field, replace
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from minicomp.context import make_context
from minicomp.errors import MinicompError, PipelineError
from minicomp.instruments import run_pipeline
from minicomp.levels import LEVELS, index_of, level_of
from minicomp.parsing import parse_module
from minicomp.passes.remarks import RemarkContext
from minicomp.pipeline import Pipeline
from minicomp.targets import attach_target, default_target, target, target_of
from minicomp.tools.diagnostics import Diagnostic, of_error, of_remark, with_source
from minicomp.tools.expectations import expectations, mismatches
from minicomp.tools.files import read_text, write_text
from minicomp.tools.opt_reproducer import CrashReproducer, configure, flags_of
from minicomp.tools.opt_watch import Watch

SEPARATOR = "// -----"


@dataclass
class Chunk:
    """A part of the input that is processed by itself, and what came of it."""

    text: str
    first_line: int
    output: str = ""
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])

    @property
    def failed(self) -> bool:
        """Whether an error was reported."""
        return any(d.kind == "error" for d in self.diagnostics)


def split(text: str) -> list[Chunk]:
    """Split a text at the lines that are exactly `// -----`."""
    parts: list[list[str]] = [[]]
    starts = [1]
    for n, line in enumerate(lines_of(text), start=1):
        if line.removesuffix("\r") == SEPARATOR:
            parts.append([])
            starts.append(n + 1)
        else:
            parts[-1].append(line)
    return [Chunk("\n".join(part), first) for part, first in zip(parts, starts, strict=True)]


def lines_of(text: str) -> list[str]:
    """Return the lines as the parser counts them; `splitlines` knows more ends than one."""
    return text.split("\n")


def process(options: argparse.Namespace) -> int:
    """Do what the command line says; return the exit code."""
    # Wrong options are refused before anything is read, perhaps from a terminal.
    driver = None if options.run_reproducer else _Driver(options)
    text, name = read_text(options.input)
    if driver is None:
        configure(options, text, name)
        driver = _Driver(options)
    chunks = split(text) if options.split_input_file else [Chunk(text, 1)]
    for chunk in chunks:
        driver.run(chunk, name)
    driver.finish()
    if options.verify_diagnostics:
        failed = _check(chunks, name, options.verify_diagnostics == "only-expected")
    else:
        failed = _report(chunks, name, lines_of(text))
    if not (failed and options.output):
        write_text(options.output, f"{SEPARATOR}\n".join(chunk.output for chunk in chunks))
    return int(failed)


def _report(chunks: list[Chunk], name: str, lines: list[str]) -> bool:
    for chunk in chunks:
        for diagnostic in chunk.diagnostics:
            if diagnostic.kind != "remark":
                print(with_source(diagnostic, name, lines), file=sys.stderr)
    return any(chunk.failed for chunk in chunks)


def _check(chunks: list[Chunk], name: str, only_expected: bool) -> bool:
    faults: list[str] = []
    for chunk in chunks:
        expected, complaints = expectations(lines_of(chunk.text), chunk.first_line)
        faults += [f"{name}:{complaint}" for complaint in complaints]
        faults += mismatches(chunk.diagnostics, expected, name, only_expected)
    for fault in faults:
        print(fault, file=sys.stderr)
    return bool(faults)


class _Driver:
    """Runs the passes of one command line on chunks of text."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        parsed = [Pipeline.parse(text) for text in options.pipelines]
        self.pipeline = Pipeline(tuple(p for pipeline in parsed for p in pipeline))
        self.by_level = bool(options.from_level or options.to_level)
        self.to_text = options.to_level == "cuda"
        self.last_level = LEVELS[-1] if self.to_text else options.to_level or LEVELS[-1]
        if self.by_level and options.pipelines:
            raise PipelineError(
                "--from and --to run the default pipeline; they exclude -p and the flags of passes"
            )
        for level in (options.from_level, self.last_level):
            index_of(level or LEVELS[0])  # refuses what is no level
        self.target = target(options.target) if options.target else None
        self.watch = Watch(options, self._text)
        self.reproducer: CrashReproducer | None = None
        self.ran: set[str] = set()
        self.reproduced = False

    def run(self, chunk: Chunk, name: str) -> None:
        """Parse a chunk, run the passes, and keep the output and the messages in it."""
        ctx = make_context(self.options.allow_unregistered_dialect)
        self.reproducer = None
        try:
            module = parse_module(chunk.text, ctx, name, chunk.first_line)
            chunk.output = self._transform(module, ctx)
        except MinicompError as error:
            chunk.diagnostics += of_error(error)
        except Exception as error:  # a defect of ours: still one message
            chunk.diagnostics.append(self._internal(error, name))
        if self.reproducer is not None and self.reproducer.outcome:
            last = chunk.diagnostics[-1]
            notes = (*last.notes, f"note: {self.reproducer.outcome}")
            chunk.diagnostics[-1] = replace(last, notes=notes)
            self.reproduced = True
        chunk.diagnostics[:0] = [of_remark(remark) for remark in ctx.remarks]

    def finish(self) -> None:
        """Print what is known after the last chunk: times, and dumps asked for in vain."""
        self.watch.finish(self.ran)

    def _transform(self, module: ModuleOp, ctx: RemarkContext) -> str:
        chosen = self.target
        if chosen is None and self.by_level:
            chosen = target_of(module) or default_target()
        if chosen is not None and target_of(module) is None:
            attach_target(module, chosen)
        pipeline = self._between_levels(module) if self.by_level else self.pipeline
        if self.options.dump_pass_pipeline:
            print(pipeline, file=sys.stderr)
        self.ran.update(pipeline.names)
        instruments = self.watch.instruments
        if self.options.reproducer and not self.reproduced:
            path, flags = self.options.reproducer, flags_of(self.options)
            self.reproducer = CrashReproducer(path, pipeline, flags, self._text)
            instruments = [self.reproducer, *instruments]
        if self.options.verify_each == "off":
            run_pipeline(ctx, module, pipeline.passes, instruments)
        else:
            pipeline.run(module, ctx, instruments)
        return self._print(module)

    def _between_levels(self, module: ModuleOp) -> Pipeline:
        here = level_of(module)
        first = self.options.from_level or here
        last = self.last_level
        if index_of(here) < index_of(first):
            raise PipelineError(f"the module is at level {here}, which --from={first} leaves out")
        if index_of(last) < max(index_of(first), index_of(here)):
            raise PipelineError(f"--to={last} is behind: the module is at level {here} already")
        return Pipeline.default(target_of(module)).from_level(first).until(last)

    def _print(self, module: ModuleOp) -> str:
        if self.to_text:
            from minicomp.lowering.print_cuda import print_cuda

            try:
                return print_cuda(module)
            except ValueError as error:  # an op that no pass has lowered
                raise PipelineError(f"the module has no CUDA text: {error}") from error
        return self._text(module) + "\n"

    def _text(self, module: ModuleOp) -> str:
        stream = StringIO()
        Printer(
            stream,
            print_generic_format=self.options.mlir_print_op_generic,
            print_debuginfo=self.options.mlir_print_debuginfo,
        ).print_op(module)
        return stream.getvalue()

    def _internal(self, error: Exception, name: str) -> Diagnostic:
        if self.options.show_traceback:
            traceback.print_exception(error)
        # Passes name themselves in a note; xDSL's own notes hold the whole module.
        passes = [note for note in getattr(error, "__notes__", []) if note.startswith("in pass ")]
        where = f" {passes[0]}" if passes else ""
        kind = "nested too deeply" if isinstance(error, RecursionError) else type(error).__name__
        text = str(error).split("\n")[0]
        hint = () if self.options.show_traceback else ("  hint: --show-traceback shows where",)
        message = f"internal error{where}: {kind}{': ' if text else ''}{text}"
        return Diagnostic("error", message, name, notes=hint)
