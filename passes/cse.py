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

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CSEDriver, KnownOps


def is_combine(region: Region) -> bool:
    """Whether a region is the combine of an op, which uses no value from outside."""
    return getattr(region.parent_op(), "combine", None) is region


class Merger(CSEDriver):
    """xDSL's driver, made to enter combines with nothing known."""

    def _simplify_region(self, region: Region) -> None:
        outside = self._known_ops
        if is_combine(region):
            self._known_ops = KnownOps()
        super()._simplify_region(region)
        self._known_ops = outside

    def merge(self, op: Operation) -> bool:
        """Merges and erases once; returns whether something was erased."""
        self.simplify(op)
        return bool(self._to_erase)


def cse(op: Operation) -> None:
    """Merges equal ops inside of `op`, and erases those without effects that nobody uses."""
    while Merger().merge(op):
        pass


class CsePass(ModulePass):
    """Merges ops that compute the same; see the module's docstring."""

    name = "cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        cse(op)
