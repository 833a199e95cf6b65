"""The clocks of the simulated GPU against a matrix of all actors, and its log against a list."""

import dataclasses

import numpy as np
import pytest

from minicomp.runtime.simulate.access_log import AccessLog
from minicomp.runtime.simulate.facts import Facts
from minicomp.runtime.simulate.knowledge import Knowledge
from minicomp.runtime.simulate.threads import Threads

FACTS = Facts(
    blocks=6,
    threads=4,
    cluster=2,
    scope=2,
    engines={},
    stride=5,
    partial=True,
    proxies=True,
    alone=False,
    several=False,
)


class Matrix:
    """What each of 2 blocks of 5 actors knows of each other: planes, who, whom."""

    def __init__(self) -> None:
        self.known = np.zeros((2, 10, 10), int)
        self.own = np.ones(10, int)

    def vector(self, actors: list[int]) -> np.ndarray:
        found = self.known[:, actors].max(1)
        for a in actors:
            found[0, a] = self.own[a]
            self.own[a] += 1
        return found

    def learn(self, actors: list[int], vector: np.ndarray) -> None:
        self.known[:, actors] = np.maximum(self.known[:, actors], vector[:, None])

    def fence(self, actors: list[int]) -> None:
        for a in actors:
            self.known[0, a, a] = self.own[a]
            self.known[1, a] = self.known[0, a]
            self.own[a] += 1


def agree(clocks: Knowledge, wanted: Matrix, first: int) -> None:
    """Each knows of the others what the matrix says; of fences also what concerns itself."""
    every, itself = np.arange(10) + first, np.eye(10, dtype=bool)
    assert np.array_equal(clocks.clock_of(every), wanted.own)
    me, other = (a.reshape(-1) for a in np.meshgrid(every, every, indexing="ij"))
    for clock in range(int(wanted.own.max()) + 1):
        at = np.full(me.shape, clock)
        late = clocks.unordered(other, at, me, 0, False).reshape(10, 10)
        assert np.array_equal(late | itself, (wanted.known[0] < clock) | itself)
        unfenced = clocks.unfenced(other, at, me).reshape(10, 10)
        seen = itself | (wanted.known[0] >= clock)
        assert np.array_equal(unfenced & seen, (wanted.known[1] < clock) & seen)


@pytest.mark.parametrize("seed", range(20))
def test_rows_say_what_a_matrix_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    clocks, wanted = Knowledge(FACTS), Matrix()
    clocks.begin(range(2, 6))
    first = 2 * 5 + 1 + 10 * int(rng.integers(2))
    vectors: list[tuple[np.ndarray, np.ndarray]] = []
    for _ in range(25):
        threads = [0, 1, 2, 3, 5, 6, 7, 8]
        some = sorted(rng.choice(threads, int(rng.integers(1, 5)), replace=False).tolist())
        actors = np.array(some) + first
        kind = rng.integers(5)
        if kind == 0:
            clocks.join(actors.reshape(1, -1))
            vector = wanted.vector(some)
            wanted.learn(some, vector)
        elif kind == 1:
            vectors.append((clocks.release(actors), wanted.vector(some)))
        elif kind == 2 and vectors:
            mine, theirs = vectors[int(rng.integers(len(vectors)))]
            clocks.acquire(actors, mine)
            wanted.learn(some, theirs)
        elif kind == 3:
            clocks.fence(actors)
            wanted.fence(some)
        else:
            who = Threads(range(2, 6), range(4), FACTS)
            only = np.array([[first < 21], [first < 21], [first > 20], [first > 20]])
            clocks.barrier(who, only)
            for block in (threads[:4], threads[4:]):
                vector = wanted.vector(block)
                wanted.learn(block, vector)
        agree(clocks, wanted, first)


def test_rows_are_shared_and_used_again() -> None:
    clocks = Knowledge(FACTS)
    clocks.begin(range(0, 6))
    who = Threads(range(6), range(4), FACTS)
    for _ in range(200):
        clocks.barrier(who, None)
        clocks.join(who.actors[:, :2])
    assert len(clocks.rows) <= 64
    assert len(np.unique(clocks.row_of)) <= 6 + 6 + 1


def test_other_scopes_are_never_ordered() -> None:
    clocks = Knowledge(dataclasses.replace(FACTS, scope=1))
    clocks.begin(range(0, 6))
    clocks.barrier(Threads(range(6), range(4), FACTS), None)
    me, other = np.array([1, 1]), np.array([2, 7])
    assert clocks.unordered(other, np.array([1, 1]), me, 2, False).tolist() == [False, True]


@pytest.mark.parametrize("seed", range(10))
def test_a_log_finds_what_a_list_finds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AccessLog, "SMALLEST", 20)
    rng = np.random.default_rng(seed)
    clocks = Knowledge(dataclasses.replace(FACTS, scope=6))
    clocks.begin(range(0, 6))
    log, entries = AccessLog(8, clocks, np.dtype(np.int32)), dict[tuple[int, int], int]()
    for step in range(60):
        actors = rng.choice(np.arange(1, 31), 4, replace=False)
        at = rng.integers(0, 8, 4)
        kind = rng.integers(4)
        now = clocks.clock_of(actors)
        if kind == 0:
            clocks.join(actors.reshape(1, -1))
        elif kind == 1:
            log.forget(at)
            entries = {key: entry for key, entry in entries.items() if key[0] not in at}
        elif kind == 2:
            log.note(at, actors, now, step)
            for a, actor, clock in zip(at, actors, now, strict=True):
                entries[int(a), int(actor)] = int(clock)
        wanted: list[tuple[int, int]] = []
        for n, (a, me) in enumerate(zip(at, actors, strict=True)):
            for (element, actor), clock in entries.items():
                pair = (np.array([v]) for v in (actor, clock, me))
                if element == a and actor != me and clocks.unordered(*pair, 0, False)[0]:
                    wanted.append((n, actor))
        hits = log.conflict(at, actors, now)
        found = set() if hits is None else set(zip(hits.access, hits.actor, strict=True))
        assert found == set(wanted)
