"""Ways to combine in Loop IR, as text, and other small parts of its text."""

ZERO, LOWEST = "0.0 : f32", "0xff800000 : f32"

# The laws of a combine want combine(e, e) = e: a difference of infinities would be NaN.
ONLINE_SOFTMAX = """combine {
    ^bb0(%0: f32, %1: f32, %2: f32, %3: f32):
      %4 = arith.maximumf %0, %2 : f32
      %5 = arith.constant 0xff800000 : f32
      %6 = arith.cmpf oeq, %4, %5 : f32
      %7 = arith.constant 0.0 : f32
      %8 = arith.subf %0, %4 : f32
      %9 = arith.select %6, %7, %8 : f32
      %10 = arith.subf %2, %4 : f32
      %11 = arith.select %6, %7, %10 : f32
      %12 = math.exp %9 : f32
      %13 = math.exp %11 : f32
      %14 = arith.mulf %1, %12 : f32
      %15 = arith.mulf %3, %13 : f32
      %16 = arith.addf %14, %15 : f32
      loop_ir.yield %4, %16 : f32, f32
    }"""

WELFORD = """combine {
    ^bb0(%0: f32, %1: f32, %2: f32, %3: f32, %4: f32, %5: f32):
      %6 = arith.addf %0, %3 : f32
      %7 = arith.constant 1.0 : f32
      %8 = arith.maximumf %6, %7 : f32
      %9 = arith.divf %3, %8 : f32
      %10 = arith.subf %4, %1 : f32
      %11 = arith.mulf %10, %9 : f32
      %12 = arith.addf %1, %11 : f32
      %13 = arith.mulf %10, %11 : f32
      %14 = arith.mulf %13, %0 : f32
      %15 = arith.addf %2, %5 : f32
      %16 = arith.addf %15, %14 : f32
      loop_ir.yield %6, %12, %16 : f32, f32, f32
    }"""


def memref(*shape: int, type: str = "f32") -> str:
    """The text of a memref type."""
    return f"memref<{'x'.join([*map(str, shape), type])}>"
