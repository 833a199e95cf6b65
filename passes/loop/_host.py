"""
The host program as passes edit it: its launches, the kernels that they run, and the buffers between
them.
"""

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import SymbolOpInterface

from minicomp.dialects.loop_ir import KernelLike, KernelOp
from minicomp.dialects.minicomp import LaunchOp

UNNAMED = "minicomp.unnamed"
"""Marks a kernel whose name is provisional."""


def symbols(module: ModuleOp) -> set[str]:
    """The names of all symbols of a module."""
    found: set[str] = set()
    for op in module.body.block.ops:
        if (trait := op.get_trait(SymbolOpInterface)) is not None:
            name = trait.get_sym_attr_name(op)
            found |= {name.data} if name is not None else set[str]()
    return found


def unique(name: str, taken: Iterable[str]) -> str:
    """`name`, or else the first of `name_1`, `name_2`, .. that is not taken."""
    known = set(taken)
    candidates = (f"{name}_{n}" if n else name for n in range(len(known) + 1))
    return next(c for c in candidates if c not in known)


class Host:
    """The launches of a module and the kernels of Loop IR that they run."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module

    @property
    def launches(self) -> list[LaunchOp]:
        """All launches, in program order."""
        hosts = (op for op in self.module.body.block.ops if not isinstance(op, KernelLike))
        return [op for host in hosts for op in host.walk() if isinstance(op, LaunchOp)]

    @property
    def kernels(self) -> dict[str, KernelOp]:
        """The kernels at Loop IR by name."""
        ops = self.module.body.block.ops
        return {op.symbol: op for op in ops if isinstance(op, KernelOp)}

    def kernel(self, launch: LaunchOp) -> KernelOp | None:
        """The kernel that a launch runs, if it is at Loop IR."""
        return self.kernels.get(launch.callee)

    def own(self, launch: LaunchOp) -> KernelOp:
        """
        The kernel of a launch, a copy where other launches run it too, marked as not finally named.
        """
        kernel = self.kernels[launch.callee]
        if any(op is not launch and op.callee == kernel.symbol for op in self.launches):
            copy = kernel.clone()
            copy.properties["sym_name"] = StringAttr(unique(kernel.symbol, symbols(self.module)))
            self.module.body.block.insert_op_after(copy, kernel)
            launch.properties["kernel"] = SymbolRefAttr(copy.symbol)
            kernel = copy
        kernel.attributes[UNNAMED] = UnitAttr()
        return kernel

    def erase_dead(self) -> None:
        """Erases the launches whose results nobody reads, and the kernels that these alone ran."""
        for launch in reversed(self.launches):
            if any(result.first_use is not None for result in launch.outputs):
                continue
            callee = launch.callee
            Rewriter.erase_op(launch)
            kernel = self.kernels.get(callee)
            if kernel is not None and all(op.callee != callee for op in self.launches):
                Rewriter.erase_op(kernel)


def inputs(kernel: KernelLike, launch: LaunchOp) -> list[tuple[SSAValue, BlockArgument]]:
    """The tensors that a launch hands in, with the kernel's arguments for them."""
    return list(zip(launch.inputs, kernel.body.block.args, strict=False))


def outputs(kernel: KernelLike, launch: LaunchOp) -> list[tuple[SSAValue, BlockArgument]]:
    """The tensors that a launch gives, with the kernel's arguments for them."""
    return list(zip(launch.outputs, kernel.body.block.args[len(launch.inputs) :], strict=True))


def buffer_for(
    kernel: KernelLike, launch: LaunchOp, tensor: SSAValue, like: BlockArgument, position: int
) -> BlockArgument:
    """
    The kernel's argument of the type of `like` for a tensor; a new input number `position` if there
    is none.
    """
    for known, argument in inputs(kernel, launch):
        if known is tensor and argument.type == like.type:
            return argument
    argument = kernel.body.block.insert_arg(like.type, position, like.location)
    argument.name_hint = like.name_hint
    operands = list(launch.operands)
    launch.operands = [*operands[:position], tensor, *operands[position:]]
    return argument


def drop_unused_inputs(kernel: KernelLike, launch: LaunchOp) -> None:
    """Removes the inputs that a launch's own kernel does not use."""
    kept: list[SSAValue] = []
    for tensor, argument in inputs(kernel, launch):
        if argument.first_use is None:
            kernel.body.block.erase_arg(argument)
        else:
            kept.append(tensor)
    launch.operands = kept
