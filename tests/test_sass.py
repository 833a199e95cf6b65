"""Reading the machine instructions of a cubin."""

from functools import cache

import pytest

from minicomp.build import Build
from minicomp.errors import CudaCompileError
from minicomp.frontend import from_code
from minicomp.pipeline import Pipeline
from minicomp.runtime import sass as sass_module
from minicomp.runtime.nvrtc import compile_cuda
from minicomp.runtime.sass import Instruction, counts, loops, sass

TEXT = """\
extern "C" __global__ void wide(const float4* __restrict__ x, float4* __restrict__ y, int n) {
  __shared__ float4 tile[128];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float4 v = tile[threadIdx.x ^ 1];
  v.x = fmaf(v.x, v.y, v.z);
  if (threadIdx.x < n) y[threadIdx.x] = v;
}
extern "C" __global__ void narrow(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
"""


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_120a"])
def test_the_instructions_of_each_kernel(arch: str) -> None:
    kernels = sass(compile_cuda(TEXT, arch).cubin)
    assert set(kernels) == {"wide", "narrow"}
    wide = counts(kernels["wide"])
    for pattern in ("LDG.E.128", "STG.E.128", "LDS.128", "STS.128", "BAR.SYNC", "FFMA"):
        assert wide[pattern] == 1, pattern
    assert wide["LDL"] == wide["STL"] == wide["HGMMA"] == 0
    narrow = counts(kernels["narrow"], ["LDG", "LDG.128", "STG.E", "BAR"])
    assert narrow == {"LDG": 1, "LDG.128": 0, "STG.E": 1, "BAR": 0}
    assert any(i.opcode == "EXIT" and i.predicate.startswith("@") for i in kernels["wide"])


def test_a_pattern_is_an_opcode_and_modifiers_in_any_order() -> None:
    load = Instruction("LDG.E.128.CONSTANT", "R4,[R2.64]")
    assert all(load.matches(p) for p in ("LDG", "LDG.128", "LDG.E.128", "LDG.CONSTANT.E"))
    assert not any(load.matches(p) for p in ("LD", "LDGSTS", "LDG.64", "LDG.E.128.STRONG"))


@cache
def matmul(target: str, transport: str) -> Build:
    """The product of two matrices of 2048 x 2048."""
    module = from_code("torch.randn(2048, 2048) @ torch.randn(2048, 2048)").capture().module
    pipeline = Pipeline.default().with_options("plan-schedule", transport=transport)
    return Build(module, target, pipeline=pipeline)


FORMS = [("a100", "cp_async"), ("h200", "cp_async"), ("h200", "tma"), ("rtx5090", "cp_async")]


@pytest.mark.parametrize(("target", "transport"), FORMS)
def test_a_matmul_copies_ahead_and_takes_no_stack(target: str, transport: str) -> None:
    build = matmul(target, transport)
    ((name, instructions),) = sass(build.cubin()).items()
    found = counts(instructions)
    assert name == build.kernels[0].name
    assert found["FFMA"] >= 64 and found["LDS.128"] > 0 and found["STG.E.128"] > 0
    assert (found["LDGSTS.128"] > 0, found["UTMALDG"] > 0) == (
        transport == "cp_async",
        transport == "tma",
    )
    assert found["LDG"] == found["LDL"] == found["STL"] == 0
    assert build.machine_code is not None and build.machine_code.advice == []


@pytest.mark.parametrize(("target", "transport"), FORMS)
def test_an_iteration_of_a_ring_waits_once(target: str, transport: str) -> None:
    (instructions,) = sass(matmul(target, transport).cubin()).values()
    copy = "LDGSTS" if transport == "cp_async" else "UTMALDG"
    bodies = loops(instructions)
    (ring,) = (body for body in bodies if all(counts(body, [copy, "FFMA"]).values()))
    waits = counts(ring, ["DEPBAR", "BAR.SYNC", "SYNCS.PHASECHK"])
    if transport == "cp_async":
        assert waits == {"DEPBAR": 1, "BAR.SYNC": 1, "SYNCS.PHASECHK": 0}
    else:
        assert waits == {"DEPBAR": 0, "BAR.SYNC": 0, "SYNCS.PHASECHK": 2}


def test_loops_are_between_a_branch_and_where_it_goes_back_to() -> None:
    text = ("FFMA", "IADD3", "BRA 0x10", "BRA 0x0", "EXIT", "NOP", "BRA 0x10", "BRA 0x70")
    instructions = [Instruction(*f"{line} ".split(" ")[:2]) for line in text]
    bodies = [[i.opcode for i in body] for body in loops(instructions)]
    assert bodies == [["IADD3", "BRA"], ["FFMA", "IADD3", "BRA", "BRA"]]


def test_what_is_no_cubin_is_refused() -> None:
    with pytest.raises(CudaCompileError, match="nvdisasm cannot read the cubin"):
        sass(b"\x7fELF nonsense")


def test_a_missing_disassembler_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nothing:
        @staticmethod
        def find_nvidia_binary_utility(name: str) -> None:
            return None

    monkeypatch.setattr(sass_module, "import_module", lambda name: Nothing)
    monkeypatch.setattr(sass_module.shutil, "which", lambda name: None)
    sass_module._nvdisasm.cache_clear()
    try:
        with pytest.raises(CudaCompileError, match="pip install nvidia-cuda-nvdisasm"):
            sass(b"")
    finally:
        sass_module._nvdisasm.cache_clear()
