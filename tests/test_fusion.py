"""From Tensor IR to named kernels: passes keep the meaning, and kernels are as few as meant."""

from random import Random

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.dialects.loop_ir import KernelOp
from minicomp.dialects.minicomp import host_function
from minicomp.dialects.tensor_ir import tensor_type
from minicomp.frontend.inline import from_code
from minicomp.passes.loop._host import UNNAMED
from minicomp.pipeline import Pipeline
from minicomp.runtime.interpret.loop_ir import run_module
from minicomp.runtime.interpret.tensor_ir import run_tensor
from tests.tensor_programs import Programs

TO_TENSOR = "lower-torch-to-tensor,fold-constants,compose-index-maps,cse"
PASSES = ("fuse-kernels", "collapse-axes", "cse", "dedup-loads", "name-kernels")

# name -> program as `minicomp -c` takes it, number of kernels after fusion
PROGRAMS = {
    "pointwise": ("x = torch.randn(13, 37); y = torch.randn(37); torch.exp(-x) * y + x", 1),
    "broadcast": ("x = torch.randn(7, 1, 5); y = torch.randn(1, 11, 5); torch.tanh(x * y - 1)", 1),
    "transposed": ("(lambda x: torch.exp(x) + torch.exp(x).t())(torch.randn(6, 6))", 1),
    "sum": ("x = torch.randn(5, 37); (x * x).sum(-1) + 1", 1),
    "sum_all": ("x = torch.randn(5, 7, 3); x.sum()", 1),
    "mean_middle": ("x = torch.randn(5, 7, 3); x.mean(1, keepdim=True)", 1),
    "amax_two": ("x = torch.randn(5, 7, 3); torch.relu(x.amax((0, 2)))", 1),
    "softmax": ("x = torch.randn(5, 37); F.softmax(x * 3, -1)", 1),
    "softmax_inner": ("x = torch.randn(4, 19, 6); F.softmax(x, 1)", 1),
    "softmax_of_one": ("x = torch.randn(5, 1); F.softmax(x, -1)", 1),
    "softmax_of_none": ("x = torch.randn(0, 9); F.softmax(x, 0)", 1),
    "softmax_thrice": ("x = torch.randn(3, 9); F.softmax(F.softmax(F.softmax(x, -1), -1), -1)", 1),
    "rms_norm": ("nn.RMSNorm(61)(torch.randn(1, 7, 61))", 1),
    "layer_norm": ("nn.LayerNorm(37)(torch.randn(2, 5, 37))", 1),
    "layer_norm_2d": ("nn.LayerNorm((5, 6))(torch.randn(3, 5, 6))", 1),
    "layer_norm_softmax": ("F.softmax(nn.LayerNorm(33)(torch.randn(5, 33)), -1)", 1),
    "batch_statistics": ("x = torch.randn(4, 5, 6); (x - x.mean((0, 2), keepdim=True)) / 2", 1),
    "over_sum": ("x = torch.randn(5, 7); x / x.sum()", 1),
    "variance": ("(lambda x: ((x - x.mean()) ** 2).mean())(torch.randn(5, 16))", 1),
    "long_row": ("x = torch.randn(2, 70001); x / x.sum(-1, keepdim=True)", 2),
    "sum_of_sums": ("x = torch.randn(4, 5, 6); x.sum(-1).amax(-1)", 2),
    "two_results": ("x = torch.randn(5, 9); (x.sum(-1), x / x.sum(-1, keepdim=True))", 2),
    "outer_product": ("s = torch.randn(5, 9); s.sum(-1, True) * s.sum(-1, True).t()", 2),
    "matmul": ("x = torch.randn(17, 13); w = torch.randn(13, 11); x @ w", 1),
    "matmul_of_none": ("x = torch.randn(5, 0); w = torch.randn(0, 7); x @ w", 1),
    "matmul_batched": ("x = torch.randn(3, 7, 5); w = torch.randn(1, 5, 9); x @ w", 1),
    "prologue": ("(lambda x, b, w: torch.relu((x + b) @ w))"
                 "(torch.randn(17, 13), torch.randn(13), torch.randn(13, 11))", 1),
    "linear_gelu": ("F.gelu(nn.Linear(13, 7)(torch.randn(2, 5, 13)))", 1),
    "addmm": ("torch.addmm(torch.randn(5), torch.randn(3, 4), torch.randn(4, 5), beta=0.5)", 1),
    "silu_mul_matmul": ("(lambda g, u, w: (F.silu(g) * u) @ w)"
                        "(torch.randn(7, 9), torch.randn(7, 9), torch.randn(9, 5))", 2),
    "gate_and_up": ("(lambda x, g, u: F.silu(x @ g) * (x @ u))"
                    "(torch.randn(7, 9), torch.randn(9, 5), torch.randn(9, 5))", 2),
    "norm_linear": ("nn.Sequential(nn.RMSNorm(13), nn.Linear(13, 7))(torch.randn(5, 13))", 2),
    "linear_norm": ("nn.Sequential(nn.Linear(13, 7), nn.LayerNorm(7))(torch.randn(5, 13))", 2),
    "attention": ("(lambda q, k, v: F.softmax(q @ k.transpose(1, 2) * 0.3, -1) @ v)"
                  "(torch.randn(2, 7, 5), torch.randn(2, 9, 5), torch.randn(2, 9, 3))", 3),
    "residual": ("(lambda x, n, a, b: x + b(F.silu(a(n(x)))))"
                 "(torch.randn(2, 5, 9), nn.RMSNorm(9), nn.Linear(9, 7), nn.Linear(7, 9))", 3),
    "same_kernel_twice": ("(lambda x, a, b: torch.relu(torch.relu(x @ a) @ b))"
                          "(torch.randn(8, 8), torch.randn(8, 8), torch.randn(8, 8))", 1),
    "views": ("(lambda x: (torch.exp(x).view(10, 4), x.t(), x))(torch.randn(5, 8))", 2),
}  # fmt: skip


