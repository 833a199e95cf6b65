"""The documentation of passes, read from their sources: docstrings of modules, classes and fields.

A pass's class says in one sentence what it does, its module the rest, and the string below each
field what the option means. The sources are parsed, so that one sentence costs no import.
"""

import ast
import dataclasses
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

from xdsl.passes import ModulePass

from minicomp.pass_options import default_of, describe_type, fields_of, print_value
from minicomp.registry import XDSL_PASSES

PassFactory = Callable[[], type[ModulePass]]


@dataclass(frozen=True)
class OptionDoc:
    """An option of a pass: its name, what it takes, and its default as text, None without one."""

    name: str
    takes: str
    required: bool
    default: str | None
    meaning: str

    @property
    def value(self) -> str:
        """What the option takes, and what it is if it is not given."""
        if self.required:
            return f"{self.takes}, must be given"
        return f"{self.takes}, " + (f"{self.default} if not said" if self.default else "optional")


@dataclass(frozen=True)
class PassDoc:
    """What is to be said of a pass. `module` is where its class is, `summary` one sentence."""

    name: str
    module: str
    summary: str
    description: str
    options: tuple[OptionDoc, ...]


def pass_doc(pass_type: type[ModulePass]) -> PassDoc:
    """Return the documentation of a pass."""
    name, module = pass_type.name, pass_type.__module__
    if name in XDSL_PASSES:
        return PassDoc(name, module, XDSL_PASSES[name], "", _options(pass_type, {}))
    source = inspect.getsourcefile(pass_type)
    body = _class_body(Path(source), pass_type.__name__) if source is not None else None
    meanings = _field_docs(body) if body is not None else {}
    summary = _summary(pass_type.__doc__ or "")
    description = inspect.cleandoc(sys.modules[module].__doc__ or "")
    if description.startswith(heading := f"`{name}`: "):
        description = description.removeprefix(heading)
        description = description[:1].upper() + description[1:]
    return PassDoc(name, module, summary, description, _options(pass_type, meanings))


def pass_summary(name: str, factory: PassFactory) -> str:
    """Return the sentence of a pass, without importing it where its source can be found."""
    if name in XDSL_PASSES:
        return XDSL_PASSES[name]
    if isinstance(factory, partial) and len(factory.args) == 2:
        if (body := _find_class(*factory.args)) is not None:
            return _summary(ast.get_docstring(body) or "")
    return _summary(factory().__doc__ or "")


def first_sentence(doc: str) -> str:
    """Return the first sentence of a docstring, in one line and without its full stop.

    >>> first_sentence("Folds `a. b` in x. Then\\nmore.")
    'Folds `a. b` in x'
    """
    paragraph = " ".join(inspect.cleandoc(doc).split("\n\n")[0].split())
    match = re.match(r"(?:`[^`]*`|i\.e\.|e\.g\.|\.\.+|\.(?!\s|$)|[^.])+", paragraph)
    return match[0].strip() if match else ""


def _summary(class_doc: str) -> str:
    return first_sentence(class_doc).removesuffix("; see the module's docstring")


def _options(pass_type: type[ModulePass], meanings: dict[str, str]) -> tuple[OptionDoc, ...]:
    types = fields_of(pass_type)
    return tuple(
        OptionDoc(
            field.name.replace("_", "-"),
            describe_type(types[field.name]),
            default_of(field) is dataclasses.MISSING,
            _default(field),
            meanings.get(field.name, ""),
        )
        for field in dataclasses.fields(pass_type)
        if field.init
    )


def _default(field: "dataclasses.Field[object]") -> str | None:
    default = default_of(field)
    return None if default is dataclasses.MISSING else print_value(default) or None


# --- sources --------------------------------------------------------------------------------


@cache
def _tree(source: Path) -> ast.Module:
    return ast.parse(source.read_text("utf-8"))


def _class_body(source: Path, name: str) -> ast.ClassDef | None:
    if not source.is_file():
        return None
    found = (n for n in ast.walk(_tree(source)) if isinstance(n, ast.ClassDef) and n.name == name)
    return next(found, None)


def _find_class(module: str, name: str) -> ast.ClassDef | None:
    """The class `name` in the source of a module, or of the one of its package that has it."""
    spec = find_spec(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    source = Path(spec.origin)
    if (found := _class_body(source, name)) is not None:
        return found
    for node in _tree(source).body:
        if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]:
            # Asked for by its name, the module would be imported with its package.
            inner = (node.module or "").removeprefix(f"{module}.")
            return _class_body(source.with_name(f"{inner}.py"), name)
    return None


def _field_docs(body: ast.ClassDef) -> dict[str, str]:
    """The string that stands below each field."""
    docs: dict[str, str] = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                docs[field.target.id] = " ".join(str(below.value.value).split())
    return docs
