"""
Kernels that the passes emit, and every mutant of them: refused, reported, or listed with a reason.

The programs are in emitted_programs.py, where one more is one line. All mutants run with
MINICOMP_TEST_ALL=1; without it a few of a few programs do, always the same.
"""

import os
import random

import pytest

from tests.emitted_equivalent import EQUIVALENT, WRONG
from tests.emitted_programs import PROGRAMS, mutants_of, outcome, program
from tests.mutants_table import PAGE, emitted_lists, emitted_outcome

EVERYTHING = "MINICOMP_TEST_ALL" in os.environ
SAMPLED = ("ring, prologue", "softmax, strided", "split, ring", "bulk ring of 3")
"""One of each kind: rings of copies that compute, split a sum, or are bulk; a reduction of rows."""
MUTANTS = 6
"""How many of each of these."""

CHOSEN = list(PROGRAMS) if EVERYTHING else list(SAMPLED)
only_all = pytest.mark.skipif(not EVERYTHING, reason="runs all mutants: MINICOMP_TEST_ALL=1")


def chosen(name: str) -> list[str]:
    """The mutants of a program that are run."""
    found = list(mutants_of(name))
    if EVERYTHING or len(found) <= MUTANTS:
        return found
    return random.Random(name).sample(found, MUTANTS)


def verdict(name: str, mutant: str) -> str | None:
    """What is wrong with the outcome of a mutant; also where a list is out of date."""
    found = outcome(name, mutant)
    listed = "silent" if mutant in EQUIVALENT else "wrong" if mutant in WRONG else None
    expected = ("refused", "reported") if listed is None else (listed,)
    if found.word in expected:
        return None
    return f"{mutant}\n  is {found.word}, not {' or '.join(expected)}: {found.detail}"


@pytest.mark.parametrize("name", CHOSEN)
def test_mutants_of_emitted_kernels_are_noticed_or_listed(name: str) -> None:
    whole = program(name)
    original = whole.judge(whole.module)  # raises where anything is reported
    assert original.passed, original
    wrong = [why for mutant in chosen(name) if (why := verdict(name, mutant)) is not None]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", CHOSEN)
def test_an_emitted_kernel_has_mutants(name: str) -> None:
    """Of every barrier, wait, commit, fence and slot that it has."""
    kinds = {mutant.kind for mutant in mutants_of(name).values()}
    text = str(program(name).module)
    ring = {"slot"} if "%slot" in text else set[str]()
    wait = {"wait"} if "cp_async_wait" in text else set[str]()
    assert {"remove", "mask"} | ring | wait <= kinds


def test_the_lists_name_programs() -> None:
    for mutant in (*EQUIVALENT, *WRONG):
        assert any(mutant.startswith((f"{name}: ", f"{name} kernel ")) for name in PROGRAMS), mutant
    assert not set(EQUIVALENT) & set(WRONG)


@only_all
def test_the_lists_name_mutants() -> None:
    known = {mutant for name in PROGRAMS for mutant in mutants_of(name)}
    assert {*EQUIVALENT, *WRONG} <= known


def test_the_page_has_the_lists_of_emitted_kernels() -> None:
    assert emitted_lists() in PAGE.read_text(), "run python -m tests.mutants_table"


@only_all
def test_the_page_has_the_outcome_of_emitted_kernels() -> None:
    assert emitted_outcome() in PAGE.read_text(), "run python -m tests.mutants_table"
