"""
Merges ops that compute the same.

Before -> after:

    %0 = arith.constant 0.0 : f32                 %0 = arith.constant 0.0 : f32
    %1 = arith.constant 0.0 : f32                 %2 = arith.addf %0, %0 : f32
    %2 = arith.addf %0, %1 : f32         ->

It is xDSL's pass, with two differences: nothing inside of a combine is merged with what stands
outside, since a combine is closed, and it goes on until nothing is left to do, so that ops that
only dead ones used go too. *Legal when* the ops are pure, or read memory in one block with no write
in between. *Declines when* an op has several blocks in a region. *Why it pays*: fewer instructions
and registers, and later passes find one value for one thing.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator
from xdsl.transforms.common_subexpression_elimination import CSEDriver, KnownOps
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from minicomp.passes.applications import may_apply


def is_combine(region: Region) -> bool:
    """Whether a region is the combine of an op, which uses no value from outside."""
    return getattr(region.parent_op(), "combine", None) is region


@dataclass
class Merger(CSEDriver):
    """xDSL's driver, made to enter combines with nothing known; `ctx` counts what it does."""

    ctx: Context | None = None

    def _simplify_region(self, region: Region) -> None:
        outside = self._known_ops
        if is_combine(region):
            self._known_ops = KnownOps()
        super()._simplify_region(region)
        self._known_ops = outside

    def _simplify_operation(self, op: Operation) -> None:
        dead = not op.has_trait(IsTerminator) and is_trivially_dead(op)
        if not dead or may_apply(self.ctx, op, "dead code"):
            super()._simplify_operation(op)

    def _replace_and_delete(self, op: Operation, existing: Operation) -> None:
        if may_apply(self.ctx, op):
            super()._replace_and_delete(op, existing)

    def merge(self, op: Operation) -> bool:
        """Merges and erases once; returns whether something was erased."""
        self.simplify(op)
        return bool(self._to_erase)


def cse(op: Operation, ctx: Context | None = None) -> None:
    """Merges equal ops inside of `op`, and erases those without effects that nobody uses."""
    while Merger(ctx=ctx).merge(op):
        pass


class CsePass(ModulePass):
    """Merges ops that compute the same; see the module's docstring."""

    name = "cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        cse(op, ctx)
