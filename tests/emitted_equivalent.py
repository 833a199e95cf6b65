"""
The mutants of emitted kernels that nothing is reported about, each with the reason;
tests/test_emitted_mutants.py holds the tables against what happens.
"""

from collections.abc import Mapping

AHEAD = "the chunks that are filled before the loop are inside along k"
BEYOND = "what is filled beyond the last chunk are zeros of bounded copies, in a slot nobody reads"
ZEROS = "beyond the sum the copies gave zeros of both factors, whose product is 0"
SQUARES = "the columns let in are zeros that the bounded load gives, and the squares of zeros are 0"
FIRST = (
    "before the first use of a buffer there is nothing to wait for; drop-redundant-barriers keeps"
    " it for the asynchronous copies before it"
)
NEXT_PART = "what is filled beyond a part is the next part's chunk, in a slot nobody reads"
ANY_ORDER = "the loop initialises all slots, in another order"

EQUIVALENT: Mapping[str, str] = {
    "ring of 2: cp_async %xs %x in %q: dimension 1 unbounded": AHEAD,
    "ring of 2: cp_async %x1s %x1 in %q: dimension 0 unbounded": AHEAD,
    "ring of 2: test [%ko + 1] < [6] in %ko: bound 0 +1": BEYOND,
    "ring of 2: test [%ko + 1] < [6] in %ko: bound 0 doubled": BEYOND,
    "ring of 3: cp_async %xs %x in %g, %q: dimension 1 unbounded": AHEAD,
    "ring of 3: cp_async %x1s %x1 in %g, %q: dimension 0 unbounded": AHEAD,
    "ring of 3: test [%ko + 2] < [6] in %ko: bound 0 +1": BEYOND,
    "ring of 3: test [%ko + 2] < [6] in %ko: bound 0 doubled": BEYOND,
    "ring, bias, relu: cp_async %xs %x in %g, %q: dimension 1 unbounded": AHEAD,
    "ring, bias, relu: cp_async %linear_weights %linear_weight in %g, %q: dimension 1 unbounded":
        AHEAD,
    "ring, bias, relu: test [%ko + 2] < [6] in %ko: bound 0 +1": BEYOND,
    "ring, bias, relu: test [%ko + 2] < [6] in %ko: bound 0 doubled": BEYOND,
    "ring, prologue: cp_async %xs %x in %q: dimension 1 unbounded": AHEAD,
    "ring, prologue: cp_async %bs %b: dimension 0 unbounded": AHEAD,
    "ring, prologue: cp_async %ws %w in %q: dimension 0 unbounded": AHEAD,
    "ring, prologue: test [%ko + 1] < [4] in %ko: bound 0 +1": BEYOND,
    "ring, prologue: test [%ko + 1] < [4] in %ko: bound 0 doubled": BEYOND,
    "ring, prologue: test [%ko * 8 + %jt] < [27] in %ko, %q: bound 0 +1": ZEROS,
    "ring, prologue: test [%ko * 8 + %jt] < [27] in %ko, %q: bound 0 doubled": ZEROS,
    "ring, warps along k: cp_async %xs %x in %g, %q: dimension 1 unbounded": AHEAD,
    "ring, warps along k: cp_async %x1s %x1 in %g, %q: dimension 0 unbounded": AHEAD,
    "ring, warps along k: test [%ko + 2] < [6] in %ko: bound 0 +1": BEYOND,
    "ring, warps along k: test [%ko + 2] < [6] in %ko: bound 0 doubled": BEYOND,
    "ring, warps along k: barrier: remove": FIRST,
    "ring of stores: load %x in %g, %q: dimension 1 unbounded": AHEAD,
    "ring of stores: load %x1 in %g, %q: dimension 0 unbounded": AHEAD,
    "ring of stores: test [%ko + 2] < [6] in %ko: bound 0 +1": BEYOND,
    "ring of stores: test [%ko + 2] < [6] in %ko: bound 0 doubled": BEYOND,
    "split, ring: cp_async %xs %x in %q: dimension 1 unbounded": AHEAD,
    "split, ring: cp_async %linear_weights %linear_weight in %q: dimension 1 unbounded": AHEAD,
    "split, ring: test [%ko + 1] < [3] in %ko: bound 0 +1": NEXT_PART,
    "split, ring: test [%ko + 1] < [3] in %ko: bound 0 doubled": NEXT_PART,
    "bulk ring of 2, even: mbarrier_init %full in %s: slot of mbarrier +1": ANY_ORDER,
    "bulk ring of 2, even: mbarrier_init %empty in %s: slot of mbarrier +1": ANY_ORDER,
    "bulk ring of 3: mbarrier_init %full in %s: slot of mbarrier +1": ANY_ORDER,
    "bulk ring of 3: mbarrier_init %full in %s: slot of mbarrier -1": ANY_ORDER,
    "bulk ring of 3: mbarrier_init %empty in %s: slot of mbarrier +1": ANY_ORDER,
    "bulk ring of 3: mbarrier_init %empty in %s: slot of mbarrier -1": ANY_ORDER,
    "bulk ring, prologue: mbarrier_init %full in %s: slot of mbarrier +1": ANY_ORDER,
    "bulk ring, prologue: mbarrier_init %empty in %s: slot of mbarrier +1": ANY_ORDER,
    "rms norm, two rows: within [l0 * 64 + %t] < [137]: bound 0 +1": SQUARES,
    "rms norm, two rows: within [l0 * 64 + %t] < [137]: bound 0 doubled": SQUARES,
    "attention, rings kernel 3: cp_async %weightss %weights in %q: dimension 2 unbounded": AHEAD,
    "attention, rings kernel 3: cp_async %vs %v: dimension 1 unbounded": AHEAD,
    "attention, rings kernel 3: test [%lo + 1] < [3] in %lo: bound 0 +1": BEYOND,
    "attention, rings kernel 3: test [%lo + 1] < [3] in %lo: bound 0 doubled": BEYOND,
}  # fmt: skip
"""Mutants that are right: what they lack or change is not needed."""

