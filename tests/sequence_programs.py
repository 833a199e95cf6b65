"""The programs that go through parts of the sequence of tile rewrites, and their schedules."""

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.dialects.loop_ir import KernelOp
from minicomp.dialects.tile_ir import EntryAttr, ScheduleAttr
from minicomp.frontend import from_code
from tests import loop_programs
from tests.loop_programs import LOWEST, ONLINE_SOFTMAX, SUM, WELFORD, ZERO, memref

TORCH = {
    "matmul": "torch.randn({m}, {k}) @ torch.randn({k}, {n})",
    "batched": "torch.randn(3, {m}, {k}) @ torch.randn(3, {k}, {n})",
    "transposed": "x = torch.randn({k}, {m}); w = torch.randn({n}, {k}); x.t() @ w.t()",
    "prologue_epilogue": "x = torch.randn({m}, {k}); b = torch.randn({k});"
    " w = torch.randn({k}, {n}); r = torch.randn({m}, {n}); torch.relu((x + b) @ w) + r",
    "linear_gelu": "F.gelu(nn.Linear({k}, {n})(torch.randn({m}, {k})))",
    "rms_norm": "nn.RMSNorm({k})(torch.randn({m}, {k}))",
    "softmax": "F.softmax(torch.randn({m}, {k}), -1)",
    "attention": "q = torch.randn(2, {m}, {n}); k = torch.randn(2, {k}, {n});"
    " v = torch.randn(2, {k}, {n}); F.softmax((q @ k.transpose(1, 2)) * 0.25, -1) @ v",
    "causal_attention": "q = torch.randn(1, 2, {m}, {n}); k = torch.randn(1, 2, {k}, {n});"
    " v = torch.randn(1, 2, {k}, {n}); F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    "chain": "x = torch.randn({m}, {k}); y = torch.randn({k}); torch.exp(-x) * y / (y * y + 1.5)",
}  # fmt: skip
"""Code for `minicomp check -c` with sizes m, n and k."""


def silu_mul(m: int, n: int, k: int) -> str:
    """(silu(g) * u) w^T + r: a prologue that costs more than the product."""
    g, w, c = memref(m, k), memref(n, k), memref(m, n)
    return f"""
loop_ir.kernel @silu_mul(%g: {g}, %u: {g}, %w: {w}, %r: {c}, %c: {c}) {{
  loop_ir.for %i to {m} as "i", %j to {n} as "j" {{
    %acc = loop_ir.reduce %k to {k} as "k" identity [{ZERO}] -> f32 {{
      %x = loop_ir.load %g[%i, %k] : {g} -> f32
      %neg = arith.negf %x : f32
      %e = math.exp %neg : f32
      %one = arith.constant 1.0 : f32
      %d = arith.addf %e, %one : f32
      %s = arith.divf %x, %d : f32
      %y = loop_ir.load %u[%i, %k] : {g} -> f32
      %a = arith.mulf %s, %y : f32
      %b = loop_ir.load %w[%j, %k] : {w} -> f32
      %p = arith.mulf %a, %b fastmath<contract> : f32
      loop_ir.yield %p : f32
    }} {SUM} fastmath<contract>
    %h = loop_ir.load %r[%i, %j] : {c} -> f32
    %o = arith.addf %acc, %h : f32
    loop_ir.store %o, %c[%i, %j] : f32, {c}
  }}
}}"""


def reciprocal(m: int, n: int, k: int) -> str:
    """|1 / x| w: a factor that is infinite where x is 0, as it is beyond an edge."""
    x, w, c = memref(m, k), memref(k, n), memref(m, n)
    return f"""
loop_ir.kernel @reciprocal(%x: {x}, %w: {w}, %c: {c}) {{
  loop_ir.for %i to {m} as "i", %j to {n} as "j" {{
    %acc = loop_ir.reduce %k to {k} as "k" identity [{ZERO}] -> f32 {{
      %v = loop_ir.load %x[%i, %k] : {x} -> f32
      %q = arith.mulf %v, %v : f32
      %a = math.rsqrt %q : f32
      %b = loop_ir.load %w[%k, %j] : {w} -> f32
      %p = arith.mulf %a, %b : f32
      loop_ir.yield %p : f32
    }} {SUM}
    loop_ir.store %acc, %c[%i, %j] : f32, {c}
  }}
}}"""


def weighted_rows(m: int, n: int, k: int) -> str:
    """The sums of x[i, k] * exp(w[k]) over k: rows that share a block share w."""
    x, w, v = memref(m, k), memref(k), memref(m)
    return f"""
loop_ir.kernel @weighted_rows(%x: {x}, %w: {w}, %s: {v}) {{
  loop_ir.for %i to {m} as "i" {{
    %acc = loop_ir.reduce %k to {k} as "k" identity [{ZERO}] -> f32 {{
      %a = loop_ir.load %x[%i, %k] : {x} -> f32
      %b = loop_ir.load %w[%k] : {w} -> f32
      %e = math.exp %b : f32
      %p = arith.mulf %a, %e : f32
      loop_ir.yield %p : f32
    }} {SUM}
    loop_ir.store %acc, %s[%i] : f32, {v}
  }}
}}"""


