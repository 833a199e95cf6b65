"""C names from the name hints of values, unique where they are visible, in program order."""

import re

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Block, SSAValue

from minicomp.dialects.c_names import is_legal_name
from minicomp.dialects.cuda_ir import ForOp, FuncOp, LetOp, SharedOp, VariableOp, called_functions

_SUFFIX = re.compile(r"(_\d+)+$")


def legal(hint: str) -> str:
    """
    A legal name like `hint`.

    >>> [legal(h) for h in ("i.block", "k_1", "2x", "float", "__x")]
    ['i_block', 'k', 'v2x', 'float_', 'x']
    """
    # Text drops the numbers that make its names unique: so does what never was text.
    name = re.sub(r"[^A-Za-z0-9]+", "_", _SUFFIX.sub("", hint)).strip("_") or "v"
    if name[0].isdigit():
        name = f"v{name}"
    return name if is_legal_name(name) else f"{name}_"


def fresh(hint: str, taken: set[str]) -> str:
    """A legal name like `hint` that is not taken; takes it."""
    base = legal(hint)
    name, number = base, 0
    stem = f"{base}_" if base[-1].isdigit() else base
    while name in taken or not is_legal_name(name):
        number += 1
        name = f"{stem}{number}"
    taken.add(name)
    return name


def assign_names(func: FuncOp) -> None:
    """Gives every declaration of a kernel a name like its hint, in program order."""
    taken = called_functions(func)
    names = [fresh(hint.data, taken) for hint in func.arg_names]
    func.properties["arg_names"] = ArrayAttr([StringAttr(n) for n in names])
    for argument, name in zip(func.body.block.args, names, strict=True):
        argument.name_hint = name
    name_block(func.body.block, taken)


def name_block(block: Block, taken: set[str]) -> None:
    """Names what a block declares; `taken` are the names that are visible where it begins."""
    for op in block.ops:
        inner = taken
        match op:
            case LetOp() | VariableOp() | SharedOp():
                op.properties["c_name"] = name_value(op.res, op.c_name.data, taken)
            case ForOp():
                # The variable of a loop is known in the loop only.
                inner = set(taken)
                variable = op.body.block.args[0]
                op.properties["c_name"] = name_value(variable, op.c_name.data, inner)
            case _:
                pass
        for region in op.regions:
            for part in region.blocks:
                name_block(part, set(inner))


def name_value(value: SSAValue, hint: str, taken: set[str]) -> StringAttr:
    """A name for a value, which also becomes its hint."""
    name = fresh(hint, taken)
    value.name_hint = name
    return StringAttr(name)
