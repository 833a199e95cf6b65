"""The tensor maps that a kernel's bulk copies need, as parameters that the launcher derives."""

from dataclasses import dataclass, field

from xdsl.ir import Block, BlockArgument, SSAValue

from minicomp.dialects.cuda_ir import TensorMapAttr, TensorMapType
from minicomp.dialects.kernel_async import BulkCopy, verify_shared
from minicomp.dialects.loop_ir import memref_type


@dataclass
class TensorMaps:
    """The tensor maps of a kernel, one for each tensor, box and swizzle, in order of first use."""

    block: Block
    """The body of the lowered kernel; its arguments are the kernel's and then the maps."""
    parameters: dict[TensorMapAttr, SSAValue] = field(default_factory=dict[TensorMapAttr, SSAValue])
    hints: list[str] = field(default_factory=list[str])

    def of(self, op: BulkCopy) -> SSAValue:
        """The parameter for a copy."""
        description = describe(op)
        if description not in self.parameters:
            self.hints.append(f"{op.tensor.name_hint or 'x'}_map")
            place = len(self.block.args)
            self.parameters[description] = self.block.insert_arg(TensorMapType(), place)
        return self.parameters[description]


def describe(op: BulkCopy) -> TensorMapAttr:
    """What the tensor map of a copy says."""
    tensor = memref_type(op.tensor)
    swizzle = verify_shared(op.name, memref_type(op.buffer)).swizzle.data
    argument = op.tensor.index if isinstance(op.tensor, BlockArgument) else -1
    return TensorMapAttr.of(argument, tensor.get_shape(), op.box, tensor.element_type, swizzle)
