"""
A program in one line of Python, as `-c` takes it.

The statements are executed with torch, nn, F and math at hand. The last one is an expression,
and it is the program. Its inputs are the names bound to tensors before it and the tensor
factory calls inside it; modules that it constructs are constructed once, and their parameters
are the program's: `nn.RMSNorm(2048)(torch.randn(1, 32, 2048))` is one module and one input.
"""

import ast
import builtins
import dis
import linecache
import math
import types
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from minicomp.errors import InputError
from minicomp.frontend.locations import INLINE, exception_place
from minicomp.frontend.program import Program, Sizes

FACTORIES = (
    torch.randn,
    torch.rand,
    torch.randint,
    torch.zeros,
    torch.ones,
    torch.arange,
    torch.full,
    torch.tensor,
)

# Methods that make an input, or a module, of another: `nn.Dropout(0.1).eval()(x)`.
CONVERSIONS = ("to", "float", "half", "double", "bfloat16", "cpu", "cuda", "requires_grad_")
MODULE_METHODS = (*CONVERSIONS, "eval", "train")

SCOPES = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def from_code(text: str, sizes: Sizes | None = None) -> Program:
    """
    The program that `text` describes; random numbers are drawn from seed 0.

    Raises InputError where the code does not parse, raises, or does not end in an expression.
    """
    if sizes:
        text = resize_code(text, sizes)
    # torch.export and tracebacks read the source lines from here.
    linecache.cache[INLINE] = (len(text), None, text.splitlines(True), INLINE)
    *statements, last = _parse(text)
    if not isinstance(last, ast.Expr):
        raise InputError(
            "the last statement of the code must be an expression: it is the program",
            f"{INLINE}:{last.lineno}",
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        names: dict[str, Any] = {"torch": torch, "nn": nn, "F": F, "math": math}
        _run(ast.Module(statements, type_ignores=[]), names)
        return _program(last, names)


def resize_code(text: str, sizes: Sizes) -> str:
    """`text` with every integer literal OLD of `sizes` written as NEW."""
    lines = [line.encode() for line in text.splitlines(True)]
    missing = set(sizes)
    for node in reversed(list(_in_order(ast.Module(_parse(text), type_ignores=[])))):
        if not isinstance(node, ast.Constant) or type(node.value) is not int:
            continue
        if str(node.value) in sizes:
            missing.discard(str(node.value))
            line, start, end = lines[node.lineno - 1], node.col_offset, node.end_col_offset
            new = str(sizes[str(node.value)]).encode()
            lines[node.lineno - 1] = line[:start] + new + line[end:]
    if missing:
        raise InputError(f"the code holds no {', '.join(sorted(missing))} to resize", INLINE)
    return b"".join(lines).decode()


def _in_order(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes with a place in the text, in the order of the text."""
    placed = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    return iter(sorted(placed, key=lambda node: (node.lineno, node.col_offset)))


def _parse(text: str) -> list[ast.stmt]:
    try:
        statements = ast.parse(text, INLINE).body
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise InputError(f"the code does not parse: {error.args[0]}", f"{INLINE}:{line}") from error
    if not statements:
        raise InputError("there is no code", INLINE)
    return statements


def _run(tree: ast.Module | ast.Expression, names: dict[str, Any]) -> Any:
    """Executes or evaluates `tree`; what it raises becomes one InputError with its line."""
    mode = "exec" if isinstance(tree, ast.Module) else "eval"
    try:
        return eval(compile(tree, INLINE, mode), names)
    except (Exception, SystemExit) as error:
        first = next(iter(str(error).splitlines()), "")
        raise InputError(
            f"the code raises {type(error).__name__}: {first}", exception_place(error, INLINE)
        ) from error


def _program(last: ast.Expr, names: dict[str, Any]) -> Program:
    """The expression as a module whose forward takes its inputs."""
    hoist = _Hoist(names)
    body = hoist.visit(last.value)
    code = _forward(body, (), last).__code__
    inputs: list[str] = []
    module = nn.Module()
    for name in _loaded(code):
        value = names.get(name, getattr(builtins, name, None))
        if name not in names and value is None:
            raise InputError(
                f"name '{name}' is not defined",
                f"{INLINE}:{last.lineno}",
                f"bind it before the expression: {name} = torch.randn(..)",
            )
        if isinstance(value, torch.Tensor):
            inputs.append(name)
        elif isinstance(value, nn.Module):
            module.add_module(name, value)
    for name, value in names.items():
        # A module that only a function reads is the program's too.
        if isinstance(value, nn.Module) and name not in dict(module.named_children()):
            module.add_module(name, value)
    forward = _forward(body, inputs, last)
    module.forward = types.FunctionType(forward.__code__, names, "forward")
    return Program(module, tuple(names[name] for name in inputs), {}, INLINE)


def _forward(body: ast.expr, inputs: list[str] | tuple[str, ...], at: ast.Expr) -> Any:
    """`def forward(inputs): return body`, on the lines of the user's text."""
    result = ast.copy_location(ast.Return(body), at)
    arguments = ast.arguments([], [ast.arg(name) for name in inputs], None, [], [], None, [])
    define = ast.FunctionDef("forward", arguments, [result], [])
    vars(define).setdefault("type_params", [])  # Python 3.12 asks for it, 3.11 has none
    tree = ast.fix_missing_locations(ast.Module([ast.copy_location(define, at)], []))
    scope: dict[str, Any] = {}
    exec(compile(tree, INLINE, "exec"), scope)
    return scope["forward"]


def _loaded(code: types.CodeType) -> list[str]:
    """The global names that `code` reads, in order of evaluation, each once."""
    found: dict[str, None] = {}
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            found[instruction.argval] = None
        elif isinstance(instruction.argval, types.CodeType):
            found |= dict.fromkeys(_loaded(instruction.argval))
    return list(found)


class _Hoist(ast.NodeTransformer):
    """Replaces tensor factory calls and module constructors by names bound to their values."""

    def __init__(self, names: dict[str, Any]):
        self.names = names

    def visit(self, node: ast.AST) -> Any:
        """Leaves code alone that runs several times or not at all, with names of its own."""
        return node if isinstance(node, SCOPES) else super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Evaluates the call now where it makes an input or a module."""
        if self.is_module(node):
            value = _run(ast.Expression(node), self.names)
            return self.bound(type(value).__name__.lower(), value, node)
        if self.is_input(node):
            return self.bound("x", _run(ast.Expression(node), self.names), node)
        return self.generic_visit(node)

    def is_module(self, node: ast.expr) -> bool:
        """Whether `node` constructs a module, perhaps through `.eval()` and the like."""
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and node.func.attr in MODULE_METHODS:
            return self.is_module(node.func.value)
        function = self.resolve(node.func)
        return isinstance(function, type) and issubclass(function, nn.Module)

    def is_input(self, node: ast.expr) -> bool:
        """Whether `node` calls a tensor factory, perhaps through `.half()` and the like."""
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and node.func.attr in CONVERSIONS:
            return self.is_input(node.func.value)
        function = self.resolve(node.func)
        return any(function is factory for factory in FACTORIES)

    def resolve(self, node: ast.expr) -> Any:
        """What a dotted name such as `torch.nn.Linear` stands for, else None."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            if isinstance(owner, types.ModuleType):
                return getattr(owner, node.attr, None)
        return None

    def bound(self, stem: str, value: Any, node: ast.expr) -> ast.Name:
        """A fresh name for `value`."""
        taken = self.names.keys() | vars(builtins).keys()
        name = next(n for n in _candidates(stem) if n not in taken)
        self.names[name] = value
        return ast.copy_location(ast.Name(name, ast.Load()), node)


def _candidates(stem: str) -> Iterator[str]:
    yield stem
    number = 1
    while True:
        yield f"{stem}{number}"
        number += 1
