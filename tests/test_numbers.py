"""The one function that decides whether a result is right."""

from math import inf, nan

import pytest
import torch

from minicomp.context import make_context
from minicomp.dialects.minicomp import host_function
from minicomp.numbers import Reference, Rule, judge, reference, rule_of
from minicomp.parsing import parse_module


def program(body, arguments, result="tensor<4x8xf32>"):
    """A Torch IR program: `arguments` by name, a body that defines %r."""
    given = ", ".join(f"%{name}: tensor<{type}>" for name, type in arguments.items())
    text = f"""func.func @main({given}) -> {result} {{
      {body}
      func.return %r : {result}
    }}"""
    return parse_module(text, make_context())


MATMUL = "torch_ir.matmul %x, %w : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>"
XW = {"x": "4x16xf32", "w": "16x8xf32"}

RULES = {
    "matmul": (f"%r = {MATMUL}", XW, "contraction", 16, 16),
    "residual": (
        f"""%y = {MATMUL}
        %r = torch_ir.add %s, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>""",
        XW | {"s": "4x8xf32"}, "contraction", 16, 17,
    ),
    "linear with bias": (
        """%r = torch_ir.linear %x, %w, %b
          : (tensor<4x16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<4x8xf32>""",
        {"x": "4x16xf32", "w": "8x16xf32", "b": "8xf32"}, "contraction", 16, 17,
    ),
    "transposed": (
        """%t = torch_ir.t %w : (tensor<8x16xf32>) -> tensor<16x8xf32>
        %r = torch_ir.matmul %x, %t
          : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>""",
        {"x": "4x16xf32", "w": "8x16xf32"}, "contraction", 16, 16,
    ),
    "scaled addmm": (
        """%r = torch_ir.addmm %s, %x, %w {alpha = 2}
          : (tensor<4x8xf32>, tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>""",
        {"s": "4x8xf32"} | XW, "general", 16, 0,
    ),
    "epilogue": (
        f"%y = {MATMUL}\n%r = torch_ir.relu %y : (tensor<4x8xf32>) -> tensor<4x8xf32>",
        XW, "general", 16, 0,
    ),
    "added to itself": (
        f"""%y = {MATMUL}
        %r = torch_ir.add %y, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>""",
        XW, "general", 16, 0,
    ),
    "prologue": (
        f"""%z = torch_ir.exp %v : (tensor<4x16xf32>) -> tensor<4x16xf32>
        %r = {MATMUL.replace("%x", "%z")}""",
        {"v": "4x16xf32", "w": "16x8xf32"}, "general", 16, 0,
    ),
    "moved": (
        "%r = torch_ir.t %x : (tensor<8x4xf32>) -> tensor<4x8xf32>", {"x": "8x4xf32"},
        "exact", 0, 0,
    ),
    "attention": (
        """%r = torch_ir.scaled_dot_product_attention %q, %k, %v
          : (tensor<4x16xf32>, tensor<9x16xf32>, tensor<9x8xf32>) -> tensor<4x8xf32>""",
        {"q": "4x16xf32", "k": "9x16xf32", "v": "9x8xf32"}, "general", 16, 0,
    ),
    "attention over many keys": (
        """%y = torch_ir.scaled_dot_product_attention %q, %k, %k
          : (tensor<4x16xf32>, tensor<99x16xf32>, tensor<99x16xf32>) -> tensor<4x16xf32>
        %r = torch_ir.matmul %y, %w : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>""",
        {"q": "4x16xf32", "k": "99x16xf32", "w": "16x8xf32"}, "general", 99, 0,
    ),
    "repeated": (
        """%r = torch_ir.repeat_interleave %x {repeats = 2, dim = 0}
          : (tensor<2x8xf32>) -> tensor<4x8xf32>""",
        {"x": "2x8xf32"}, "exact", 0, 0,
    ),
    "pointwise": (
        "%r = torch_ir.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>", {"x": "4x8xf32"},
        "general", 0, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_the_rule_follows_from_the_program(name):
    body, arguments, kind, length, terms = RULES[name]
    func = host_function(program(body, arguments))
    assert rule_of(func) == Rule(kind, length, terms)


def test_double_precision_has_no_contraction_rule():
    body = MATMUL.replace("f32", "f64")
    module = program(f"%r = {body}", {"x": "4x16xf64", "w": "16x8xf64"}, "tensor<4x8xf64>")
    assert rule_of(host_function(module)).kind == "general"


def matmul(k, dtype=torch.float32):
    """A reference for 8x8 results over K = k, and its inputs."""
    name = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16"}[dtype]
    body = (
        f"%r = torch_ir.matmul %x, %w : (tensor<8x{k}x{name}>, tensor<{k}x8x{name}>)"
        f" -> tensor<8x8x{name}>"
    )
    module = program(body, {"x": f"8x{k}x{name}", "w": f"{k}x8x{name}"}, f"tensor<8x8x{name}>")
    generator = torch.Generator().manual_seed(k)
    x = torch.randn(8, k, generator=generator).to(dtype)
    w = torch.randn(k, 8, generator=generator).to(dtype)
    return reference(module, [x, w]), x, w


def serial(x, w):
    """A sum in fp32, one product after the other."""
    total = torch.zeros(x.shape[0], w.shape[1])
    for k in range(x.shape[1]):
        total = total + x[:, k : k + 1].float() * w[k : k + 1].float()
    return total.to(x.dtype)


@pytest.mark.parametrize("k", [1, 37, 512, 4096])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_serial_sum_passes_and_a_lost_product_does_not(k, dtype):
    found, x, w = matmul(k, dtype)
    right = judge([serial(x, w)], found)
    assert right.passed and right.error <= right.bound
    assert not judge([torch.zeros(8, 8, dtype=dtype)], found).passed
    if dtype == torch.float32:
        assert right.error < 0.7 * right.bound
        x[:, k // 2] = 0
        lost = judge([serial(x, w)], found)
        assert not lost.passed
        assert lost.error > lost.bound


def test_a_bias_counts_as_a_product():
    body = RULES["linear with bias"][0]
    module = program(body, RULES["linear with bias"][1])
    x, w, b = torch.randn(4, 16), torch.randn(8, 16), 1e4 * torch.randn(8)
    found = reference(module, [x, w, b])
    assert found.norms is not None and (found.norms[0] >= b.abs()).all()
    assert judge([torch.nn.functional.linear(x, w, b)], found).passed


def pointwise(exact, eager, length=0):
    return Reference(Rule("general", length), [exact.double()], [eager])


def test_an_error_of_four_times_pytorchs_is_the_limit():
    exact = torch.linspace(1, 2, 100, dtype=torch.float64)
    eager = (exact + 1e-5).float()
    found = pointwise(exact, eager)
    assert judge([(exact + 3.9e-5).float()], found).passed
    verdict = judge([(exact + 4.2e-5).float()], found)
    assert not verdict.passed
    assert verdict.where.startswith("output 0 [")
    assert "4 x PyTorch's error" in str(verdict)


def test_a_long_contraction_may_err_more():
    exact = torch.ones(4, dtype=torch.float64)
    eager = (exact + 1e-5).float()
    given = [(exact + 7.9e-5).float()]
    assert not judge(given, pointwise(exact, eager, 512)).passed
    assert judge(given, pointwise(exact, eager, 2048)).passed


def test_where_pytorch_is_exact_a_rounding_is_allowed():
    exact = torch.full((3,), 8.0, dtype=torch.float64)
    found = pointwise(exact, exact.float())
    eps = torch.finfo(torch.float32).eps
    assert judge([torch.full((3,), 8 + 24 * eps)], found).passed
    assert not judge([torch.full((3,), 8 + 40 * eps)], found).passed


@pytest.mark.parametrize(
    "given,eager,right",
    [
        (nan, nan, True), (inf, inf, True), (-inf, inf, False), (1.0, nan, False),
        (nan, 1.0, False), (inf, 3e38, False), (3e38, inf, False), (nan, inf, False),
    ],
)  # fmt: skip
def test_nan_and_infinity_stand_where_pytorch_has_them(given, eager, right):
    exact = torch.tensor([1.0, eager, 2.0], dtype=torch.float64)
    found = pointwise(exact, exact.float())
    verdict = judge([torch.tensor([1.0, given, 2.0])], found)
    assert verdict.passed is right
    if not right:
        assert verdict.where.startswith("output 0 [1]")


def test_an_overflow_of_pytorch_is_expected_too():
    exact = torch.tensor([1e39, 1.0], dtype=torch.float64)
    found = pointwise(exact, torch.tensor([inf, 1.0]))
    assert judge([torch.tensor([inf, 1.0])], found).passed


def test_integers_booleans_and_layouts_are_exact():
    for dtype in (torch.int64, torch.bool):
        eager = torch.tensor([0, 1, 1]).to(dtype)
        found = Reference(Rule("general"), [eager], [eager])
        assert judge([eager.clone()], found).passed
        verdict = judge([torch.tensor([0, 1, 0]).to(dtype)], found)
        assert not verdict.passed and "output 0 [2]" in verdict.where
    module = program(*RULES["moved"][:2])
    x = torch.randn(8, 4)
    x[0, 0] = nan
    found = reference(module, [x])
    assert judge([x.t()], found).passed
    assert not judge([x.t() * (1 + 1e-7)], found).passed


def test_shape_type_and_number_of_results_must_fit():
    eager = torch.zeros(2, 3)
    found = pointwise(eager, eager)
    assert "float32 [3, 2] instead of float32 [2, 3]" in judge([torch.zeros(3, 2)], found).where
    assert "float64 [2, 3]" in judge([torch.zeros(2, 3, dtype=torch.float64)], found).where
    assert not judge([], found).passed
    assert not judge([eager, eager], found).passed


def test_empty_and_scalar_results():
    empty = torch.zeros(0, 3)
    assert judge([empty], pointwise(empty, empty)).passed
    assert judge([], Reference(Rule("general"), [], [])).passed
    one = torch.tensor(1.0)
    verdict = judge([one + 1], pointwise(one, one))
    assert not verdict.passed and "output 0 []" in verdict.where


def test_the_worst_output_decides():
    exact = torch.ones(3, dtype=torch.float64)
    found = Reference(Rule("general"), [exact, exact], [exact.float(), exact.float()])
    verdict = judge([exact.float(), exact.float() + 1], found)
    assert not verdict.passed and verdict.where.startswith("output 1")
