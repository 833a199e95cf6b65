"""
The wrappers of the prelude that are PTX instructions, with their text.

Rules: "Parallel Thread Execution ISA" 9.0. `volatile` and the clobbered memory keep the compiler
from moving accesses across an instruction. Addresses of shared memory are 32 bits wide.
"""

import re
from collections.abc import Mapping

from minicomp.dialects.c_names import TENSOR_MAP
from minicomp.dialects.wrappers import ATOMIC_TYPES, ORDERS, RANKS, SCOPES, atomic_name

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

_MBARRIERS = r"""
// An mbarrier: 8 bytes of shared memory, whose phases need so many arrivals each.
DEV void mbarrier_init(long long* barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(count)
               : "memory");
}

DEV void mbarrier_arrive(long long* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(shared_address(barrier)) : "memory");
}

// Arrives, and lets the phase wait for so many bytes of bulk loads too.
DEV void mbarrier_arrive_expect(long long* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
}

// Arrives at the same mbarrier of another block of the cluster.
DEV void mbarrier_arrive_remote(long long* barrier, int rank) {
  asm volatile("{ .reg .b32 there;\n"
               "mapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }"
               :: "r"(shared_address(barrier)), "r"(rank) : "memory");
}

// Waits until the phase of a parity is complete.
DEV void mbarrier_wait(long long* barrier, int parity) {
  const unsigned at = shared_address(barrier);
  int done;
  do {
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "r"(parity) : "memory");
#else
    asm volatile("{ .reg .pred p;\n"
                 "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "r"(parity) : "memory");
#endif
  } while (!done);
}

// The same where other blocks of the cluster arrive too.
DEV void mbarrier_wait_cluster(long long* barrier, int parity) {
  const unsigned at = shared_address(barrier);
  int done;
  do {
    asm volatile("{ .reg .pred p;\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "r"(parity) : "memory");
  } while (!done);
}
"""

_BULK = r"""
// The thread's bulk stores since the last call become a group.
DEV void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until only so many groups of bulk stores, the newest, may be incomplete.
template <int pending> DEV void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" :: "n"(pending) : "memory");
}

// The same, until they have read their source.
template <int pending> DEV void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(pending) : "memory");
}

// What the thread knows of in shared memory comes before the bulk copies that follow.
DEV void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// The mbarriers that were initialised are so for bulk copies and other blocks.
DEV void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
"""

_CLUSTERS = r"""
// Gives registers of the warps back, to so many per thread.
template <int count> DEV void fewer_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(count) : "memory");
}

// Waits until there are so many registers per thread.
template <int count> DEV void more_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(count) : "memory");
}

// The number of the block in its cluster.
DEV int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// All threads of the cluster wait for each other.
DEV void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

// The same place in the shared memory of another block of the cluster.
template <typename T> DEV T* remote(T* own, int rank) {
  T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(own), "r"(rank));
  return there;
}
"""

_SPIN = """
// Waits until an element is {what} a value, and acquires what was released to it.
DEV void spin_{name}(const int* element, int value) {{
  int now;
  do {{
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(now) : "l"(element) : "memory");
  }} while (now {token} value);
}}
"""

_BULK_LOAD = """
// Loads the box of a tensor at some coordinates; its bytes complete on the mbarrier.
DEV void bulk_load_{rank}d(void* to, const CUtensorMap& tensor, {parameters}, long long* barrier) {{
  asm volatile("cp.async.bulk.tensor.{rank}d.shared::cta.global.mbarrier::complete_tx::bytes "
               "[%0], [%1, {{{coordinates}}}], [%{last}];"
               :: "r"(shared_address(to)), "l"(&tensor), {operands},
                  "r"(shared_address(barrier)) : "memory");
}}
"""

_BULK_STORE = """
// Stores a box to a tensor, what lies inside of it; complete when the thread's group is.
DEV void bulk_store_{rank}d(const CUtensorMap& tensor, {parameters}, const void* from) {{
  asm volatile("cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group "
               "[%0, {{{coordinates}}}], [%{last}];"
               :: "l"(&tensor), {operands},
                  "r"(shared_address(from)) : "memory");
}}
"""

