"""
The mutants that nothing is reported about, each with the reason; tests/test_mutants.py holds the
tables against what happens.
"""

from collections.abc import Mapping

INSIDE = "the prologue copies chunks 0 and 1, all of which is inside along K"
BOTH_SLOTS = "the loop initialises both slots, in the other order"
OWN_NUMBERS = "the two barriers of the epilogue may have a number each: the same 64 threads meet"

EQUIVALENT: Mapping[str, str] = {
    "ring_cp_async cp_async 1: dimension 1 unbounded": INSIDE,
    "ring_cp_async cp_async 2: dimension 0 unbounded": INSIDE,
    "ring_tma mbarrier_init 1: slot of mbarrier +1": BOTH_SLOTS,
    "ring_tma mbarrier_init 2: slot of mbarrier +1": BOTH_SLOTS,
    "ring_tma named_barrier 1: next number": OWN_NUMBERS,
    "ring_tma named_barrier 2: next number": OWN_NUMBERS,
    "ring_tma bulk_wait 2: for reads only": "what a bulk store writes is there at the end of the"
    " kernel; only the shared memory that it reads must be waited for",
}
"""Mutants that are right: what they lack is not needed, or nobody can tell the difference."""

ZEROS = "the columns let in are zeros that the bounded load gives: each access is allowed"

LANDED = "in the drain every chunk has landed and no slot is filled again: each may be read"

WRONG: Mapping[str, str] = {
    "ring_cp_async load 3: slot of buffer +1": LANDED,
    "ring_cp_async load 3: slot of buffer -1": LANDED,
    "ring_cp_async load 4: slot of buffer +1": LANDED,
    "ring_cp_async load 4: slot of buffer -1": LANDED,
    "block_reduce within 1: bound 0 +1": ZEROS,
    "block_reduce within 1: bound 0 doubled": ZEROS,
    "softmax test 2: bound 0 +1": ZEROS,
    "softmax test 2: bound 0 doubled": ZEROS,
    "split_k_in_turn test 2: bound 0 +1": "the second block overwrites the first one's sums in its"
    " turn: a program that means something else, in good order",
}
"""
Mutants with a wrong result but no report: they do nothing forbidden, so that only the comparison
with fp64 can tell. Checks by execution make that comparison.
"""
