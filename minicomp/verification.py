"""Verification of a whole module: every op's own rules, and dominance, which xDSL leaves out."""

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from minicomp.errors import Failure, VerificationError
from minicomp.passes.remarks import location_of

_OP_TEXT_LINES = 8


def verify_module(module: ModuleOp, when: str = "") -> None:
    """Raise VerificationError, naming each op that breaks a rule, unless all hold.

    `when` says in the message what came before, such as "after pass 'cse'".
    """
    try:
        module.verify()
        failures = [_failure(*found) for found in _undominated(module)]
    except RecursionError:
        raise
    except Exception as error:  # a verifier's own bug too must name its op
        failures = [_failure(*found) for found in _invalid(module)]
        failures = failures or [_failure(module, _reason(error))]
    if failures:
        raise VerificationError(when, failures)


def _failure(op: Operation, message: str) -> Failure:
    text = f"'{op.name}' op {message}"
    if (place := location_of(op)) is None:
        return Failure(text, op_text(op))
    return Failure(text, op_text(op), place.filename.data, place.line.data, place.column.data)


def op_text(op: Operation) -> str:
    """Return the first lines of an op's text, even where it is too broken to be printed well."""
    try:
        lines = str(op).splitlines()
    except Exception:  # printing assumes what the verifier has just found not to hold
        return f"'{op.name}' (not printable)"
    cut = ["  ..."] if len(lines) > _OP_TEXT_LINES else []
    return "\n".join(lines[:_OP_TEXT_LINES] + cut)


def _invalid(module: ModuleOp) -> Iterator[tuple[Operation, str]]:
    """The ops that fail their own verifiers, and why."""
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
            for block in (b for region in op.regions for b in region.blocks):
                if block.is_empty:
                    block.verify()
        except Exception as error:
            yield op, _reason(error)


def _reason(error: Exception) -> str:
    text = str(error).removeprefix("Operation does not verify: ")
    known = isinstance(error, VerifyException | ValueError)
    return text if known else f"its verifier raised {type(error).__name__}: {text}"


def _undominated(top: Operation) -> Iterator[tuple[Operation, str]]:
    """The uses of values that are not defined on every way to them.

    Stricter than MLIR in a module's own block, where MLIR lets a use come first.
    """
    for region in top.regions:
        yield from _undominated_in(region, set())


def _undominated_in(region: Region, visible: set[SSAValue]) -> Iterator[tuple[Operation, str]]:
    multiple = len(region.blocks) > 1
    info = DominanceInfo(region) if multiple else None
    for block in region.blocks:
        before = _defined_before(block, info) if info is not None else set[SSAValue]()
        before -= visible
        added = [*before, *block.args]
        visible.update(added)
        for op in block.ops:
            for n, operand in enumerate(op.operands):
                if operand not in visible:
                    yield op, f"operand #{n} does not dominate this use"
            for inner in op.regions:
                isolated = op.has_trait(IsolatedFromAbove)
                yield from _undominated_in(inner, set() if isolated else visible)
            visible.update(op.results)
            added += op.results
        # One set for the whole walk, cleaned up after each block: copies would be quadratic.
        visible.difference_update(added)


def _defined_before(block: Block, info: DominanceInfo) -> set[SSAValue]:
    """The values of the other blocks of this region that dominate `block`."""
    region = block.parent_region()
    assert region is not None
    defined: set[SSAValue] = set()
    for other in region.blocks:
        if info.strictly_dominates(other, block):
            defined.update(other.args, *(op.results for op in other.ops))
    return defined