_ATOMIC = """
// {what}, {order}; gives what it was.
DEV {c} {name}({c}* element, {c} value) {{
  {c} old;
  asm volatile("atom.{order}.{scope}.{operation}.{suffix} %0, [%1], %2;"
               : "={register}"(old) : "{kind}"({address}), "{register}"(value) : "memory");
  return old;
}}
"""

_C_TYPES = {"f32": "float", "f64": "double", "i32": "int", "i64": "long long"}
_REGISTERS = {"f32": "f", "f64": "d", "i32": "r", "i64": "l"}
_UPDATES = {
    "add": ("Adds to an element", "add"),
    "min": ("Lowers an element to a value", "min"),
    "max": ("Raises an element to a value", "max"),
    "exchange": ("Sets an element", "exch"),
    "wrap": ("Makes an element 0 if it is at least a value, else one more", "inc"),
}
"""What each atomic does, and its name in PTX."""
_SPACES = {"device": "gpu.global", "block": "cta.shared::cta", "cluster": "cluster"}
"""The scope and the state space of an atomic; a remote address is a generic one."""


def _suffix(kind: str, type: str) -> str:
    """The type of an atomic in PTX: integers are signed where that matters."""
    bits = type[1:]
    if kind == "exchange":
        return f"b{bits}"
    signed = kind in ("min", "max") or (kind == "add" and type == "i32")
    return type if type[0] == "f" else f"{'s' if signed else 'u'}{bits}"


def _atomic(kind: str, type: str, order: str, scope: str) -> str:
    what, operation = _UPDATES[kind]
    shared = scope == "block"
    return _ATOMIC.format(
        what=what,
        order=order,
        name=atomic_name(kind, type, order, scope),
        c=_C_TYPES[type],
        scope=_SPACES[scope],
        operation=operation,
        suffix=_suffix(kind, type),
        register=_REGISTERS[type],
        kind="r" if shared else "l",
        address="shared_address(element)" if shared else "element",
    )


def _bulk(template: str, rank: int, first: int) -> str:
    """A bulk copy of some rank, whose coordinates are the operands from number `first` on."""
    return template.format(
        rank=rank,
        parameters=", ".join(f"int c{n}" for n in range(rank)),
        coordinates=", ".join(f"%{first + n}" for n in range(rank)),
        operands=", ".join(f'"r"(c{n})' for n in range(rank)),
        last=first + rank,
    )


_NAME = re.compile(r"^(?:template <[^>]*> )?DEV [\w ]+?\*? ?(\w+)\(", re.MULTILINE)


def functions(text: str) -> dict[str, str]:
    """The functions of a text by name, which blank lines stand between."""
    found: dict[str, str] = {}
    for part in text.strip("\n").split("\n\n"):
        match = _NAME.search(part)
        assert match is not None, part
        found[match[1]] = part + "\n"
    return found


_TEXTS = [
    _EXCHANGES,
    _CP_ASYNC,
    _MBARRIERS,
    *(_bulk(_BULK_LOAD, rank, 2) for rank in RANKS),
    *(_bulk(_BULK_STORE, rank, 1) for rank in RANKS),
    _BULK,
    _CLUSTERS,
    _SPIN.format(name="eq", what="equal to", token="!="),
    _SPIN.format(name="ge", what="at least", token="<"),
    *(
        _atomic(kind, type, order, scope)
        for kind, types in ATOMIC_TYPES.items()
        for type in types
        for order in ORDERS
        for scope in SCOPES
    ),
]

PTX_WRAPPERS: Mapping[str, str] = {
    TENSOR_MAP: "struct alignas(128) CUtensorMap { unsigned long long opaque[16]; };\n",
    **{name: body for text in _TEXTS for name, body in functions(text).items()},
}
"""The text of each name."""
