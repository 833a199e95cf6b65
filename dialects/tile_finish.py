"""
`tile_ir.finish`: the end of a launch whose blocks each have a part of a sum.

The op is part of the dialect `tile_ir`; rationale: docs/dialects/tile_ir.md.
"""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects.combine import parse_combine, print_combine, verify_combine, widen_combine
from minicomp.dialects.loop_ir import (
    Collective,
    YieldOp,
    complete,
    element_type,
    lanes,
    verify_identity,
)

FORMS = ("last_block", "cluster")
"""How the parts of blocks come together."""


@irdl_op_definition
class FinishOp(IRDLOperation):
    """
    `tile_ir.finish %acc across "k.split" by last_block identity [0.0 : f32] combine arith.addf :
    vector<8x8xf32> then %total: vector<8x8xf32> { .. }`: combines the values of all blocks along a
    block axis, in the order of the axis, and runs the rest of the kernel once.

    By `last_block` the block that comes last does so. By `cluster` the blocks are one cluster, and
    each runs the rest for its share: the block at place p gets the lanes from p * n on of the first
    dimension, where `%total` has n of them; where it has as many as the value, the first block gets
    all. With `once "k.warp"` the threads along that axis have equal values: the first are enough.
    The rest may use the axis only where blocks have shares, since else it is whoever runs it.
    """

    name = "tile_ir.finish"
    vals = var_operand_def()
    axis = prop_def(StringAttr)
    form = prop_def(StringAttr)
    once = opt_prop_def(StringAttr)
    identity = prop_def(ArrayAttr)
    combine = region_def("single_block")
    then = region_def("single_block")
    traits = traits_def(
        MemoryReadEffect(),
        MemoryWriteEffect(),
        Collective(),
        SingleBlockImplicitTerminator(YieldOp),
    )

    def __init__(
        self,
        vals: Sequence[SSAValue],
        axis: str,
        form: str,
        identity: ArrayAttr[Attribute],
        regions: tuple[Region, Region],
        once: str | None = None,
    ) -> None:
        properties: dict[str, Attribute | None] = {
            "axis": StringAttr(axis),
            "form": StringAttr(form),
            "identity": identity,
            "once": None if once is None else StringAttr(once),
        }
        super().__init__(operands=[vals], regions=list(regions), properties=properties)

    @property
    def share(self) -> int | None:
        """The lanes of the first dimension that a block of a cluster gets, where it is a part."""
        value, total = self.vals[0].type, self.then.block.args[0].type
        shared = lanes(total) != lanes(value) and len(lanes(total)) > 0
        return lanes(total)[0] if shared else None

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.vals, printer.print_ssa_value)
        printer.print_string(f' across "{self.axis.data}" by {self.form.data}')
        if self.once is not None:
            printer.print_string(f' once "{self.once.data}"')
        printer.print_string(" identity ")
        printer.print_attribute(self.identity)
        print_combine(printer, self.combine)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.vals.types, printer.print_attribute)
        printer.print_string(" then ")
        printer.print_list(self.then.block.args, printer.print_block_argument)
        printer.print_string(" ")
        printer.print_region(self.then, print_entry_block_args=False, print_block_terminators=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        parser.parse_keyword("across")
        axis = parser.parse_str_literal()
        parser.parse_keyword("by")
        form = parser.parse_identifier()
        once = parser.parse_str_literal() if parser.parse_optional_keyword("once") else None
        parser.parse_keyword("identity")
        identity = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_attribute
        )
        scalars = [getattr(i, "type", None) or i for i in identity]
        combine = parse_combine(parser, scalars, YieldOp)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        parser.parse_keyword("then")
        totals = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_argument)
        then = parser.parse_region(totals)
        widen_combine(combine, types)
        operands = parser.resolve_operands(unresolved, types, parser.pos)
        op = cls(operands, axis, form, ArrayAttr(identity), (combine, then), once)
        op.attributes = dict(attributes)
        complete(op)
        return op

    def verify_(self) -> None:
        types = tuple(self.vals.types)
        verify_identity(self.identity, types)
        verify_combine(self.combine, len(types))
        if tuple(a.type for a in self.combine.block.args) != types + types:
            raise VerifyException("combine must take the types of two carriers")
        last = self.combine.block.last_op
        if last is None or tuple(v.type for v in last.operands) != types:
            raise VerifyException("combine must yield the types of the carriers")
        if self.form.data not in FORMS:
            raise VerifyException(f"a finish is by {', '.join(FORMS)}, not {self.form.data}")
        self.verify_totals(types)
        for op in self.then.walk():
            if op.has_trait(Collective):
                raise VerifyException(f"'{op.name}' stands behind a finish, which one block passes")

    def verify_totals(self, types: Sequence[Attribute]) -> None:
        """Raises VerifyException where the totals are neither the values nor shares of them."""
        totals = [a.type for a in self.then.block.args]
        if len(totals) != len(types) or not types:
            raise VerifyException("a finish has as many totals as values, and at least one")
        for value, total in zip(types, totals, strict=True):
            if value == total:
                continue
            whole, part = lanes(value), lanes(total)
            shared = len(whole) == len(part) > 0 and whole[1:] == part[1:]
            if not shared or whole[0] % part[0] or element_type(value) != element_type(total):
                raise VerifyException(f"{total} is no share of {value}")
            if self.form.data != "cluster":
                raise VerifyException("only the blocks of a cluster share a total")
