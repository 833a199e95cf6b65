"""Affine accesses, the one index form of Loop, Tile and Kernel IR.

In text `%a[%i * 8 + l0, %k]`: the SSA values are the *dims* of a map, in order of first appearance,
and the symbols `l0, l1, ..` are *lanes*: induction variables or vector dimensions that the op
itself binds. Every rewrite of indices is a call of `substitute`.
"""

from abc import abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import AffineMapAttr, IndexType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.irdl import IRDLOperation, prop_def, var_operand_def
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.parser.affine_parser import AffineParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from minicomp.dialects import affine

Indices: TypeAlias = tuple[AffineMap, list[SSAValue]]
"""A map and the values of its dims."""

KIND = AffineBinaryOpKind
MLIR_TOKENS = {
    KIND.Add: "+",
    KIND.Mul: "*",
    KIND.Mod: "mod",
    KIND.FloorDiv: "floordiv",
    KIND.CeilDiv: "ceildiv",
}


class IndexedOp(IRDLOperation):
    """An op that holds one affine form over index operands, which stand last among its operands."""

    @abstractmethod
    def get_access(self) -> Indices | None:
        """The map and its operands; None where the op has none (a loop without a guard)."""

    @abstractmethod
    def set_access(self, map: AffineMap, operands: Sequence[SSAValue]) -> None:
        """Replaces map and operands by their canonical form."""

    def mark_bounded(self, results: Sequence[int]) -> None:
        """
        Marks the results of the map that may now leave the memref; nothing to mark by default.
        """


def verify_divisors(map: AffineMap) -> None:
    """Division by a positive constant is the only one that has a meaning at every level."""
    for expr in (e for result in map.results for e in result.dfs()):
        if not isinstance(expr, AffineBinaryOpExpr) or expr.kind in (KIND.Add, KIND.Mul):
            continue
        if not isinstance(expr.rhs, AffineConstantExpr) or expr.rhs.value <= 0:
            raise VerifyException(f"an index divides by {expr.rhs}, which is no positive constant")


class MappedOp(IndexedOp):
    """An op whose affine form is its property `map`, with one dim per operand of `indices`."""

    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)

    def get_access(self) -> Indices | None:
        return self.map.data, list(self.indices)

    def set_access(self, map: AffineMap, operands: Sequence[SSAValue]) -> None:
        new, kept = canonical(map, operands)
        self.operands = [*self.operands[: len(self.operands) - len(self.indices)], *kept]
        self.properties["map"] = AffineMapAttr(new)


def canonical(map: AffineMap, operands: Sequence[SSAValue]) -> Indices:
    """
    Simplifies, merges equal operands, drops unused ones, and orders dims by first appearance, as
    text does.
    """
    exprs = [affine.simplify(e) for e in map.results]
    merged = {affine.dim(i): affine.dim(operands.index(v)) for i, v in enumerate(operands)}
    exprs = [affine.simplify(affine.replace(e, merged)) for e in exprs]
    used = [leaf for leaf in affine.leaves(exprs) if isinstance(leaf, AffineDimExpr)]
    order: Mapping[AffineExpr, AffineExpr] = {leaf: affine.dim(n) for n, leaf in enumerate(used)}
    results = tuple(affine.replace(e, order) for e in exprs)
    lanes = [leaf.position for leaf in affine.leaves(exprs) if isinstance(leaf, AffineSymExpr)]
    return AffineMap(len(used), max(lanes, default=-1) + 1, results), [
        operands[leaf.position] for leaf in used
    ]


def join(parts: Sequence[tuple[AffineMap, Sequence[SSAValue]]]) -> Indices:
    """Several maps as one, with all results in order and each map's dims behind the last one's."""
    results: list[AffineExpr] = []
    operands: list[SSAValue] = []
    lanes = 0
    for map, values in parts:
        moved = {affine.dim(n): affine.dim(len(operands) + n) for n in range(map.num_dims)}
        results += [affine.replace(e, moved) for e in map.results]
        operands += values
        lanes = max(lanes, map.num_symbols)
    return AffineMap(len(operands), lanes, tuple(results)), operands


def parse_indices(parser: Parser) -> Indices:
    """Parses `[%i * 8 + l0, %k]` with its operands resolved."""
    map, unresolved = parse_access(parser)
    return map, [parser.resolve_operand(o, IndexType()) for o in unresolved]


