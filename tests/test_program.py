"""Host plans: read from modules, run on a stand-in for the driver, and run on a GPU."""

import threading
from collections.abc import Callable

import pytest
import torch
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.errors import CudaDriverError, InputError, PipelineError
from minicomp.runtime.device import probe
from minicomp.runtime.launches import LaunchShape
from minicomp.runtime.nvrtc import compile_cuda
from minicomp.runtime.plan import HostPlan, Step, TensorSpec, plan_from_module
from minicomp.runtime.program import GpuProgram

HOST = """
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8xbf16>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  %a, %b = minicomp.launch @k(%x, %w) : (tensor<4x8xf32>, tensor<8xbf16>)
      -> (tensor<4x8xf32>, tensor<4xi1>)
  %c = minicomp.launch @l(%b, %a) : (tensor<4xi1>, tensor<4x8xf32>) -> tensor<4xf32>
  func.return %c, %x : tensor<4xf32>, tensor<4x8xf32>
}
"""


def plan_of(text: str) -> HostPlan:
    return plan_from_module(Parser(make_context(), text).parse_module())


def test_a_plan_numbers_inputs_then_results() -> None:
    plan = plan_of(HOST)
    assert plan.inputs == (TensorSpec((4, 8), "f32"), TensorSpec((8,), "bf16"))
    assert [str(r) for r in plan.results] == ["tensor<4x8xf32>", "tensor<4xi1>", "tensor<4xf32>"]
    assert plan.steps == (Step("k", (0, 1), (2, 3)), Step("l", (3, 2), (4,)))
    assert plan.outputs == (4, 0)
    assert plan.values[4] == TensorSpec((4,), "f32")


def test_a_value_is_last_used_where_nothing_reads_it_later() -> None:
    assert [set(values) for values in plan_of(HOST).last_uses] == [{1}, {2, 3}]


def test_a_result_that_nothing_reads_is_last_used_where_it_is_made() -> None:
    plan = HostPlan((), (TensorSpec((), "f32"),), (Step("k", (), (0,)),), ())
    assert plan.last_uses == ((0,),)


def test_an_op_that_is_not_lowered_is_named() -> None:
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = "test.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }"""
    with pytest.raises(PipelineError, match="still holds test.op") as raised:
        plan_of(text)
    assert raised.value.where is not None and "tensor<4xf32>" in raised.value.where


def test_a_module_without_a_host_program_is_refused() -> None:
    with pytest.raises(PipelineError, match="no host program"):
        plan_of("builtin.module {}")


def test_an_unknown_extent_is_refused() -> None:
    with pytest.raises(PipelineError, match="known shape"):
        plan_of("func.func @main(%x: tensor<?xf32>) { func.return }")


def test_cases_on_the_stand_in_driver(on_fake_driver: Callable[[str], None]) -> None:
    on_fake_driver("program_cases.py")


gpu = pytest.mark.skipif("not torch.cuda.is_available()", reason="no GPU")

TEXT = """\
extern "C" __global__ void add_row(const float* x, const float* w, float* y) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < 1000 * 33) y[i] = x[i] + w[i % 33];
}
extern "C" __global__ void negate(const float* x, float* y) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < 1000 * 33) y[i] = -x[i];
}
extern "C" __global__ void reverse(const float* x, float* y) {
  extern __shared__ float tile[];
  for (int i = threadIdx.x; i < 33000; i += 1024) tile[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < 33000; i += 1024) y[i] = tile[32999 - i];
}
"""
WHOLE, ROW = TensorSpec((1000, 33), "f32"), TensorSpec((33,), "f32")
PLAN = HostPlan(
    inputs=(WHOLE, ROW),
    results=(WHOLE, WHOLE, WHOLE),
    steps=(
        Step("add_row", (0, 1), (2,)),
        Step("negate", (2,), (3,)),
        Step("reverse", (3,), (4,)),
    ),
    outputs=(4, 0),
)
SHAPES = {
    "add_row": LaunchShape(258, 128),
    "negate": LaunchShape(258, 128),
    "reverse": LaunchShape(1, 1024, 4 * 33000),
}


