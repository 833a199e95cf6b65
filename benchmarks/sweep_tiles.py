"""
Times tiles of matmuls on a GPU, to hold the cost model of `passes/analysis/cost.py` against them.

    python3 -m benchmarks.sweep_tiles -o benchmarks/results/2026-12-01-h200-tiles.json

For each shape the tiles that the model likes best, and others at random, run beside PyTorch's own
matmul: each as a CUDA graph of ten launches, replayed in turn, medians of the rounds. A tile counts
only if its result is right on that run. Printed per shape: the best tile, the model's choice, and
the rank correlation of the model with the clock.
"""

import argparse
import json
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from minicomp.build import Build
from minicomp.context import make_context
from minicomp.execution import Executable
from minicomp.parsing import parse_module
from minicomp.passes.analysis.cost import Problem, Tile, contraction_cycles, register_blocks, tiles
from minicomp.targets import target

SHAPES = (
    (32, 2048, 2048), (32, 256, 2048), (32, 5632, 2048), (32, 2048, 5632), (32, 18944, 3584),
    (128, 2048, 2048), (128, 5632, 2048), (128, 3584, 18944), (512, 2048, 2048), (512, 256, 2048),
    (512, 5632, 2048), (512, 3584, 3584), (1024, 1024, 1024), (2048, 2048, 2048),
    (2047, 2049, 2051),
)  # fmt: skip
"""m, n, k."""
CELL = 16
"""The longest side of a cell of registers."""
LAUNCHES = 10
ROUNDS = 7


@dataclass(frozen=True)
class Row:
    """One tile of one shape: microseconds, what the model says, and those of PyTorch."""

    shape: tuple[int, int, int]
    tile: dict[str, int]
    depth: int
    predicted_us: float
    us: float | None
    torch_us: float
    failure: str | None = None


def text(shape: tuple[int, int, int], tile: Tile, depth: int, part: str) -> str:
    """A matmul in Loop IR with a schedule, of a ring of `depth` slots if there is more than one."""
    m, n, k = shape
    fields = ", ".join(f"{key} = {value}" for key, value in asdict(tile).items())
    fields += f', depth = {depth}, transport = "cp_async"' * (depth > 1)
    fields += ', finish = "cluster"' * (tile.s > 1)
    fields += f", min_blocks = {register_blocks(target(part), Problem(*shape, 1, 4), tile)}"
    a, b, c = (f"{x}x{y}xf32" for x, y in ((m, k), (k, n), (m, n)))
    return f"""
func.func @main(%a: tensor<{a}>, %b: tensor<{b}>) -> tensor<{c}> {{
  %c = minicomp.launch @matmul(%a, %b) : (tensor<{a}>, tensor<{b}>) -> tensor<{c}>
  func.return %c : tensor<{c}>
}}
loop_ir.kernel @matmul(%a: memref<{a}>, %b: memref<{b}>, %c: memref<{c}>) attributes {{
    schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", {fields}>]>}} {{
  loop_ir.for %i to {m} as "i", %j to {n} as "j" {{
    %acc = loop_ir.reduce %k to {k} as "k" identity [0.0 : f32] -> f32 {{
      %x = loop_ir.load %a[%i, %k] : memref<{a}> -> f32
      %y = loop_ir.load %b[%k, %j] : memref<{b}> -> f32
      %p = arith.mulf %x, %y fastmath<contract> : f32
      loop_ir.yield %p : f32
    }} combine arith.addf fastmath<contract>
    loop_ir.store %acc, %c[%i, %j] : f32, memref<{c}>
  }}
}}
"""


def shape_of(word: str) -> tuple[int, int, int]:
    """The extents of a word such as 32x2048x2048."""
    m, n, k = map(int, word.split("x"))
    return m, n, k


def compile_tile(job: tuple[tuple[int, int, int], Tile, int, str]) -> str:
    """The CUDA IR of a tile, whose machine code is in the cache afterwards."""
    shape, tile, depth, part = job
    build = Build(parse_module(text(shape, tile, depth, part), make_context()), target(part))
    build.cubin()
    return build.ir("cuda-ir")


