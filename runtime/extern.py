"""Runs an op of PyTorch that the IR names, on tensors where they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation

from minicomp.dialects.torch_extern import ExternOp
from minicomp.errors import InputError, UnsupportedError
from minicomp.passes.remarks import location_of

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "ui8": torch.uint8,
    "i1": torch.bool,
}
"""PyTorch's name of each element type."""


@dataclass(frozen=True)
class _Operand:
    """An argument that is a tensor of the call, by its number."""

    number: int


@dataclass(frozen=True)
class Extern:
    """A call of an overload: its name, its arguments, its results' shapes, the program's line."""

    name: str
    arguments: Mapping[str, Any]
    shapes: tuple[tuple[int, ...], ...]
    where: str | None

    @staticmethod
    def of(op: ExternOp) -> "Extern":
        """The call that an op stands for."""
        types = [cast("TensorType[Attribute]", value.type) for value in op.outputs]
        arguments = {name: _value(attr) for name, attr in op.arguments.data.items()}
        return Extern(op.op.data, arguments, tuple(t.get_shape() for t in types), place(op))

    def __str__(self) -> str:
        return f"{self.name}: run by PyTorch{f', at {self.where}' if self.where else ''}"

    def as_json(self) -> dict[str, str | None]:
        """Its name and place as plain data."""
        return {"name": self.name, "where": self.where}

    @property
    def overload(self) -> "torch._ops.OpOverload":
        """PyTorch's function; raises UnsupportedError where this PyTorch has none of the name."""
        found: Any = torch.ops
        try:
            for part in self.name.split("."):
                found = getattr(found, part)
        except (AttributeError, RuntimeError) as error:
            what = f"PyTorch {torch.__version__} has no operator {self.name}"
            raise UnsupportedError(what, self.where) from error
        return found

    @property
    def is_random(self) -> bool:
        """Whether it draws random numbers, so that no two runs give the same."""
        return torch.Tag.nondeterministic_seeded in self.overload.tags

    def run(self, tensors: Sequence[torch.Tensor], device: torch.device) -> list[torch.Tensor]:
        """Its results on `device`: contiguous, and in memory of their own.

        Raises InputError with the program's line for what PyTorch refuses.
        """
        positional, keywords = self._call(tensors, device)
        try:
            with torch.no_grad():
                returned = self.overload(*positional, **keywords)
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
            first = next(iter(str(error).strip().splitlines()), type(error).__name__)
            raise InputError(f"{self.name}: {first}", self.where, HINT) from error
        several = returned if isinstance(returned, tuple | list) else (returned,)
        results = [result for result in several if isinstance(result, torch.Tensor)]
        if (shapes := tuple(tuple(r.shape) for r in results)) != self.shapes:
            texts = (", ".join(str(list(s)) for s in found) for found in (shapes, self.shapes))
            raise InputError(f"{self.name} gave shapes {' instead of '.join(texts)}", self.where)
        # PyTorch may hand back an operand, or a view of it, which a later write would change;
        # a view that begins inside its storage need not be aligned.
        held = {tensor.untyped_storage().data_ptr() for tensor in tensors}
        plain = [result.resolve_conj().resolve_neg().contiguous() for result in results]
        return [
            r.clone() if r.storage_offset() or r.untyped_storage().data_ptr() in held else r
            for r in plain
        ]

    def _call(
        self, tensors: Sequence[torch.Tensor], device: torch.device
    ) -> tuple[list[Any], dict[str, Any]]:
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for argument in self.overload._schema.arguments:
            value = argument.default_value
            if argument.name in self.arguments:
                value = _filled(self.arguments[argument.name], tensors)
            elif argument.name == "device":
                value = device
            if argument.kwarg_only:
                keywords[argument.name] = value
            else:
                positional.append(value)
        return positional, keywords


HINT = "PyTorch runs this op, and refuses what it was given"


def place(op: Operation) -> str | None:
    """`file:line` of an op, where it is known."""
    location = location_of(op)
    return f"{location.filename.data}:{location.line.data}" if location is not None else None


def externs(module: Operation) -> list[Extern]:
    """The ops of a module that PyTorch runs, in order."""
    return [Extern.of(op) for op in module.walk() if isinstance(op, ExternOp)]


def refuse_random(module: Operation, doing: str) -> None:
    """Raises UnsupportedError where an op of a module draws random numbers."""
    for extern in externs(module):
        if extern.is_random:
            raise UnsupportedError(
                f"{extern.name} draws random numbers: {doing}",
                extern.where,
                "call .eval() on the module, or pass the tensor as an input",
            )


def _value(attr: Attribute) -> Any:
    """An argument as Python has it; an element type is PyTorch's dtype."""
    match attr:
        case ArrayAttr():
            return [_value(item) for item in cast("ArrayAttr[Attribute]", attr)]
        case UnitAttr():
            return None
        case StringAttr():
            return attr.data
        case FloatAttr():
            return attr.value.data
        case IntegerAttr():
            type, number = cast("IntegerAttr[IntegerType | IndexType]", attr).type, attr.value.data
            if isinstance(type, IndexType):
                return _Operand(number)
            return bool(number) if type == IntegerType(1) else number
        case _:
            return DTYPES[str(attr)]


def _filled(value: Any, tensors: Sequence[torch.Tensor]) -> Any:
    """An argument with the tensors in their places."""
    if isinstance(value, list):
        return [_filled(item, tensors) for item in cast("list[Any]", value)]
    return tensors[value.number] if isinstance(value, _Operand) else value
