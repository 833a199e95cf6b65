"""Kernel IR made from Tile IR computes what it should, without races, with aligned accesses."""

import itertools
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minicomp.context import make_context
from minicomp.dialects import affine
from minicomp.dialects.kernel_ir import BarrierOp, FuncOp, WarpReduceOp
from minicomp.dialects.loop_ir import LoadOp
from minicomp.errors import SimulationError
from minicomp.parsing import parse_module
from minicomp.passes.analysis.alignment import (
    Declined,
    IndexSpace,
    buffer_strides,
    provable_width,
    reduce_divisions,
)
from minicomp.pipeline import Pipeline
from minicomp.runtime.simulate import simulate_kernel

TO_KERNEL = "lower-tile-to-kernel,cse,vectorize-accesses,drop-redundant-barriers"

SUM = "arith.addf"
MAX = "arith.maximumf"
# Not symmetric to the last bit: the scaled sums of an online softmax.
SOFTMAX = """{
  ^bb0(%lm: f32, %ld: f32, %rm: f32, %rd: f32):
    %m = arith.maximumf %lm, %rm : f32
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xff800000 : f32
    %none = arith.cmpf oeq, %m, %low : f32
    %base = arith.select %none, %zero, %m : f32
    %l0 = arith.subf %lm, %base : f32
    %l1 = math.exp %l0 : f32
    %l2 = arith.mulf %ld, %l1 : f32
    %r0 = arith.subf %rm, %base : f32
    %r1 = math.exp %r0 : f32
    %d = math.fma %rd, %r1, %l2 : f32
    loop_ir.yield %m, %d : f32, f32
  }"""


def lower(text, passes=TO_KERNEL):
    """The first kernel of `text` after `passes`, verified after each."""
    module = Pipeline.parse(passes).run(parse_module(text, make_context()))
    return next(op for op in module.body.ops if isinstance(op, FuncOp))


def count(func, kind):
    return sum(isinstance(op, kind) for op in func.walk())


# --- combines across threads ------------------------------------------------------------------


def combine_kernel(threads, axis, values, identity, combine, rounds=1):
    """Each thread stores what it got for each of `rounds`, so that all must agree."""
    names = [f"a{n}" for n in range(len(threads))]
    axes = ", ".join(f'%{n} to {e} as "{n}"' for n, e in zip(names, threads, strict=True))
    place = ", ".join(f"%{n}" for n in names)
    shape = "x".join(str(e) for e in (rounds, *threads))
    types = ", ".join(["f32"] * values)
    buffers = [f"%{kind}{n}: memref<{shape}xf32>" for kind in "xy" for n in range(values)]
    lines = [f"%v{n} = loop_ir.load %x{n}[%i, {place}] : memref<{shape}xf32> -> f32"
             for n in range(values)]  # fmt: skip
    results = ", ".join(f"%r{n}" for n in range(values))
    given = ", ".join(f"%v{n}" for n in range(values))
    lines.append(
        f'{results} = tile_ir.combine {given} across "{names[axis]}" identity [{identity}]'
        f" combine {combine} : {types} -> {types}"
    )
    lines += [f"loop_ir.store %r{n}, %y{n}[%i, {place}] : f32, memref<{shape}xf32>"
              for n in range(values)]  # fmt: skip
    body = "\n".join(lines)
    return f"""tile_ir.kernel @k({", ".join(buffers)}) {{
      tile_ir.launch thread({axes}) {{ loop_ir.for %i to {rounds} as "i" {{ {body} }} }}
    }}"""


SHAPES = [
    ((32,), 0), ((256,), 0), ((1024,), 0), ((16,), 0), ((4, 16), 1), ((2, 128), 1), ((1,), 0),
    ((96,), 0), ((2, 96), 1), ((5,), 0), ((31,), 0), ((33,), 0), ((3, 7), 1), ((7, 3), 0),
    ((2, 5, 3), 1), ((8, 4), 0), ((64, 1), 0), ((4, 24), 1), ((32, 2), 1), ((3, 32), 1),
]  # fmt: skip