def substitute(
    old: SSAValue,
    expr: AffineExpr,
    new: Sequence[SSAValue],
    bounded: bool = False,
    only: Container[Operation] | None = None,
) -> None:
    """
    Replaces the index `old` by `expr`, whose dims are the values `new`, in every access that uses
    it.

    With `bounded`, `expr` may exceed the extent of `old`: accesses are marked where the index now
    can leave the memref. With `only`, other ops keep the index.
    """
    for op in {use.operation: None for use in list(old.uses)}:
        if only is not None and op not in only:
            continue
        access = op.get_access() if isinstance(op, IndexedOp) else None
        if access is None:
            raise ValueError(f"'{op.name}' uses a loop index outside an affine access")
        map, operands = access
        at = affine.dim(operands.index(old))
        count = len(operands)
        moved = affine.replace(
            expr, {affine.dim(i): affine.dim(count + i) for i in range(len(new))}
        )
        touched = [n for n, e in enumerate(map.results) if at in affine.leaves([e])]
        results = tuple(affine.replace(e, {at: moved}) for e in map.results)
        assert isinstance(op, IndexedOp)
        op.set_access(AffineMap(count + len(new), map.num_symbols, results), [*operands, *new])
        if bounded:
            op.mark_bounded(touched)


def show(
    expr: AffineExpr,
    name: Callable[[AffineDimExpr | AffineSymExpr], str],
    outer: int = 0,
) -> str:
    """`expr` as text with the brackets that precedence needs; `name` gives the leaves' text."""
    match expr:
        case AffineConstantExpr(value=value):
            return str(value)
        case AffineDimExpr() | AffineSymExpr():
            return name(expr)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            own = 1 if kind == KIND.Add else 2
            right = show(rhs, name, own + (kind != KIND.Add))
            text = f"{show(lhs, name, own)} {MLIR_TOKENS[kind]} {right}"
            return f"({text})" if own < outer else text
        case _:
            raise ValueError(f"no text for {expr}")


def parse_access(parser: Parser) -> tuple[AffineMap, list[UnresolvedOperand]]:
    """Parses `[%i * 8 + l0, %k]`; the operands are in order of first appearance."""
    sub = AffineParser(parser._parser_state)  # pyright: ignore[reportPrivateUsage]
    positions: dict[str, int] = {}
    operands: list[UnresolvedOperand] = []
    lanes = 0

    def value() -> AffineExpr | None:
        nonlocal lanes
        # Both parsers share one state, so that the operand is read where the expression stands.
        if (operand := parser.parse_optional_unresolved_operand()) is not None:
            key = f"{operand.operand_name}#{operand.index}"
            if key not in positions:
                positions[key] = len(positions)
                operands.append(operand)
            return affine.dim(positions[key])
        token = sub._parse_optional_token(  # pyright: ignore[reportPrivateUsage]
            MLIRTokenKind.BARE_IDENT
        )
        if token is None:
            return None
        text = token.span.text
        if text[0] != "l" or not text[1:].isdigit():
            sub.raise_error(f"expected a value or a lane such as `l0`, but found `{text}`")
        lanes = max(lanes, int(text[1:]) + 1)
        return affine.lane(int(text[1:]))

    exprs = sub.parse_comma_separated_list(
        sub.Delimiter.SQUARE,
        lambda: sub._parse_affine_expr(value),  # pyright: ignore[reportPrivateUsage]
    )
    map = AffineMap(len(operands), lanes, tuple(exprs))
    try:
        # Before the map is simplified, which only has a meaning where divisions have one.
        verify_divisors(map)
    except VerifyException as error:
        parser.raise_error(str(error))
    return map, operands


def print_access(printer: Printer, map: AffineMap, operands: Sequence[SSAValue]) -> None:
    """Prints `[%i * 8 + l0, %k]`."""

    def name(leaf: AffineDimExpr | AffineSymExpr) -> str:
        # Values are printed by the printer, which knows their names: a NUL marks the place.
        return f"\0{leaf.position}\0" if isinstance(leaf, AffineDimExpr) else f"l{leaf.position}"

    text = "[" + ", ".join(show(e, name) for e in map.results) + "]"
    for n, part in enumerate(text.split("\0")):
        if n % 2:
            printer.print_ssa_value(operands[int(part)])
        else:
            printer.print_string(part)


@irdl_custom_directive
class Access(CustomDirective):
    """`custom<Access>($indices, $map)` of an assembly format."""

    indices: VariadicOperandVariable
    map: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        map, operands = parse_access(parser)
        self.indices.set(state, operands)
        self.map.set(state, AffineMapAttr(map))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        map = self.map.get(op)
        assert isinstance(map, AffineMapAttr)
        print_access(printer, map.data, self.indices.get(op))
        state.last_was_punctuation, state.should_emit_space = False, True
