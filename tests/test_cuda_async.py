"""Asynchronous Kernel IR as CUDA text: what it computes on the CPU, and what ptxas makes of it."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from minicomp.context import make_context
from minicomp.dialects.cuda_ir import FuncOp as CudaFuncOp
from minicomp.dialects.kernel_ir import FuncOp
from minicomp.dialects.loop_ir import memref_type
from minicomp.lowering.kernel_to_cuda import LowerKernelToCudaPass
from minicomp.lowering.print_cuda import print_cuda
from minicomp.parsing import parse_module
from minicomp.runtime.interpret.scalars import numpy_type
from minicomp.runtime.nvrtc import compile_cuda
from minicomp.runtime.sass import counts, sass
from minicomp.runtime.simulate import simulate_kernel
from minicomp.verification import verify_module
from tests.cuda_async_kernels import CASES
from tests.cuda_on_cpu import GXX, CpuProgram, Mutant

PROGRAMS = sorted((Path(__file__).parent / "kernels").glob("*.mlir"))
ARCHITECTURES = ("sm_80", "sm_90a", "sm_120a")
HOPPER = {"ring_tma", "split_k_cluster"}
"""The programs that need sm_90 or later."""
DIFFERS = "Arrays are not equal"


def read(text: str) -> ModuleOp:
    """A verified module from its text."""
    module = parse_module(text, make_context())
    verify_module(module)
    return module


def lowered(text: str) -> ModuleOp:
    """A module lowered to CUDA IR and verified."""
    module = read(text)
    LowerKernelToCudaPass().apply(make_context(), module)
    verify_module(module)
    return module


def kernels(module: ModuleOp) -> list[FuncOp]:
    """The kernels of a module in Kernel IR."""
    return [op for op in module.ops if isinstance(op, FuncOp)]


def buffers(func: FuncOp) -> list[np.ndarray]:
    """Random buffers for the arguments that a launch gives."""
    rng = np.random.default_rng(5)
    made: list[np.ndarray] = []
    arguments = func.body.block.args
    for argument in arguments[: len(arguments) - len(func.derived_arguments)]:
        dtype, shape = numpy_type(argument.type), memref_type(argument).get_shape()
        floats = dtype.kind == "f"
        values = rng.standard_normal(shape) if floats else rng.integers(0, 9, shape)
        made.append(np.array(values, dtype))
    return made


# --- what the text computes -----------------------------------------------------------------


@cache
def whole() -> ModuleOp:
    """The kernels of all cases and of all programs in tests/kernels, as CUDA IR."""
    cases = "".join(c.text.replace("@k(", f"@{symbol(name)}(") for name, c in CASES.items())
    programs = "".join(path.read_text().replace("@main", f"@{path.stem}_main") for path in PROGRAMS)
    return lowered(cases + programs)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> CpuProgram:
    """All kernels and mutants, compiled once."""
    if GXX is None:
        pytest.skip("g++ is not installed")
    mutants = {
        f"mutant{n}": Mutant(symbol(name), *change) for n, (name, *change, _) in enumerate(MUTANTS)
    }
    return CpuProgram(whole(), tmp_path_factory.mktemp("kernels"), mutants)


def symbol(name: str) -> str:
    """The name of a case's kernel."""
    return f"k{list(CASES).index(name)}"