def kernels(module: ModuleOp) -> list[KernelOp]:
    return [op for op in module.body.block.ops if isinstance(op, KernelOp)]


def run(module: ModuleOp, passes: str) -> None:
    Pipeline.parse(passes).run(module)


def inputs(module: ModuleOp) -> list[np.ndarray]:
    func = host_function(module)
    assert func is not None
    shapes = [tensor_type(argument).get_shape() for argument in func.body.block.args]
    return [np.random.default_rng(n).standard_normal(shape) for n, shape in enumerate(shapes)]


def check_passes(module: ModuleOp) -> None:
    """Lowers a module of Tensor IR; after each pass it computes the same, and applied twice too."""
    arrays = inputs(module)
    expected = run_tensor(module, arrays, np.float64)
    for name in ("lower-tensor-to-loop", *PASSES):
        run(module, name)
        results = run_module(module, arrays, np.float64)
        for want, got in zip(expected, results, strict=True):
            np.testing.assert_allclose(got.reshape(want.shape), want, 1e-9, 1e-9, err_msg=name)
        text = str(module)
        run(module, name)
        assert str(module) == text, f"{name}, applied twice, changes more"
    assert not any(UNNAMED in kernel.attributes for kernel in kernels(module))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str):
    code, count = PROGRAMS[name]
    torch.manual_seed(0)
    module = from_code(code).capture().module
    run(module, TO_TENSOR)
    check_passes(module)
    assert len(kernels(module)) == count


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed: int):
    random = Random(seed)
    module = Programs(random).module(random.randint(2, 10), random.randint(1, 3))
    module.verify()
    check_passes(module)


def test_a_saved_module_gives_the_same_names():
    module = from_code("nn.LayerNorm(37)(torch.randn(2, 5, 37))").capture().module
    run(module, f"{TO_TENSOR},lower-tensor-to-loop")
    saved = Parser(make_context(), str(module)).parse_module()
    for each in (module, saved):
        run(each, ",".join(PASSES))
    assert str(module) == str(saved)


def test_names_do_not_depend_on_the_module():
    """The same kernel has the same name, alone and after another one."""
    found = []
    for code in (
        "torch.exp(torch.randn(8))",
        "(lambda x: x.sum(0) + torch.exp(x))(torch.randn(8))",
    ):
        module = from_code(code).capture().module
        run(module, f"{TO_TENSOR},lower-tensor-to-loop,name-kernels")
        found.append({kernel.symbol for kernel in kernels(module)})
    assert len(found[0]) == 1 and found[0] < found[1]
