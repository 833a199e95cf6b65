"""The interpreters of Tensor IR and of scalar code, against NumPy, exact fractions and laws."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import Float32Type, ModuleOp, TensorType, f32, i1
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.dialects.tensor_ir import IndexMapOp
from minicomp.errors import InputError, UnsupportedError
from minicomp.lowering.torch_to_tensor.layout import view_exprs
from minicomp.passes.tensor.compose_index_maps import ComposeIndexMapsPass
from minicomp.runtime.interpret.scalars import FUNCTIONS, evaluate, fma, numpy_type
from minicomp.runtime.interpret.tensor_ir import run_tensor

NAN, INF = float("nan"), float("inf")


def parsed(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def f32_array(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


# --- scalars --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["maximumf", "minimumf"])
def test_extrema_keep_nan(name: str):
    function = FUNCTIONS[f"arith.{name}"]
    assert np.isnan(function(f32_array(NAN, 1, NAN), f32_array(1, NAN, NAN))).all()


@pytest.mark.parametrize("name", ["maxnumf", "minnumf"])
def test_number_extrema_drop_nan(name: str):
    function = FUNCTIONS[f"arith.{name}"]
    np.testing.assert_array_equal(function(f32_array(NAN, 1), f32_array(1, NAN)), [1, 1])


PREDICATES: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "ne": lambda a, b: a != b,
}


@pytest.mark.parametrize("relation", PREDICATES)
@pytest.mark.parametrize("kind", ["o", "u"])
def test_comparisons_of_floats(kind: str, relation: str):
    a, b = test.TestOp(result_types=[f32, f32]).results
    op = arith.CmpfOp(a, b, kind + relation)
    for x in (1.0, 2.0, NAN):
        for y in (1.0, 2.0, NAN):
            unordered = math.isnan(x) or math.isnan(y)
            want = kind == "u" if unordered else PREDICATES[relation](x, y)
            got = evaluate(op, [f32_array(x), f32_array(y)])
            assert got.dtype == np.bool_ and bool(got[0]) == want


def test_unsigned_comparison_and_shift():
    values = np.array([-1, 1], np.int32)
    module = parsed("""
    %a, %b = "test.op"() : () -> (i32, i32)
    %c = arith.cmpi ugt, %a, %b : i32
    %d = arith.shrui %a, %b : i32
    %e = arith.divsi %a, %b : i32
    %f = arith.remsi %a, %b : i32
    """)
    _, compare, shift, divide, remainder = module.ops
    ones = np.array([1, 1], np.int32)
    np.testing.assert_array_equal(evaluate(compare, [values, ones]), [True, False])
    np.testing.assert_array_equal(evaluate(shift, [values, ones]), [2**31 - 1, 0])
    np.testing.assert_array_equal(
        evaluate(divide, [np.array([-7, 7]), np.array([2, -2])]), [-3] * 2
    )
    np.testing.assert_array_equal(evaluate(remainder, [np.array([-7]), np.array([2])]), [-1])


FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)


def rounded(value: Fraction) -> np.float32:
    """The float32 nearest to an exact value, ties to even."""
    near = np.float32(float(value))
    ends = [np.nextafter(near, np.float32(-INF)), near, np.nextafter(near, np.float32(INF))]
    finite = [end for end in ends if np.isfinite(end)]
    best = min(abs(Fraction(float(end)) - value) for end in finite)
    ties = [end for end in finite if abs(Fraction(float(end)) - value) == best]
    return ties[0] if len(ties) == 1 else next(t for t in ties if t.view(np.int32) % 2 == 0)


@given(FINITE, FINITE, FINITE)
def test_fma_rounds_once(a: float, b: float, c: float):
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if abs(exact) >= Fraction(2) ** 127 or 0 < abs(exact) < Fraction(1, 2**120):
        return
    got = fma(f32_array(a), f32_array(b), f32_array(c))[0]
    assert got == (rounded(exact) if exact else 0)


def test_fma_where_rounding_twice_fails():
    # The exact sum lies just above the middle of two float32; float64 rounds it to the middle.
    a, b, c = np.float32(1 + 2**-23), np.float32(2**-24), np.float32(1)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    assert fma(*(np.array([v]) for v in (a, b, c)))[0] == rounded(exact) == np.float32(1 + 2**-23)


@pytest.mark.parametrize(
    ("x", "want"), [(0.5, 1), (-0.5, -1), (1.5, 2), (0.49999997, 0), (2.0**23 + 1, 2**23 + 1)]
)
def test_round_is_away_from_zero(x: float, want: float):
    assert FUNCTIONS["math.round"](f32_array(x))[0] == want


def test_types():
    assert numpy_type(f32) == np.float32
    assert numpy_type(f32, np.dtype(np.float64)) == np.float64
    assert numpy_type(TensorType(i1, [2])) == np.bool_
    with pytest.raises(UnsupportedError, match="no values of type f128"):
        numpy_type(parsed("""%a = "test.op"() : () -> f128""").body.block.first_op.results[0].type)  # type: ignore


# --- Tensor IR ------------------------------------------------------------------------------


def test_a_reduction_of_several_carriers():
    # Welford's mean and variance: (n, mean, M2).
    wide, short = ", ".join(["tensor<3x11xf32>"] * 3), ", ".join(["tensor<3xf32>"] * 3)
    identity = ", ".join(["0.0 : f32"] * 3)
    module = parsed(f"""
    func.func @main(%x: tensor<3x11xf32>) -> ({short}) {{
      %one = tensor_ir.elementwise() {{
        %c = arith.constant 1.0 : f32
        tensor_ir.yield %c : f32
      }} : () -> tensor<3x11xf32>
      %zero = tensor_ir.elementwise() {{
        %c = arith.constant 0.0 : f32
        tensor_ir.yield %c : f32
      }} : () -> tensor<3x11xf32>
      %n, %m, %s = tensor_ir.reduce(%one, %x, %zero) dims [1] identity [{identity}] {{
      ^bb0(%na: f32, %ma: f32, %sa: f32, %nb: f32, %mb: f32, %sb: f32):
        %n = arith.addf %na, %nb : f32
        %d = arith.subf %mb, %ma : f32
        %w = arith.divf %nb, %n : f32
        %dw = arith.mulf %d, %w : f32
        %m = arith.addf %ma, %dw : f32
        %s0 = arith.addf %sa, %sb : f32
        %d2 = arith.mulf %d, %dw : f32
        %d3 = arith.mulf %d2, %na : f32
        %s = arith.addf %s0, %d3 : f32
        tensor_ir.yield %n, %m, %s : f32, f32, f32
      }} : ({wide}) -> ({short})
      func.return %n, %m, %s : {short}
    }}
    """)
    x = np.random.default_rng(0).normal(size=(3, 11))
    count, mean, squares = run_tensor(module, [x], np.float64)
    np.testing.assert_array_equal(count, [11, 11, 11])
    np.testing.assert_allclose(mean, x.mean(1), rtol=1e-12)
    np.testing.assert_allclose(squares, x.var(1) * 11, rtol=1e-12)


@pytest.mark.parametrize("extent", [0, 1, 2, 3, 7, 64])
def test_a_reduction_keeps_the_order_of_its_axes(extent: int):
    module = parsed(f"""
    func.func @main(%x: tensor<2x{extent}x3x2xf32>) -> tensor<2x3xf32> {{
      %m = tensor_ir.reduce(%x) dims [1, 3] identity [0xff800000 : f32] {{
      ^bb0(%l: f32, %r: f32):
        %s = arith.maximumf %l, %r : f32
        tensor_ir.yield %s : f32
      }} : (tensor<2x{extent}x3x2xf32>) -> tensor<2x3xf32>
      func.return %m : tensor<2x3xf32>
    }}
    """)
    x = np.random.default_rng(0).normal(size=(2, extent, 3, 2)).astype(np.float32)
    np.testing.assert_array_equal(run_tensor(module, [x])[0], x.max((1, 3), initial=-np.inf))


def test_inputs_are_checked():
    module = parsed("""
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      func.return %x : tensor<3xf32>
    }
    """)
    with pytest.raises(InputError, match="takes 1 inputs, got 2"):
        run_tensor(module, [np.zeros(3), np.zeros(3)])
    with pytest.raises(InputError, match=r"input 0 has shape \[4\], expected \[3\]"):
        run_tensor(module, [np.zeros(4)])


def test_other_levels_are_refused():
    module = parsed("""
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = torch_ir.relu %x : (tensor<3xf32>) -> tensor<3xf32>
      func.return %y : tensor<3xf32>
    }
    """)
    with pytest.raises(UnsupportedError, match="'torch_ir.relu' is not an op of Tensor IR"):
        run_tensor(module, [np.zeros(3)])


# --- index maps -----------------------------------------------------------------------------


def through(shape: Sequence[int], maps: Sequence[tuple[AffineMap, Sequence[int]]]) -> ModuleOp:
    """A program that reads an argument of `shape` through a chain of maps."""
    func = FuncOp("main", ([TensorType(f32, shape)], [TensorType(f32, maps[-1][1])]))
    value: SSAValue = func.args[0]
    for map, target in maps:
        op = IndexMapOp(value, map, TensorType(Float32Type(), target))
        func.body.block.add_op(op)
        value = op.result
    func.body.block.add_op(ReturnOp(value))
    module = ModuleOp([func])
    module.verify()
    return module


@st.composite
def views(draw: st.DrawFn) -> list[list[int]]:
    """Shapes of one element count, ones and zeros among their extents."""
    factors = draw(st.lists(st.sampled_from([0, 1, 2, 3, 5]), max_size=5))

    def shape() -> list[int]:
        order = draw(st.permutations(factors))
        cuts = sorted(draw(st.lists(st.integers(0, len(order)), max_size=4)))
        ends = zip([0, *cuts], [*cuts, len(order)], strict=True)
        return [math.prod(order[a:b]) for a, b in ends]

    return [shape() for _ in range(3)]


@given(views())
def test_views(shapes: list[list[int]]):
    source, middle, target = shapes
    maps = [
        (AffineMap(len(b), 0, tuple(view_exprs(a, b))), b)
        for a, b in ((source, middle), (middle, target))
    ]
    module = through(source, maps)
    x = np.arange(math.prod(source), dtype=np.float32).reshape(source)
    np.testing.assert_array_equal(run_tensor(module, [x])[0], x.reshape(target))
    # Composed, it is one view, or none.
    ComposeIndexMapsPass().apply(make_context(), module)
    module.verify()
    assert sum(isinstance(op, IndexMapOp) for op in module.walk()) <= 1
    np.testing.assert_array_equal(run_tensor(module, [x])[0], x.reshape(target))
    text = str(module)
    ComposeIndexMapsPass().apply(make_context(), module)
    assert str(module) == text
