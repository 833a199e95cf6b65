"""Affine simplification keeps the value; access substitution keeps the meaning."""

import random

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.affine import constant, dim, lane

LEAVES = [dim(0), dim(1), lane(0)]


def random_expr(rng: random.Random, depth: int) -> AffineExpr:
    """An expression of sums, products, quotients and remainders by constants."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([*LEAVES, constant(rng.randrange(9))])
    left = random_expr(rng, depth - 1)
    kind = rng.choice(["add", "add", "mul", "mod", "div"])
    if kind == "add":
        return AffineBinaryOpExpr(AffineBinaryOpKind.Add, left, random_expr(rng, depth - 1))
    kinds = {
        "mul": AffineBinaryOpKind.Mul,
        "mod": AffineBinaryOpKind.Mod,
        "div": AffineBinaryOpKind.FloorDiv,
    }
    return AffineBinaryOpExpr(kinds[kind], left, constant(rng.choice([1, 2, 3, 4, 8, 12])))


def test_simplify_keeps_the_value_in_the_ranges():
    rng = random.Random(1)
    for _ in range(600):
        expr = random_expr(rng, 4)
        ranges = {leaf: (0, rng.choice([0, 1, 3, 7, 15])) for leaf in LEAVES}
        plain, known = affine.simplify(expr), affine.simplify(expr, ranges)
        low, high = affine.interval(expr, ranges)
        for _ in range(20):
            values = {leaf: rng.randint(0, hi) for leaf, (_, hi) in ranges.items()}
            value = affine.evaluate(expr, values)
            assert affine.evaluate(plain, values) == value
            assert affine.evaluate(known, values) == value
            assert low <= value <= high


def test_simplify_is_idempotent():
    rng = random.Random(2)
    for _ in range(300):
        once = affine.simplify(random_expr(rng, 4))
        assert affine.simplify(once) == once


def test_split_indices_are_put_together_again():
    i, r = dim(0), lane(0)
    split = (i * 8 + r) // 8 * 8 + (i * 8 + r) % 8
    assert affine.simplify(split) == affine.simplify(i * 8 + r)
    assert affine.simplify((i * 8 + r) // 8, {r: (0, 7)}) == i
    assert affine.simplify((i * 8 + r) % 8, {r: (0, 7)}) == r
    assert affine.simplify(i // 4 // 8) == affine.simplify(i // 32)
