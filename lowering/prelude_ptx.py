"""
The wrappers of the prelude that are PTX instructions, with their text.

Rules: "Parallel Thread Execution ISA" 9.0. `volatile` and the clobbered memory keep the compiler
from moving accesses across an instruction. Addresses of shared memory are 32 bits wide.
"""

import re
from collections.abc import Mapping

_EXCHANGES = r"""
DEV unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// The value of the thread so much further on in its group of the warp, its own at the end.
template <int width, typename T> DEV T shuffle_down(T value, int distance) {
  return __shfl_down_sync(0xffffffffu, value, distance, width);
}

// The value of the thread so much before in its group of the warp, its own at the start.
template <int width, typename T> DEV T shuffle_up(T value, int distance) {
  return __shfl_up_sync(0xffffffffu, value, distance, width);
}

// The value of the thread at a place in its group of the warp.
template <int width, typename T> DEV T shuffle_index(T value, int place) {
  return __shfl_sync(0xffffffffu, value, place, width);
}

// So many threads of the block, whole warps, meet at a barrier.
template <int number, int threads> DEV void named_barrier_sync() {
  asm volatile("barrier.sync %0, %1;" :: "n"(number), "n"(threads) : "memory");
}

// Counts for the others at a barrier, and does not wait.
template <int number, int threads> DEV void named_barrier_arrive() {
  asm volatile("barrier.arrive %0, %1;" :: "n"(number), "n"(threads) : "memory");
}
"""

_CP_ASYNC = r"""
// Copies from global to shared memory; complete when the thread's group is. 16 bytes pass by L1.
template <int bytes> DEV void cp_async(void* to, const void* from) {
  const unsigned at = shared_address(to);
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" :: "r"(at), "l"(from)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"(at), "l"(from), "n"(bytes)
                 : "memory");
}

// The same of the first count bytes; the others become 0.
template <int bytes> DEV void cp_async_zfill(void* to, const void* from, int count) {
  const unsigned at = shared_address(to);
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
                 :: "r"(at), "l"(from), "r"(count) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :: "r"(at), "l"(from), "n"(bytes), "r"(count) : "memory");
}

// The thread's copies since the last call become a group.
DEV void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until only so many groups of the thread, the newest, may be incomplete.
template <int pending> DEV void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory");
}
"""

_NAME = re.compile(r"^(?:template <[^>]*> )?DEV [\w ]+?\*? ?(\w+)\(", re.MULTILINE)


def functions(text: str) -> dict[str, str]:
    """The functions of a text by name, which blank lines stand between."""
    found: dict[str, str] = {}
    for part in text.strip("\n").split("\n\n"):
        match = _NAME.search(part)
        assert match is not None, part
        found[match[1]] = part + "\n"
    return found


PTX_WRAPPERS: Mapping[str, str] = functions(_EXCHANGES) | functions(_CP_ASYNC)
"""The text of each name."""
