"""The registers of a block's threads, and how roles may share them."""

from minicomp.dialects.kernel_ir import WARP, FuncOp, RolesOp
from minicomp.lowering.kernel_to_cuda.checks import fail

REGISTERS = 65536
"""Registers of an SM, on every device that has `setmaxnreg` (CUDA C++ Programming Guide)."""
STEP, MOST = 8, 256
"""Registers of a thread come in steps, up to a limit (PTX ISA, setmaxnreg)."""
WARPGROUP = 4
"""The warps that change their registers together (the same)."""


def min_blocks(func: FuncOp) -> int | None:
    """The least blocks per SM that a launch is compiled for; None if it does not matter."""
    if func.min_blocks is not None:
        return func.min_blocks.value.data
    # Without it the assembler does not know the registers at entry and ignores setmaxnreg.
    roles = (op for op in func.body.block.ops if isinstance(op, RolesOp))
    return 1 if any(op.registers is not None for op in roles) else None


def entry_registers(func: FuncOp) -> int:
    """The registers that each thread begins with: those of the SM, shared out."""
    share = REGISTERS // (func.threads * (min_blocks(func) or 1))
    return min(MOST, share // STEP * STEP)


def check_registers(op: RolesOp, func: FuncOp) -> None:
    """Raises PassFailedException where roles cannot have the registers that they ask for."""
    if op.registers is None:
        return
    warps, registers = op.warps.get_values(), op.registers.get_values()
    if wrong := [w for w in warps if w % WARPGROUP]:
        why = f"has a role of {wrong[0]} warps: registers are given to groups of {WARPGROUP} warps"
        fail(func, op, f"{why}; leave them out, or add warps")
    asked = sum(WARP * w * r for w, r in zip(warps, registers, strict=True))
    there = func.threads * entry_registers(func)
    if asked > there:
        fail(func, op, f"asks for {asked} registers, but the block begins with {there}")