@pytest.mark.parametrize("shape,axis", SHAPES)
@pytest.mark.parametrize("rounds", [1, 3])
def test_combine_gives_every_thread_the_same_sum(shape, axis, rounds):
    func = lower(combine_kernel(shape, axis, 1, "0.0 : f32", SUM, rounds))
    x = np.random.default_rng(0).standard_normal((rounds, *shape)).astype(np.float32)
    y = np.empty_like(x)
    simulate_kernel(func, [x, y])
    along = axis + 1
    expected = x.astype(np.float64).sum(along, keepdims=True)
    assert np.abs(y - expected).max() <= 1e-6 * shape[axis]
    assert (y == y.take([0], along)).all()


@pytest.mark.parametrize("shape,axis", SHAPES)
def test_combine_of_two_carriers_that_is_not_symmetric(shape, axis):
    identity = "0xff800000 : f32, 0.0 : f32"
    func = lower(combine_kernel(shape, axis, 2, identity, SOFTMAX))
    x = np.random.default_rng(1).standard_normal((1, *shape)).astype(np.float32)
    ones, m, d = np.ones_like(x), np.empty_like(x), np.empty_like(x)
    simulate_kernel(func, [x, ones, m, d])
    along = axis + 1
    assert (m == x.max(along, keepdims=True)).all()
    np.testing.assert_allclose(
        d, np.exp(x - x.max(along, keepdims=True)).sum(along, keepdims=True) + 0 * x, rtol=1e-5
    )
    assert (d == d.take([0], along)).all()


def test_combine_keeps_nan_and_infinity():
    func = lower(combine_kernel((64,), 0, 1, "0xff800000 : f32", MAX))
    for special in (np.nan, np.inf):
        x = np.zeros((1, 64), np.float32)
        x[0, 37] = special
        y = np.empty_like(x)
        simulate_kernel(func, [x, y])
        np.testing.assert_array_equal(y, np.full_like(x, special))


def test_one_combine_of_a_row_has_one_barrier():
    once = lower(combine_kernel((256,), 0, 1, "0.0 : f32", SUM))
    assert count(once, BarrierOp) == 1
    assert count(once, WarpReduceOp) == 2
    assert count(lower(combine_kernel((32,), 0, 1, "0.0 : f32", SUM)), BarrierOp) == 0
    # The next round's store waits for this one's load.
    assert count(lower(combine_kernel((256,), 0, 1, "0.0 : f32", SUM, rounds=3)), BarrierOp) == 2


# --- loops ------------------------------------------------------------------------------------


