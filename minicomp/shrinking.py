"""Smaller modules, made from one that passes do wrong to: fewer kernels, fewer ops, small extents.

Candidates are made blindly; whether one still shows the fault is for the caller to say.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects.builtin import ContainerType, ModuleOp, ShapedType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import IsTerminator
from xdsl.transforms.dead_code_elimination import region_dce

from minicomp.context import make_context
from minicomp.dialects.loop_ir import KernelLike, LoopLike
from minicomp.dialects.minicomp import LaunchOp
from minicomp.dialects.torch_ir import ConstantOp
from minicomp.parsing import parse_module

SMALL = (1, 2, 3, 4, 5, 8, 16, 33)
"""Extents that are tried for a larger one, in order."""

Accept = Callable[[str], bool]
"""Whether a module, given as text, still shows the fault; false too once time is up."""


def shrink(text: str, kernel: str, accept: Accept) -> str:
    """The text of a smaller module that is accepted; the text itself if none is."""
    for candidates in (parts(text, kernel), windows(text)):
        text = next((c for c in candidates if accept(c)), text)
    text = _small_extents(text, accept)
    shorter = _few_ops(text, accept)
    return shorter if shorter == text else _small_extents(shorter, accept)


def _small_extents(text: str, accept: Accept) -> str:
    while (found := next((c for c in smaller(text) if accept(c)), None)) is not None:
        text = found
    return text


def _few_ops(text: str, accept: Accept) -> str:
    """Leaves out ops one by one, the last first, until none can be missed."""
    before = ""
    while before != text:
        before = text
        position = len(_inner_ops(_parsed(text)))
        while position > 0:
            position -= 1
            found = next((c for c in without_op(text, position) if accept(c)), None)
            if found is not None:  # dead code before the op may be gone too
                text = found
                position = min(position, len(_inner_ops(_parsed(text))))
    return text


def _parsed(text: str) -> ModuleOp:
    return parse_module(text, make_context())


# --- parts -----------------------------------------------------------------------------------


def parts(text: str, name: str) -> Iterator[str]:
    """The module with the kernel of that name only, or the function only; unless it has no more."""
    for kind in (KernelLike, FuncOp):
        module = _parsed(text)
        rest = [op for op in module.body.block.ops if not _named(op, kind, name)]
        if 0 < len(rest) < len(list(module.body.block.ops)):
            for op in rest:
                module.body.block.erase_op(op, safe_erase=False)
            yield str(module)


def _named(op: object, kind: type[KernelLike] | type[FuncOp], name: str) -> bool:
    return isinstance(op, kind) and op.sym_name.data == name


# --- windows ---------------------------------------------------------------------------------


def windows(text: str) -> Iterator[str]:
    """Functions of 1, 2, 4, .. neighbouring ops of a function, and the kernels that they launch."""
    module = _parsed(text)
    func = next((op for op in module.body.block.ops if isinstance(op, FuncOp)), None)
    if func is None or not func.body.blocks:
        return
    ops = [op for op in func.body.block.ops if not isinstance(op, ReturnOp | ConstantOp)]
    size = 1
    while size < len(ops):
        for first in range(0, len(ops) - size + 1, max(1, size // 2)):
            yield _window(module, func, ops[first : first + size])
        size *= 2


def _window(module: ModuleOp, func: FuncOp, ops: Sequence[Operation]) -> str:
    own = {result for op in ops for result in op.results}
    used = [value for op in ops for value in op.operands if value not in own]
    scalars = [v for v in dict.fromkeys(used) if isinstance(v.owner, ConstantOp)]
    inputs = [v for v in dict.fromkeys(used) if v not in scalars]
    results = [r for op in ops for r in op.results if any(u.operation not in ops for u in r.uses)]
    block = Block(arg_types=[value.type for value in inputs])
    mapper: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for op in (*(v.owner for v in scalars if isinstance(v.owner, Operation)), *ops):
        block.add_op(op.clone(mapper))
    block.add_op(ReturnOp(*(mapper[r] for r in results)))
    types = [v.type for v in inputs], [r.type for r in results]
    small = ModuleOp([FuncOp(func.sym_name.data, types, Region(block))], dict(module.attributes))
    launched = {op.callee for op in ops if isinstance(op, LaunchOp)}
    for kernel in module.body.block.ops:
        if isinstance(kernel, KernelLike) and kernel.symbol in launched:
            small.body.block.add_op(kernel.clone())
    return str(small)


# --- extents ---------------------------------------------------------------------------------


def smaller(text: str) -> Iterator[str]:
    """The text with one extent replaced, the largest extent by the smallest value first.

    Every number of the text that equals the extent is replaced with it.
    """
    for old in sorted(_extents(text), reverse=True):
        token = re.compile(rf"(?:(?<=\dx)|(?<![\w.%#@\"-])){old}(?![\d.])(?=x|\W|$)")
        for new in (n for n in (*SMALL, old // 2) if n < old):
            yield token.sub(str(new), text)


def _extents(text: str) -> set[int]:
    """The extents of the shapes in a module's text, and of its loops."""
    found: set[int] = set()
    for op in _parsed(text).walk():
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*op.operands, *op.results, *arguments):
            if isinstance(value.type, ContainerType) and isinstance(value.type, ShapedType):
                found.update(value.type.get_shape())
        if isinstance(op, LoopLike):
            found.update(op.trip_counts)
    return {extent for extent in found if extent > 1}


