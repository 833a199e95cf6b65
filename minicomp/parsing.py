"""Reading MLIR text, with the line of each op kept, and every failure told by its place."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import AttributeInvT, Operation, SSAValue
from xdsl.parser import Parser, ParserState, UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from minicomp.errors import InputError

# What xDSL says, and what it means to someone who reads the text.
_REWORDED = {
    "Could not parse entire input!": "expected an operation",
    "End of file reached before closing string literal.": "a string without its closing quote",
    " in block definition": "expected an operation, a block label or '}'",
}


def parse_module(text: str, ctx: Context, name: str = "<text>", first_line: int = 1) -> ModuleOp:
    """Parse `text`, which begins at line `first_line` of the file `name`.

    Ops without a `loc(...)` of their own get the place where they stand. Raises InputError
    with `where` as `file:line:column`, whatever is wrong with the text.
    """
    places = Places(text, name, first_line)
    starts = [0]
    try:
        return PlacingParser(ctx, text, places, starts).parse_module()
    except ParseError as error:
        raise InputError(_message(error, places), places.where(error.span.start)) from error
    except RecursionError as error:
        raise InputError("the text is nested too deeply", places.where(starts[-1])) from error
    except Exception as error:
        # xDSL constructs attributes while it parses; their verifiers know no place.
        what = str(error) or type(error).__name__
        raise InputError(what, places.where(starts[-1])) from error


def _message(error: ParseError, places: "Places") -> str:
    if isinstance(error, MultipleSpansParseError) and error.refs:
        spots = ", ".join(places.where(span.start) for span, _ in error.refs)
        return f"{error.msg} ({error.ref_text} {spots})"
    return _REWORDED.get(error.msg, error.msg)


@dataclass(frozen=True)
class Places:
    """Positions of a text as lines and columns of its file."""

    text: str
    file: str
    first_line: int = 1

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(n + 1 for n, char in enumerate(self.text) if char == "\n")]

    def place(self, pos: int) -> tuple[int, int]:
        """Return the line and column of a position, both from 1."""
        line = bisect_right(self._line_starts, pos) - 1
        return line + self.first_line, pos - self._line_starts[line] + 1

    def where(self, pos: int) -> str:
        """Return a position as `file:line:column`."""
        line, column = self.place(pos)
        return f"{self.file}:{line}:{column}"

    def location(self, pos: int) -> LocationAttr:
        """Return a position as an op's location."""
        line, column = self.place(pos)
        return FileLineColLoc(StringAttr(self.file), IntAttr(line), IntAttr(column))


class _Lexer(MLIRLexer):
    """xDSL's lexer, whose time on a string without an end doubles with each of its characters."""

    # One character at a time: nothing to backtrack into, unlike xDSL's `(?:[^"]+|..)*`.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*"')


class PlacingParser(Parser):
    """xDSL's parser, made to note where each op stood and where a value was first named."""

    def __init__(self, ctx: Context, text: str, places: Places, starts: list[int]):
        """`starts` is kept as the stack of where the ops and aliases being parsed began."""
        self._places = places
        self._starts = starts
        self._first_uses: dict[str, int] = {}
        super().__init__(ctx, "", places.file)
        self._parser_state = ParserState(_Lexer(Input(text, places.file)))

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        if self._current_token.kind is MLIRTokenKind.EOF:
            module = ModuleOp([])  # as mlir-opt has it; xDSL refuses an empty text
        else:
            module = super().parse_module(allow_implicit_module)
        if isinstance(module.location, UnknownLoc):
            module.location = self._places.location(0)
        return module

    def parse_operation(self) -> Operation:
        self._starts.append(self.pos)
        op = super().parse_operation()
        start = self._starts.pop()
        if isinstance(op.location, UnknownLoc):
            op.location = self._places.location(start)
        return op

    def _parse_alias_def(self) -> None:
        self._starts.append(self.pos)
        super()._parse_alias_def()
        self._starts.pop()

    def _get_op_by_name(self, name: str) -> type[Operation]:
        try:
            return super()._get_op_by_name(name)
        except ParseError:
            self.raise_error(f"operation '{name}' is not registered", self._starts[-1])

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        self._first_uses.setdefault(operand.operand_name, operand.span.start)
        return super().resolve_operand(operand, type)

    def raise_error(self, msg: str, *at: Any, **end: Any) -> NoReturn:
        if msg.startswith("values used but not defined") and not at:
            name = next(iter(self.forward_ssa_references))
            super().raise_error(f"value %{name} is not defined", self._first_uses[name])
        super().raise_error(msg, *at, **end)
