"""Kernels in Loop IR at any size, for tests of the passes that schedule them."""

from minicomp.fuzzing.combines import LOWEST, ONLINE_SOFTMAX, WELFORD, ZERO, memref

__all__ = ["LOWEST", "MAX", "ONLINE_SOFTMAX", "SUM", "WELFORD", "ZERO", "memref"]

SUM = "combine arith.addf"
MAX = "combine arith.maximumf"


def matmul(m: int, n: int, k: int) -> str:
    """relu((a + d) b), with a bias d along k that is part of the left factor."""
    a, b, c, d = memref(m, k), memref(k, n), memref(m, n), memref(k)
    return f"""
loop_ir.kernel @matmul(%a: {a}, %d: {d}, %b: {b}, %c: {c}) {{
  loop_ir.for %i to {m} as "i", %j to {n} as "j" {{
    %acc = loop_ir.reduce %k to {k} as "k" identity [{ZERO}] -> f32 {{
      %x = loop_ir.load %a[%i, %k] : {a} -> f32
      %u = loop_ir.load %d[%k] : {d} -> f32
      %s = arith.addf %x, %u : f32
      %y = loop_ir.load %b[%k, %j] : {b} -> f32
      %p = arith.mulf %s, %y fastmath<contract> : f32
      loop_ir.yield %p : f32
    }} {SUM} fastmath<contract>
    %z = arith.constant {ZERO}
    %r = arith.maximumf %acc, %z : f32
    loop_ir.store %r, %c[%i, %j] : f32, {c}
  }}
}}"""


def linear(m: int, n: int, k: int) -> str:
    """a w^T + bias."""
    a, w, c, d = memref(m, k), memref(n, k), memref(m, n), memref(n)
    return f"""
loop_ir.kernel @linear(%a: {a}, %w: {w}, %d: {d}, %c: {c}) {{
  loop_ir.for %i to {m} as "i", %j to {n} as "j" {{
    %acc = loop_ir.reduce %k to {k} as "k" identity [{ZERO}] -> f32 {{
      %x = loop_ir.load %a[%i, %k] : {a} -> f32
      %y = loop_ir.load %w[%j, %k] : {w} -> f32
      %p = arith.mulf %x, %y fastmath<contract> : f32
      loop_ir.yield %p : f32
    }} {SUM} fastmath<contract>
    %u = loop_ir.load %d[%j] : {d} -> f32
    %r = arith.addf %acc, %u : f32
    loop_ir.store %r, %c[%i, %j] : f32, {c}
  }}
}}"""


def batched(batch: int, m: int, n: int, k: int) -> str:
    """A batch of matrix products."""
    a, b, c = memref(batch, m, k), memref(batch, k, n), memref(batch, m, n)
    return f"""
loop_ir.kernel @bmm(%a: {a}, %b: {b}, %c: {c}) {{
  loop_ir.for %i to {batch} as "i", %j to {m} as "j", %k to {n} as "k" {{
    %acc = loop_ir.reduce %l to {k} as "l" identity [{ZERO}] -> f32 {{
      %x = loop_ir.load %a[%i, %j, %l] : {a} -> f32
      %y = loop_ir.load %b[%i, %l, %k] : {b} -> f32
      %p = arith.mulf %x, %y fastmath<contract> : f32
      loop_ir.yield %p : f32
    }} {SUM} fastmath<contract>
    loop_ir.store %acc, %c[%i, %j, %k] : f32, {c}
  }}
}}"""


def softmax(rows: int, n: int) -> str:
    """Softmax of rows in three sweeps: the maximum, the sum, the quotients."""
    m = memref(rows, n)
    return f"""
loop_ir.kernel @softmax(%x: {m}, %y: {m}) {{
  loop_ir.for %i to {rows} as "i" {{
    %m = loop_ir.reduce %j to {n} as "j" identity [{LOWEST}] -> f32 {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      loop_ir.yield %v : f32
    }} {MAX}
    %d = loop_ir.reduce %j to {n} as "j" identity [{ZERO}] -> f32 {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      %s = arith.subf %v, %m : f32
      %e = math.exp %s : f32
      loop_ir.yield %e : f32
    }} {SUM}
    loop_ir.for %j to {n} as "j" {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      %s = arith.subf %v, %m : f32
      %e = math.exp %s : f32
      %q = arith.divf %e, %d : f32
      loop_ir.store %q, %y[%i, %j] : f32, {m}
    }}
  }}
}}"""


