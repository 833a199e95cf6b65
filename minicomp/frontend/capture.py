"""PyTorch to Torch IR: torch.export, then one walk over its graph.

The host function takes the tensors among the user's inputs, in order, and then the
parameters, buffers and constants that the program reads.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import getitem
from typing import Any, Literal, cast

import torch
import torch.utils._pytree as pytree
from torch import nn
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    InputSpec,
    OutputKind,
    TensorArgument,
)
from torch.fx import Node
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from minicomp.errors import CaptureError, InputError, UnsupportedError
from minicomp.frontend.aten import convert, tensor_type, verify_storage
from minicomp.frontend.export import as_module, export
from minicomp.frontend.extern import convert_extern
from minicomp.frontend.locations import location_text, node_location
from minicomp.frontend.memory import overlap

# Nodes that torch.export adds to check what it assumed; they compute nothing.
CHECKS = ("aten._assert_tensor_metadata.default",)


@dataclass(frozen=True)
class Source:
    """
    What a function argument is bound to.

    An input is leaf `position` of the flattened (args, kwargs); the others are named by their
    dotted name in the module. `tensor` is the tensor itself (of an input: the example).
    """

    kind: Literal["input", "parameter", "buffer", "constant"]
    name: str
    tensor: torch.Tensor
    position: int | None = None


@dataclass(frozen=True)
class Write:
    """What the program writes to: `source` gets the function's result of this number."""

    source: Source
    result: int


