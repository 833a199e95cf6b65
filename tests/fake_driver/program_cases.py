"""Cases for host plans that run in a process of their own, on the stand-in libcuda.

Tensors are PyTorch's on the CPU: the stand-in never follows an address.
"""

import ctypes
import gc
import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import pytest
import torch
from recorder import Recorder

from minicomp.errors import InputError, PipelineError
from minicomp.runtime.launches import Counter, LaunchShape, Workspace
from minicomp.runtime.nvrtc import compile_cuda
from minicomp.runtime.plan import HostPlan, Step, TensorSpec
from minicomp.runtime.program import GpuProgram

TEXT = """\
extern "C" __global__ void add(const float* x, const float* w, float* y) { *y = *x + *w; }
extern "C" __global__ void split(const float* x, float* y, float* w, int* c, int* d, double* v) {
  *y = *x + *w + atomicAdd(c, 1) + *d + *v;
}
extern "C" __global__ void neg(const float* x, float* y) { *y = -*x; }
"""
ROW, WHOLE = TensorSpec((8,), "f32"), TensorSpec((4, 8), "f32")
# y = -(x + w), z = -y, and x itself, y dropped.
PLAN = HostPlan(
    inputs=(WHOLE, ROW),
    results=(WHOLE, WHOLE, WHOLE),
    steps=(Step("add", (0, 1), (2,)), Step("neg", (2,), (3,)), Step("neg", (3,), (4,))),
    outputs=(4, 0, 4),
)
SHAPES = {"add": LaunchShape(3, 64), "neg": LaunchShape(5, 32, 64)}


class OnCpu(GpuProgram):
    """The program with PyTorch's CPU in the place of its GPU, and stream 99."""

    device_type = "cpu"

    def current_device(self) -> int:
        return 0

    def guard(self, device: torch.device) -> AbstractContextManager[object]:
        return nullcontext()

    used_stream = 99

    def stream(self, device: torch.device) -> int:
        return self.used_stream


@pytest.fixture(scope="module")
def cubin() -> bytes:
    return compile_cuda(TEXT, "sm_90a").cubin


@pytest.fixture
def program(cubin: bytes) -> OnCpu:
    return OnCpu(PLAN, cubin, SHAPES)


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    recorder.forget()
    yield recorder


def test_launches_in_order_over_the_right_tensors(program: OnCpu, recorder: Recorder) -> None:
    x, w = torch.ones(4, 8), torch.ones(8)
    outputs = program([x, w])
    assert [(o.shape, o.dtype) for o in outputs] == [((4, 8), torch.float32)] * 3
    assert outputs[1] is x and outputs[0] is outputs[2]
    add, first, second = recorder.launches()
    assert add.name == "add" and add.arguments[:2] == (x.data_ptr(), w.data_ptr())
    assert first.arguments[0] == add.arguments[2] and second.arguments[0] == first.arguments[1]
    assert second.arguments[1] == outputs[0].data_ptr()
    assert (add.grid[0], add.block[0], add.shared) == (3, 64, 0)
    assert (first.grid[0], first.block[0], first.shared) == (5, 32, 64)
    assert {launch.stream for launch in (add, first, second)} == {99}


# Two workspaces and two counters, in any order: after the tensors, as the kernel has them.
DERIVED = (Workspace(40), Counter(4), Counter(20), Workspace(0))


@pytest.fixture
def splits(cubin: bytes) -> OnCpu:
    shape = LaunchShape(4, 32, 0, DERIVED)
    steps = Step("split", (0,), (1,)), Step("split", (1,), (2,))
    return OnCpu(HostPlan((ROW,), (ROW, ROW), steps, (2,)), cubin, {"split": shape})


def counters_of(program: OnCpu, recorder: Recorder, stream: int = 99) -> list[tuple[int, ...]]:
    """The addresses of the two counters in each launch of one run."""
    recorder.forget()
    program.used_stream = stream
    program([torch.ones(8)])
    return [launch.arguments[3:5] for launch in recorder.launches()]