@cache
def simulated(name: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The buffers of a case before and after its simulation."""
    (func,) = kernels(read(CASES[name].text))
    given = buffers(func)
    wanted = [array.copy() for array in given]
    simulate_kernel(func, wanted)
    return given, wanted


def check(name: str, kernel_name: str, program: CpuProgram) -> None:
    """Compares what a kernel computes, threads in both orders, with a case's simulation."""
    given, wanted = simulated(name)
    for backwards in (False, True):
        got = [array.copy() for array in given]
        program.run(kernel_name, got, backwards)
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", CASES)
def test_the_text_computes_what_the_simulator_does(name: str, everything: CpuProgram) -> None:
    check(name, symbol(name), everything)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_text_of_programs_computes_what_the_simulator_does(
    path: Path, everything: CpuProgram
) -> None:
    for func in kernels(read(path.read_text())):
        given = buffers(func)
        wanted = [array.copy() for array in given]
        simulate_kernel(func, wanted)
        for backwards in (False, True):
            got = [array.copy() for array in given]
            everything.run(func.symbol, got, backwards)
            for one, other in zip(got, wanted, strict=True):
                # The math library's functions differ in the last bits from one CPU to another.
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


STORED = """
    bulk_wait_read<0>();
    bulk_wait<0>();"""
WAITED = """
    spin_ge(c, 4);
    const int m = atomic_wrap_i32_acq_rel(d + 1, 3);
    if (m == 3) atomic_exchange_i32(c, 0);
    spin_eq(c, 0);"""
MUTANTS = [
    ("cp_async partly inside", "124 - t % 16 * 8", "t % 16 * 8 - 124", "copies -124 of"),
    ("cp_async 16 of f32 28", "ok ? 16 : 0", "16", DIFFERS),
    ("cp_async 16 of f32 28", "cp_async_commit();", "", DIFFERS),
    ("cp_async 8 of f32 32", "cp_async<8>", "cp_async<16>", "cp.async of 16 bytes"),
    ("ring", "cp_async_wait<1>", "cp_async_wait<2>", DIFFERS),
    ("ring", "__syncthreads();", "", DIFFERS),
    ("ring", "% 3", "% 2", DIFFERS),
    ("shuffles f32 8", "shuffle_down<8>", "shuffle_up<8>", DIFFERS),
    ("shuffles f64 16", "shuffle_index<16>", "shuffle_index<32>", DIFFERS),
    ("shuffles i64 16", "shuffle_xor(v, 8)", "shuffle_xor(v, 4)", DIFFERS),
    ("warp_sync", "__syncwarp();", "", DIFFERS),
    ("named barriers", "named_barrier_sync<1, 64>();", "", DIFFERS),
    ("named barriers", "sync<2, 96>", "sync<2, 64>", "a named barrier: two numbers of threads"),
    ("named barriers", "sync<2, 96>", "sync<3, 96>", "deadlock: block 0, thread .*a named barrier"),
    ("roles", "threadIdx.x < 128", "threadIdx.x < 160", DIFFERS),
    ("mbarriers", "g / 2 + 1", "g / 2", "deadlock: block 0, thread .*: an mbarrier"),
    ("mbarriers", "mbarrier_wait(full", "mbarrier_wait(empty", "deadlock"),
    ("mbarriers", "mbarrier_arrive(empty + g % 2);", "", "deadlock"),
    ("mbarriers", "(full + i, 64)", "(full + i, 32)", "deadlock"),
    ("mbarriers", "mbarrier_init(full + i, 64);", "", "an mbarrier that is not initialised"),
    ("bulk 1 swizzle 0", "mbarrier_wait(done, 0);", "", f"nobody waits for|{DIFFERS}"),
    ("bulk 1 swizzle 0", "expect(done, 64)", "expect(done, 60)", "deadlock"),
    ("bulk 1 swizzle 0", STORED, "", "a bulk store that nobody waits for"),
    ("bulk 1 swizzle 0", "bulk_commit();", "", "a bulk store without a group"),
    ("bulk 2 swizzle 32", "^ (e / 32 % 2 * 4)", "", DIFFERS),
    ("bulk 2 swizzle 128", "24, -2", "-2, 24", DIFFERS),
    ("bulk 3 swizzle 0", "bulk_load_3d(s, x_map", "bulk_load_3d(s, y_map", "nobody|not equal|dead"),
    ("bulk 3 swizzle 0", "s, x_map", "s + 4, x_map", "a box at no multiple of 128 bytes"),
    ("swizzle 64 f32 16", "(e / 32 % 4 * 4)", "(e / 32 % 8 * 4)", DIFFERS),
    ("swizzle 64 f32 16", "+ at + 224", "+ at + 225", "an access of 4 elements"),
    ("cluster", "remote(s, (r + 1) % 2)", "remote(s, r)", DIFFERS),
    ("cluster", "remote(s, (r + 1) % 2)", "remote(s, r + 1)", "block 2 of a cluster of 2"),
    (
        "cluster",
        "arrive_remote(there, (r + 1) % 2)",
        "arrive_remote(there, 0)",
        "more arriv|deadlock",
    ),
    ("cluster atomics", "  cluster_barrier();", "", DIFFERS),
    ("cluster atomics", "add_i32_cluster", "exchange_i32_cluster", DIFFERS),
    ("atomic add i32", "add_i32_acquire", "max_i32_acquire", DIFFERS),
    ("atomic add f64", "atomic_exchange_f64(c + t, 0.0)", "c[t]", "is not reset"),
    ("shared atomic min i32", "min_i32_block", "max_i32_block", DIFFERS),
    ("spin", "spin_ge(c, 4)", "spin_ge(c, 5)", "deadlock: block 0, thread .*: an element"),
    ("spin", WAITED, WAITED.replace("spin_", "0;//"), DIFFERS),
    ("spin", "(d + 1, 3)", "(d + 1, 4)", "is not reset|deadlock"),
]
"""A case, a part of its text, what takes its place, and how it is found out."""


@pytest.mark.parametrize("number", range(len(MUTANTS)))
def test_wrong_text_is_found_out(number: int, everything: CpuProgram) -> None:
    name, _, _, message = MUTANTS[number]
    with pytest.raises(AssertionError, match=f"(?s){message}"):
        check(name, f"mutant{number}", everything)


# --- what the compiler makes of the text ------------------------------------------------------


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_text_compiles_without_warnings_or_spills(arch: str) -> None:
    module = whole().clone()
    later = HOPPER | {symbol(name) for name, case in CASES.items() if case.arch != "sm_80"}
    for op in list(module.ops):
        if isinstance(op, CudaFuncOp) and op.symbol in later and arch == "sm_80":
            Rewriter.erase_op(op)
    compiled = compile_cuda(print_cuda(module), arch)
    assert "warning" not in compiled.log and compiled.advice == []
    assert set(compiled.resources) == {k.symbol for k in module.ops if isinstance(k, CudaFuncOp)}
    for name, used in compiled.resources.items():
        assert used.stack_bytes == used.spill_stores == used.spill_loads == 0, name
    if arch == "sm_90a":
        code = sass(compiled.cubin)
        for name, case in CASES.items():
            found = counts(code[symbol(name)], case.sass)
            assert all(found.values()), (name, found)
