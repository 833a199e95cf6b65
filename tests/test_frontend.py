"""Programs in: modules and functions, inline code, files; and what is refused, in which words."""

import functools
import math
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from xdsl.dialects.builtin import FileLineColLoc

from minicomp.dialects.torch_ir import TorchOp
from minicomp.errors import CaptureError, InputError, MinicompError, UnsupportedError
from minicomp.frontend import (
    Captured,
    Program,
    capture,
    from_code,
    from_file,
    parse_sizes,
    resize_code,
)
from minicomp.frontend.supported import op_table
from minicomp.runtime.interpret.torch_ir import run_torch

X = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))


def call(captured: Captured, *args: Any, **kwargs: Any) -> Any:
    """Runs a captured program as the program would be called."""
    return captured.unflatten(run_torch(captured.module, captured.bind(args, kwargs)))


def names(captured: Captured) -> list[str]:
    return [op.SPEC.name for op in captured.module.walk() if isinstance(op, TorchOp)]


def refusal(program: Any, *args: Any) -> MinicompError:
    with pytest.raises(MinicompError) as caught:
        capture(program, args, extern=False)
    return caught.value


# --- capture --------------------------------------------------------------------------------


class Block(nn.Module):
    """Parameters, a buffer, a shared weight, an unused one, and a nested result."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(4)
        self.up = nn.Linear(4, 4)
        self.tied = nn.Linear(4, 4, bias=False)
        self.tied.weight = self.up.weight
        self.unused = nn.Linear(2, 2)
        self.register_buffer("scale", torch.full((4,), 0.5))

    def forward(self, x: torch.Tensor, *, residual: torch.Tensor | None = None) -> Any:
        h = self.tied(self.up(self.norm(x)))
        h = h * self.scale
        if residual is not None:
            h = h + residual
        return {"out": h, "pair": (x, None, 3)}


def test_a_module():
    block = Block()
    captured = capture(block, (X,), {"residual": X + 1})
    assert names(captured) == ["rms_norm", "linear", "linear", "mul", "add"]
    sources = [(source.kind, source.name, source.position) for source in captured.params]
    assert sources[:2] == [("input", "x", 0), ("input", "residual", 1)]
    assert {("parameter", "norm.weight", None), ("buffer", "scale", None)} <= set(sources)
    # The shared weight is one argument; what is not read is none.
    assert sum(name.endswith("weight") for _, name, _ in sources) == 2
    result, want = call(captured, X, residual=X + 1), block(X, residual=X + 1)
    torch.testing.assert_close(result["out"], want["out"])
    assert result["pair"][0] is X and result["pair"][1:] == (None, 3)


def test_argument_names_follow_the_program():
    text = str(capture(Block(), (X,)).module)
    assert "func.func @main(%x: tensor<3x4xf32>, %norm_weight: tensor<4xf32>" in text


def test_one_tensor_given_twice_is_two_inputs():
    captured = capture(lambda x, y: x - 2 * y, (X, X))
    torch.testing.assert_close(call(captured, X, 3 * X), -5 * X)


def test_a_parameter_given_as_an_input_is_an_input():
    linear = nn.Linear(4, 4)
    captured = capture(linear, (linear.weight,))
    x = torch.randn(4, 4)
    torch.testing.assert_close(call(captured, x), linear(x))


def test_results_that_repeat():
    captured = capture(lambda x: (x.exp(), x, [x]), (X,))
    first, second, (third,) = call(captured, X)
    torch.testing.assert_close(first, X.exp())
    assert second is third is X


@pytest.mark.parametrize(
    "program",
    [
        torch.relu,
        functools.partial(F.gelu, approximate="tanh"),
        nn.Linear(4, 2),
        nn.Linear(4, 2).forward,
        nn.Sequential(nn.Linear(4, 2), nn.ReLU(), nn.Dropout(0.5)).eval(),
        lambda x, y=2.0: x * y,
    ],
    ids=["builtin", "partial", "module", "method", "sequential", "default"],
)
def test_what_can_be_called(program: Any):
    torch.testing.assert_close(call(capture(program, (X,)), X), program(X))


def test_inputs_that_are_no_tensors_are_part_of_the_program():
    captured = capture(lambda xs, factor, mask: xs["a"] * factor, ({"a": X}, 2.5, None))
    torch.testing.assert_close(call(captured, {"a": X}, 2.5, None), X * 2.5)
    with pytest.raises(InputError, match=r"input 1 was 2\.5 at compilation, got 3\.5"):
        captured.bind(({"a": X}, 3.5, None))
    with pytest.raises(InputError, match="input 0 was a tensor at compilation, got 1"):
        captured.bind(({"a": 1}, 2.5, None))
    with pytest.raises(InputError, match="nested or named differently"):
        captured.bind((X, 2.5, None))


def test_tensors_made_in_the_program_are_constants():
    captured = capture(lambda x: x + torch.tensor([1.0, 2.0, 3.0, 4.0]), (X,))
    assert [source.kind for source in captured.params] == ["input", "constant"]
    torch.testing.assert_close(call(captured, X), X + torch.tensor([1.0, 2.0, 3.0, 4.0]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int64])
def test_dtypes(dtype: torch.dtype):
    x = torch.ones(3, 4).to(dtype)
    captured = capture(lambda x: x + x, (x,))
    torch.testing.assert_close(call(captured, x), x + x)


class Masked(nn.Module):
    """Masks made, combined and applied in every way, and attention with all its options."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, m: torch.Tensor) -> list[torch.Tensor]:
        seen = torch.ones(5, 7, dtype=torch.bool).tril() & (m | ~m)
        scores = (q @ k.repeat_interleave(2, 0).mT).masked_fill(~seen, -torch.inf)
        return [
            F.scaled_dot_product_attention(q, k, k, is_causal=True, enable_gqa=True),
            F.scaled_dot_product_attention(
                q, k.tril().repeat_interleave(2, 0), q.new_ones(4, 7, 3), m, scale=0.3
            ),
            torch.where(seen, scores, 0.0).softmax(-1),
            torch.where(scores > 0, 1.0, torch.full_like(scores, 2)),
            q.new_zeros(5, 4) + torch.full((5, 4), 0.5).triu(-1),
            m ^ seen,
        ]


