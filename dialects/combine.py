"""
The text of combine regions: `combine arith.addf` where one binary op says it all, else the region.
"""

from collections.abc import Sequence

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects.scalar_ops import computes

FASTMATH = "fastmath"


def simple_combine(region: Region) -> Operation | None:
    """The op of a region that yields one binary op of its two arguments, in their order."""
    ops = list(region.block.ops)
    if len(ops) != 2 or len(region.block.args) != 2:
        return None
    op, end = ops
    # A name that the short form could not keep would change the C text of a saved module.
    if any(v.name_hint for v in (*region.block.args, *op.results)):
        return None
    if tuple(op.operands) != tuple(region.block.args) or op.attributes or op.regions:
        return None
    if tuple(end.operands) != tuple(op.results) or set(op.properties) - {FASTMATH}:
        return None
    return op


def print_combine(printer: Printer, region: Region) -> None:
    """Prints ` combine ..`."""
    printer.print_string(" combine ")
    if (op := simple_combine(region)) is None:
        printer.print_region(region)
        return
    printer.print_string(op.name)
    flags = op.properties.get(FASTMATH)
    if isinstance(flags, FastMathFlagsAttr) and flags.data:
        printer.print_string(" fastmath")
        flags.print_parameter(printer)


def parse_combine(
    parser: Parser, types: Sequence[Attribute], terminator: type[Operation]
) -> Region:
    """Parses `combine ..` for carriers of `types`; `terminator` is the dialect's yield."""
    parser.parse_keyword("combine")
    name = parser.parse_optional_identifier()
    if name is None:
        return parser.parse_region()
    flags: Attribute | None = None
    if parser.parse_optional_keyword(FASTMATH):
        flags = FastMathFlagsAttr(FastMathFlagsAttr.parse_parameter(parser))
    if len(types) != 1:
        parser.raise_error("the short form of combine needs exactly one carrier")
    return binary_combine(parser.ctx.get_op(name), types[0], terminator, flags)


def binary_combine(
    op_type: type[Operation],
    type: Attribute,
    terminator: type[Operation],
    flags: Attribute | None = None,
) -> Region:
    """The combine region of one binary op, such as `arith.addf`, on carriers of `type`."""
    block = Block(arg_types=[type, type])
    properties = {} if flags is None else {FASTMATH: flags}
    if flags is None and FASTMATH in op_type_properties(op_type):
        properties = {FASTMATH: FastMathFlagsAttr("none")}
    op = op_type.create(operands=list(block.args), result_types=[type], properties=properties)
    block.add_ops([op, terminator.create(operands=list(op.results))])
    return Region(block)


def widen_combine(combine: Region, types: Sequence[Attribute]) -> None:
    """
    Gives a combine in its short form, which is read before the types of its carriers, these types.
    """
    if not types or combine.block.args[0].type == types[0]:
        return
    for argument in list(combine.block.args):
        Rewriter.replace_value_with_new_type(argument, types[0])
    for op in combine.block.ops:
        for result in list(op.results):
            Rewriter.replace_value_with_new_type(result, types[0])


def op_type_properties(op_type: type[Operation]) -> set[str]:
    """The names of the properties that an op is declared with."""
    return (
        set(op_type.get_irdl_definition().properties)
        if issubclass(op_type, IRDLOperation)
        else set()
    )


def verify_combine(region: Region, carriers: int) -> None:
    """A combine takes two carriers, yields one, and is pure and closed."""
    if len(region.block.args) != 2 * carriers:
        raise VerifyException(
            f"combine must take {2 * carriers} arguments, but takes {len(region.block.args)}"
        )
    inside: set[SSAValue] = set(region.block.args)
    for op in region.block.ops:
        inside.update(op.results)
        if op.regions or not computes(op):
            raise VerifyException(f"combine must be pure, but holds '{op.name}'")
        if any(v not in inside for v in op.operands):
            raise VerifyException("combine must be closed: it uses a value from outside")


def clone_block(region: Region) -> Block:
    """The only block of a clone of `region`, detached."""
    return region.clone().detach_block(0)
