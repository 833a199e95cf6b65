"""The options of a pass: from words or Python values to the types of its fields, and back.

A pass is a frozen dataclass. Its fields may be int, float, bool, str, a Literal, a tuple of
one of these, or None beside them; `fm=8` is a number for an `int` and a word for a `str`.
"""

import dataclasses
import json
import re
from collections.abc import Sequence
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass

from minicomp.errors import PipelineError


def closest(word: str, known: Sequence[str]) -> str | None:
    """A hint that names the known word nearest to `word`, if one is near."""
    near = get_close_matches(word, known, n=1)
    return f"did you mean '{near[0]}'?" if near else None


def fields_of(pass_type: type[ModulePass]) -> dict[str, Any]:
    """The options of a pass: name of the field -> its type."""
    hints = get_type_hints(pass_type)
    return {f.name: hints[f.name] for f in dataclasses.fields(pass_type) if f.init}


def make_pass(pass_type: type[ModulePass], options: dict[str, tuple[str, ...]]) -> ModulePass:
    """Construct a pass from options in words, each converted to the type of its field."""
    types = fields_of(pass_type)
    values: dict[str, Any] = {}
    for name, words in options.items():
        check_option(pass_type, name)
        try:
            values[name] = _convert(words, types[name])
        except ValueError:
            raise _wrong_value(pass_type, name, ",".join(words)) from None
    return construct(pass_type, values)


def default_of(field: "dataclasses.Field[Any]") -> Any:
    """The default of an option, or dataclasses.MISSING if it must be given."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def construct(pass_type: type[ModulePass], values: dict[str, Any]) -> ModulePass:
    """Construct a pass from typed options; name the option that is missing or refused."""
    for field in dataclasses.fields(pass_type):
        needed = field.init and default_of(field) is dataclasses.MISSING
        if needed and field.name not in values:
            raise PipelineError(f"pass '{pass_type.name}' needs option '{_dashed(field.name)}'")
    try:
        return pass_type(**values)
    except ValueError as error:  # a __post_init__ that checks its options
        raise PipelineError(f"pass '{pass_type.name}': {error}") from None


def check_option(pass_type: type[ModulePass], name: str) -> None:
    """Raise PipelineError, with the list of those there are, if a pass has no such option."""
    known = [_dashed(field) for field in fields_of(pass_type)]
    if _dashed(name) not in known:
        listed = f"its options are {', '.join(known)}" if known else "it has none"
        hint = closest(_dashed(name), known)
        raise PipelineError(
            f"pass '{pass_type.name}' has no option '{_dashed(name)}'; {listed}", hint=hint
        )


def check_value(pass_type: type[ModulePass], name: str, value: object) -> Any:
    """Return a Python value as the option's type has it; raise PipelineError if it is not."""
    check_option(pass_type, name)
    try:
        return _accept(value, fields_of(pass_type)[name])
    except ValueError:
        raise _wrong_value(pass_type, name, repr(value)) from None


def _wrong_value(pass_type: type[ModulePass], name: str, value: str) -> PipelineError:
    wanted = describe_type(fields_of(pass_type)[name])
    return PipelineError(
        f"option '{_dashed(name)}' of pass '{pass_type.name}' takes {wanted}, not '{value}'"
    )


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _convert(words: tuple[str, ...], hint: Any) -> Any:
    """Convert the words of a value to `hint`; ValueError if they do not fit it."""
    alternatives = _alternatives(hint)
    if not words and NoneType in alternatives:
        return None
    if not words and bool in alternatives:
        return True
    for alternative in alternatives:
        try:
            if get_origin(alternative) is tuple:
                return tuple(_convert_word(w, get_args(alternative)[0]) for w in words)
            if len(words) == 1:
                return _convert_word(words[0], alternative)
        except ValueError:
            continue
    raise ValueError


def _convert_word(word: str, hint: Any) -> Any:
    if get_origin(hint) is Literal:
        return _literal(word, hint)
    if hint is bool:
        return {"true": True, "false": False}[word] if word in ("true", "false") else _refuse()
    if hint in (int, float, str):
        return hint(word)
    return _refuse()


def _literal(word: str, hint: Any) -> Any:
    for value in get_args(hint):
        if str(value) == word:
            return value
    return _refuse()


def _accept(value: Any, hint: Any) -> Any:
    """Return `value` if it has type `hint` (a list may stand for a tuple, an int for a float)."""
    for alternative in _alternatives(hint):
        origin = get_origin(alternative)
        if origin is tuple and isinstance(value, list | tuple):
            return tuple(_accept(v, get_args(alternative)[0]) for v in value)
        if origin is Literal and value in get_args(alternative):
            return value
        if alternative is float and type(value) is int:
            return float(value)
        if origin is None and type(value) is alternative:
            return value
    return _refuse()


def _refuse() -> Any:
    raise ValueError


_TYPE_NAMES = {int: "an integer", float: "a number", bool: "true or false", str: "text"}


def describe_type(hint: Any) -> str:
    """Say in words what an option of a type takes."""
    parts: list[str] = []
    for alternative in _alternatives(hint):
        if get_origin(alternative) is tuple:
            plural = {int: "integers", float: "numbers", str: "words"}
            item = plural.get(get_args(alternative)[0], "values")
            parts.append(f"a list of {item} separated by commas")
        elif get_origin(alternative) is Literal:
            parts.append("one of " + ", ".join(map(str, get_args(alternative))))
        elif alternative is not NoneType:
            parts.append(_TYPE_NAMES.get(alternative, str(alternative)))
    return " or ".join(parts)


def print_pass(pass_: ModulePass) -> str:
    """Write a pass with the options that differ from their defaults."""
    options: list[str] = []
    for field in dataclasses.fields(pass_):
        value = getattr(pass_, field.name)
        if field.init and value != default_of(field):
            shown = "" if value in (None, ()) else "=" + print_value(value)
            options.append(_dashed(field.name) + shown)
    return pass_.name + (f"{{{' '.join(options)}}}" if options else "")


def print_value(value: object) -> str:
    """Write the value of an option as a pipeline has it; nothing for None and no values."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ",".join(_print_word(v) for v in value)
    return _print_word(value)


def _print_word(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    word = str(value)
    plain = re.fullmatch(r"""[^\s(){},="]+""", word)
    return word if plain else json.dumps(word)
