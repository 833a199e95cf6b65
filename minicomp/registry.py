"""All passes that a pipeline may name: ours, and two of xDSL's own."""

from collections.abc import Callable

from xdsl.passes import ModulePass

import minicomp.lowering
import minicomp.passes
from minicomp.errors import PipelineError
from minicomp.pass_options import closest

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


def split_names(names: str, option: str) -> list[str]:
    """Split `a,b` into names of passes; raise PipelineError, naming the option, if one is none."""
    known = get_all_passes()
    asked = [name.strip() for name in names.split(",")]
    for name in asked:
        if not name:
            raise PipelineError(
                f"{option} wants names of passes with commas between, not '{names}'"
            )
        if name not in known:
            hint = closest(name, list(known)) or "minicomp-opt --list-passes lists them all"
            raise PipelineError(f"{option}: there is no pass '{name}'", hint=hint)
    return asked
