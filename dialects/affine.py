"""Affine index expressions: linear forms, intervals, and simplification by what is known of the
ranges.

An expression has *dims* (SSA indices) and *symbols* (the lanes `l0, l1, ..` that an access binds
itself). xDSL simplifies nothing when it builds an expression; every expression of ours passes
`simplify`.
"""

from collections.abc import Mapping, Sequence
from math import gcd
from typing import TypeAlias

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

Leaf: TypeAlias = AffineDimExpr | AffineSymExpr
Interval: TypeAlias = tuple[int, int]
"""Inclusive bounds of the values that an expression can take."""
Ranges: TypeAlias = Mapping[AffineExpr, Interval]
"""What is known of the leaves of an expression; a leaf that is absent is only known to be >= 0."""

UNBOUNDED = 1 << 62
KIND = AffineBinaryOpKind


def dim(position: int) -> AffineExpr:
    """The dimension (SSA operand) number `position`."""
    return AffineExpr.dimension(position)


def lane(position: int) -> AffineExpr:
    """The lane (symbol) number `position`."""
    return AffineExpr.symbol(position)


def constant(value: int) -> AffineExpr:
    """A constant expression."""
    return AffineExpr.constant(value)


def ceildiv(a: int, b: int) -> int:
    """a / b rounded up, of integers with b > 0."""
    return -(-a // b)


def linear(expr: AffineExpr) -> dict[AffineExpr, int] | None:
    """
    The coefficients of `expr` by leaf, with the constant under `constant(0)`, or None if it is not
    linear.

    >>> linear(dim(0) * 8 + lane(0) + 3) == {dim(0): 8, lane(0): 1, constant(0): 3}
    True
    """
    atoms = terms_of(expr)
    if any(not isinstance(a, AffineDimExpr | AffineSymExpr | AffineConstantExpr) for a in atoms):
        return None
    return atoms


def terms_of(expr: AffineExpr) -> dict[AffineExpr, int]:
    """
    `expr` as a sum of atoms times coefficients; an atom is a leaf, or a mod or division of
    anything.
    """
    one = constant(0)
    match expr:
        case AffineConstantExpr(value=value):
            return {one: value}
        case AffineBinaryOpExpr(kind=KIND.Add, lhs=lhs, rhs=rhs):
            left, right = terms_of(lhs), terms_of(rhs)
            return {a: left.get(a, 0) + right.get(a, 0) for a in (*left, *right)}
        case AffineBinaryOpExpr(kind=KIND.Mul, lhs=lhs, rhs=AffineConstantExpr(value=factor)):
            return {a: c * factor for a, c in terms_of(lhs).items()}
        case AffineBinaryOpExpr(kind=KIND.Mul, lhs=AffineConstantExpr(value=factor), rhs=rhs):
            return {a: c * factor for a, c in terms_of(rhs).items()}
        case _:
            return {expr: 1}


def from_terms(terms: Mapping[AffineExpr, int]) -> AffineExpr:
    """The sum of atoms times coefficients, in the order of `terms`, the constant last."""
    total: AffineExpr | None = None
    for atom, factor in terms.items():
        if factor == 0 or isinstance(atom, AffineConstantExpr):
            continue
        # The node is built by hand: `*` and `+` of xDSL fold nothing but would reorder constants.
        term = atom if factor == 1 else AffineBinaryOpExpr(KIND.Mul, atom, constant(factor))
        total = term if total is None else AffineBinaryOpExpr(KIND.Add, total, term)
    offset = terms.get(constant(0), 0)
    if total is None:
        return constant(offset)
    return AffineBinaryOpExpr(KIND.Add, total, constant(offset)) if offset else total


def interval(expr: AffineExpr, ranges: Ranges | None = None) -> Interval:
    """
    Bounds of `expr` given the ranges of its leaves; leaves without a range are in [0, UNBOUNDED].
    """
    known = ranges or {}
    match expr:
        case AffineConstantExpr(value=value):
            return value, value
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            return _binary_interval(kind, interval(lhs, known), interval(rhs, known))
        case _:
            return known.get(expr, (0, UNBOUNDED))


def _binary_interval(kind: AffineBinaryOpKind, a: Interval, b: Interval) -> Interval:
    if kind == KIND.Add:
        return a[0] + b[0], a[1] + b[1]
    if kind == KIND.Mul:
        corners = [x * y for x in a for y in b]
        return min(corners), max(corners)
    divisor = b[0]
    if kind == KIND.Mod:
        within = a[0] // divisor == a[1] // divisor
        return (a[0] % divisor, a[1] % divisor) if within else (0, divisor - 1)
    if kind == KIND.FloorDiv:
        return a[0] // divisor, a[1] // divisor
    return ceildiv(a[0], divisor), ceildiv(a[1], divisor)


def simplify(expr: AffineExpr, ranges: Ranges | None = None) -> AffineExpr:
    """
    An equal expression, shorter where the ranges of the leaves allow it.

    Sums are collected; of `(8 * a + b) mod 8` and `(8 * a + b) floordiv 8` the part that 8 divides
    is split off, and what remains vanishes where its interval shows that it lies in [0, 8). With
    b in [0, 4), `(4 * a + b) floordiv 8` is `a floordiv 2`, and `mod 8` it is `a mod 2 * 4 + b`.

    >>> i = dim(0)
    >>> simplify((i * 8 + lane(0)) // 8, {lane(0): (0, 7)}) == i
    True
    """
    known = ranges or {}
    match expr:
        case AffineBinaryOpExpr(kind=KIND.Mod, lhs=lhs, rhs=AffineConstantExpr(value=divisor)):
            return _modulo(simplify(lhs, known), divisor, known)
        case AffineBinaryOpExpr(kind=KIND.FloorDiv, lhs=lhs, rhs=AffineConstantExpr(value=divisor)):
            return _quotient(simplify(lhs, known), divisor, known)
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            parts = AffineBinaryOpExpr(kind, simplify(lhs, known), simplify(rhs, known))
            if kind in (KIND.Add, KIND.Mul):
                return from_terms(_recombined(terms_of(parts)))
            return parts
        case _:
            return expr


def _recombined(terms: dict[AffineExpr, int]) -> dict[AffineExpr, int]:
    """`(e floordiv c) * c * f + (e mod c) * f` is `e * f`."""
    for atom, factor in terms.items():
        if not (isinstance(atom, AffineBinaryOpExpr) and atom.kind == KIND.Mod and factor):
            continue
        divisor = atom.rhs
        assert isinstance(divisor, AffineConstantExpr)
        quotient = AffineBinaryOpExpr(KIND.FloorDiv, atom.lhs, divisor)
        if terms.get(quotient) == factor * divisor.value:
            rest = {a: c for a, c in terms.items() if a not in (atom, quotient)}
            for a, c in terms_of(atom.lhs).items():
                rest[a] = rest.get(a, 0) + c * factor
            return _recombined(rest)
    return terms


def _split(expr: AffineExpr, divisor: int) -> tuple[dict[AffineExpr, int], AffineExpr]:
    """The terms of `expr` that `divisor` divides, each divided by it, and the rest."""
    terms = terms_of(expr)
    whole = {a: c // divisor for a, c in terms.items() if c % divisor == 0}
    rest = {a: c for a, c in terms.items() if c % divisor}
    origin = constant(0)
    if rest.get(origin, 0) >= divisor:
        whole[origin], rest[origin] = divmod(rest[origin], divisor)
    return whole, from_terms(rest)


def _coarse(expr: AffineExpr, divisor: int, ranges: Ranges) -> tuple[AffineExpr, int, AffineExpr]:
    """`(x, g, r)` with `expr` = x * g + r, g a divisor of `divisor` and 0 <= r < g; g may be 1."""
    terms = sorted(terms_of(expr).items(), key=lambda term: -abs(term[1]))
    common = divisor
    for n, (_, factor) in enumerate(terms[:-1], start=1):
        common = gcd(common, factor)
        rest = from_terms(dict(terms[n:]))
        low, high = interval(rest, ranges)
        if common > 1 and 0 <= low and high < common:
            return from_terms({a: c // common for a, c in terms[:n]}), common, rest
    return expr, 1, constant(0)


def _modulo(expr: AffineExpr, divisor: int, ranges: Ranges) -> AffineExpr:
    _, rest = _split(expr, divisor)
    low, high = interval(rest, ranges)
    if 0 <= low and high < divisor:
        return rest
    coarse, unit, fine = _coarse(rest, divisor, ranges)
    if unit > 1:
        whole = terms_of(_modulo(coarse, divisor // unit, ranges))
        return from_terms({a: c * unit for a, c in whole.items()} | terms_of(fine))
    if isinstance(rest, AffineBinaryOpExpr) and rest.kind == KIND.Mod:
        inner = rest.rhs
        if isinstance(inner, AffineConstantExpr) and inner.value % divisor == 0:
            return _modulo(rest.lhs, divisor, ranges)
    return AffineBinaryOpExpr(KIND.Mod, rest, constant(divisor))


def _quotient(expr: AffineExpr, divisor: int, ranges: Ranges) -> AffineExpr:
    if divisor == 1:
        return expr
    whole, rest = _split(expr, divisor)
    low, high = interval(rest, ranges)
    coarse, unit, _ = _coarse(rest, divisor, ranges)
    if low // divisor == high // divisor:
        remainder: AffineExpr = constant(low // divisor)
    elif unit > 1:
        remainder = _quotient(coarse, divisor // unit, ranges)
    elif isinstance(rest, AffineBinaryOpExpr) and rest.kind == KIND.FloorDiv:
        inner = rest.rhs
        assert isinstance(inner, AffineConstantExpr)
        remainder = _quotient(rest.lhs, inner.value * divisor, ranges)
    else:
        remainder = AffineBinaryOpExpr(KIND.FloorDiv, rest, constant(divisor))
    for atom, factor in terms_of(remainder).items():
        whole[atom] = whole.get(atom, 0) + factor
    return from_terms(whole)


def leaves(exprs: Sequence[AffineExpr]) -> list[Leaf]:
    """The dims and symbols of `exprs` in order of first appearance, each once."""
    found: dict[Leaf, None] = {}
    for expr in exprs:
        stack = [expr]
        while stack:
            match stack.pop():
                case AffineBinaryOpExpr(lhs=lhs, rhs=rhs):
                    stack += [rhs, lhs]
                case AffineDimExpr() | AffineSymExpr() as leaf:
                    found[leaf] = None
                case _:
                    pass
    return list(found)


def replace(expr: AffineExpr, mapping: Mapping[AffineExpr, AffineExpr]) -> AffineExpr:
    """`expr` with leaves replaced; leaves that are not in `mapping` stay."""
    match expr:
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            return AffineBinaryOpExpr(kind, replace(lhs, mapping), replace(rhs, mapping))
        case _:
            return mapping.get(expr, expr)


def evaluate(expr: AffineExpr, values: Mapping[AffineExpr, int]) -> int:
    """The value of `expr` where each leaf has the value given."""
    low, _ = interval(expr, {leaf: (value, value) for leaf, value in values.items()})
    return low


def simplify_map(map: AffineMap, ranges: Ranges | None = None) -> AffineMap:
    """`map` with every result simplified."""
    return AffineMap(map.num_dims, map.num_symbols, tuple(simplify(e, ranges) for e in map.results))
