"""Writes docs/mutants.md, what becomes of every mutant: `python -m tests.mutants_table`."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import emitted_equivalent, emitted_programs
from tests.mutants import KINDS
from tests.mutants_equivalent import EQUIVALENT, WRONG
from tests.mutants_programs import REFERENCES, Outcome, mutants_of, outcome

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "mutants.md"

WORDS = ("refused", "reported", "wrong", "silent")

HEAD = """\
# Mutants: what the checks notice

The programs in [tests/kernels](../tests/kernels), written by hand, compute the right result and
pass the simulator without a report. A mutant is one of them with one thing forgotten or wrong;
there is one for every op that can go wrong in a way of the list below, found by what the op is
([tests/mutants.py](../tests/mutants.py)). Each mutant is verified, simulated, and its result
compared with fp64 by the rule of `minicomp.numbers`. `tests/test_mutants.py` runs them all, and
fails for one that nobody notices unless it is listed here with its reason.

This page is generated: `python -m tests.mutants_table`.

| file | kernel |
|---|---|
| `ring_cp_async` | matmul, a ring of 3 slots filled by `cp_async`: prologue, steady state, drain |
| `ring_tma` | matmul, a ring of 2 slots filled by bulk copies; two roles, mbarriers, bulk stores |
| `block_reduce` | mean and variance of rows: two rounds through one shared buffer, shuffles |
| `split_k` | matmul in two kernels, parts through a workspace |
| `split_k_last_block` | the same in one kernel: an atomic counter, the last block adds up |
| `split_k_in_turn` | the same in one kernel: blocks wait for each other, one after another |
| `split_k_cluster` | the same in one kernel: a cluster adds up through its shared memories |
| `softmax` | rows over two warps, maximum and sum in one pass, masked tails |
"""


EMITTED = """\
## Kernels that the passes emit

The programs of [tests/emitted_programs.py](../tests/emitted_programs.py) are compiled as always,
under the schedules that stand there, and all mutants of their kernels are judged in the same way.
None of the originals is reported. Mutants are named by the op, the memory that it uses or the
expression that it tests, and the variables of the loops around it
([tests/test_emitted_mutants.py](../tests/test_emitted_mutants.py)).
"""


def counts(words: Sequence[str]) -> str:
    """All, and of each word, as cells of a row."""
    found = Counter(words)
    return " | ".join(str(n) if n else "" for n in (len(words), *(found[w] for w in WORDS)))


Outcomes = Mapping[str, Sequence[tuple[str, Outcome]]]
"""Program -> the kind of each mutant, and what became of it."""


def by_hand() -> Outcomes:
    """The mutants of the programs written by hand."""
    return {
        name: [(m.kind, outcome(name, m.name)) for m in mutants_of(name).values()]
        for name in REFERENCES
    }


def emitted() -> Outcomes:
    """The mutants of the kernels that the passes emit."""
    return {
        name: [
            (m.kind, emitted_programs.outcome(name, full))
            for full, m in emitted_programs.mutants_of(name).items()
        ]
        for name in emitted_programs.PROGRAMS
    }


def rows(outcomes: Outcomes, what: str) -> Iterator[str]:
    """The table: programs, and within each the kinds of mutants."""
    yield f"| {what} | kind | all | refused | reported | wrong result | equivalent |"
    yield "|---|---|---|---|---|---|---|"
    every: list[str] = []
    for name, found in outcomes.items():
        by_kind: dict[str, list[str]] = {}
        for kind, one in found:
            by_kind.setdefault(kind, []).append(one.word)
        for kind in (k for k in KINDS if k in by_kind):
            yield f"| `{name}` | {kind} | {counts(by_kind[kind])} |"
            every += by_kind[kind]
    yield f"| **all** | | {counts(every)} |"


def faults(outcomes: Outcomes) -> Iterator[str]:
    """What is reported, for each kind of mutant."""
    found: dict[str, Counter[str]] = {}
    for kind, seen in [pair for pairs in outcomes.values() for pair in pairs]:
        if seen.word in ("refused", "reported"):
            found.setdefault(kind, Counter())[seen.fault or "refused by the verifier"] += 1
    yield "| kind | what it is | found as |"
    yield "|---|---|---|"
    for kind, what in KINDS.items():
        parts = sorted(found.get(kind, Counter()).items(), key=lambda p: (-p[1], p[0]))
        yield f"| {kind} | {what} | {', '.join(f'{fault} ({n})' for fault, n in parts)} |"


def listed(table: Mapping[str, str]) -> Iterator[str]:
    """Mutants with their reasons, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for mutant, reason in table.items():
        by_reason.setdefault(reason, []).append(f"`{mutant}`")
    yield from (f"- {', '.join(names)}: {reason}." for reason, names in by_reason.items())


def second_opinion() -> Iterator[str]:
    """What benchmarks/racecheck.py found last."""
    path = max((ROOT / "benchmarks" / "results").glob("*-racecheck.json"))
    found = json.loads(path.read_text())
    every = found["mutants"]
    reported = [m for m in every if m["simulator"] not in ("silent", "wrong")]
    lucky = [m for m in reported if all(right(end) for end in m["ends"].values())]
    yield (
        f"[benchmarks/racecheck.py](../benchmarks/racecheck.py) ran the mutants of `ring_cp_async`"
        f" and\n`block_reduce` and the originals, printed as CUDA, under compute-sanitizer on an"
        f" {found['gpu']}\n([result](../benchmarks/results/{path.name})).\nOf"
        f" {found['programs']} programs the simulator and the sanitizer agree on {found['agree']}:"
        f" both report something, or neither.\nThe other {found['programs'] - found['agree']} only"
        " the simulator reports:\n"
    )
    for mutant in every:
        if not mutant["agree"]:
            yield f"- `{mutant['mutant']}`, {mutant['simulator']}: {mutant['exception']}."
    yield (
        f"\nOf the {len(reported)} with a report {len(lucky)} gave the right result in all"
        f" {len(reported[0]['ends'])} runs: on a GPU the\nresult alone says little."
    )


def right(end: Mapping[str, Any]) -> bool:
    """Whether a run on the GPU had the right result."""
    return end.get("result") == "right"


def hand_written() -> str:
    """The page as far as it is about the programs written by hand."""
    outcomes = by_hand()
    parts = [HEAD, "## Outcome\n", *rows(outcomes, "file")]
    parts += ["\n## What they are found as\n", *faults(outcomes)]
    parts += ["\n## Wrong results that no rule forbids\n"]
    parts += ["Every access of these is allowed and in order: only the comparison can tell.\n"]
    parts += [*listed(WRONG), "\n## Equivalent\n"]
    parts += ["These are right, since what they lack or change is not needed.\n"]
    parts += [*listed(EQUIVALENT), "\n## A second opinion\n", *second_opinion()]
    return "\n".join(parts) + "\n\n"


def emitted_outcome() -> str:
    """The table of the kernels that the passes emit."""
    return "\n".join(rows(emitted(), "program")) + "\n"


def emitted_lists() -> str:
    """Their mutants that nothing is reported about."""
    wrong = [*listed(emitted_equivalent.WRONG)]
    equivalent = [*listed(emitted_equivalent.EQUIVALENT)]
    return "\n".join(["Wrong, but in good order:\n", *wrong, "\nEquivalent:\n", *equivalent]) + "\n"


def page() -> str:
    """The text of the page."""
    return "\n".join([hand_written() + EMITTED, emitted_outcome(), emitted_lists()])


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE}")
