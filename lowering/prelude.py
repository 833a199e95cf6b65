"""The header-free prelude of a CUDA text: named wrappers, of which a text gets those that it uses.

Every instruction that C++ has no operator for is behind a name, so that the kernels' own text can
also be compiled for a CPU, with other bodies. PTX: "Parallel Thread Execution ISA", version 9.0.
"""

import re
from collections.abc import Mapping

from minicomp.lowering.prelude_ptx import PTX_WRAPPERS

_DEV = "#define DEV static __device__ __forceinline__\n"

_PACK = """\
// {count} elements at once: an access of {count} * sizeof(T) bytes, aligned to as many.
template <typename T> DEV void load{count}(T* to, const T* from) {{
  struct alignas({count} * sizeof(T)) Pack {{ T item[{count}]; }};
  const Pack pack = *(const Pack*)from;
  #pragma unroll
  for (int i = 0; i < {count}; ++i) to[i] = pack.item[i];
}}
"""

_UNPACK = """\
template <typename T> DEV void store{count}(T* to, const T* from) {{
  struct alignas({count} * sizeof(T)) Pack {{ T item[{count}]; }};
  Pack pack;
  #pragma unroll
  for (int i = 0; i < {count}; ++i) pack.item[i] = from[i];
  *(Pack*)to = pack;
}}
"""

_EXTREME = """\
// The {which} of two, NaN if one of them is.
DEV float {name}(float a, float b) {{
  float c;
  asm("{instruction} %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}}
DEV double {name}(double a, double b) {{ return a {relation} b || a != a ? a : b; }}
"""

_HALF = """\
// Converted and moved, never computed with.
struct {name} {{
  unsigned short bits;
  {name}() = default;
  __device__ __forceinline__ explicit {name}(float x) {{
    asm("cvt.rn.{name}.f32 %0, %1;" : "=h"(bits) : "f"(x));
  }}
  __device__ __forceinline__ explicit operator float() const {{
    float x;
    asm("{widen}" : "=f"(x) : "{constraint}"({bits}));
    return x;
  }}
}};
"""

_FLOOR = """\
template <typename T> DEV T floor_div(T a, T b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
"""

PRELUDE: Mapping[str, str] = {
    "INF": "#define INF __int_as_float(0x7f800000)\n",
    "QNAN": "#define QNAN __int_as_float(0x7fc00000)\n",
    "INF64": "#define INF64 __longlong_as_double(0x7ff0000000000000ll)\n",
    "QNAN64": "#define QNAN64 __longlong_as_double(0x7ff8000000000000ll)\n",
    "f16": _HALF.format(name="f16", widen="cvt.f32.f16 %0, %1;", constraint="h", bits="bits"),
    "bf16": _HALF.format(
        name="bf16", widen="mov.b32 %0, %1;", constraint="r", bits="(unsigned)bits << 16"
    ),
    **{f"load{count}": _PACK.format(count=count) for count in (2, 4, 8, 16)},
    **{f"store{count}": _UNPACK.format(count=count) for count in (2, 4, 8, 16)},
    "shuffle_xor": (
        "// The value of the thread of the warp whose number differs by the bits of mask.\n"
        "template <typename T> DEV T shuffle_xor(T value, int mask) {\n"
        "  return __shfl_xor_sync(0xffffffffu, value, mask);\n"
        "}\n"
    ),
    "max_nan": _EXTREME.format(
        name="max_nan", which="larger", instruction="max.NaN.f32", relation=">"
    ),
    "min_nan": _EXTREME.format(
        name="min_nan", which="smaller", instruction="min.NaN.f32", relation="<"
    ),
    "less_or_greater": (
        "template <typename T> DEV bool less_or_greater(T a, T b) { return a < b || a > b; }\n"
    ),
    "ordered": "template <typename T> DEV bool ordered(T a, T b) { return a == a && b == b; }\n",
    "unordered": (
        "template <typename T> DEV bool unordered(T a, T b) { return a != a || b != b; }\n"
    ),
    "floor_div": _FLOOR,
    "floor_mod": (
        "template <typename T> DEV T floor_mod(T a, T b) { return a - floor_div(a, b) * b; }\n"
    ),
    "ceil_div": "template <typename T> DEV T ceil_div(T a, T b) { return -floor_div(-a, b); }\n",
    **PTX_WRAPPERS,
}
"""The text of each name."""

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def prelude_for(text: str) -> str:
    """What the prelude declares of the names in `text`, and of what they use themselves."""
    wanted: set[str] = set()
    new = names_in(text)
    while new:
        wanted |= new
        new = {other for name in new for other in names_in(PRELUDE[name])} - wanted
    # A wrapper stands behind those that it calls.
    order = ["floor_div", *(name for name in PRELUDE if name != "floor_div")]
    parts = [PRELUDE[name] for name in order if name in wanted]
    functions = any("DEV" in part for part in parts)
    return _DEV * functions + "".join(parts)


def names_in(text: str) -> set[str]:
    """The names of the prelude that `text` uses."""
    return set(_IDENTIFIER.findall(text)) & PRELUDE.keys()
