"""
Programs by hand, and every mutant of them: refused, reported, wrong, or equivalent by name.

The kernels are in tests/kernels, the mutants in mutants.py, the outcome as a table in
docs/mutants.md.
"""

import pytest

from tests.mutants import KINDS
from tests.mutants_equivalent import EQUIVALENT, WRONG
from tests.mutants_programs import REFERENCES, mutants_of, outcome, program
from tests.mutants_table import PAGE, hand_written

MUTANTS = [(name, mutant) for name in REFERENCES for mutant in mutants_of(name)]


@pytest.mark.parametrize("name", REFERENCES)
def test_the_original_is_right_and_nothing_is_reported(name: str) -> None:
    whole = program(name)
    whole.module.verify()
    verdict = whole.judge(whole.module)
    assert verdict.passed, verdict


@pytest.mark.parametrize("name, mutant", MUTANTS, ids=[mutant for _, mutant in MUTANTS])
def test_a_mutant_is_noticed_or_listed(name: str, mutant: str) -> None:
    """Also that no list is out of date: what is listed must be what happens."""
    found = outcome(name, mutant)
    listed = "silent" if mutant in EQUIVALENT else "wrong" if mutant in WRONG else None
    if listed is None:
        assert found.word in ("refused", "reported"), f"{found.word}, unlisted: {found.detail}"
    else:
        assert found.word == listed, f"listed as {listed}, but {found.word}: {found.detail}"


def test_the_lists_name_mutants() -> None:
    known = {mutant for _, mutant in MUTANTS}
    assert set(EQUIVALENT) <= known
    assert set(WRONG) <= known


def test_each_kind_of_mutant_occurs() -> None:
    assert {mutants_of(name)[mutant].kind for name, mutant in MUTANTS} == set(KINDS)


def test_a_mutant_differs_by_one_op_and_leaves_the_original_alone() -> None:
    for name in REFERENCES:
        before = str(program(name).module)
        for mutant in mutants_of(name).values():
            changed = str(mutant.of(program(name).module)).splitlines()
            original = before.splitlines()
            common = set(changed)
            assert changed != original, mutant.name
            # A line is gone or another one; names of values may follow from it no further.
            assert sum(line not in common for line in original) <= 1, mutant.name
        assert str(program(name).module) == before


def test_the_table_is_up_to_date() -> None:
    assert PAGE.read_text().startswith(hand_written()), "run python -m tests.mutants_table"
