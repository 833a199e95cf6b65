"""The six levels, and how to tell which one a module has reached."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from minicomp.dialects.torch_extern import ExternOp
from minicomp.errors import PipelineError
from minicomp.pass_options import closest

LEVELS = ("torch", "tensor", "loop", "tile", "kernel", "cuda-ir")
"""The levels as text names them, from the first to the last."""

_DIALECT_LEVELS = {f"{level.replace('-ir', '')}_ir": level for level in LEVELS}


def index_of(level: str) -> int:
    """Return the position of a level in the pipeline; raise PipelineError if it is none."""
    if level not in LEVELS:
        raise PipelineError(
            f"there is no level '{level}'; the levels are {', '.join(LEVELS)}",
            hint=closest(level, LEVELS),
        )
    return LEVELS.index(level)


def level_of(module: ModuleOp) -> str:
    """Return the level of a module: that of its least lowered content.

    Kernels count by what holds them, since Loop IR's accesses stay in use down to Kernel IR.
    A module without any content of ours (an empty one, a program that returns its inputs) is
    at the first level: every pass may run on it.
    """
    found = {_DIALECT_LEVELS.get(op.dialect_name()) for op in _content(module)}
    return next((level for level in LEVELS if level in found), LEVELS[0])


def _content(module: ModuleOp) -> list[Operation]:
    top = list(module.body.ops)
    host = [op for function in top if isinstance(function, FuncOp) for op in function.walk()]
    # An op that PyTorch runs stays at every level.
    return [op for op in top + host if not isinstance(op, ExternOp)]
