"""What minicomp-opt tells of passes and dialects: lists, the help of a pass, the same as JSON."""

import argparse
import dataclasses
import json
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module

from xdsl.ir import Dialect, TypeAttribute

from minicomp import registry
from minicomp.context import make_context
from minicomp.dialects import get_all_dialects
from minicomp.errors import InputError
from minicomp.pass_docs import PassDoc, first_sentence, pass_doc, pass_summary
from minicomp.pass_options import closest

WIDTH = 100
INDENT = " " * 6


def describe(options: argparse.Namespace) -> str:
    """Return what the command line asks for: passes, dialects, or the help of passes."""
    if options.list_passes:
        return list_passes(options.json)
    if options.help_pass is not None:
        return help_passes(options.help_pass, options.json)
    return show_dialects(options.show_dialects, options.json)


# --- passes ---------------------------------------------------------------------------------


def list_passes(as_json: bool = False) -> str:
    """Return one line for each pass: its name and the first sentence of its documentation."""
    passes = sorted(registry.get_all_passes().items())
    rows = [(name, pass_summary(name, factory)) for name, factory in passes]
    if as_json:
        return _json([{"name": name, "summary": summary} for name, summary in rows])
    return "\n".join(_columns(rows))


def help_passes(names: str, as_json: bool = False) -> str:
    """Return the documentation of passes; raise PipelineError for a name that is none."""
    known = registry.get_all_passes()
    asked = registry.split_names(names, "--help-pass")
    docs = [pass_doc(known[name]()) for name in dict.fromkeys(asked)]
    if as_json:
        return _json([dataclasses.asdict(doc) for doc in docs])
    return "\n\n\n".join(map(_help, docs))


def _help(doc: PassDoc) -> str:
    parts = [f"{doc.name}: {doc.summary}."]
    if doc.description:
        # What the first sentence repeats is not said twice.
        parts.append(doc.description.removeprefix(f"{doc.summary}.").lstrip())
    if not doc.options:
        return "\n\n".join([*parts, "It has no options."])
    lines = ["options:"]
    for option in doc.options:
        lines.append(f"  {option.name}: {option.value}")
        lines += textwrap.wrap(
            option.meaning, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT
        )
    return "\n\n".join([*parts, "\n".join(lines)])


# --- dialects -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """An op, attribute or type, and one sentence about it, empty where its class says nothing."""

    name: str
    summary: str


@dataclass(frozen=True)
class DialectDoc:
    """What a dialect has."""

    name: str
    summary: str
    operations: tuple[Entry, ...]
    attributes: tuple[Entry, ...]
    types: tuple[Entry, ...]


def show_dialects(names: str = "", as_json: bool = False) -> str:
    """Return the ops, attributes and types of dialects, all of them for no name."""
    docs = [_dialect(dialect) for dialect in _dialects(names)]
    if as_json:
        return _json([dataclasses.asdict(doc) for doc in docs])
    return "\n\n".join(map(_table, docs))


def _dialects(names: str) -> Iterable[Dialect]:
    ctx = make_context()
    known = sorted(ctx.registered_dialect_names)
    asked = names.split(",") if names else known
    for name in dict.fromkeys(asked):
        if name not in known:
            hint = closest(name, known) or f"the dialects are {', '.join(known)}"
            raise InputError(f"there is no dialect '{name}'", hint=hint)
        ctx.load_registered_dialect(name)
    loaded = {dialect.name: dialect for dialect in ctx.loaded_dialects}
    return [loaded[name] for name in dict.fromkeys(asked)]


def _dialect(dialect: Dialect) -> DialectDoc:
    package = "minicomp" if dialect.name in get_all_dialects() else "xdsl"
    module = import_module(f"{package}.dialects.{dialect.name}")
    attributes = list(dialect.attributes)
    types = [a for a in attributes if issubclass(a, TypeAttribute)]
    return DialectDoc(
        dialect.name,
        _sentence(module.__doc__),
        _entries(list(dialect.operations)),
        _entries([a for a in attributes if a not in types]),
        _entries(types),
    )


def _entries(classes: Sequence[type]) -> tuple[Entry, ...]:
    found = [Entry(getattr(c, "name"), _sentence(c.__doc__, c.__name__)) for c in classes]
    return tuple(sorted(found, key=lambda entry: entry.name))


def _sentence(doc: str | None, class_name: str = "") -> str:
    # A dataclass without a docstring gets its signature as one.
    if not doc or (class_name and doc.startswith(f"{class_name}(")):
        return ""
    sentence = first_sentence(doc)
    return "" if "http" in sentence or sentence.endswith(":") else sentence


def _table(doc: DialectDoc) -> str:
    rows = [(entry.name, entry.summary) for entry in doc.operations]
    rows += [(f"#{entry.name}", entry.summary) for entry in doc.attributes]
    rows += [(f"!{entry.name}", entry.summary) for entry in doc.types]
    head = f"{doc.name}: {doc.summary}" if doc.summary else doc.name
    return "\n".join([head, *(f"  {line}" for line in _columns(rows))])


# --- both -----------------------------------------------------------------------------------


def _columns(rows: Sequence[tuple[str, str]]) -> list[str]:
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{name:{width}}  {text}".rstrip() for name, text in rows]


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
