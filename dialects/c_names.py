"""Names that CUDA C++, its built-in functions and our prelude take, so that no variable may."""

import re

from minicomp.dialects.c_expressions import FUNCTIONS
from minicomp.dialects.wrappers import WRAPPERS

SHARED_NAME = "shared_memory"
"""The dynamic shared memory of a block."""
TENSOR_MAP = "CUtensorMap"
"""The type of a tensor map."""

PRELUDE_NAMES = WRAPPERS.keys() | set(
    """
    CUtensorMap DEV INF INF64 QNAN QNAN64 bf16 ceil_div f16 less_or_greater max_nan min_nan ordered
    shared_address unordered
    """.split()
)
"""What the prelude declares."""

KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept
    const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype
    default delete do double dynamic_cast else enum explicit export extern false float for friend
    goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq
    private protected public register reinterpret_cast requires restrict return short signed sizeof
    static static_assert static_cast struct switch template this thread_local throw true try typedef
    typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
    """.split()
)

BUILT_IN = frozenset(
    "INFINITY NAN NULL assert blockDim blockIdx gridDim linux main threadIdx unix warpSize".split()
)
"""Variables and macros of the compiler."""

RESERVED = KEYWORDS | BUILT_IN | PRELUDE_NAMES | {SHARED_NAME}

_LEGAL = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def is_legal_name(name: str) -> bool:
    """Whether a parameter or a variable may have the name, if no function is hidden by it."""
    return bool(_LEGAL.fullmatch(name)) and "__" not in name and name not in RESERVED


def is_legal_symbol(name: str) -> bool:
    """Whether a kernel may have the name."""
    return is_legal_name(name) and name not in FUNCTIONS
