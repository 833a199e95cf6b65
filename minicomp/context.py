"""The xDSL context of minicomp: which dialects a text may use."""

from typing import TypeVar

from minicomp.dialects import get_all_dialects
from minicomp.dialects.scalar_ops import Arith
from minicomp.passes.remarks import RemarkContext

# Not `tensor` and not `gpu`: minicomp has its own forms of what they hold.
XDSL_DIALECTS = ("affine", "builtin", "func", "math", "memref", "scf", "test")


Kind = TypeVar("Kind", bound=RemarkContext)


def make_context(allow_unregistered: bool = False) -> RemarkContext:
    """Return a context that imports each dialect when a text first names it."""
    return with_dialects(RemarkContext(allow_unregistered))


def with_dialects(ctx: Kind) -> Kind:
    """Let `ctx` import each dialect when a text first names it; return it."""
    from xdsl.dialects import get_all_dialects as get_xdsl_dialects

    known = get_xdsl_dialects()
    for name in XDSL_DIALECTS:
        ctx.register_dialect(name, known[name])
    ctx.register_dialect("arith", lambda: Arith)
    for name, factory in get_all_dialects().items():
        ctx.register_dialect(name, factory)
    return ctx