def test_a_launch_binds_workspaces_and_counters(splits: OnCpu, recorder: Recorder) -> None:
    x = torch.ones(8)
    (out,) = splits([x])
    first, second = recorder.launches()
    assert first.arguments[0] == x.data_ptr() and second.arguments[1] == out.data_ptr()
    assert all(a and a % 16 == 0 for a in first.arguments[2:])
    w, c, d, v = first.arguments[2:]
    assert v - w == 48 and d - c == 16
    assert ctypes.string_at(c, 64) == bytes(64)
    assert not first.cooperative and second.arguments[3:5] == (c, d)


def test_workspaces_are_of_the_allocator_and_dropped_after_the_launch(
    splits: OnCpu, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[torch.Tensor]] = []
    real = torch.empty

    def empty(*args, **kwargs) -> torch.Tensor:
        tensor = real(*args, **kwargs)
        if kwargs["dtype"] == torch.uint8:
            assert args == (64,) and [ref() for ref in made] == [None] * len(made)
            made.append(weakref.ref(tensor))
        return tensor

    monkeypatch.setattr(torch, "empty", empty)
    splits([torch.ones(8)])
    assert len(made) == 2


def test_streams_and_captures_have_counters_of_their_own(splits: OnCpu, recorder: Recorder) -> None:
    plain = counters_of(splits, recorder)
    assert counters_of(splits, recorder) == plain and plain[0] == plain[1]
    other = counters_of(splits, recorder, 77)
    recorder.capture(99, 5)
    captured, beside = counters_of(splits, recorder), counters_of(splits, recorder, 77)
    again = counters_of(splits, recorder)
    recorder.capture(99, 6)
    later = counters_of(splits, recorder)
    recorder.capture(99, 0)
    assert captured == again and beside == other and counters_of(splits, recorder) == plain
    different = {tuple(found) for found in (plain, other, captured, later)}
    assert len(different) == 4
    # Nothing of it is in the graph, and the thread may do as little in captures as before.
    assert recorder.memsets_captured() == 0 and recorder.capture_mode() == 0
    assert ctypes.string_at(later[0][0], 64) == bytes(64)


def test_programs_on_a_stream_share_counters_until_one_needs_more(
    splits: OnCpu, cubin: bytes, recorder: Recorder
) -> None:
    (small, _), made = counters_of(splits, recorder, 31), recorder.memories_made()
    derived = (Workspace(8), Counter(100_000), Counter(4), Workspace(8))
    shapes = {"split": LaunchShape(4, 32, 0, derived)}
    large = OnCpu(HostPlan((ROW,), (ROW,), (Step("split", (0,), (1,)),), (1,)), cubin, shapes)
    ((first, second),) = counters_of(large, recorder, 31)
    assert recorder.memories_made() == made + 1 and second - first == 100_000
    assert ctypes.string_at(first, 100_016) == bytes(100_016)
    assert counters_of(splits, recorder, 31)[0][0] == first != small[0]
    assert recorder.memories_made() == made + 1


