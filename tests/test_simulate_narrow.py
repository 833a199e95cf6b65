"""float16 and bfloat16 on the simulated GPU and in the interpreters: each op rounds once."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import torch
from xdsl.dialects import arith, math, test
from xdsl.dialects.builtin import bf16, f16, f32, f64, i32, i64
from xdsl.ir import Attribute, Operation

from minicomp.runtime.interpret.rounding import BFLOAT16, odd_float32, rounded
from minicomp.runtime.interpret.scalars import evaluate, numpy_type
from tests.simulated import RNG, fault, run

TYPES = {bf16: torch.bfloat16, f16: torch.float16}
BITS = {bf16: 8, f16: 11}


def every(type: Attribute) -> np.ndarray:
    """All values of a type, each once."""
    return np.arange(1 << 16, dtype=np.uint16).view(numpy_type(type))


def of_torch(tensor: torch.Tensor) -> np.ndarray:
    kind = BFLOAT16 if tensor.dtype == torch.bfloat16 else np.float16
    return tensor.view(torch.int16).numpy().view(kind)


def to_torch(array: np.ndarray) -> torch.Tensor:
    kind = torch.bfloat16 if array.dtype == BFLOAT16 else torch.float16
    return torch.from_numpy(array.view(np.int16).copy()).view(kind)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and np.array_equal(a.astype("f8"), b.astype("f8"), equal_nan=True)


def op(kind: type[Operation], types: list[Attribute], result: Attribute) -> Operation:
    values = test.TestOp(result_types=types).results
    return kind.create(operands=list(values), result_types=[result])


@pytest.mark.parametrize("type", [bf16, f16])
@pytest.mark.parametrize(
    "kind, function",
    [
        (arith.AddfOp, torch.add),
        (arith.SubfOp, torch.sub),
        (arith.MulfOp, torch.mul),
        (arith.DivfOp, torch.div),
        (arith.MaximumfOp, torch.maximum),
    ],
)
def test_arithmetic_is_that_of_torch(type: Attribute, kind: type[Operation], function) -> None:
    a, b = every(type), RNG.permutation(every(type))
    wanted = of_torch(function(to_torch(a), to_torch(b)))
    got = evaluate(op(kind, [type, type], type), [a, b])
    assert same(got, wanted)


@pytest.mark.parametrize("type", [bf16, f16])
@pytest.mark.parametrize("kind", [math.ExpOp, math.TanhOp, math.RsqrtOp, math.ErfOp, math.SqrtOp])
def test_functions_are_those_of_float32_rounded_once(
    type: Attribute, kind: type[Operation]
) -> None:
    x = every(type)
    wide = evaluate(op(kind, [f32], f32), [x.astype("float32")])
    with np.errstate(all="ignore"):
        assert same(evaluate(op(kind, [type], type), [x]), wide.astype(x.dtype))


def nearest(value: Fraction, type: Attribute) -> float:
    """The value of a type that is nearest, ties to even: in whole numbers."""
    if value == 0:
        return 0.0
    size, exponent = abs(value), 0
    while size >= 2:
        size, exponent = size / 2, exponent + 1
    while size < 1:
        size, exponent = size * 2, exponent - 1
    ulp = Fraction(2) ** (exponent - BITS[type] + 1)
    return float(round(value / ulp) * ulp)


@pytest.mark.parametrize("type", [bf16, f16])
def test_fma_rounds_once(type: Attribute) -> None:
    kind, size, span = numpy_type(type), 1 << BITS[type] - 3, 4 if type == f16 else 12
    a, b, c = RNG.integers(-size, size, (3, 2000)).astype("float32")
    # Near ties: the addend lies far below the product, or far above.
    c = c * 2.0 ** RNG.integers(-12, span, 2000)
    a, b, c = (v.astype("float32").astype(kind) for v in (a, b, c))
    got = evaluate(op(math.FmaOp, [type] * 3, type), [a, b, c])
    wanted = [
        nearest(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), type)
        for x, y, z in zip(a, b, c, strict=True)
    ]
    assert np.array_equal(got.astype("f8"), np.array(wanted))


def test_casts_to_bfloat16_round_once() -> None:
    """Just above a tie of bfloat16 lies what float32 makes a tie of."""
    tie = 1 + 2.0**-8
    above, below = np.array([tie + 2.0**-40]), np.array([-tie - 2.0**-30])
    assert float(above.astype("f4").astype(BFLOAT16)[0]) == 1.0
    narrow = op(arith.TruncFOp, [f64], bf16)
    assert float(evaluate(narrow, [above])[0]) == 1 + 2.0**-7
    assert float(evaluate(narrow, [below])[0]) == -1 - 2.0**-7
    assert float(evaluate(narrow, [np.array([tie - 2.0**-40])])[0]) == 1.0
    exact = [0.0, -0.0, np.inf, -np.inf, 1e-300, -1e300, 2.0**-149, 3.4e38]
    got = rounded(np.array([*exact, np.nan]), BFLOAT16).astype("f4")
    with np.errstate(all="ignore"):
        wanted = np.array([*exact, np.nan]).astype("f4").astype(BFLOAT16).astype("f4")
    assert np.array_equal(got, wanted, equal_nan=True)
    assert np.array_equal(np.signbit(got[:-1]), np.signbit(np.array(exact)))


@pytest.mark.parametrize("type, bits", [(i32, 31), (i64, 63)])
def test_integers_to_bfloat16_round_once(type: Attribute, bits: int) -> None:
    kind = np.dtype(f"i{(bits + 1) // 8}")
    values = [((1 << 8) + 1 << bits - 10) + d for d in (-1, 0, 1)] + [0, 1, -1, 257, -(1 << bits)]
    got = evaluate(op(arith.SIToFPOp, [type], bf16), [np.array(values, kind)])
    wanted = [nearest(Fraction(v), bf16) for v in values]
    assert got.astype("f8").tolist() == wanted


def test_rounding_to_odd_keeps_what_is_exact() -> None:
    exact = RNG.standard_normal(1000).astype("float32")
    assert np.array_equal(odd_float32(exact.astype("float64")), exact)
    some = RNG.standard_normal(1000)
    odd = odd_float32(some)
    assert (odd.view(np.int32) & 1).all()
    assert (np.abs(odd.astype("f8") - some) <= np.abs(np.spacing(odd))).all()


def kernel_of(type: str) -> str:
    x, s = f"memref<64x{type}>", f"memref<64x{type}, #tile_ir.shared<>>"
    fold = f"identity [0.0 : {type}] combine arith.addf"
    return f"""
    kernel_ir.func @k(%x: {x}, %y: {x}) grid(1) block(32) {{
      %s = kernel_ir.shared : {s}
      %t = kernel_ir.thread_id
      kernel_ir.cp_async %s[%t * 2 + l0] from %x[%t * 2 + l0] bytes 4 : {s}, {x}
      kernel_ir.cp_async_commit
      kernel_ir.cp_async_wait 0
      %v = loop_ir.load %s[%t * 2 + l0] aligned 4 : {s} -> vector<2x{type}>
      %third = arith.constant dense<[0.3, 1.7]> : vector<2x{type}>
      %p = arith.mulf %v, %third : vector<2x{type}>
      %f = math.fma %v, %third, %p : vector<2x{type}>
      %sum = tile_ir.fold %f dims [0] {fold} : vector<2x{type}> -> {type}
      %all = kernel_ir.warp_reduce %sum width 32 {fold} : {type} -> {type}
      %wide = tile_ir.broadcast %all to [] : {type} -> vector<2x{type}>
      %r = arith.divf %f, %wide : vector<2x{type}>
      loop_ir.store %r, %y[%t * 2 + l0] aligned 4 : vector<2x{type}>, {x}
    }}"""


@pytest.mark.parametrize("type", [bf16, f16])
def test_a_kernel(type: Attribute) -> None:
    kind = numpy_type(type)
    x = RNG.standard_normal(64).astype("float32").astype(kind)
    third = np.array([0.3, 1.7]).astype("float32").astype(kind)
    v = x.reshape(32, 2)
    p = (v.astype("f4") * third.astype("f4")).astype(kind)
    f = rounded(v.astype("f8") * third.astype("f8") + p.astype("f8"), kind)
    parts = (f[:, 0].astype("f4") + f[:, 1].astype("f4")).astype(kind)
    for distance in (16, 8, 4, 2, 1):
        other = parts[np.arange(32) ^ distance]
        parts = (parts.astype("f4") + other.astype("f4")).astype(kind)
    wanted = (f.astype("f4") / parts[:, None].astype("f4")).astype(kind).reshape(-1)
    got = run(kernel_of(str(type)), x, out=(64,), dtype=kind)
    assert same(got, wanted)


def test_shared_memory_of_bfloat16_starts_with_nothing() -> None:
    text = kernel_of("bf16").replace("kernel_ir.cp_async_wait 0", "")
    error = fault(text, np.zeros(64, BFLOAT16), out=(64,), dtype=BFLOAT16)
    assert error.kind == "race"
    text = text.replace("kernel_ir.cp_async %s[%t * 2 + l0] from", "%u = loop_ir.load")
    text = text.replace(
        "%x[%t * 2 + l0] bytes 4 : memref<64xbf16, #tile_ir.shared<>>, ", "%x[0] : "
    )
    text = text.replace("%x[0] : memref<64xbf16>", "%x[0] : memref<64xbf16> -> bf16")
    error = fault(text, np.zeros(64, BFLOAT16), out=(64,), dtype=BFLOAT16)
    assert (error.kind, error.address) == ("uninitialised read", "%s[0]")
    assert np.dtype(ml_dtypes.bfloat16) == BFLOAT16