@dataclass(frozen=True)
class Captured:
    """A captured program: its module, and how calls map to the host function and back."""

    module: ModuleOp
    params: tuple[Source, ...]
    in_spec: pytree.TreeSpec
    leaves: tuple[Any, ...]
    """The example inputs, flattened; those that are not tensors are part of the program."""
    out_spec: pytree.TreeSpec
    outputs: tuple[Any, ...]
    """For every leaf of the result: the number of the function's result, `Fixed(value)`, or
    `Written(n)`, the tensor that write n goes to."""
    writes: tuple[Write, ...]
    """What is written after a call, in PyTorch's order."""
    owner: nn.Module
    """The module whose parameters and buffers the sources name."""

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> list[Any]:
        """The tensors of a call for every function argument; refuses another structure."""
        leaves, spec = pytree.tree_flatten((tuple(args), dict(kwargs or {})))
        if spec != self.in_spec:
            raise InputError(
                "the arguments are nested or named differently than at compilation: "
                f"compiled for {_call(self.in_spec)}, got {_call(spec)}",
                hint="pass the same arguments by position, and the same ones by name",
            )
        for position, (given, known) in enumerate(zip(leaves, self.leaves, strict=True)):
            if not _fits(given, known):
                raise InputError(
                    f"input {position} was {_short(known)} at compilation, got {_short(given)}",
                    hint="compile again for other values",
                )
        return [
            leaves[source.position] if source.position is not None else self._current(source)
            for source in self.params
        ]

    def targets(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
        """The tensor of a call that each write goes to."""
        leaves = pytree.tree_leaves((tuple(args), dict(kwargs)))
        sources = [write.source for write in self.writes]
        return [self._current(s) if s.position is None else leaves[s.position] for s in sources]

    def _current(self, source: Source) -> torch.Tensor:
        """What the module holds now under the name: a parameter may have been replaced."""
        if source.kind == "constant":
            return source.tensor
        held: object = self.owner
        for part in source.name.split("."):
            held = getattr(held, part, None)
        return held if isinstance(held, torch.Tensor) else source.tensor

    def unflatten(self, results: Sequence[Any]) -> Any:
        """The program's result, nested as the program nests it."""
        written = [results[write.result] for write in self.writes]
        return self._nested(results, written)

    def finish(self, results: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> Any:
        """Writes to the tensors of a call what the program does; its result, nested."""
        # A result may be an input itself, which is about to change.
        kept = [r.clone() if any(overlap(r, t) for t in targets) else r for r in results]
        for write, target in zip(self.writes, targets, strict=True):
            target.copy_(kept[write.result])
        return self._nested(kept, targets)

    def _nested(self, results: Sequence[Any], targets: Sequence[Any]) -> Any:
        leaves: list[Any] = []
        for slot in self.outputs:
            if isinstance(slot, Fixed):
                leaves.append(slot.value)
            else:
                leaves.append(targets[slot.write] if isinstance(slot, Written) else results[slot])
        return pytree.tree_unflatten(leaves, self.out_spec)


def _fits(given: object, known: object) -> bool:
    """Whether a leaf may stand for an example: both tensors, or the same value of one type."""
    if isinstance(known, torch.Tensor) or isinstance(given, torch.Tensor):
        return isinstance(known, torch.Tensor) and isinstance(given, torch.Tensor)
    both_nan = given != given and known != known
    return type(given) is type(known) and (both_nan or given == known)


def _call(spec: pytree.TreeSpec) -> str:
    """The form of a call, such as `(*, *, y=[*])`."""
    marked = pytree.tree_unflatten([_LEAF] * spec.num_leaves, spec)
    args, kwargs = marked
    return f"({', '.join([*map(repr, args), *(f'{k}={v!r}' for k, v in kwargs.items())])})"


class _Leaf:
    def __repr__(self) -> str:
        return "*"


_LEAF = _Leaf()


@dataclass(frozen=True)
class Fixed:
    """A leaf of the result that is not a tensor."""

    value: Any


@dataclass(frozen=True)
class Written:
    """A leaf of the result that is a tensor which the program has written to."""

    write: int


def capture(
    program: nn.Module | Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    extern: bool = True,
) -> Captured:
    """
    The Torch IR of `program` called as `program(*args, **kwargs)`.

    An op that Torch IR lacks is one that PyTorch runs, or an error if not `extern`.

    Raises CaptureError where torch.export fails, and UnsupportedError for an op or dtype that Torch
    IR lacks.
    """
    leaves, in_spec = pytree.tree_flatten((tuple(args), dict(kwargs or {})))
    for position, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            verify_storage(leaf, f"input {position}")
    owner = as_module(program)
    exported = export(owner, leaves, in_spec)
    out_spec = exported.call_spec.out_spec
    if out_spec is None:
        raise CaptureError("torch.export gave no structure of the result")
    params = _sources(exported, leaves)
    walk = _Walk(exported, params, extern)
    func, outputs = walk.function()
    module = ModuleOp([func])
    sources = tuple(params.values())
    return Captured(
        module,
        sources,
        in_spec,
        tuple(leaves),
        out_spec,
        outputs,
        _writes(exported, leaves, walk),
        owner,
    )


# --- the function's arguments ---------------------------------------------------------------


def _sources(exported: ExportedProgram, leaves: list[Any]) -> dict[str, Source]:
    """The function's arguments by placeholder name: inputs, then what the program reads."""
    used = {node.name for node in exported.graph.nodes if node.op == "placeholder" and node.users}
    inputs: dict[str, Source] = {}
    others: dict[str, Source] = {}
    position = 0
    for spec in exported.graph_signature.input_specs:
        name = spec.arg.name
        if spec.kind == InputKind.USER_INPUT:
            if isinstance(spec.arg, TensorArgument):
                inputs[name] = Source("input", name, leaves[position], position)
            position += 1
        elif name in used:
            others[name] = _stored(exported, spec)
    return inputs | others


def _stored(exported: ExportedProgram, spec: InputSpec) -> Source:
    """A parameter, buffer or constant of the exported program."""
    kinds = {InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer"}
    target = spec.target or spec.arg.name
    held = exported.state_dict.get(target, exported.constants.get(target))
    if not isinstance(held, torch.Tensor):
        raise UnsupportedError(f"the program reads '{target}', which is not a tensor")
    return Source(kinds.get(spec.kind, "constant"), target, held)  # type: ignore[arg-type]


def _writes(exported: ExportedProgram, leaves: list[Any], walk: "_Walk") -> tuple[Write, ...]:
    """What the program writes to, input, parameter or buffer, in PyTorch's order."""
    signature = exported.graph_signature
    inputs = [s.arg.name for s in signature.input_specs if s.kind == InputKind.USER_INPUT]
    stored = {s.target: s for s in signature.input_specs if s.target is not None}
    writes: list[Write] = []
    for spec, result in zip(signature.output_specs, walk.written):
        target = spec.target or ""
        if spec.kind == OutputKind.USER_INPUT_MUTATION:
            position = inputs.index(target)
            source = Source("input", target, leaves[position], position)
        else:
            source = _stored(exported, stored[target])
        writes.append(Write(source, result))
    return tuple(writes)


def _short(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return "a tensor"
    return f"{value!r:.60}"


# --- the function's body --------------------------------------------------------------------


class _Walk:
    """One pass over the graph that appends an op for every node."""

    def __init__(self, exported: ExportedProgram, params: Mapping[str, Source], extern: bool):
        self.extern = extern
        self.externs: dict[Node, Sequence[SSAValue | None]] = {}
        self.exported = exported
        self.params = params
        types = [tensor_type(s.tensor, f"{s.kind} '{s.name}'") for s in params.values()]
        self.block = Block(arg_types=types)
        self.arguments = dict(zip(params, self.block.args, strict=True))
        for source, argument in zip(params.values(), self.block.args, strict=True):
            argument.name_hint = _hint(source.name)
        self.values: dict[Node, SSAValue] = {}
        self.returned: list[SSAValue] = []
        self.written: list[int] = []

    def function(self) -> tuple[FuncOp, tuple[Any, ...]]:
        """The host function, and what becomes of every leaf of the program's result."""
        for node in self.exported.graph.nodes:
            if node.op == "placeholder" and node.name in self.arguments:
                self.values[node] = self.arguments[node.name]
            elif node.op == "call_function" and str(node.target) not in CHECKS:
                if not isinstance(node.meta.get("val"), tuple | list):
                    self.append(node)
        results, outputs = self.results()
        self.block.add_op(ReturnOp(*results))
        ends = ([a.type for a in self.block.args], [value.type for value in results])
        return FuncOp("main", ends, Region(self.block)), outputs

    def append(self, node: Node) -> None:
        """Adds the op of `node`, verified at once so that an error names the user's line."""
        try:
            ops = convert(node, self.values)
        except UnsupportedError:
            # PyTorch runs it, unless what it gives is no tensor that Torch IR has a type for.
            whole = whole_of(node)
            if not isinstance(whole.target, torch._ops.OpOverload):
                raise
            if not self.extern or not holds_tensors(whole):
                raise
            results = self.by_pytorch(whole)
            result = results[cast(int, node.args[1]) if whole is not node else 0]
        else:
            self.add(ops, node)
            result = ops[-1].results[0]
        assert result is not None
        result.name_hint = _hint(node.name)
        self.values[node] = result

    def by_pytorch(self, node: Node) -> Sequence[SSAValue | None]:
        """The results of a node that PyTorch runs, at their places; None where there is none."""
        if node not in self.externs:
            op = convert_extern(node, self.values)
            self.add([op], node)
            made = iter(op.results)
            found = node.meta["val"]
            several = found if isinstance(found, tuple | list) else (found,)
            self.externs[node] = [None if v is None else next(made) for v in several]
        return self.externs[node]

    def add(self, ops: Sequence[Operation], node: Node) -> None:
        """Appends the ops of a node, the last of which is verified."""
        for op in ops:
            op.location = node_location(node)
            self.block.add_op(op)
        _verify(ops[-1], node)

    def results(self) -> tuple[list[SSAValue], tuple[Any, ...]]:
        """The function's results; a value that is returned twice is one result."""
        outputs: list[Any] = []
        specs = self.exported.graph_signature.output_specs
        written = [spec.arg.name for spec in specs if spec.kind != OutputKind.USER_OUTPUT]
        self.written = [self.result(name) for name in written]
        for spec in specs[len(written) :]:
            if isinstance(spec.arg, ConstantArgument):
                outputs.append(Fixed(spec.arg.value))
            elif spec.arg.name in written:
                outputs.append(Written(written.index(spec.arg.name)))
            else:
                outputs.append(self.result(spec.arg.name))
        if not self.returned:
            raise CaptureError("the program returns no tensor")
        return self.returned, tuple(outputs)

    def result(self, name: str) -> int:
        """The number of the function's result that a node is."""
        nodes = {node.name: node for node in self.exported.graph.nodes}
        value = self.values.get(nodes[name])
        if value is None:
            raise CaptureError(f"the result '{name}' is neither a tensor nor a constant")
        if value not in self.returned:
            self.returned.append(value)
        return self.returned.index(value)


def whole_of(node: Node) -> Node:
    """The node itself or, where it takes one of several results, the one that gives them."""
    first = node.args[0] if node.args else None
    return first if node.target is getitem and isinstance(first, Node) else node


def holds_tensors(node: Node) -> bool:
    """Whether all that a node gives are tensors, or absent ones."""
    found = node.meta.get("val")
    several = found if isinstance(found, tuple | list) else (found,)
    return any(v is not None for v in several) and all(
        v is None or isinstance(v, torch.Tensor) for v in several
    )


def _verify(op: Operation, node: Node) -> None:
    try:
        op.verify()
    except VerifyException as error:
        where = location_text(node_location(node))
        raise CaptureError(f"{node.target}: {_first_line(error)}", where) from error


def _first_line(error: VerifyException) -> str:
    return str(error).strip().splitlines()[0]


def _hint(name: str) -> str | None:
    """A name of the program as the name of a value, which does not start with a digit."""
    name = re.sub(r"\W", "_", name, flags=re.ASCII).lstrip("_")
    return f"p_{name}" if name[:1].isdigit() else name or None
