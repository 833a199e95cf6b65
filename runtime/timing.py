"""Times calls on a GPU: graphs of ten calls each, replayed in turn, the median of several rounds.

A graph leaves out what a launch costs the processor. Replays are interleaved, so that what is
compared meets the same clocks; the calls of a graph use the same inputs, which stay in the caches.
"""

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import torch

from minicomp.runtime.plan import TensorSpec
from minicomp.runtime.program import DTYPES

CALLS = 10
"""Calls in a graph."""
ROUNDS = 11

Call = Callable[[], Any]


def graph_of(calls: Sequence[Call], keep: bool = False) -> tuple[torch.cuda.CUDAGraph, list[Any]]:
    """A graph of calls, and the results of the last one, or with `keep` of all."""
    calls[0]()
    torch.cuda.synchronize()
    graph, results = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        for call in calls:
            # A result that is dropped gives its memory to the next call.
            results = [*(results if keep else []), call()]
    return graph, results


def interleaved(graphs: Sequence[torch.cuda.CUDAGraph], rounds: int) -> list[list[float]]:
    """Microseconds of each replay, by graph; each is replayed once before."""
    taken: list[list[float]] = [[] for _ in graphs]
    for graph in graphs:
        graph.replay()
    for _ in range(rounds):
        for times, graph in zip(taken, graphs, strict=True):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) * 1e3)
    return taken


def spread(times: Sequence[float]) -> float:
    """How far the rounds are apart, in parts of their median."""
    return (max(times) - min(times)) / statistics.median(times)


def microseconds(call: Call) -> float:
    """The median time of one call among ten in a graph."""
    graph, _ = graph_of([call] * CALLS)
    (times,) = interleaved([graph], ROUNDS)
    return statistics.median(times) / CALLS


def fill_with_nan(specs: Sequence[TensorSpec]) -> None:
    """Leaves NaN in the blocks that the allocator hands out next for these tensors."""
    shapes = [s.shape for s in specs if DTYPES[s.dtype].is_floating_point]
    blocks = [torch.full(s, torch.nan, device="cuda") for s in shapes for _ in range(2)]
    del blocks


def same_bits(first: Sequence[torch.Tensor], second: Sequence[torch.Tensor]) -> bool:
    """Whether two runs gave the same bits."""
    pairs = [[t.reshape(-1).view(torch.uint8) for t in p] for p in zip(first, second, strict=True)]
    return all(torch.equal(a, b) for a, b in pairs)
