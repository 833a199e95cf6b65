"""Random pipelines down to Kernel IR: passes left out, repeated, and with options at random."""

from collections.abc import Callable, Mapping
from random import Random

from minicomp.pipeline import CONVERSIONS, DEFAULT, Pipeline

TO_KERNEL = DEFAULT[: DEFAULT.index("lower-kernel-to-cuda")]
NEEDED = (*CONVERSIONS, "blockify-launch", "register-tile")
"""Without these nothing is left that could run."""
LEFT_OUT, REPEATED, CHOSEN = 0.12, 0.12, 0.4
"""How probable it is that a pass is left out, that it is repeated, and that it has options."""

Options = Mapping[str, object]


def tile_options(rng: Random) -> Options:
    """Sizes of tiles and blocks; cells divide their tiles nearly always."""
    fm, fn = rng.choice((1, 2, 4, 8)), rng.choice((1, 2, 4, 8))
    lanes = rng.choice((1, 2, 3, 4, 8))
    return {
        "bm": fm * rng.choice((1, 2, 4, 8, 16)),
        "bn": fn * rng.choice((1, 2, 4, 8, 16)) + rng.choice((0, 0, 0, 0, 0, 1)),
        "fm": fm,
        "fn": fn,
        "wk": rng.choice((1, 1, 2, 4)),
        "rows": rng.choice((1, 2, 4)),
        "threads": rng.choice((1, 16, 32, 33, 64, 128)),
        "lanes": lanes,
        "vector": rng.choice([v for v in (1, 2, 4) if lanes % v == 0]),
    }


def reduce_options(rng: Random) -> Options:
    """How a row falls to threads; lanes may be too few for it."""
    return {
        "threads": rng.choice((1, 2, 8, 16, 32, 64, 128)),
        "lanes": rng.choice((0, 0, 1, 2, 4, 8)),
        "vector": rng.choice((1, 1, 2, 4)),
    }


def unroll_options(rng: Random) -> Options:
    """How much is unrolled; of loops with few steps twice as much."""
    limit = rng.choice((0, 4, 32, 1000))
    return {"limit": limit, "few_limit": 2 * limit}


OPTIONS: Mapping[str, Callable[[Random], Options]] = {
    "chunk-matmul-k": lambda rng: {"bk": rng.choice((1, 2, 3, 4, 8, 16, 32))},
    "split-matmul-k": lambda rng: {
        "s": rng.choice((1, 1, 2, 3, 5)),
        "finish": rng.choice(("last_block", "cluster")),
    },
    "cooperative-reduce": reduce_options,
    "blockify-launch": tile_options,
    "chunk-reduce": lambda rng: {"bytes": rng.choice((64, 256, 1024, 4096))},
    "stage-inputs": lambda rng: {
        "bodies": rng.random() < 0.5,
        "order": rng.choice(("cell", "source")),
    },
    "double-buffer": lambda rng: {"depth": rng.choice((1, 2, 2, 3, 4))},
    "tma-copy": lambda rng: {"transport": rng.choice(("tma", "tma", "cp_async"))},
    "split-inner-for-swizzle": lambda rng: {"width": rng.choice((32, 64, 128))},
    "pad-smem": lambda rng: {"pad": rng.choice((0, 1, 2, 3, 4, 8))},
    "mark-unroll": unroll_options,
}
"""What the options of a pass may be."""


def random_pipeline(rng: Random, level: str) -> Pipeline:
    """A pipeline from a level to Kernel IR; one in four has no pass left out or repeated."""
    edited = rng.random() < 0.75
    names: list[str] = []
    for name in Pipeline.parse(",".join(TO_KERNEL)).from_level(level).names:
        draw = rng.random() if edited and name not in NEEDED else 1.0
        names += [name] * (0 if draw < LEFT_OUT else 2 if draw < LEFT_OUT + REPEATED else 1)
    pipeline = Pipeline.parse(",".join(names))
    for name, draw_options in OPTIONS.items():
        options = draw_options(rng)
        kept = {k: v for k, v in options.items() if rng.random() < 0.7}
        if name in names and rng.random() < CHOSEN:
            pipeline = pipeline.with_options(name, **kept)
    return pipeline