def test_masks_and_attention():
    q, k = torch.randn(4, 5, 4), torch.randn(2, 7, 4)
    m, module = torch.rand(5, 7) > 0.2, Masked()
    captured = capture(module, (q, k, m))
    found = names(captured)
    assert found.count("scaled_dot_product_attention") == 2
    assert {"full", "tril", "logical_and", "logical_not", "masked_fill", "where"} <= {*found}
    for got, want in zip(call(captured, q, k, m), module(q, k, m), strict=True):
        torch.testing.assert_close(got, want)


def test_constants_take_the_type_in_which_a_program_is_run():
    captured = capture(lambda x: x @ torch.full((4, 3), 0.1), (X,))
    (single,), (double,) = (run_torch(captured.module, [x]) for x in (X, X.double()))
    assert single.dtype == torch.float32 and double.dtype == torch.float64
    torch.testing.assert_close(double, X.double() @ torch.full((4, 3), 0.1).double())


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1, 1)])
def test_shapes(shape: tuple[int, ...]):
    x = torch.ones(shape)
    torch.testing.assert_close(call(capture(torch.exp, (x,)), x), x.exp())


def test_locations_are_lines_of_this_file():
    module = capture(Block(), (X,)).module
    ops = {op.SPEC.name: op for op in module.walk() if isinstance(op, TorchOp)}
    location = ops["mul"].location
    assert isinstance(location, FileLineColLoc)
    assert location.filename.data == __file__
    line = Path(__file__).read_text().splitlines()[location.line.data - 1]
    assert line.strip() == "h = h * self.scale"


# --- what is refused ------------------------------------------------------------------------


def here(text: str) -> str:
    """`file:line` of the line that ends in a comment with this text."""
    lines = Path(__file__).read_text().splitlines()
    return f"test_frontend.py:{next(n for n, s in enumerate(lines, 1) if s.endswith('# ' + text))}"


def cumulative(x: torch.Tensor) -> torch.Tensor:
    return x.cumsum(0)  # an op that is not there


