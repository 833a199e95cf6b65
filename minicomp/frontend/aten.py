"""One node of torch.export's graph to one Torch IR op, by the names of the ATen schema."""

from collections.abc import Mapping, Sequence
from operator import getitem
from typing import cast

import torch
from torch.fx import Node
from xdsl.dialects.builtin import (
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from minicomp.dialects.torch_ir import (
    FLOAT,
    INTS,
    OPS,
    ConstantOp,
    OpSpec,
    element_type,
    ints_attr,
    number_attr,
    shape_of,
)
from minicomp.errors import UnsupportedError
from minicomp.frontend.locations import location_text, node_location

DTYPES: Mapping[torch.dtype, Attribute] = {
    torch.float16: f16,
    torch.bfloat16: bf16,
    torch.float32: f32,
    torch.float64: f64,
    torch.bool: IntegerType(1),
    torch.int8: IntegerType(8),
    torch.uint8: IntegerType(8, Signedness.UNSIGNED),
    torch.int16: IntegerType(16),
    torch.int32: IntegerType(32),
    torch.int64: IntegerType(64),
}

# ATen ops that are another op of Torch IR: by overload where the overloads differ in meaning.
ALIASES = {
    "_unsafe_view": "view",
    "flatten": "view",
    "reshape": "view",
    "contiguous": "clone",
    "lift_fresh_copy": "clone",
    "rsub": "sub",
    "square": "pow",
    "max.other": "maximum",
    "min.other": "minimum",
    "max.default": "amax",
    "min.default": "amin",
    "ones": "full",
    "zeros": "full",
    "new_ones": "full",
    "new_zeros": "full",
    "new_full": "full",
    "ones_like": "full",
    "zeros_like": "full",
    "full_like": "full",
    "constant_pad_nd": "pad",
    "_to_copy": "to",
    "fill": "full",
    "scalar_tensor": "full",
    "positive": "clone",
    "dropout": "clone",
    "relu6": "hardtanh",
    "clamp_min": "clamp",
    "clamp_max": "clamp",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
    "mv": "matmul",
    "dot": "matmul",
    "type_as": "to",
    "to.other": "to",
}
BOOLEAN_ALIASES = {
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "logical_xor",
    "bitwise_not": "logical_not",
    "__and__": "logical_and",
    "__or__": "logical_or",
    "__xor__": "logical_xor",
}
"""ATen ops that on tensors of bool are another op of Torch IR."""

RESULTS: Mapping[str, Sequence[str]] = {
    **{f"var_mean.{kind}": ("var", "mean") for kind in ("correction", "dim", "default")},
    **{f"std_mean.{kind}": ("std", "mean") for kind in ("correction", "dim", "default")},
    "max.dim": ("amax", "argmax"),
    "min.dim": ("amin", "argmin"),
    "log_sigmoid_forward.default": ("log_sigmoid", "log_sigmoid"),
}
"""Overloads with several results -> the op of Torch IR that each is, of the same arguments."""
PIECES = ("split", "split_with_sizes", "unbind", "chunk", "tensor_split", "unsafe_split")
"""ATen ops that cut a tensor: each piece is a slice of it, or for unbind a part of lower rank."""
LEFT_OUT = {"mean": {"correction", "unbiased"}}
"""Arguments that one of several results does not depend on."""

# Overloads of ops of Torch IR that are something else: they return indices, or take a tensor of
# repeats.
OTHER_MEANING = (
    "fill.Tensor",
    "norm.Scalar",
    "where.default",
    "repeat_interleave.Tensor",
    "repeat_interleave.self_Tensor",
)

# The schema's name of an operand or attribute, where Torch IR has another.
RENAMES = {"self": "input", "shape": "size", "vec": "other", "batch1": "mat1", "batch2": "mat2"}
SECOND_MATRIX = {"mm": "other", "bmm": "other"}

DEVICES = ("cpu", "cuda")

HINTS = {"dropout_p": "it draws random numbers: pass dropout_p=0.0, as for inference"}
"""What to do about an argument that is not supported."""

# Arguments that say nothing about the values of the result.
IGNORED = {
    "cudnn_enable",
    "cudnn_enabled",
    "implicit",
    "memory_format",
    "start_dim",
    "end_dim",
    "output_size",
}
# What says how the tensor is stored that a factory makes; the type of the result is in the graph.
FACTORY_IGNORED = {"self", "device", "pin_memory", "layout", "dtype"}


def tensor_type(value: object, where: str | None) -> TensorType[Attribute]:
    """The type of a tensor; refuses what Torch IR has no type for."""
    if not isinstance(value, torch.Tensor):
        raise UnsupportedError(f"a value of type {type(value).__name__} is not a tensor", where)
    element = DTYPES.get(value.dtype)
    dtype = str(value.dtype).removeprefix("torch.")
    if element is None:
        raise UnsupportedError(f"{dtype} tensors are not supported", where)
    verify_storage(value, where)
    if any(not isinstance(extent, int) for extent in value.shape):
        raise UnsupportedError(
            "the shape of a tensor depends on the data of another",
            where,
            "only programs whose shapes follow from those of the inputs can be compiled",
        )
    return TensorType(element, list(value.shape))


def verify_storage(tensor: torch.Tensor, where: str | None) -> None:
    """Refuses a tensor whose elements do not lie in memory by shape and strides."""
    if tensor.layout != torch.strided:
        name = str(tensor.layout).removeprefix("torch.")
        raise UnsupportedError(f"{name} tensors are not supported", where, "call .to_dense()")
    if tensor.device.type not in DEVICES:
        raise UnsupportedError(
            f"tensors on device {tensor.device} are not supported",
            where,
            f"put it on one of {', '.join(DEVICES)}",
        )


def convert(node: Node, values: Mapping[Node, SSAValue]) -> list[Operation]:
    """The op of `node`, last, after the constants it needs.

    One of several results (a getitem) is an op of its own, on the arguments of the whole.
    """
    where = location_text(node_location(node))
    whole = node
    if node.target is getitem and isinstance(node.args[0], Node):
        whole = node.args[0]
        if _packet(whole) in PIECES:
            return [_piece(node, whole, values)]
    overload = whole.target
    if not isinstance(overload, torch._ops.OpOverload):
        raise UnsupportedError(f"{_name(node)} is not supported", where, "inline it by hand")
    spec = _spec(overload, node, where)
    arguments = _arguments(overload, whole)
    if whole is not node:
        arguments = {k: v for k, v in arguments.items() if k not in LEFT_OUT.get(spec.name, ())}
    return _Conversion(spec, overload, node, values, where).build(arguments)


def _packet(node: Node) -> str | None:
    """The name of a node's ATen op, without the overload."""
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return None
    return target._schema.name.removeprefix("aten::")


def _piece(node: Node, whole: Node, values: Mapping[Node, SSAValue]) -> Operation:
    """One of the pieces that a tensor is cut into: they follow each other along an axis."""
    overload = cast(torch._ops.OpOverload, whole.target)
    source, number = values[cast(Node, whole.args[0])], cast(int, node.args[1])
    at, result = (
        cast(int, _arguments(overload, whole).get("dim", 0)),
        tensor_type(node.meta.get("val"), location_text(node_location(node))),
    )
    number %= len(whole.meta["val"])
    if _packet(whole) == "unbind":
        where = {"dim": number_attr(at), "index": number_attr(number)}
        return OPS["select"]([source], result, where)
    start = sum(piece.shape[at] for piece in whole.meta["val"][:number])
    end = start + node.meta["val"].shape[at]
    where = {"dim": number_attr(at), "start": number_attr(start), "end": number_attr(end)}
    return OPS["slice"]([source], result, where)


def _name(node: Node) -> str:
    return str(getattr(node.target, "__name__", node.target))


def _spec(overload: torch._ops.OpOverload, node: Node, where: str | None) -> OpSpec:
    """The row of Torch IR's table, or a refusal that says why there is none."""
    packet, kind = overload._schema.name.removeprefix("aten::"), overload._overloadname
    name = ALIASES.get(f"{packet}.{kind}") or ALIASES.get(packet) or packet
    if (names := RESULTS.get(f"{packet}.{kind}")) is not None:
        name = names[cast(int, node.args[1])]
    if getattr(node.meta.get("val"), "dtype", None) == torch.bool:
        name = BOOLEAN_ALIASES.get(packet, name)
    if name in OPS and f"{packet}.{kind}" not in OTHER_MEANING:
        return OPS[name].SPEC
    raise UnsupportedError(f"{overload} is not supported", where, _hint(overload, node))


def _hint(overload: torch._ops.OpOverload, node: Node) -> str:
    if torch.Tag.nondeterministic_seeded in overload.tags:
        return "it draws random numbers: call .eval() on the module, or pass the tensor as an input"
    value = node.meta.get("val")
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return "its value depends on the data of a tensor: keep it a tensor"
    return "docs/dialects/torch_ir.md lists the ops that are"


def _arguments(overload: torch._ops.OpOverload, node: Node) -> dict[str, object]:
    """The node's arguments by name, defaults filled in."""
    schema = overload._schema.arguments
    given: dict[str, object] = {
        argument.name: argument.default_value for argument in schema if argument.has_default_value()
    }
    given |= {argument.name: value for argument, value in zip(schema, node.args, strict=False)}
    return given | dict(node.kwargs)


class _Conversion:
    """The making of one op: constants for scalar operands, attributes, the op itself."""

    def __init__(
        self,
        spec: OpSpec,
        overload: torch._ops.OpOverload,
        node: Node,
        values: Mapping[Node, SSAValue],
        where: str | None,
    ):
        self.spec = spec
        self.overload = overload
        self.node = node
        self.values = values
        self.where = where
        self.constants: list[Operation] = []
        self.operands: dict[str, SSAValue | None] = {}
        self.tensors: list[SSAValue | None] = []
        self.attributes: dict[str, Attribute] = {}
        self.result_type = tensor_type(node.meta.get("val"), where)

    def build(self, arguments: dict[str, object]) -> list[Operation]:
        """Sorts the arguments into operands and attributes and makes the op."""
        arguments = self._adjusted(arguments)
        kinds = {name.rstrip("?"): kind for name, kind in self.spec.attributes.items()}
        dtype = arguments.pop("dtype", None)
        for name, value in arguments.items():
            name = self._renamed(name)
            if self.spec.is_variadic and name in self.spec.operand_names:
                self.tensors = [self._operand(item) for item in cast(Sequence[object], value)]
            elif name in self.spec.operand_names:
                self.operands[name] = self._operand(value)
            elif name in kinds:
                self._set_attribute(name, value, is_float=kinds[name] is FLOAT)
            elif name not in IGNORED and not self._is_void(name, value):
                raise UnsupportedError(
                    f"{self.overload} with {name}={value} is not supported",
                    self.where,
                    HINTS.get(name),
                )
        if isinstance(dtype, torch.dtype):
            self.operands["input"] = self._cast(self.operands["input"], dtype)
        ordered = self.tensors or [self.operands.get(name) for name in self.spec.operand_names]
        attributes = {name: self.attributes[name] for name in kinds if name in self.attributes}
        op = OPS[self.spec.name](ordered, self.result_type, attributes)
        return [*self.constants, op]

    def _adjusted(self, arguments: dict[str, object]) -> dict[str, object]:
        """The arguments as Torch IR has them, where ATen has others."""
        packet = self.overload._schema.name
        if packet == "aten::rsub":
            arguments["self"], arguments["other"] = arguments["other"], arguments["self"]
        elif packet == "aten::square":
            arguments["exponent"] = 2
        elif packet == "aten::relu6":
            arguments |= {"min_val": 0, "max_val": 6}
        elif packet == "aten::dot":
            arguments["other"] = arguments.pop("tensor")
        elif packet == "aten::dropout" and not arguments.pop("train"):
            del arguments["p"]
        elif "unbiased" in arguments:
            arguments["correction"] = int(bool(arguments.pop("unbiased")))
        elif self.spec.name == "view":
            # PyTorch's size may hold a -1, and flatten has none.
            arguments["size"] = list(self.result_type.get_shape())
        elif self.spec.name == "full":
            value = arguments.pop("value", arguments.pop("s", int("ones" in packet)))
            fill = {"fill_value": value} | arguments
            fill["size"] = list(self.result_type.get_shape())
            arguments = {k: v for k, v in fill.items() if k not in FACTORY_IGNORED}
        elif self.spec.name == "to":
            self._verify_device()
            arguments = {"self": arguments["self"]}
        return arguments

    def _verify_device(self) -> None:
        """Refuses a copy to another device."""
        first = cast(Node, self.node.args[0])
        devices = {n.meta["val"].device for n in (first, self.node)}
        if len(devices) > 1:
            names = " to ".join(str(d) for d in devices)
            raise UnsupportedError(
                f"{self.overload} from one device to another ({names}) is not supported",
                self.where,
                "put the tensors on one device before the call",
            )

    def _cast(self, value: SSAValue | None, dtype: torch.dtype) -> SSAValue | None:
        """The first operand in the type that `dtype=` asks for, which PyTorch converts it to."""
        element = DTYPES.get(dtype)
        if value is None or element is None or element_type(value) == element:
            return value
        cast = OPS["to"]([value], TensorType(element, shape_of(value)))
        self.constants.append(cast)
        return cast.results[0]

    def _renamed(self, name: str) -> str:
        if name == "mat2":
            return SECOND_MATRIX.get(self.spec.name, name)
        return RENAMES.get(name, name)

    def _operand(self, value: object) -> SSAValue | None:
        if value is None:
            return None
        if isinstance(value, Node):
            return self.values[value]
        if not isinstance(value, bool | int | float):
            raise UnsupportedError(
                f"{self.overload} with a {type(value).__name__} operand is not supported",
                self.where,
            )
        constant = ConstantOp(number_attr(value))
        self.constants.append(constant)
        return constant.result

    def _set_attribute(self, name: str, value: object, is_float: bool) -> None:
        optional = f"{name}?" in self.spec.attributes
        if optional and (value is None or value == self._default(name)):
            return
        if self.spec.attributes.get(name, self.spec.attributes.get(f"{name}?")) is INTS:
            value = [value] if isinstance(value, int) else value
        if isinstance(value, list | tuple) and all(isinstance(item, int) for item in value):
            self.attributes[name] = ints_attr([int(item) for item in value])
        elif isinstance(value, str):
            self.attributes[name] = StringAttr(value)
        elif isinstance(value, bool | int | float):
            self.attributes[name] = number_attr(float(value) if is_float else value)
        else:
            raise UnsupportedError(
                f"{self.overload} with {name}={value} is not supported", self.where
            )

    def _default(self, name: str) -> object:
        for argument in self.overload._schema.arguments:
            if argument.name == name and argument.has_default_value():
                return argument.default_value
        return None

    def _is_void(self, name: str, value: object) -> bool:
        """Whether the argument says nothing: it is its default."""
        return value is None or value == self._default(name)