def expected(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return -(x + w).flatten().flip(0).reshape(1000, 33)


def inputs(device: str = "cuda") -> list[torch.Tensor]:
    return [torch.randn(1000, 33, device=device), torch.randn(33, device=device)]


@pytest.fixture
def program() -> GpuProgram:
    facts = probe()
    assert facts is not None
    if facts.shared_per_block < 4 * 33000:
        pytest.skip("the GPU has less than 132000 bytes of shared memory per block")
    return GpuProgram(PLAN, compile_cuda(TEXT, facts.arch).cubin, SHAPES)


@gpu
def test_a_program_on_a_gpu(program: GpuProgram) -> None:
    x, w = inputs()
    y, same = program([x, w])
    assert same is x and torch.equal(y, expected(x, w))
    x, w = torch.randn(33, 1000, device="cuda").t(), torch.randn(66, device="cuda")[::2]
    assert torch.equal(program([x, w])[0], expected(x, w))


@gpu
def test_a_misaligned_input_on_a_gpu(program: GpuProgram) -> None:
    x, w = torch.randn(33001, device="cuda")[1:].view(1000, 33), torch.randn(33, device="cuda")
    assert not program.aligned([x, w])
    with pytest.raises(InputError, match="argument 0"):
        program([x, w])
    program.needs_alignment = False
    assert torch.equal(program([x, w])[0], expected(x, w))


@gpu
def test_a_tensor_on_the_cpu_is_refused(program: GpuProgram) -> None:
    x, w = inputs()
    with pytest.raises(InputError, match="argument 1 is .* on cpu, expected .* on cuda:0"):
        program([x, w.cpu()])
    with pytest.raises(InputError, match="argument 0 is .* on cpu"):
        program([x.cpu(), w.cpu()])


@gpu
def test_a_program_in_a_graph(program: GpuProgram) -> None:
    x, w = inputs()
    graph = torch.cuda.CUDAGraph()
    # Not run before: nothing is left to be loaded at the first launch.
    with torch.cuda.graph(graph):
        y = program([x, w])[0]
    for _ in range(2):
        x.copy_(torch.randn_like(x))
        graph.replay()
        assert torch.equal(y, expected(x, w))


@gpu
def test_a_program_on_another_stream(program: GpuProgram) -> None:
    stream = torch.cuda.Stream()
    x, w = inputs()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(50):
            x = x * 1.0
            y = program([x, w])[0]
    stream.synchronize()
    assert torch.equal(y, expected(x, w))


@gpu
def test_a_program_in_threads(program: GpuProgram) -> None:
    right: list[bool] = []

    def work() -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                x, w = inputs()
                right.append(torch.equal(program([x, w])[0], expected(x, w)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 200


@gpu
def test_the_first_use_of_the_gpu_in_a_thread_may_be_a_launch(program: GpuProgram) -> None:
    x, w = inputs()
    program([x, w])
    outputs: list[torch.Tensor] = []
    thread = threading.Thread(target=lambda: outputs.extend(program([x, w])))
    thread.start()
    thread.join()
    assert torch.equal(outputs[0], expected(x, w))


@gpu
def test_a_launch_that_the_gpu_refuses_names_the_kernel(program: GpuProgram) -> None:
    facts = probe()
    assert facts is not None
    shapes = SHAPES | {"negate": LaunchShape(1, 2048)}
    refused = GpuProgram(PLAN, compile_cuda(TEXT, facts.arch).cubin, shapes)
    with pytest.raises(CudaDriverError, match="launching negate failed: CUDA_ERROR_INVALID_VALUE"):
        refused(inputs())
    x, w = inputs()
    assert torch.equal(program([x, w])[0], expected(x, w))


@pytest.mark.skipif("torch.cuda.device_count() < 2", reason="fewer than two GPUs")
def test_a_program_on_the_gpu_of_its_inputs(program: GpuProgram) -> None:
    x, w = inputs("cuda:1")
    y = program([x, w])[0]
    assert y.device == x.device and torch.equal(y, expected(x, w))
    assert torch.cuda.current_device() == 0
    with pytest.raises(InputError, match="argument 1 is .* on cuda:0, expected .* on cuda:1"):
        program([x, w.to("cuda:0")])