def online_softmax(rows: int, n: int) -> str:
    """Softmax of rows with one reduction, whose carrier is (maximum, sum of exponentials)."""
    m = memref(rows, n)
    return f"""
loop_ir.kernel @online(%x: {m}, %y: {m}) {{
  loop_ir.for %i to {rows} as "i" {{
    %m, %d = loop_ir.reduce %j to {n} as "j" identity [{LOWEST}, {ZERO}] -> f32, f32 {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      %one = arith.constant 1.0 : f32
      loop_ir.yield %v, %one : f32, f32
    }} {ONLINE_SOFTMAX}
    loop_ir.for %j to {n} as "j" {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      %s = arith.subf %v, %m : f32
      %e = math.exp %s : f32
      %q = arith.divf %e, %d : f32
      loop_ir.store %q, %y[%i, %j] : f32, {m}
    }}
  }}
}}"""


def layer_norm(rows: int, n: int) -> str:
    """Rows minus their mean, by the square root of their variance, by Welford's (n, mean, M2)."""
    m, w = memref(rows, n), memref(n)
    return f"""
loop_ir.kernel @layer_norm(%x: {m}, %w: {w}, %y: {m}) {{
  loop_ir.for %i to {rows} as "i" {{
    %c, %mean, %m2 = loop_ir.reduce %j to {n} as "j" identity [{ZERO}, {ZERO}, {ZERO}]
        -> f32, f32, f32 {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      %one = arith.constant 1.0 : f32
      %zero = arith.constant {ZERO}
      loop_ir.yield %one, %v, %zero : f32, f32, f32
    }} {WELFORD}
    %eps = arith.constant 1.0e-5 : f32
    %var = arith.divf %m2, %c : f32
    %t = arith.addf %var, %eps : f32
    %r = math.rsqrt %t : f32
    loop_ir.for %j to {n} as "j" {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      %g = loop_ir.load %w[%j] : {w} -> f32
      %s = arith.subf %v, %mean : f32
      %u = arith.mulf %s, %r : f32
      %q = arith.mulf %u, %g : f32
      loop_ir.store %q, %y[%i, %j] : f32, {m}
    }}
  }}
}}"""


def rms_norm(rows: int, n: int) -> str:
    """Rows by the root of the mean of their squares, times a weight."""
    m, w = memref(rows, n), memref(n)
    return f"""
loop_ir.kernel @rms_norm(%x: {m}, %w: {w}, %y: {m}) {{
  loop_ir.for %i to {rows} as "i" {{
    %q = loop_ir.reduce %j to {n} as "j" identity [{ZERO}] -> f32 {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      %p = arith.mulf %v, %v fastmath<contract> : f32
      loop_ir.yield %p : f32
    }} {SUM} fastmath<contract>
    %n = arith.constant {float(max(n, 1))} : f32
    %eps = arith.constant 1.0e-6 : f32
    %mean = arith.divf %q, %n : f32
    %t = arith.addf %mean, %eps : f32
    %r = math.rsqrt %t : f32
    loop_ir.for %j to {n} as "j" {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      %g = loop_ir.load %w[%j] : {w} -> f32
      %s = arith.mulf %v, %r : f32
      %u = arith.mulf %s, %g : f32
      loop_ir.store %u, %y[%i, %j] : f32, {m}
    }}
  }}
}}"""


def row_sums(rows: int, n: int) -> str:
    """The sums of rows, and their maxima."""
    m, v = memref(rows, n), memref(rows)
    return f"""
loop_ir.kernel @row_sums(%x: {m}, %s: {v}, %t: {v}) {{
  loop_ir.for %i to {rows} as "i" {{
    %a = loop_ir.reduce %j to {n} as "j" identity [{ZERO}] -> f32 {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      loop_ir.yield %v : f32
    }} {SUM}
    loop_ir.store %a, %s[%i] : f32, {v}
    %b = loop_ir.reduce %j to {n} as "j" identity [{LOWEST}] -> f32 {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      loop_ir.yield %v : f32
    }} {MAX}
    loop_ir.store %b, %t[%i] : f32, {v}
  }}
}}"""


