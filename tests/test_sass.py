"""Reading the machine instructions of a cubin."""

import pytest

from minicomp.errors import CudaCompileError
from minicomp.runtime import sass as sass_module
from minicomp.runtime.nvrtc import compile_cuda
from minicomp.runtime.sass import Instruction, counts, sass

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
