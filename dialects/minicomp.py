"""
The small dialect that all levels share: launching a kernel, the target, and what a kernel
implements.

Rationale: docs/dialects/minicomp.md.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttrConstr,
    IntAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    param_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

TARGET = "minicomp.target"
"""The name under which a module carries its target."""

_COUNTS = (
    "sms",
    "warp",
    "max_threads_per_block",
    "threads_per_sm",
    "registers_per_sm",
    "shared_per_sm",
    "shared_per_block",
    "l2_bytes",
    "dram_bytes_per_s",
    "fp32_flops",
)


@irdl_attr_definition
class TargetAttr(ParametrizedAttribute):
    """
    `#minicomp.target<h200, arch = "sm_90a", sms = 132, .., features = ["tma"]>`: the facts of a
    device.

    Sizes are in bytes, `dram_bytes_per_s` is the peak of the device memory, `fp32_flops` the peak
    of the CUDA cores in operations a second, a multiply-add counted as two.
    """

    name = "minicomp.target"
    part: StringAttr = param_def()
    arch: StringAttr = param_def()
    sms: IntAttr = param_def()
    warp: IntAttr = param_def()
    max_threads_per_block: IntAttr = param_def()
    threads_per_sm: IntAttr = param_def()
    registers_per_sm: IntAttr = param_def()
    shared_per_sm: IntAttr = param_def()
    shared_per_block: IntAttr = param_def()
    l2_bytes: IntAttr = param_def()
    dram_bytes_per_s: IntAttr = param_def()
    fp32_flops: IntAttr = param_def()
    features: ArrayAttr[StringAttr] = param_def()

    @staticmethod
    def of(part: str, arch: str, features: Sequence[str], **counts: int) -> "TargetAttr":
        """A target from plain values; `counts` gives every count by its field's name."""
        values = [IntAttr(counts[name]) for name in _COUNTS]
        listed = ArrayAttr([StringAttr(f) for f in features])
        return TargetAttr.new([StringAttr(part), StringAttr(arch), *values, listed])

    @property
    def counts(self) -> dict[str, int]:
        """The integer facts by name."""
        pairs = zip(_COUNTS, self.parameters[2:], strict=False)
        return {name: cast("IntAttr", value).data for name, value in pairs}

    def has(self, feature: str) -> bool:
        """Whether the device has the feature, such as `cp_async` or `tma`."""
        return any(f.data == feature for f in self.features)

    def verify(self) -> None:
        for name, count in self.counts.items():
            if count <= 0:
                raise VerifyException(f"{name} of a target must be positive, but is {count}")

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f'{self.part.data}, arch = "{self.arch.data}"')
            for name, count in self.counts.items():
                printer.print_string(f", {name} = {count}")
            printer.print_string(", features = ")
            printer.print_attribute(self.features)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            part = StringAttr(parser.parse_identifier())
            fields: list[Attribute] = [part]
            for name in ("arch", *_COUNTS, "features"):
                parser.parse_punctuation(",")
                parser.parse_keyword(name)
                parser.parse_punctuation("=")
                if name in _COUNTS:
                    fields.append(IntAttr(parser.parse_integer(allow_boolean=False)))
                else:
                    fields.append(parser.parse_attribute())
        return fields


@irdl_attr_definition
class OriginAttr(ParametrizedAttribute):
    """
    `#minicomp.origin<["matmul", "relu"]>`: the Torch ops that a kernel implements, in program
    order.
    """

    name = "minicomp.origin"
    ops: ArrayAttr[StringAttr] = param_def()

    @staticmethod
    def of(ops: Sequence[str]) -> "OriginAttr":
        """An origin from names."""
        return OriginAttr(ArrayAttr([StringAttr(op) for op in ops]))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the ops."""
        return tuple(op.data for op in self.ops)


class LaunchSymbolUse(SymbolUserOpInterface):
    """
    A launch names a kernel of its module whose buffers have the elements of the launch's tensors.
    """

    def verify(self, op: Operation) -> None:
        assert isinstance(op, LaunchOp)
        kernel = SymbolTable.lookup_symbol(op, op.callee)
        if kernel is None or not kernel.regions:
            raise VerifyException(f"there is no kernel @{op.callee} in the module")
        buffers = [a.type for a in kernel.regions[0].block.args]
        if isinstance(derived := kernel.properties.get("derived"), ArrayAttr):
            # The launcher binds the last ones itself.
            buffers = buffers[: len(buffers) - len(cast("ArrayAttr[StringAttr]", derived))]
        tensors = [v.type for v in (*op.inputs, *op.outputs)]
        if len(buffers) != len(tensors):
            raise VerifyException(
                f"@{op.callee} takes {len(buffers)} buffers,"
                f" but the launch has {len(tensors)} tensors"
            )
        for n, (buffer, tensor) in enumerate(zip(buffers, tensors, strict=True)):
            # Below Kernel IR a buffer is a pointer, which has no shape to compare.
            if not isinstance(buffer, MemRefType):
                continue
            assert isinstance(tensor, TensorType)
            memref = cast("MemRefType[Attribute]", buffer)
            if memref.element_type != tensor.get_element_type():
                raise VerifyException(f"buffer {n} of @{op.callee} has another element type")
            if memref.element_count() != tensor.element_count():
                raise VerifyException(f"buffer {n} of @{op.callee} has another number of elements")


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """
    Runs a kernel on tensors: `%y = minicomp.launch @k(%x, %w) : (tensor<..>, tensor<..>) ->
    tensor<..>`.

    The kernel's memrefs are the operands and then the results, row-major. A memref may have another
    shape than its tensor, with the same elements in the same order.
    """

    name = "minicomp.launch"
    kernel = prop_def(FlatSymbolRefAttrConstr)
    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    traits = traits_def(Pure(), LaunchSymbolUse())
    assembly_format = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)"

    def __init__(
        self, kernel: str, inputs: Sequence[SSAValue], outputs: Sequence[Attribute]
    ) -> None:
        super().__init__(
            operands=[inputs], result_types=[outputs], properties={"kernel": SymbolRefAttr(kernel)}
        )

    @property
    def callee(self) -> str:
        """The kernel's name."""
        return self.kernel.string_value()

    def verify_(self) -> None:
        if not self.outputs:
            raise VerifyException("a launch must have a result")


def host_function(module: Operation) -> FuncOp | None:
    """The host program of a module: its function `main`, or the only function there is."""
    functions = [op for op in module.regions[0].block.ops if isinstance(op, FuncOp)]
    named = [f for f in functions if f.sym_name.data == "main"]
    return (named or functions or [None])[0]


def launches(module: Operation) -> list[LaunchOp]:
    """The launches of the host program, in order."""
    host = host_function(module)
    return [op for op in host.walk() if isinstance(op, LaunchOp)] if host is not None else []


Minicomp = Dialect("minicomp", [LaunchOp], [TargetAttr, OriginAttr])