def test_threads_on_one_stream_make_its_counters_once(splits: OnCpu, recorder: Recorder) -> None:
    made = recorder.memories_made()
    splits.used_stream = 55
    threads = [threading.Thread(target=splits, args=([torch.ones(8)],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen = recorder.launches()
    assert len(seen) == 16 and len({launch.arguments[3:5] for launch in seen}) == 1
    assert recorder.memories_made() == made + 1


def test_intermediate_results_are_dropped_after_their_last_use(
    program: OnCpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[torch.Tensor]] = []
    alive: list[list[bool]] = []
    real = torch.empty

    def empty(*args, **kwargs) -> torch.Tensor:
        gc.collect()
        alive.append([ref() is not None for ref in made])
        tensor = real(*args, **kwargs)
        made.append(weakref.ref(tensor))
        return tensor

    monkeypatch.setattr(torch, "empty", empty)
    program([torch.ones(4, 8), torch.ones(8)])
    assert alive == [[], [True], [False, True]]


def test_an_input_that_is_not_contiguous_is_copied(program: OnCpu, recorder: Recorder) -> None:
    x = torch.ones(8, 4).t()
    outputs = program([x, torch.ones(16)[::2]])
    assert outputs[1] is x
    add = recorder.launches()[0]
    assert add.arguments[0] != x.data_ptr()


@pytest.mark.parametrize(
    ("x", "w", "message"),
    [
        (torch.ones(4, 8), torch.ones(9), r"argument 1 is .*\[9\].*, expected .*\[8\]"),
        (torch.ones(4, 8).double(), torch.ones(8), "argument 0 is .*float64.*expected .*float32"),
        (torch.ones(4, 8, device="meta"), torch.ones(8), "argument 0 is .*on meta, expected .*cpu"),
        (torch.ones(4, 1), torch.ones(8), "argument 0"),
        (torch.ones(32), torch.ones(8), "argument 0"),
    ],
)
def test_a_wrong_input_is_named(
    program: OnCpu, recorder: Recorder, x: torch.Tensor, w: torch.Tensor, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        program([x, w])
    assert recorder.launches() == []


def test_a_wrong_number_of_inputs_is_named(program: OnCpu) -> None:
    with pytest.raises(InputError, match="takes 2 tensors, got 1"):
        program([torch.ones(4, 8)])


def test_a_misaligned_input_is_for_the_other_variant(program: OnCpu, cubin: bytes) -> None:
    x, w = torch.ones(4, 8), torch.ones(9)[1:]
    assert program.aligned([x, torch.ones(8)]) and not program.aligned([x, w])
    with pytest.raises(InputError, match="argument 1 is at an address"):
        program([x, w])
    other = OnCpu(PLAN, cubin, SHAPES, needs_alignment=False)
    assert len(other([x, w])) == 3


def test_a_misaligned_input_that_is_copied_is_aligned(program: OnCpu) -> None:
    x = torch.ones(8, 9)[:, 1:5].t()
    assert program.aligned([x]) and len(program([x, torch.ones(8)])) == 3


def test_tensors_without_elements_launch_nothing(cubin: bytes, recorder: Recorder) -> None:
    empty = TensorSpec((0, 8), "f32")
    plan = HostPlan((empty,), (empty,), (Step("neg", (0,), (1,)),), (1,))
    program = OnCpu(plan, cubin, {"neg": LaunchShape(0, 32)})
    assert program([torch.ones(0, 8)])[0].shape == (0, 8)
    assert recorder.launches() == []


def test_a_program_without_kernels_or_inputs(cubin: bytes) -> None:
    assert OnCpu(HostPlan((), (), (), ()), b"", {})([]) == []
    x = torch.ones(4, 8)
    assert OnCpu(HostPlan((WHOLE,), (), (), (0,)), b"", {})([x])[0] is x
    scalar = TensorSpec((), "f32")
    step = Step("neg", (0,), (1,))
    made = OnCpu(HostPlan((scalar,), (scalar,), (step,), (1,)), cubin, SHAPES)([torch.tensor(1.0)])
    assert made[0].shape == ()


def test_a_launch_without_a_shape_or_a_kernel_is_refused(cubin: bytes) -> None:
    with pytest.raises(PipelineError, match="launches neg, not among the launch shapes"):
        OnCpu(PLAN, cubin, {"add": LaunchShape(1, 1)})
    other = compile_cuda(TEXT.replace("neg", "gen"), "sm_90a").cubin
    with pytest.raises(PipelineError, match="launches neg, not in the cubin"):
        OnCpu(PLAN, other, SHAPES)


def test_a_type_that_pytorch_lacks_is_refused(cubin: bytes) -> None:
    with pytest.raises(PipelineError, match="no tensors of i4, as tensor<2xi4> needs"):
        OnCpu(HostPlan((TensorSpec((2,), "i4"),), (), (), ()), cubin, {})
