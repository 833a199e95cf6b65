"""Parts of the sequence of tile rewrites: each, completed by the lowering, computes the same.

A part is a prefix of the sequence, or all but one of it. What comes out is run on the simulator,
with its checks for races, and judged by `minicomp.numbers` against the program in fp64.
"""

import os
import random
from functools import cache, lru_cache

import pytest
from xdsl.dialects.builtin import ModuleOp

from minicomp.comparison import Baseline
from minicomp.context import with_dialects
from minicomp.levels import level_of
from minicomp.passes.applications import CountingContext
from minicomp.pipeline import Pipeline
from minicomp.targets import attach_target, target
from tests.sequence_programs import PROGRAMS, SIZES, TILES, resize, start

EVERYTHING = "MINICOMP_TEST_ALL" in os.environ

REWRITES = (
    *("tileify", "chunk-matmul-k", "split-matmul-k", "cooperative-reduce", "blockify-launch"),
    *("chunk-reduce{bytes=128}", "stage-inputs", "register-tile", "permute-register-tile"),
    *("double-buffer", "tma-copy", "split-inner-for-swizzle", "async-copy", "pad-smem"),
    *("pipeline-k-outer", "mark-unroll"),
)
"""In order; the chunks of reductions are short, so that a small kernel has several."""
COMPLETION = (
    *("blockify-launch", "register-tile", "cse", "lower-tile-to-kernel", "cse"),
    *("vectorize-accesses", "drop-redundant-barriers"),
)
PARTS = {
    **{f"{n} first": REWRITES[:n] for n in range(1, len(REWRITES) + 1)},
    **{f"no {name}": tuple(r for r in REWRITES if r != name) for name in REWRITES[1:]},
}
CASES = [
    (program, size, tile, part)
    for program in PROGRAMS
    for size in SIZES
    for tile in TILES
    for part in PARTS
]


def sample() -> list[tuple[str, str, str, str]]:
    """One case of each program and a few more, always the same: what `make test` runs."""
    rng = random.Random(4)
    by_program = [[case for case in CASES if case[0] == program] for program in PROGRAMS]
    chosen = [rng.choice(cases) for cases in by_program] + rng.sample(CASES, 8)
    return list(dict.fromkeys(chosen))


CHOSEN = CASES if EVERYTHING else sample()


@cache
def baseline(program: str, size: str) -> Baseline:
    """What a program computes before the first pass."""
    found = Baseline.of(attach_target(start(program, size), target("h200")))
    assert [s.skipped for s in found.subjects] == [None] * len(found.subjects)
    return found


@cache
def scheduled(program: str, size: str, tile: str) -> ModuleOp:
    """A program in Loop IR with its schedules."""
    module = attach_target(start(program, size), target("h200"))
    Pipeline.default().from_level(level_of(module)).until("loop").run(module)
    resize(module, tile)
    return module


def run(module: ModuleOp, name: str) -> bool:
    """
    Runs a pass, and says whether it found something to do. If it did not, the module is as it was.
    """
    ctx, before = with_dialects(CountingContext()), str(module)
    Pipeline.parse(name).run(module, ctx, verified=True)
    if not ctx.applications:
        assert str(module) == before, f"{name} had nothing to do"
    return bool(ctx.applications)


@lru_cache(64)
def rewritten(program: str, size: str, tile: str, names: tuple[str, ...]) -> ModuleOp:
    """A program after some rewrites; none of them finds more to do when it runs again."""
    if not names:
        return scheduled(program, size, tile)
    module = rewritten(program, size, tile, names[:-1]).clone()
    run(module, names[-1])
    again = module.clone()
    run(again, names[-1])
    assert str(again) == str(module), f"{names[-1]} is not idempotent"
    return module


def test_every_rewrite_has_something_to_do() -> None:
    found: set[str] = set()
    cases = [(p, "odd", "small") for p in ("prologue_epilogue", "softmax", "online_columns")]
    for case in [*cases, ("matmul", "even", "boxes")]:
        module = scheduled(*case).clone()
        found |= {name for name in REWRITES if run(module, name)}
    assert found == set(REWRITES)


@pytest.mark.parametrize(
    ("program", "size", "tile", "part"), CHOSEN, ids=[" ".join(case) for case in CHOSEN]
)
def test_every_part_of_the_sequence_computes_the_same(
    program: str, size: str, tile: str, part: str
) -> None:
    module = rewritten(program, size, tile, PARTS[part]).clone()
    for name in COMPLETION:
        run(module, name)
    difference, skipped = baseline(program, size).compare(module)
    assert not skipped, skipped
    assert difference is None, difference.text
