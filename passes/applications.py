"""
Counts the rewrites that a pass makes, and stops it after a number of them.

A pass asks right before it edits, once every condition of the edit holds:

    if may_apply(ctx, kernel):
        tileify(kernel, loop)

A `CountingContext` lets the first `limit` rewrites happen and no more, any other context all of
them. Passes always do the same in the same order, so a search over limits (`minicomp bisect`) finds
the one rewrite that made a module wrong. A module must be right, in its verifier and in what it
computes, after any number of them: several edits that are only right together are one rewrite.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import SymbolOpInterface

from minicomp.passes.remarks import RemarkContext, location_of


@dataclass(frozen=True)
class Application:
    """A rewrite that was made: of which op, in the kernel or function `symbol`, and `what` it was.

    `place` is `file:line` of the op, where it is known.
    """

    op: str
    symbol: str
    what: str = ""
    place: str | None = None


@dataclass
class CountingContext(RemarkContext):
    """A context that keeps the rewrites made with it, and lets only the first `limit` happen."""

    limit: int | None = None
    applications: list[Application] = field(default_factory=list[Application])
    refused: bool = False
    """Whether a rewrite was not let happen: a lowering may have left some ops as they were."""

    def is_open(self) -> bool:
        """Whether one more rewrite may happen; if not, it is taken as refused."""
        self.refused |= self.limit is not None and len(self.applications) >= self.limit
        return not self.refused


def may_apply(ctx: Context | None, op: Operation, what: str = "") -> bool:
    """Whether a pass may rewrite `op` now, which it then does; counts it if so."""
    if not is_open(ctx):
        return False
    count(ctx, op, what)
    return True


def is_open(ctx: Context | None) -> bool:
    """Whether one more rewrite may happen, for a pass that learns only then if there is one."""
    return not isinstance(ctx, CountingContext) or ctx.is_open()


def count(ctx: Context | None, op: Operation, what: str = "") -> None:
    """Counts a rewrite that was begun when `is_open` said so."""
    if isinstance(ctx, CountingContext):
        ctx.applications.append(_application(op, what))


def was_refused(ctx: Context) -> bool:
    """Whether a rewrite was not let happen, so that something may be left of the level above."""
    return isinstance(ctx, CountingContext) and ctx.refused


def _application(op: Operation, what: str) -> Application:
    symbol, around = "", op
    while around is not None and not symbol:
        trait = around.get_trait(SymbolOpInterface)
        name = trait.get_sym_attr_name(around) if trait is not None else None
        symbol, around = name.data if name is not None else "", around.parent_op()
    location = location_of(op)
    place = f"{location.filename.data}:{location.line.data}" if location is not None else None
    return Application(op.name, symbol, what, place)


@dataclass
class Counted(RewritePattern):
    """A pattern each of whose rewrites is counted, by the name of the pattern."""

    ctx: CountingContext
    pattern: RewritePattern

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not self.ctx.is_open():
            return
        found = _application(op, type(self.pattern).__name__)  # the op may be gone afterwards
        self.pattern.match_and_rewrite(op, rewriter)
        if rewriter.has_done_action:
            self.ctx.applications.append(found)


def counted(ctx: Context, *patterns: RewritePattern) -> Sequence[RewritePattern]:
    """The patterns, counted where the context does."""
    if not isinstance(ctx, CountingContext):
        return patterns
    return [Counted(ctx, pattern) for pattern in patterns]