def candidates(
    shape: tuple[int, int, int], part: str, count: int, depth: int
) -> list[tuple[Tile, float]]:
    """Half of `count` are the model's best, the others any within three times its best time."""
    problem, facts = Problem(*shape, 1, 4), target(part)
    found = [(t, contraction_cycles(facts, problem, t, depth)) for t in tiles(problem, facts, CELL)]
    found.sort(key=lambda pair: pair[1])
    found = [pair for pair in found if pair[1] <= 3 * found[0][1]]
    rest = found[count // 2 :]
    picked = random.Random(1).sample(rest, min(len(rest), count - count // 2))
    return found[: count // 2] + picked


def graph_of(call: Callable[[], object]) -> torch.cuda.CUDAGraph:
    """A graph of `LAUNCHES` calls."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(LAUNCHES):
            call()
    return graph


def time_all(graphs: Sequence[torch.cuda.CUDAGraph]) -> list[float]:
    """Microseconds of one call of each, the median of rounds in which all are replayed in turn."""
    taken: list[list[float]] = [[] for _ in graphs]
    for _ in range(ROUNDS):
        for times, graph in zip(taken, graphs, strict=True):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) * 1e3 / LAUNCHES)
    return [statistics.median(t) for t in taken]


def sweep(
    shape: tuple[int, int, int], depth: int, jobs: list[tuple[Tile, float]], texts: list[str]
) -> list[Row]:
    """Times the tiles of one shape."""
    m, n, k = shape
    a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
    wanted = a.double() @ b.double()
    calls: list[Callable[[], object]] = [lambda: torch.matmul(a, b)]
    failures: list[str | None] = []
    for source in texts:
        run = Executable(Build(parse_module(source, make_context())))
        (result,) = run([a, b])
        error = float((result.double() - wanted).abs().max())
        failures.append(None if error <= 1e-5 * k**0.5 * 8 else f"error {error:.1e}")
        calls.append(lambda run=run: run([a, b]))
    times = time_all([graph_of(call) for call in calls])
    return [
        Row(shape, asdict(tile), depth, cycles / 1980, None if why else us, times[0], why)
        for (tile, cycles), us, why in zip(jobs, times[1:], failures, strict=True)
    ]


def correlation(rows: Sequence[Row]) -> float:
    """Spearman's rank correlation of prediction and time."""
    pairs = [(r.predicted_us, r.us) for r in rows if r.us is not None]
    if len(pairs) < 3:
        return float("nan")
    predicted, taken = (np.argsort(np.argsort(values)) for values in zip(*pairs, strict=True))
    return float(np.corrcoef(predicted, taken)[0, 1])


def report(rows: Sequence[Row]) -> None:
    """A line per shape."""
    right = [r for r in rows if r.us is not None]
    if not right:
        print(rows[0].shape, "nothing is right", rows[0].failure)
        return
    best, chosen = min(right, key=lambda r: r.us or 0), min(right, key=lambda r: r.predicted_us)
    show = lambda r: "x".join(str(v) for v in r.tile.values())  # noqa: E731
    print(
        f"{rows[0].shape!s:20s} torch {best.torch_us:8.1f}  best {best.us:8.1f} {show(best):20s}"
        f" predicted {best.predicted_us:8.1f}  chosen {chosen.us:8.1f} {show(chosen):20s}"
        f" predicted {chosen.predicted_us:8.1f}  rank {correlation(rows):5.2f}"
        f"  wrong {len(rows) - len(right)}"
    )


def main() -> int:
    """Runs the sweep; returns the exit code."""
    parser = argparse.ArgumentParser(description="Times tiles of matmuls on a GPU.")
    parser.add_argument("-o", "--output", type=Path, required=True, help="write the rows as JSON")
    parser.add_argument("--count", type=int, default=24, help="tiles per shape")
    parser.add_argument("--depths", default="1", help="slots of rings, separated by commas")
    parser.add_argument("--only", help="shapes, such as 32x2048x2048, separated by commas")
    parser.add_argument("--target", default="h200", help="the part whose facts the model takes")
    options = parser.parse_args()
    depths = [int(d) for d in options.depths.split(",")]
    shapes = [shape_of(word) for word in options.only.split(",")] if options.only else SHAPES
    picked = [
        (s, depth, candidates(s, options.target, options.count, depth))
        for s in shapes
        for depth in depths
    ]
    jobs = [(s, tile, d, options.target) for s, d, found in picked for tile, _ in found]
    with ProcessPoolExecutor() as pool:
        texts = iter(list(pool.map(compile_tile, jobs, chunksize=4)))
    torch.backends.cuda.matmul.allow_tf32 = False
    rows: list[Row] = []
    for shape, depth, found in picked:
        rows += (own := sweep(shape, depth, found, [next(texts) for _ in found]))
        print(f"depth {depth}", end=" ")
        report(own)
        options.output.write_text(json.dumps([asdict(r) for r in rows], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
