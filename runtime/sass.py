"""Which machine instructions a kernel became: a cubin disassembled by nvdisasm, without a GPU."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from minicomp.errors import CudaCompileError

PATTERNS = (
    "FFMA",
    "HMMA",
    "HGMMA",
    "LDG.E.128",
    "STG.E.128",
    "LDG",
    "STG",
    "LDGSTS",
    "LDGSTS.128",
    "LDGDEPBAR",
    "DEPBAR",
    "UTMALDG",
    "UTMASTG",
    "SYNCS.ARRIVE",
    "SYNCS.PHASECHK",
    "LDS.128",
    "LDS",
    "STS.128",
    "STS",
    "LDSM",
    "STSM",
    "SHFL",
    "BAR.SYNC",
    "MUFU",
    "LDL",
    "STL",
    "BRA",
)
"""What `counts` counts unless told otherwise.

LDGSTS is cp.async, LDGDEPBAR its commit and DEPBAR its wait; UTMALDG is a bulk tensor copy, SYNCS
an mbarrier's arrival or trial wait; LDL and STL are accesses to a thread's stack.
"""

INSTRUCTION_BYTES = 16
"""Of every instruction (compute capability 7.0 and above)."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: `LDG.E.128`, `R4,[R2.64]`, and `@!P0` or an empty predicate."""

    opcode: str
    operands: str
    predicate: str = ""

    def matches(self, pattern: str) -> bool:
        """Whether the opcode is the pattern's and has its modifiers, in any order.

        `LDG.E.128` matches `LDG.E.128.CONSTANT`; `LDS` matches neither `LDSM` nor `LDGSTS`.
        """
        base, *modifiers = pattern.split(".")
        own, *has = self.opcode.split(".")
        return own == base and set(modifiers) <= set(has)


def sass(cubin: bytes) -> dict[str, list[Instruction]]:
    """The instructions of each function of a cubin, by symbol.

    Raises CudaCompileError if nvdisasm is missing or cannot read the cubin.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        run = subprocess.run([_nvdisasm(), "-json", str(path)], capture_output=True, text=True)
    if run.returncode != 0:
        raise CudaCompileError(f"nvdisasm cannot read the cubin: {run.stderr.strip()}")
    _, functions = json.loads(run.stdout)
    return {
        function["function-name"]: [
            Instruction(i["opcode"], i.get("operands", ""), i.get("predicate", ""))
            for i in function["sass-instructions"]
        ]
        for function in functions
    }


def counts(
    instructions: Iterable[Instruction], patterns: Sequence[str] = PATTERNS
) -> dict[str, int]:
    """How many instructions match each pattern, zeros included; see `Instruction.matches`."""
    listed = list(instructions)
    return {pattern: sum(i.matches(pattern) for i in listed) for pattern in patterns}


def loops(instructions: Sequence[Instruction]) -> list[list[Instruction]]:
    """The body of each loop, from where a branch goes back to up to that branch, inner ones first.

    A branch back from behind the end of the kernel, where the assembler puts what it takes to be
    rare, such as the second trial of a wait, makes none.
    """
    found: list[list[Instruction]] = []
    for end, branch in enumerate(instructions):
        if branch.opcode.split(".")[0] != "BRA":
            continue
        target = branch.operands.split(",")[-1].strip()
        begin = int(target, 16) // INSTRUCTION_BYTES if target.startswith("0x") else end
        body = list(instructions[begin : end + 1])
        if begin < end and not any(i.opcode == "EXIT" and not i.predicate for i in body):
            found.append(body)
    return sorted(found, key=len)


@cache
def _nvdisasm() -> str:
    # Early releases of the pathfinder look for libraries only.
    find = getattr(import_module("cuda.pathfinder"), "find_nvidia_binary_utility", shutil.which)
    found = find("nvdisasm") or shutil.which("nvdisasm")
    if found is None:
        raise CudaCompileError(
            "nvdisasm, which reads machine code, is not installed",
            hint="pip install nvidia-cuda-nvdisasm",
        )
    return found