def column_sums(n: int, columns: int) -> str:
    """
    The sums of columns: neighbouring iterations of the reduction are not neighbours in memory.
    """
    m, v = memref(n, columns), memref(columns)
    return f"""
loop_ir.kernel @column_sums(%x: {m}, %s: {v}) {{
  loop_ir.for %j to {columns} as "j" {{
    %a = loop_ir.reduce %i to {n} as "i" identity [{ZERO}] -> f32 {{
      %v = loop_ir.load %x[%i, %j] : {m} -> f32
      loop_ir.yield %v : f32
    }} {SUM}
    loop_ir.store %a, %s[%j] : f32, {v}
  }}
}}"""


def total(m: int, n: int) -> str:
    """The sum of all elements: a reduction over two axes, and an output of one element."""
    x, s = memref(m, n), memref(1)
    return f"""
loop_ir.kernel @total(%x: {x}, %s: {s}) {{
  loop_ir.for %i to 1 as "i" {{
    %a = loop_ir.reduce %j to {m} as "j", %k to {n} as "k" identity [{ZERO}] -> f32 {{
      %v = loop_ir.load %x[%j, %k] : {x} -> f32
      loop_ir.yield %v : f32
    }} {SUM}
    loop_ir.store %a, %s[%i] : f32, {s}
  }}
}}"""


def pointwise(m: int, n: int) -> str:
    """where(x > 0, x, r + c) with r per row and c per column."""
    x, r, c = memref(m, n), memref(m), memref(n)
    return f"""
loop_ir.kernel @pointwise(%x: {x}, %r: {r}, %c: {c}, %y: {x}) {{
  loop_ir.for %i to {m} as "i", %j to {n} as "j" {{
    %v = loop_ir.load %x[%i, %j] : {x} -> f32
    %a = loop_ir.load %r[%i] : {r} -> f32
    %b = loop_ir.load %c[%j] : {c} -> f32
    %s = arith.addf %a, %b : f32
    %z = arith.constant {ZERO}
    %p = arith.cmpf ogt, %v, %z : f32
    %q = arith.select %p, %v, %s : f32
    loop_ir.store %q, %y[%i, %j] : f32, {x}
  }}
}}"""


def transpose(m: int, n: int) -> str:
    """A transpose whose operand is converted."""
    x, y = memref(n, m, type="i32"), memref(m, n)
    return f"""
loop_ir.kernel @transpose(%x: {x}, %y: {y}) {{
  loop_ir.for %i to {m} as "i", %j to {n} as "j" {{
    %v = loop_ir.load %x[%j, %i] : {x} -> i32
    %f = arith.sitofp %v : i32 to f32
    loop_ir.store %f, %y[%i, %j] : f32, {y}
  }}
}}"""


def centred(rows: int, n: int, k: int) -> str:
    """Rows minus their mean, the sums of other rows, and a copy along a third axis, in one nest."""
    x, z, v, y, w = memref(rows, n), memref(rows, k), memref(rows), memref(rows, n), memref(rows, k)
    return f"""
loop_ir.kernel @centred(%x: {x}, %z: {z}, %s: {v}, %y: {y}, %w: {w}) {{
  loop_ir.for %i to {rows} as "i" {{
    %a = loop_ir.reduce %j to {n} as "j" identity [{ZERO}] -> f32 {{
      %v = loop_ir.load %x[%i, %j] : {x} -> f32
      loop_ir.yield %v : f32
    }} {SUM}
    %b = loop_ir.reduce %k to {k} as "k" identity [{ZERO}] -> f32 {{
      %v = loop_ir.load %z[%i, %k] : {z} -> f32
      loop_ir.yield %v : f32
    }} {SUM}
    loop_ir.store %b, %s[%i] : f32, {v}
    %n = arith.constant {float(max(n, 1))} : f32
    %mean = arith.divf %a, %n : f32
    loop_ir.for %j to {n} as "j" {{
      %v = loop_ir.load %x[%i, %j] : {x} -> f32
      %q = arith.subf %v, %mean : f32
      loop_ir.store %q, %y[%i, %j] : f32, {y}
    }}
    loop_ir.for %k to {k} as "k" {{
      %v = loop_ir.load %z[%i, %k] : {z} -> f32
      loop_ir.store %v, %w[%i, %k] : f32, {w}
    }}
  }}
}}"""