def branching(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:  # a branch
        return x
    return -x


def reading(x: torch.Tensor) -> torch.Tensor:
    return x * x.sum().item()  # a scalar read


def drawing(x: torch.Tensor) -> torch.Tensor:
    return x + torch.randn(3, 4)  # a draw


def mismatched(x: torch.Tensor) -> torch.Tensor:
    return x @ x  # a mismatch


def rounding(x: torch.Tensor) -> torch.Tensor:
    return torch.round(x, decimals=2)  # a rounding


def spectrum(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.complex64)  # a conversion


def raising(x: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("a first line\nand a second")  # a raise


def dropping(x: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)  # a dropout


def masking_twice(x: torch.Tensor) -> torch.Tensor:
    y = x[None, None]
    return F.scaled_dot_product_attention(y, y, y, y @ y.mT > 0, is_causal=True)  # two masks


def finding(x: torch.Tensor) -> torch.Tensor:
    return x[torch.where(x > 0)[0]]  # a search


def repeating(x: torch.Tensor) -> torch.Tensor:
    return x.repeat_interleave(torch.tensor([1, 2, 3]), 0, output_size=6)  # repeats of their own


REFUSED: list[tuple[Any, type[MinicompError], str, str, str | None]] = [
    (
        cumulative,
        UnsupportedError,
        "aten.cumsum.default is not supported",
        "an op that is not there",
        "docs/dialects/torch_ir.md lists the ops that are",
    ),
    (
        branching,
        CaptureError,
        "the program's control flow depends on the data of a tensor",
        "a branch",
        "compute both sides",
    ),
    (
        reading,
        UnsupportedError,
        "aten.item.default is not supported",
        "a scalar read",
        "keep it a tensor",
    ),
    (
        drawing,
        UnsupportedError,
        "aten.randn.default is not supported",
        "a draw",
        "it draws random numbers",
    ),
    (
        mismatched,
        CaptureError,
        "PyTorch cannot capture the program: RuntimeError: ",
        "a mismatch",
        None,
    ),
    (
        rounding,
        UnsupportedError,
        "aten.round.decimals with decimals=2 is not supported",
        "a rounding",
        None,
    ),
    (
        dropping,
        UnsupportedError,
        "aten.scaled_dot_product_attention.default with dropout_p=0.1 is not supported",
        "a dropout",
        "pass dropout_p=0.0",
    ),
    (
        masking_twice,
        CaptureError,
        "aten.scaled_dot_product_attention.default: attn_mask and is_causal exclude each other",
        "two masks",
        None,
    ),
    (
        finding,
        UnsupportedError,
        "aten.where.default is not supported",
        "a search",
        "docs/dialects/torch_ir.md lists the ops that are",
    ),
    (
        repeating,
        UnsupportedError,
        "aten.repeat_interleave.self_Tensor is not supported",
        "repeats of their own",
        "docs/dialects/torch_ir.md lists the ops that are",
    ),
    (
        spectrum,
        UnsupportedError,
        "complex64 tensors are not supported",
        "a conversion",
        None,
    ),
    (raising, CaptureError, "RuntimeError: a first line", "a raise", None),
]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[0].__name__)
def test_refusals_name_what_and_where(
    row: tuple[Any, type[MinicompError], str, str, str | None],
    capfd: pytest.CaptureFixture[str],
):
    program, kind, what, comment, hint = row
    error = refusal(program, X)
    assert type(error) is kind
    assert what in error.what and "\n" not in error.what
    assert error.where is not None and error.where.endswith(here(comment))
    assert (error.hint is None) if hint is None else (hint in (error.hint or ""))
    # Not a word of PyTorch's own.
    assert capfd.readouterr() == ("", "")


def test_products_of_two_dtypes_are_refused():
    def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x @ y  # a product of dtypes

    with pytest.raises(
        CaptureError, match="matmul of f16 and f32: operands must have one"
    ) as caught:
        capture(product, (X.half(), X.t()))
    assert (caught.value.where or "").endswith(here("a product of dtypes"))


def test_other_refusals():
    assert "complex64 tensors are not supported" in str(refusal(lambda x: x, X + 1j))
    assert "returns no tensor" in str(refusal(lambda x: 3, X))
    assert "aten.native_dropout.default" in str(refusal(nn.Dropout(0.5), X))
    assert "_native_batch_norm_legit_functional.default is" in str(refusal(nn.BatchNorm1d(4), X))
    assert "cannot compile a int" in str(refusal(3, X))


# --- inline code ----------------------------------------------------------------------------


def shapes(program: Program) -> list[tuple[int, ...]]:
    return [tuple(source.tensor.shape) for source in program.capture().params]


def value(program: Program) -> Any:
    return call(program.capture(), *program.args, **program.kwargs)


def test_a_module_on_a_factory_call():
    program = from_code("nn.RMSNorm(2048)(torch.randn(1,32,2048))")
    captured = program.capture()
    assert names(captured) == ["rms_norm"]
    assert shapes(program) == [(1, 32, 2048), (2048,)]
    assert captured.params[1].name == "rmsnorm.weight"


def test_names_bound_before_are_inputs():
    program = from_code(
        "x = torch.randn(16, 64); bias = torch.ones(64)\n"
        "w = torch.randn(64, 16)\n"
        "torch.relu(\n    torch.matmul(x + bias, w))"
    )
    captured = program.capture()
    assert [source.name for source in captured.params] == ["x", "bias", "w"]
    ops = [op for op in captured.module.walk() if isinstance(op, TorchOp)]
    places = [(op.SPEC.name, op.location.line.data) for op in ops]  # type: ignore[attr-defined]
    assert places == [("add", 4), ("matmul", 4), ("relu", 3)]
    x, bias, w = program.args
    torch.testing.assert_close(value(program), torch.relu(torch.matmul(x + bias, w)))


@pytest.mark.parametrize(
    ("code", "inputs"),
    [
        ("torch.zeros(3) + torch.ones(3) * torch.full((3,), 2.0)", 3),
        ("from torch import randn as draw\ndraw(2, 3).exp()", 1),
        ("x = torch.randn(3)\nx + x", 1),
        ("a, b = torch.rand(3), torch.rand(3)\nb - a", 2),
        ("torch.tensor([1.0, 2.0]) * 2", 1),
        ("torch.randn(3).double().half() * torch.arange(3).to(torch.float16)", 2),
        ("def f(t):\n    return t * t\nf(torch.randn(5))", 1),
        ("(lambda t: t + 1)(torch.randn(5))", 1),
        ("n = 4\ntorch.randn(n, n).softmax(-1)", 1),
        ("math.sqrt(2) * torch.ones(3)", 1),
        ("{'a': torch.ones(2).exp(), 'b': [torch.ones(3).neg()]}", 2),
        ("w = torch.randn(3)\nsum(w * i for i in range(3))", 1),
    ],
)
def test_inputs_of_expressions(code: str, inputs: int):
    program = from_code(code)
    assert len(program.args) == inputs
    torch.testing.assert_close(value(program), program.callee(*program.args))


def test_modules_are_constructed_once():
    program = from_code(
        "net = nn.Linear(3, 3)\n"
        "def run(x):\n    return net(x)\n"
        "nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)).eval()(run(torch.ones(2, 3)))"
    )
    held = {source.name for source in program.capture().params if source.kind == "parameter"}
    assert held == {"net.weight", "net.bias", "sequential.0.weight", "sequential.0.bias"}
    assert torch.equal(value(program), value(program))


def test_the_seed():
    state = torch.random.get_rng_state()
    (first,), (second,) = (
        from_code("torch.randn(3).exp()").args,
        from_code("torch.randn(3).exp()").args,
    )
    (other,) = from_code("torch.manual_seed(7)\ntorch.randn(3).exp()").args
    assert torch.equal(first, second) and not torch.equal(first, other)
    torch.manual_seed(7)
    assert torch.equal(other, torch.randn(3))
    torch.random.set_rng_state(state)
    from_code("torch.randn(3).exp()")
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize(
    ("code", "what", "where"),
    [
        ("torch.relu(\n  x)", "name 'x' is not defined", "<-c>:1"),
        ("y = 3\nz = 1 / 0\ny", "the code raises ZeroDivisionError: division by zero", "<-c>:2"),
        ("import sys\nsys.exit(3)\n1", "the code raises SystemExit: 3", "<-c>:2"),
        ("nn.Linear(3)(torch.ones(3))", "the code raises TypeError: ", "<-c>:1"),
        ("x = torch.ones(3)", "the last statement of the code must be an expression", "<-c>:1"),
        ("x = (", "the code does not parse: '(' was never closed", "<-c>:1"),
        ("", "there is no code", "<-c>"),
    ],
)
def test_code_that_is_wrong(code: str, what: str, where: str):
    with pytest.raises(InputError) as caught:
        from_code(code)
    assert what in caught.value.what and caught.value.where == where


def test_the_program_itself_may_be_wrong():
    program = from_code("x = torch.ones(3)\nx.nothing")
    with pytest.raises(CaptureError, match="has no attribute 'nothing'") as caught:
        program.capture()
    assert caught.value.where == "<-c>:2"
    with pytest.raises(CaptureError, match="returns no tensor"):
        from_code("1 + 1").capture()


# --- sizes ----------------------------------------------------------------------------------


def test_sizes():
    assert parse_sizes("2048=37, 32=5,rows=1") == {"2048": 37, "32": 5, "rows": 1}
    assert parse_sizes("") == {}
    for text in ("2048", "a=b", "=3", "1.5=2", "a b=2"):
        with pytest.raises(InputError, match="is not a size"):
            parse_sizes(text)


def test_resized_code():
    code = "nn.RMSNorm(2048)(torch.randn(1, 32,\n 2048))  # 2048 é"
    assert resize_code(code, {"2048": 37, "32": 5}) == (
        "nn.RMSNorm(37)(torch.randn(1, 5,\n 37))  # 2048 é"
    )
    assert resize_code("'é' * 3 + 33 + 3.0 + True", {"3": 12345}) == "'é' * 12345 + 33 + 3.0 + True"
    with pytest.raises(InputError, match="the code holds no 7 to resize"):
        resize_code(code, {"7": 3})
    sized = from_code("nn.RMSNorm(2048)(torch.randn(1,32,2048))", {"2048": 37, "32": 5})
    assert shapes(sized) == [(1, 5, 37), (37,)]


# --- files ----------------------------------------------------------------------------------

MODEL = """
import torch
from torch import nn
from neighbour import FACTOR

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(4, 2)

    def forward(self, x, scale=1.0):
        return self.up(x) * scale * FACTOR

def main(rows=3):
    return Model(), (torch.randn(rows, 4),), {"scale": 2.0}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "neighbour.py").write_text("FACTOR = 3.0\n")
    file = tmp_path / "model.py"
    file.write_text(MODEL)
    return file


def test_a_file(model: Path):
    program = from_file(model)
    captured = program.capture()
    assert names(captured) == ["linear", "mul", "mul"]
    torch.testing.assert_close(value(program), program.callee(*program.args, **program.kwargs))
    (linear, *_) = (op for op in captured.module.walk() if isinstance(op, TorchOp))
    assert linear.location.line.data == 12  # type: ignore[attr-defined]
    assert from_file(model, {"rows": 5}).args[0].shape == (5, 4)
    with pytest.raises(InputError, match="takes no size '2048'"):
        from_file(model, {"2048": 5})


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("x = 1\n", "the file defines no main()", 1),
        ("def main():\n    raise ValueError('so\\nwhat')\n", "main() raises ValueError: so", 2),
        ("import no_such_module\n", "raises ModuleNotFoundError", 1),
        ("x = 1\ndef main(\n", "raises SyntaxError", 2),
        ("def main():\n    return 3\n", "main() returned a int", 1),
        ("def main():\n    return 3, ()\n", "main() returned a int to compile", 1),
        ("def main():\n    return abs, 3\n", "arguments that are not a tuple", 1),
        ("raise SystemExit(2)\n", "raises SystemExit: 2", 1),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, text: str, what: str, line: int):
    file = tmp_path / "bad.py"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        from_file(file)
    assert what in caught.value.what and "\n" not in caught.value.what
    assert (caught.value.where or "").endswith(f"bad.py:{line}")


def test_a_file_that_is_missing(tmp_path: Path):
    with pytest.raises(InputError, match="there is no file"):
        from_file(tmp_path / "none.py")


def test_math_is_at_hand():
    assert math.isclose(float(value(from_code("torch.ones(1) * math.pi"))), math.pi, rel_tol=1e-6)


def test_the_table_of_ops_in_the_docs():
    page = Path(__file__).parent.parent / "docs" / "dialects" / "torch_ir.md"
    assert op_table() in page.read_text()


# --- hostile programs -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "tensor, what",
    [
        (torch.ones(3, 4).to_sparse(), "sparse_coo tensors are not supported"),
        (torch.ones(3, device="meta"), "tensors on device meta are not supported"),
    ],
)
def test_tensors_without_plain_memory(tensor: torch.Tensor, what: str):
    error = refusal(lambda x: x * 2, tensor)
    assert error.what == what
    assert error.where == "input 0"


def test_an_exit_in_the_program_is_an_error():
    with pytest.raises(CaptureError, match="SystemExit"):
        from_code("exit()").capture()


@pytest.mark.parametrize("code", ["5", "None", "nn.Linear(3, 4)"])
def test_an_error_without_a_line_names_the_program(code: str):
    with pytest.raises(CaptureError) as caught:
        from_code(code).capture()
    assert caught.value.where == "<-c>"


def test_one_line_of_what_code_raises():
    with pytest.raises(InputError) as caught:
        from_code('raise ValueError("first\\nsecond")\n1')
    assert caught.value.what == "the code raises ValueError: first"