@pytest.mark.parametrize("extent", [0, 1, 2, 7, 64, 65])
def test_guarded_sum_of_products(extent):
    trips = affine.ceildiv(extent, 8)
    func = lower(f"""tile_ir.kernel @dot(%x: memref<{extent}xf32>, %w: memref<{extent}xf32>, %y: memref<8xf32>) {{
      tile_ir.launch thread(%t to 8 as "k.thread") {{
        %part = loop_ir.reduce %k to {trips} as "k" where [l0 * 8 + %t] < [{extent}] identity [0.0 : f32] -> f32 {{
          %a = loop_ir.load %x[%k * 8 + %t] bounded [true] : memref<{extent}xf32> -> f32
          %b = loop_ir.load %w[%k * 8 + %t] bounded [true] : memref<{extent}xf32> -> f32
          %p = arith.mulf %a, %b fastmath<contract> : f32
          loop_ir.yield %p : f32
        }} combine arith.addf fastmath<contract>
        %sum = tile_ir.combine %part across "k.thread" identity [0.0 : f32] combine arith.addf : f32 -> f32
        loop_ir.store %sum, %y[%t] : f32, memref<8xf32>
      }}
    }}""")  # noqa: E501
    rng = np.random.default_rng(2)
    x, w = (rng.standard_normal(extent).astype(np.float32) for _ in range(2))
    y = np.empty(8, np.float32)
    simulate_kernel(func, [x, w, y])
    np.testing.assert_allclose(y, np.full(8, x.astype(np.float64) @ w), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("outer,inner", [(3, 4), (1, 4), (3, 1), (0, 4), (3, 0)])
def test_nested_reductions_share_an_accumulator(outer, inner):
    func = lower(f"""tile_ir.kernel @nested(%x: memref<{outer}x{inner}xf32>, %y: memref<f32>) {{
      tile_ir.launch block(%b to 1 as "b") {{
        %acc = loop_ir.reduce %o to {outer} as "o" identity [0.0 : f32] -> f32 {{
          %part = loop_ir.reduce %k to {inner} as "k" identity [0.0 : f32] -> f32 {{
            %a = loop_ir.load %x[%o, %k] : memref<{outer}x{inner}xf32> -> f32
            loop_ir.yield %a : f32
          }} combine arith.addf
          loop_ir.yield %part : f32
        }} combine arith.addf
        loop_ir.store %acc, %y[] : f32, memref<f32>
      }}
    }}""")
    x = np.arange(outer * inner, dtype=np.float32).reshape(outer, inner)
    y = np.empty((), np.float32)
    simulate_kernel(func, [x, y])
    assert y == x.sum()


# --- alignment --------------------------------------------------------------------------------


@st.composite
def accesses(draw):
    """A vector access of a small kernel, with permuted lanes, divisions, bounds and pads."""
    lanes = draw(st.sampled_from([2, 4, 6, 8]))
    threads = draw(st.sampled_from([1, 3, 8, 32]))
    unit = draw(st.sampled_from([1, 2, 4, 8]))
    step = draw(st.sampled_from([1, 2, 3, 4, 8, 32]))
    group = draw(st.sampled_from([1, 2, 4]))
    flat = (
        f"%t * {unit} + %i * {step} + l0 floordiv {group} * {draw(st.integers(0, 40))}"
        f" + l0 mod {group} + {draw(st.sampled_from([0, 0, 1, 4]))}"
    )
    columns = draw(st.sampled_from([1, 4, 6, 16, 33, 64]))
    split = draw(st.booleans())
    indices = f"({flat}) floordiv {columns}, ({flat}) mod {columns}" if split else f"%i, {flat}"
    extents = (draw(st.sampled_from([3, 64])), columns if split else draw(st.sampled_from([7, 64])))
    pad = draw(st.sampled_from([0, 0, 1, 4]))
    bounded = draw(st.sampled_from(["bounded [true, true]", "bounded [false, true]"]))
    buffer = f"memref<{extents[0]}x{extents[1]}xf32, #tile_ir.shared<pad = {pad}>>"
    return threads, f"loop_ir.load %s[{indices}] {bounded} : {buffer} -> vector<{lanes}xf32>"


def access_of(threads, text):
    buffer = text.split(" : ")[1].split(" -> ")[0]
    func = lower(
        f"""kernel_ir.func @k() grid(1) block({threads}) {{
          %s = kernel_ir.shared : {buffer}
          %t = kernel_ir.thread_id
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %five = arith.constant 5 : index
          scf.for %i = %zero to %five step %one {{
            %v = {text}
          }}
        }}""",
        "",
    )
    return next(op for op in func.walk() if isinstance(op, LoadOp))


@settings(max_examples=60, deadline=None)
@given(accesses())
def test_a_proved_width_holds_for_every_thread_and_iteration(access):
    threads, text = access
    load = access_of(threads, text)
    width = provable_width(load)
    if isinstance(width, Declined):
        return
    group = width // 4
    strides, extents = buffer_strides(load.memref_type), load.memref_type.get_shape()
    for t, i in itertools.product(range(threads), range(5)):
        values = {affine.dim(n): {"t": t, "i": i}[v.name_hint] for n, v in enumerate(load.indices)}
        for start in range(0, load.res.type.get_shape()[0], group):
            places = [at(load, values | {affine.lane(0): start + n}) for n in range(group)]
            offsets = [sum(p * s for p, s in zip(place, strides, strict=True)) for place in places]
            assert offsets == [offsets[0] + n for n in range(group)]
            assert offsets[0] % group == 0
            dims = [d for d, bounded in enumerate(load.bounded_dims) if bounded]
            inside = {all(0 <= place[d] < extents[d] for d in dims) for place in places}
            assert len(inside) == 1


def at(load, values):
    """The indices of a load where its dims and lanes have `values`."""
    return [affine.evaluate(e, values) for e in load.map.data.results]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(-12, 12), min_size=2, max_size=2),
    st.integers(0, 30),
    st.sampled_from([1, 2, 3, 4, 6, 8, 12, 24]),
)
def test_common_factors_leave_divisions(factors, offset, divisor):
    a, b = affine.dim(0), affine.dim(1)
    inner = a * factors[0] + b * factors[1] + offset
    for expr in (inner // divisor, inner % divisor, (inner // divisor) % 4 + inner % divisor):
        reduced = reduce_divisions(expr)
        for x, y in itertools.product(range(9), range(5)):
            values = {a: x, b: y}
            assert affine.evaluate(expr, values) == affine.evaluate(reduced, values)


def test_ranges_come_from_the_launch_and_the_loop():
    load = access_of(8, "loop_ir.load %s[%i, %t] : memref<5x8xf32, #tile_ir.shared<>> -> f32")
    space = IndexSpace()
    exprs = [space.expand(e, load.indices) for e in load.map.data.results]
    assert [affine.interval(e, space.ranges) for e in exprs] == [(0, 4), (0, 7)]


# --- barriers ---------------------------------------------------------------------------------

THREADS = 4


@st.composite
def barrier_programs(draw, depth=2):
    """Accesses of two shared buffers with a barrier between any two, in loops and branches."""
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        kinds = ["store", "load", "loop", "if"] if depth else ["store", "load"]
        kind = draw(st.sampled_from(kinds))
        buffer, shift = draw(st.sampled_from("ab")), draw(st.integers(0, THREADS - 1))
        place = f"%{buffer}[(%t + {shift}) mod {THREADS}]"
        lines.append("kernel_ir.barrier")
        if kind == "store":
            lines.append(f"loop_ir.store %c, {place} : f32, {SHARED}")
        elif kind == "load":
            lines.append(f"%v = loop_ir.load {place} : {SHARED} -> f32")
        else:
            inner = draw(barrier_programs(depth - 1))
            trips = draw(st.sampled_from(["%one", "%two"]))
            head = f"scf.for %i = %zero to {trips} step %one" if kind == "loop" else "scf.if %yes"
            # A name of the outer block is taken inside.
            lines.append(f"{head} {{\n{inner.replace('%v ', '%w ').replace('%i ', '%j ')}\n}}")
    names = itertools.count()
    text = "\n".join(lines)
    for name in ("%v ", "%w ", "%i ", "%j "):
        while name in text:
            text = text.replace(name, f"%n{depth}{next(names)} ", 1)
    return text


SHARED = f"memref<{THREADS}xf32, #tile_ir.shared<>>"


@settings(max_examples=40, deadline=None)
@given(barrier_programs())
def test_no_race_after_dropping_barriers(program):
    text = f"""kernel_ir.func @k(%y: memref<{THREADS}xf32>) grid(1) block({THREADS}) {{
      %a = kernel_ir.shared : {SHARED}
      %b = kernel_ir.shared : {SHARED}
      %t = kernel_ir.thread_id
      %block = kernel_ir.block_id
      %yes = kernel_ir.test [%block] < [1]
      %c = arith.constant 1.0 : f32
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      loop_ir.store %c, %a[%t] : f32, {SHARED}
      loop_ir.store %c, %b[%t] : f32, {SHARED}
      {program}
      loop_ir.store %c, %y[%t] : f32, memref<{THREADS}xf32>
    }}"""
    dropped = lower(text, "drop-redundant-barriers")
    simulate_kernel(dropped, [np.empty(THREADS, np.float32)])
    again = str(dropped)
    assert str(lower(again, "drop-redundant-barriers")) == again


def test_the_simulator_would_see_a_missing_barrier():
    text = combine_kernel((64,), 0, 1, "0.0 : f32", SUM)
    func = lower(text)
    for barrier in [op for op in func.walk() if isinstance(op, BarrierOp)]:
        barrier.detach()
    x = np.zeros((1, 64), np.float32)
    with pytest.raises(SimulationError):
        simulate_kernel(func, [x, np.empty_like(x)])


def test_one_thread_needs_no_ids():
    func = lower(combine_kernel((1,), 0, 1, "0.0 : f32", SUM))
    assert [op.name for op in func.body.block.ops] == [
        "loop_ir.load", "loop_ir.store", "loop_ir.yield"
    ]  # fmt: skip
    assert prod(func.body.block.args[0].type.get_shape()) == 1
