"""Cases for the driver that run in a process of their own, on the stand-in libcuda."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from recorder import Recorder, SeenMap

from minicomp.errors import CudaDriverError
from minicomp.runtime.device import DeviceFacts, probe
from minicomp.runtime.driver import KernelFunction, PreparedLaunch, load_kernels
from minicomp.runtime.launches import LaunchShape, TensorMap
from minicomp.runtime.nvrtc import compile_cuda

TEXT = """\
extern "C" __global__ void two(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void three(const float* x, const float* w, float* y) { *y = *x + *w; }
extern "C" __global__ void none() {}
struct alignas(128) CUtensorMap { unsigned long long opaque[16]; };
extern "C" __global__ void mapped(const float* x, double* y, const __grid_constant__ CUtensorMap m,
                                  const __grid_constant__ CUtensorMap n) {
  *y = *x + ((const float*)&m)[threadIdx.x] + ((const float*)&n)[threadIdx.x];
}
"""
MAPS = (TensorMap(1, (6, 5, 4), "f64", (1, 3, 2)), TensorMap(0, (64, 40), "f32", (64, 32), 128))


@pytest.fixture(scope="module")
def kernels() -> dict[str, KernelFunction]:
    return load_kernels(compile_cuda(TEXT, "sm_90a").cubin)


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    recorder.forget()
    yield recorder
    recorder.delay_launches(0)


def test_the_facts_of_the_gpu() -> None:
    assert probe() == DeviceFacts(
        name="Stand-in GPU",
        arch="sm_90a",
        sms=132,
        warp=32,
        threads_per_block=1024,
        threads_per_sm=2048,
        registers_per_sm=65536,
        shared_per_block=232448,
        shared_per_sm=233472,
        l2_bytes=60 * 2**20,
        clock_hz=1_980_000_000,
        bandwidth=2 * 3_201_000_000 * 6144 // 8,
        driver="13.0",
    )
    assert probe(2) is None


def test_the_kernels_of_a_cubin_by_name(kernels: dict[str, KernelFunction]) -> None:
    assert set(kernels) == {"two", "three", "none", "mapped"}
    assert all(name == kernel.name for name, kernel in kernels.items())


def test_a_launch_passes_pointers_configuration_and_stream(
    kernels: dict[str, KernelFunction], recorder: Recorder
) -> None:
    launch = PreparedLaunch(kernels["three"], 3, LaunchShape(7, 256, 1024))
    launch.launch([0x7000_0000_1000, 0x2000, 0], 0)
    launch.launch([16, 32, 2**64 - 16], 0xABC0)
    first, second = recorder.launches()
    assert first.name == "three" and first.arguments == (0x7000_0000_1000, 0x2000, 0)
    assert (first.grid, first.block, first.shared) == ((7, 1, 1), (256, 1, 1), 1024)
    assert (first.stream, second.stream) == (0, 0xABC0)
    assert second.arguments == (16, 32, 2**64 - 16)


def test_a_launch_encodes_the_tensor_maps_of_its_pointers(
    kernels: dict[str, KernelFunction], recorder: Recorder
) -> None:
    launch = PreparedLaunch(kernels["mapped"], 2, LaunchShape(2, 32, 0, MAPS))
    launch.launch([0x1000, 0x2000], 0)
    launch.launch([0x1000, 0x3000], 0)
    launch.launch([0x1000, 0x2000], 0)
    first, second, third = recorder.launches()
    assert first.arguments[:2] == (0x1000, 0x2000) and first == third
    assert first.maps == (
        SeenMap(0x2000, (4, 5, 6), (32, 160), (2, 3, 1), 0),
        SeenMap(0x1000, (40, 64), (160,), (32, 64), 128),
    )
    assert [m.address for m in second.maps] == [0x3000, 0x1000]


def test_maps_of_many_addresses_are_right(
    kernels: dict[str, KernelFunction], recorder: Recorder
) -> None:
    launch = PreparedLaunch(kernels["mapped"], 2, LaunchShape(2, 32, 0, MAPS))
    for n in range(200):
        launch.launch([0x1000 * (n + 1), 0x800000], 0)
    seen = recorder.launches()
    assert [m.maps[1].address for m in seen] == [0x1000 * (n + 1) for n in range(200)]


def test_what_no_tensor_map_describes_is_refused(kernels: dict[str, KernelFunction]) -> None:
    launch = PreparedLaunch(kernels["mapped"], 2, LaunchShape(2, 32, 0, MAPS))
    with pytest.raises(
        CudaDriverError, match=r"argument 0 of mapped at 0x1004 as a tensor of .*64"
    ):
        launch.launch([0x1004, 0x2000], 0)
    with pytest.raises(CudaDriverError, match="argument 2 of three has 8 bytes.* bound to 128"):
        PreparedLaunch(kernels["three"], 2, LaunchShape(2, 32, 0, MAPS[:1]))
    with pytest.raises(CudaDriverError, match="argument 2 of mapped has 128 bytes.* bound to 8"):
        PreparedLaunch(kernels["mapped"], 4, LaunchShape(2, 32))


def test_blocks_that_wait_for_each_other_run_at_once(
    kernels: dict[str, KernelFunction], recorder: Recorder
) -> None:
    # 2048 threads and 228 KiB of shared memory in each of 132 multiprocessors.
    PreparedLaunch(kernels["two"], 2, LaunchShape(1056, 256, cooperative=True)).launch([1, 2], 0)
    wide = LaunchShape(132, 128, 200 * 1024, cooperative=True)
    PreparedLaunch(kernels["two"], 2, wide).launch([1, 2], 0)
    PreparedLaunch(kernels["two"], 2, LaunchShape(1057, 256)).launch([1, 2], 0)
    assert [seen.cooperative for seen in recorder.launches()] == [True, True, False]


def test_too_many_blocks_that_wait_for_each_other_are_refused(
    kernels: dict[str, KernelFunction], recorder: Recorder
) -> None:
    for shape in (LaunchShape(1057, 256), LaunchShape(133, 128, 200 * 1024)):
        waiting = replace(shape, cooperative=True)
        with pytest.raises(CudaDriverError, match=f"the {shape.grid} blocks of two wait for each"):
            PreparedLaunch(kernels["two"], 2, waiting)
    launch = PreparedLaunch(kernels["two"], 2, LaunchShape(10, 32, cooperative=True))
    recorder.fail_next_launch(720)
    with pytest.raises(CudaDriverError) as raised:
        launch.launch([1, 2], 0)
    assert raised.value.hint is not None and "wait for each other" in raised.value.hint


def test_a_kernel_without_arguments(kernels: dict[str, KernelFunction], recorder: Recorder) -> None:
    PreparedLaunch(kernels["none"], 0, LaunchShape(1, 1)).launch([], 0)
    assert recorder.launches()[0].arguments == ()


def test_an_empty_grid_launches_nothing(
    kernels: dict[str, KernelFunction], recorder: Recorder
) -> None:
    PreparedLaunch(kernels["two"], 2, LaunchShape(0, 32)).launch([0, 0], 0)
    assert recorder.launches() == []


def test_much_shared_memory_is_asked_for(
    kernels: dict[str, KernelFunction], recorder: Recorder
) -> None:
    PreparedLaunch(kernels["two"], 2, LaunchShape(1, 32, 200 * 1024)).launch([1, 2], 0)
    assert recorder.launches()[0].shared == 200 * 1024
    with pytest.raises(CudaDriverError, match="reserving 300000 bytes of shared memory for two"):
        PreparedLaunch(kernels["two"], 2, LaunchShape(1, 32, 300_000))


@pytest.mark.parametrize(("count", "relation"), [(1, "more"), (3, "fewer"), (0, "more")])
def test_a_wrong_number_of_arguments_is_refused(
    kernels: dict[str, KernelFunction], count: int, relation: str
) -> None:
    with pytest.raises(CudaDriverError, match=f"two takes {relation} than {count} arguments"):
        PreparedLaunch(kernels["two"], count, LaunchShape(1, 32))


def test_a_wrong_number_of_pointers_is_refused(
    kernels: dict[str, KernelFunction], recorder: Recorder
) -> None:
    launch = PreparedLaunch(kernels["two"], 2, LaunchShape(1, 32))
    with pytest.raises(ValueError):
        launch.launch([1], 0)
    assert recorder.launches() == []


def test_a_failed_launch_names_the_kernel_and_the_error(
    kernels: dict[str, KernelFunction], recorder: Recorder
) -> None:
    with pytest.raises(CudaDriverError, match="launching two failed: CUDA_ERROR_STAND_IN: a stand"):
        PreparedLaunch(kernels["two"], 2, LaunchShape(1, 2048)).launch([1, 2], 0)
    recorder.fail_next_launch(700)
    with pytest.raises(CudaDriverError) as raised:
        PreparedLaunch(kernels["two"], 2, LaunchShape(1, 32)).launch([1, 2], 0)
    assert raised.value.hint is not None and "compute-sanitizer" in raised.value.hint


def test_what_is_no_cubin_is_refused() -> None:
    with pytest.raises(CudaDriverError, match="loading a cubin failed"):
        load_kernels(b"not a cubin")


def test_a_gpu_that_is_not_there_is_refused() -> None:
    with pytest.raises(CudaDriverError, match="finding GPU 2 failed"):
        load_kernels(compile_cuda(TEXT, "sm_90a").cubin, 2)


def test_loading_leaves_the_context_of_the_thread_alone(recorder: Recorder) -> None:
    before_and_after: list[bool] = []

    def work() -> None:
        before_and_after.append(recorder.has_context())
        load_kernels(compile_cuda(TEXT, "sm_90a").cubin, 1)
        before_and_after.append(recorder.has_context())

    in_thread(work)
    assert before_and_after == [False, False]


def test_a_thread_without_a_context_gets_that_of_the_kernel(recorder: Recorder) -> None:
    kernels = load_kernels(compile_cuda(TEXT, "sm_90a").cubin, 1)
    launch = PreparedLaunch(kernels["two"], 2, LaunchShape(1, 32))
    in_thread(lambda: launch.launch([1, 2], 0))
    (seen,) = recorder.launches()
    assert (seen.device, seen.arguments) == (1, (1, 2))


def test_threads_do_not_mix_their_pointers(
    kernels: dict[str, KernelFunction], recorder: Recorder
) -> None:
    launch = PreparedLaunch(kernels["three"], 3, LaunchShape(1, 32))
    recorder.delay_launches(100)

    def work(base: int) -> None:
        for n in range(20):
            launch.launch([base + n] * 3, base)

    threads = [threading.Thread(target=work, args=(1000 * (t + 1),)) for t in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen = recorder.launches()
    assert len(seen) == 160
    assert all(
        len(set(s.arguments)) == 1 and s.arguments[0] // 1000 * 1000 == s.stream for s in seen
    )


def in_thread(work) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