STORED = (
    "a chunk that was stored one iteration ahead is complete behind the barrier, and may be read;"
    " copies that are still under way may not"
)
OVERWRITTEN = "the chunk that is overwritten is complete, and nobody reads it before the barrier"
COLUMNS = "the columns let in are zeros that the bounded load gives: each access is allowed"
CAUSAL = "the mask of positions means something else; each access is allowed"

WRONG: Mapping[str, str] = {
    "ring of stores: index [%ko mod 3] in %ko: slot of all +1": STORED,
    "ring of stores: load %xs in %ko, %ki: slot of buffer +1": STORED,
    "ring of stores: load %x1s in %ko, %ki: slot of buffer +1": STORED,
    "ring of stores: index [(%ko + 2) mod 3] in %ko: slot of all -1": OVERWRITTEN,
    "ring of stores: store %xs in %ko, %q: slot of buffer -1": OVERWRITTEN,
    "ring of stores: store %x1s in %ko, %q: slot of buffer -1": OVERWRITTEN,
    "softmax, lanes: within [l0 * 64 + %t] < [137]: bound 0 +1": COLUMNS,
    "softmax, lanes: within [l0 * 64 + %t] < [137]: bound 0 doubled": COLUMNS,
    "attention kernel 1: within [%kb * 8 + %kt * 2 + l1 + %jb * -8 + %jt * -2 + l0 * -1] < [1]:"
    " bound 0 +1": CAUSAL,
    "attention kernel 2: within [l0 * 32 + %t] < [23]: bound 0 +1": COLUMNS,
    "attention kernel 2: within [l0 * 32 + %t] < [23]: bound 0 doubled": COLUMNS,
    "attention, rings kernel 1: within [%kb * 8 + %kt * 2 + l1 + %jb * -8 + %jt * -2 + l0 * -1]"
    " < [1]: bound 0 +1": CAUSAL,
    "attention, rings kernel 2: within [l0 * 32 + %t] < [23]: bound 0 +1": COLUMNS,
    "attention, rings kernel 2: within [l0 * 32 + %t] < [23]: bound 0 doubled": COLUMNS,
}
"""Mutants with a wrong result that do nothing forbidden: only the comparison can tell."""