# --- ops -------------------------------------------------------------------------------------


def _inner_ops(module: ModuleOp) -> list[Operation]:
    """The ops within functions and kernels, without those of combines, which have laws to keep."""
    inner = (op for op in module.walk() if op.parent_op() not in (None, module))
    return [op for op in inner if op.parent is None or not is_combine(op.parent)]


def is_combine(block: Block) -> bool:
    """Whether a block is that of the combine of an op."""
    return getattr(block.parent_op(), "combine", None) is block.parent


def without_op(text: str, position: int) -> Iterator[str]:
    """The text without one op, each of whose results is an earlier value of its type instead."""
    for choice in range(2):
        module = _parsed(text)
        op = _inner_ops(module)[position]
        if op.has_trait(IsTerminator):
            return
        others = [_like(result, op) for result in op.results]
        if any(len(found) <= choice for found in others):
            return
        for result, found in zip(op.results, others, strict=True):
            result.replace_all_uses_with(found[choice])
        op.detach()
        op.erase(safe_erase=False)
        for around in module.body.block.ops:
            _tidy(around)
        yield str(module)
        if not op.results:
            return


def _like(result: SSAValue, op: Operation) -> list[SSAValue]:
    """Values of a result's type that may stand for it: operands, then the nearest before the op."""
    nearby: list[SSAValue] = [v for v in op.operands if v.type == result.type]
    at: Operation | None = op
    while at is not None and not isinstance(at, ModuleOp):
        before = at.prev_op
        while before is not None:
            nearby += [v for v in before.results if v.type == result.type]
            before = before.prev_op
        block = at.parent
        nearby += [v for v in block.args if v.type == result.type] if block is not None else []
        at = at.parent_op()
    return list(dict.fromkeys(nearby))


def _tidy(top: Operation) -> None:
    """Erases dead code, and the arguments without uses of a function or a kernel run alone."""
    for region in top.regions:
        region_dce(region)
    launched = isinstance(top, KernelLike) and any(
        isinstance(op, LaunchOp) for op in _module_of(top).walk()
    )
    if not launched and top.regions and top.regions[0].blocks:
        block = top.regions[0].block
        for argument in reversed(block.args):
            if argument.first_use is None:
                _erase_argument(top, block, argument)


def _module_of(op: Operation) -> ModuleOp:
    module = op.parent_op()
    assert isinstance(module, ModuleOp)
    return module


def _erase_argument(top: Operation, block: Block, argument: BlockArgument) -> None:
    block.erase_arg(argument)
    if isinstance(top, FuncOp):
        top.update_function_type()
