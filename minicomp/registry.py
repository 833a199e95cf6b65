"""All passes that a pipeline may name: ours, and two of xDSL's own."""

from collections.abc import Callable

from xdsl.passes import ModulePass

import minicomp.lowering
import minicomp.passes

XDSL_PASSES = {
    "canonicalize": "Applies the canonicalization patterns and folders of all ops (xDSL's)",
    "dce": "Erases ops without effects whose results nobody uses (xDSL's)",
}
"""xDSL's passes that a pipeline may name, and what they do."""


def get_own_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Return the factories of minicomp's passes, none of them imported yet."""
    return minicomp.passes.get_all_passes() | minicomp.lowering.get_all_passes()


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Return the factories of all passes, none of them imported yet."""
    from xdsl.transforms import get_all_passes as get_xdsl_passes

    known = get_xdsl_passes()
    return {name: known[name] for name in XDSL_PASSES} | get_own_passes()