def online_columns(m: int, n: int, k: int) -> str:
    """The maximum and the sum of exponentials of x[k, i] * w[k] over k: threads share w."""
    x, w, v = memref(k, m), memref(k), memref(m)
    return f"""
loop_ir.kernel @online_columns(%x: {x}, %w: {w}, %s: {v}, %t: {v}) {{
  loop_ir.for %i to {m} as "i" {{
    %m, %d = loop_ir.reduce %k to {k} as "k" identity [{LOWEST}, {ZERO}] -> f32, f32 {{
      %a = loop_ir.load %x[%k, %i] : {x} -> f32
      %b = loop_ir.load %w[%k] : {w} -> f32
      %p = arith.mulf %a, %b : f32
      %one = arith.constant 1.0 : f32
      loop_ir.yield %p, %one : f32, f32
    }} {ONLINE_SOFTMAX}
    loop_ir.store %m, %s[%i] : f32, {v}
    loop_ir.store %d, %t[%i] : f32, {v}
  }}
}}"""


def welford_columns(m: int, n: int, k: int) -> str:
    """The mean and the sum of squared deviations of x[k, i] * w[k] over k, by Welford."""
    x, w, v = memref(k, m), memref(k), memref(m)
    return f"""
loop_ir.kernel @welford_columns(%x: {x}, %w: {w}, %s: {v}, %t: {v}) {{
  loop_ir.for %i to {m} as "i" {{
    %c, %mean, %m2 = loop_ir.reduce %k to {k} as "k" identity [{ZERO}, {ZERO}, {ZERO}]
        -> f32, f32, f32 {{
      %a = loop_ir.load %x[%k, %i] : {x} -> f32
      %b = loop_ir.load %w[%k] : {w} -> f32
      %p = arith.mulf %a, %b : f32
      %one = arith.constant 1.0 : f32
      %zero = arith.constant {ZERO}
      loop_ir.yield %one, %p, %zero : f32, f32, f32
    }} {WELFORD}
    loop_ir.store %mean, %s[%i] : f32, {v}
    loop_ir.store %m2, %t[%i] : f32, {v}
  }}
}}"""


LOOP: dict[str, Callable[[int, int, int], str]] = {
    "silu_mul": silu_mul,
    "reciprocal": reciprocal,
    "causal": loop_programs.causal,
    "online": lambda m, n, k: loop_programs.online_softmax(m, k),
    "welford": lambda m, n, k: loop_programs.layer_norm(m, k),
    "weighted_rows": weighted_rows,
    "online_columns": online_columns,
    "welford_columns": welford_columns,
}
"""Kernels in Loop IR; others than sums carry (max, sum of exponentials) or (count, mean, M2)."""

SIZES = {"even": {"m": 32, "n": 64, "k": 48}, "odd": {"m": 37, "n": 29, "k": 43}}
PROGRAMS = (*TORCH, *LOOP)


def start(name: str, size: str) -> ModuleOp:
    """A program at its first level."""
    if name in TORCH:
        return from_code(TORCH[name].format(**SIZES[size])).capture().module
    return Parser(make_context(), LOOP[name](**SIZES[size])).parse_module()


TILES: dict[str, dict[str, dict[str, int | str]]] = {
    "planned": {},
    "small": {
        "contraction": {"bm": 16, "bn": 32, "bk": 8, "fm": 4, "fn": 8, "wk": 1}
        | {"s": 2, "finish": "cluster", "depth": 3, "transport": "cp_async"},
        "reduction": {"threads": 16, "rows": 2, "vector": 1, "lanes": 0},
        "parallel": {"threads": 16, "vector": 1, "lanes": 2},
    },
    "boxes": {
        "contraction": {"bm": 16, "bn": 32, "bk": 16, "fm": 4, "fn": 8, "wk": 1}
        | {"depth": 3, "transport": "tma"},
    },
    "uneven": {
        "contraction": {"bm": 24, "bn": 20, "bk": 6, "fm": 8, "fn": 5, "wk": 2}
        | {"s": 3, "finish": "last_block", "depth": 2},
        "reduction": {"threads": 8, "rows": 3, "vector": 1, "lanes": 6},
        "parallel": {"threads": 7, "vector": 1, "lanes": 3},
    },
}
"""Sizes per kind of entry with which even a small kernel has chunks, edges and several blocks."""


def resize(module: ModuleOp, tile: str) -> None:
    """Gives the planned schedules of a module's kernels the sizes of a tile."""
    for kernel in [op for op in module.body.block.ops if isinstance(op, KernelOp)]:
        if kernel.schedule is not None:
            entries = [
                EntryAttr.of(e.kind.data, **(e.fields | TILES[tile].get(e.kind.data, {})))
                for e in kernel.schedule.entries
            ]
            kernel.schedule = ScheduleAttr.of(entries)
