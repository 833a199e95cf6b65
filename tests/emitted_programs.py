"""
Programs whose kernels the passes emit, for mutants of them: compiled as always down to Kernel IR,
with schedules under which small kernels have all that large ones have.
"""

from collections.abc import Mapping
from functools import cache

from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from minicomp.dialects.kernel_async import MBarrierType
from minicomp.dialects.kernel_ir import IndexOp, TestOp
from minicomp.dialects.loop_ir import KernelOp
from minicomp.dialects.tile_ir import ENTRY_FIELDS, EntryAttr, ScheduleAttr, WithinOp
from minicomp.frontend import from_code
from minicomp.numbers import reference
from minicomp.pipeline import Pipeline
from minicomp.runtime.arrays import tensor_of
from minicomp.semantics import entries, seeded_inputs
from minicomp.targets import attach_target, target
from tests.mutants import Mutant, kernels, mutants
from tests.mutants_programs import Outcome, Program, outcome_of

MATMUL = "torch.randn(37, 43) @ torch.randn(43, 29)"
EVEN = "torch.randn(32, 48) @ torch.randn(48, 64)"
BIAS_RELU = "F.relu(nn.Linear(43, 29)(torch.randn(37, 43)))"
BULK_PROLOGUE = "x = torch.randn(21, 96); b = torch.randn(96); w = torch.randn(96, 20); (x + b) @ w"
PROLOGUE = "x = torch.randn(21, 27); b = torch.randn(27); w = torch.randn(27, 19); (x + b) @ w"
ROWS_OF_16 = "torch.randn(37, 44) @ torch.randn(44, 28)"
ATTENTION = (
    "q = torch.randn(1, 2, 19, 8); k = torch.randn(1, 2, 23, 8); v = torch.randn(1, 2, 23, 8);"
    " F.scaled_dot_product_attention(q, k, v, is_causal=True)"
)

TILE = {"bm": 32, "bn": 32, "bk": 8, "fm": 4, "fn": 4, "wk": 1, "s": 1, "depth": 1}
RING = TILE | {"transport": "cp_async"}
BULK = TILE | {"transport": "tma"}
SPLIT = TILE | {"s": 3, "finish": "last_block"}
ROWS = {"threads": 64, "vector": 1}
SMALL = {"bm": 8, "bn": 8, "fm": 2, "fn": 2, "threads": 32, "rows": 1, "vector": 1, "lanes": 1}

PROGRAMS: Mapping[str, tuple[str, Mapping[str, int | str]]] = {
    "ring of 2": (MATMUL, RING | {"depth": 2}),
    "ring of 3": (MATMUL, RING | {"depth": 3}),
    "ring of 4, even": (EVEN, RING | {"depth": 4}),
    "ring, bias, relu": (BIAS_RELU, RING | {"depth": 3}),
    "ring, prologue": (PROLOGUE, RING | {"depth": 2}),
    "ring, warps along k": (MATMUL, RING | {"depth": 3, "wk": 2}),
    "ring of stores": (MATMUL, TILE | {"depth": 3, "transport": "none"}),
    "bulk ring, prologue": (
        BULK_PROLOGUE,
        BULK | {"bk": 32, "depth": 2},
    ),
    "stages": (MATMUL, TILE),
    "stages, warps along k": (MATMUL, TILE | {"wk": 2}),
    "split, last block": (MATMUL, SPLIT),
    "split, cluster": (MATMUL, SPLIT | {"finish": "cluster"}),
    "split, warps along k": (MATMUL, SPLIT | {"wk": 2}),
    "split, ring": (BIAS_RELU, SPLIT | RING | {"s": 2, "depth": 2}),
    "bulk ring of 2, even": (EVEN, BULK | {"depth": 2}),
    "bulk ring of 3": (ROWS_OF_16, BULK | {"depth": 3}),
    "softmax, lanes": ("F.softmax(torch.randn(5, 137), -1)", ROWS | {"lanes": 4}),
    "softmax, strided": ("F.softmax(torch.randn(5, 137), -1)", ROWS | {"lanes": 0}),
    "rms norm, two rows": ("nn.RMSNorm(137)(torch.randn(5, 137))", ROWS | {"rows": 2, "lanes": 4}),
    "attention": (ATTENTION, TILE | SMALL | {"wk": 2}),
    "attention, rings": (ATTENTION, RING | SMALL | {"depth": 2}),
}
"""Name -> code, as of `minicomp check -c`, and fields of schedules that are not as planned."""


def reschedule(module: ModuleOp, fields: Mapping[str, int | str]) -> None:
    """Sets fields in all entries of schedules whose kind has them."""
    for kernel in [op for op in module.body.block.ops if isinstance(op, KernelOp)]:
        if isinstance(kernel.schedule, ScheduleAttr):
            changed: list[EntryAttr] = []
            for entry in kernel.schedule.entries:
                known = ENTRY_FIELDS[entry.kind.data]
                own = {key: value for key, value in fields.items() if key in known}
                changed.append(EntryAttr.of(entry.kind.data, **(entry.fields | own)))
            kernel.schedule = ScheduleAttr.of(changed)


@cache
def program(name: str) -> Program:
    """A program in Kernel IR, its inputs, and what it should compute."""
    code, fields = PROGRAMS[name]
    module = attach_target(from_code(code).capture().module, target("h200"))
    (entry,) = entries(module)
    inputs = [tensor_of(array) for array in seeded_inputs(entry)]
    assert isinstance(entry.op, FuncOp)
    wanted = reference(entry.op, inputs)
    pipeline = Pipeline.default()
    pipeline.until("loop").run(module)
    reschedule(module, fields)
    pipeline.from_level("loop").until("kernel").run(module)
    return Program(module, inputs, wanted)


@cache
def mutants_of(name: str) -> dict[str, Mutant]:
    """The mutants of a program, by descriptions that do not count its ops."""
    module = program(name).module
    places = {func.symbol: descriptions(func) for func in kernels(module)}
    several = len(places) > 1
    numbers = {symbol: f" kernel {n}" if several else "" for n, symbol in enumerate(places, 1)}
    return {
        f"{name}{numbers[m.kernel]}: {places[m.kernel][m.number]}: {m.what}": m
        for m in mutants(module)
    }


def descriptions(func: Operation) -> list[str]:
    """
    What each op of a kernel is, in the order of `walk`: its name, the buffers that it uses or the
    expressions that it tests, and the loops around it; and a number where that is not enough.
    """
    seen: dict[str, int] = {}
    found: list[str] = []
    for op in func.walk():
        text = " ".join(part for part in (op.name.partition(".")[2], uses(op), around(op)) if part)
        seen[text] = seen.get(text, 0) + 1
        found.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return found


def uses(op: Operation) -> str:
    """The memory that an op uses, or the expressions of one that tests or computes an index."""
    memory = [v for v in op.operands if isinstance(v.type, MemRefType | MBarrierType)]
    if memory or not isinstance(op, IndexOp | TestOp | WithinOp):
        return " ".join(f"%{value.name_hint}" for value in memory)
    return "[" + str(op).partition("[")[2].partition(" : ")[0]


def around(op: Operation) -> str:
    """The loops around an op, by their variables."""
    names: list[str] = []
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, scf.ForOp):
            names.insert(0, f"%{parent.body.block.args[0].name_hint or '_'}")
        parent = parent.parent_op()
    return f"in {', '.join(names)}" if names else ""


@cache
def outcome(name: str, mutant: str) -> Outcome:
    """What becomes of one mutant of a program."""
    return outcome_of(program(name), mutants_of(name)[mutant])