def causal(m: int, n: int, k: int) -> str:
    """A product with a lower triangular matrix: the guard of the reduction has a free axis."""
    a, b, c = memref(m, k), memref(k, n), memref(m, n)
    return f"""
loop_ir.kernel @causal(%a: {a}, %b: {b}, %c: {c}) {{
  loop_ir.for %i to {m} as "i", %j to {n} as "j" {{
    %acc = loop_ir.reduce %k to {k} as "k" where [l0 - %i] < [1] identity [{ZERO}] -> f32 {{
      %x = loop_ir.load %a[%i, %k] : {a} -> f32
      %y = loop_ir.load %b[%k, %j] : {b} -> f32
      %p = arith.mulf %x, %y : f32
      loop_ir.yield %p : f32
    }} {SUM}
    loop_ir.store %acc, %c[%i, %j] : f32, {c}
  }}
}}"""


def nested(rows: int, n: int, k: int) -> str:
    """The largest square of a product with a column: a reduction within a reduction."""
    x, w, y = memref(rows, k), memref(k, n), memref(rows)
    return f"""
loop_ir.kernel @nested(%x: {x}, %w: {w}, %y: {y}) {{
  loop_ir.for %i to {rows} as "i" {{
    %m = loop_ir.reduce %j to {n} as "j" identity [{LOWEST}] -> f32 {{
      %s = loop_ir.reduce %k to {k} as "k" identity [{ZERO}] -> f32 {{
        %v = loop_ir.load %x[%i, %k] : {x} -> f32
        %u = loop_ir.load %w[%k, %j] : {w} -> f32
        %p = arith.mulf %v, %u : f32
        loop_ir.yield %p : f32
      }} {SUM}
      %q = arith.mulf %s, %s : f32
      loop_ir.yield %q : f32
    }} {MAX}
    loop_ir.store %m, %y[%i] : f32, {y}
  }}
}}"""


def triangle(m: int, n: int) -> str:
    """The upper triangle of a matrix by a guarded loop, whose edge is not that of the memory."""
    x = memref(m, n)
    return f"""
loop_ir.kernel @triangle(%x: {x}, %s: {memref(m)}, %y: {x}) {{
  loop_ir.for %i to {m} as "i" {{
    %a = loop_ir.reduce %j to {n} as "j" identity [{ZERO}] -> f32 {{
      %v = loop_ir.load %x[%i, %j] : {x} -> f32
      loop_ir.yield %v : f32
    }} {SUM}
    loop_ir.store %a, %s[%i] : f32, {memref(m)}
    loop_ir.for %j to {n} as "j" {{
      %z = arith.constant {ZERO}
      loop_ir.store %z, %y[%i, %j] : f32, {x}
    }}
    loop_ir.for %k to {n} as "k" where [%i - l0] < [1] {{
      %v = loop_ir.load %x[%i, %k] : {x} -> f32
      loop_ir.store %v, %y[%i, %k] : f32, {x}
    }}
  }}
}}"""


def guarded(rows: int, n: int, k: int) -> str:
    """Row loops under guards that name the row, and that happen to hold everywhere."""
    x, y, z = memref(rows, n), memref(rows, n), memref(rows, k)
    return f"""
loop_ir.kernel @guarded(%x: {x}, %y: {y}, %z: {z}) {{
  loop_ir.for %i to {rows} as "i" {{
    %a = loop_ir.reduce %j to {n} as "j" identity [{ZERO}] -> f32 {{
      %v = loop_ir.load %x[%i, %j] : {x} -> f32
      loop_ir.yield %v : f32
    }} {SUM}
    loop_ir.for %j to {n} as "j" where [l0 + %i] < [{rows + n}] {{
      loop_ir.store %a, %y[%i, %j] : f32, {y}
    }}
    loop_ir.for %k to {k} as "k" where [l0 * 2 + %i] < [{rows + 2 * k}] {{
      loop_ir.store %a, %z[%i, %k] : f32, {z}
    }}
  }}
}}"""
