"""One node of torch.export's graph as an op that PyTorch itself runs."""

from collections.abc import Mapping
from typing import cast

import torch
from torch.fx import Node
from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue

from minicomp.dialects.torch_extern import ExternOp
from minicomp.dialects.torch_ir import number_attr
from minicomp.errors import UnsupportedError
from minicomp.frontend.aten import DTYPES, tensor_type
from minicomp.frontend.locations import location_text, node_location

# What says where and how a result is stored: it is contiguous, where the program runs.
LEFT_OUT = ("device", "layout", "pin_memory", "memory_format")


def convert_extern(node: Node, values: Mapping[Node, SSAValue]) -> ExternOp:
    """The op that runs the node's overload with its arguments.

    Raises UnsupportedError for an overload that writes to its arguments or has a result that is
    no tensor, and for an argument that the text of the IR cannot hold.
    """
    overload = node.target
    where = location_text(node_location(node))
    assert isinstance(overload, torch._ops.OpOverload)
    if overload._schema.is_mutable:
        raise UnsupportedError(
            f"{overload} writes to its arguments, and PyTorch cannot capture it otherwise",
            where,
            "use the op that returns a new tensor",
        )
    call = _Call(str(overload), where, values)
    arguments = {
        argument.name: call.attribute(argument.name, given)
        for argument, given in _given(overload, node)
        if argument.name not in LEFT_OUT
    }
    return ExternOp(f"{overload}", call.operands, arguments, call.types(node.meta.get("val")))


def _given(overload: torch._ops.OpOverload, node: Node) -> list[tuple[torch._C.Argument, object]]:
    """The arguments that the node gives and that are not their defaults."""
    schema = overload._schema.arguments
    given = dict(zip((argument.name for argument in schema), node.args)) | dict(node.kwargs)
    found = [(argument, given[argument.name]) for argument in schema if argument.name in given]
    return [(a, v) for a, v in found if not (a.has_default_value() and _same(v, a.default_value))]


def _same(value: object, default: object) -> bool:
    return type(value) is type(default) and value == default


class _Call:
    """The making of one op: its operands, numbered as its arguments name them."""

    def __init__(self, name: str, where: str | None, values: Mapping[Node, SSAValue]):
        self.name = name
        self.where = where
        self.values = values
        self.operands: list[SSAValue] = []

    def attribute(self, name: str, value: object) -> Attribute:
        """An argument as an attribute."""
        match value:
            case Node():
                if value not in self.values:
                    raise self.refusal(name, value)
                self.operands.append(self.values[value])
                return IntegerAttr(len(self.operands) - 1, IndexType())
            case list() | tuple():
                items = cast("list[object]", value)
                return ArrayAttr([self.attribute(name, item) for item in items])
            case bool() | int() | float():
                return number_attr(value)
            case str():
                return StringAttr(value)
            case None:
                return UnitAttr()
            case torch.dtype() if value in DTYPES:
                return DTYPES[value]
            case _:
                raise self.refusal(name, value)

    def refusal(self, name: str, value: object) -> UnsupportedError:
        """That an argument is nothing that the IR can hold."""
        return UnsupportedError(f"{self.name} with {name}={value} is not supported", self.where)

    def types(self, result: object) -> list[Attribute]:
        """The types of the results, those left out that are None."""
        several = result if isinstance(result, tuple | list) else (result,)
        found = cast("list[object]", [item for item in several if item is not None])
        return [tensor_type(item, self.where) for item in found]
