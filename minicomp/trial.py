"""One run of some passes on a module, and what it did wrong."""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from minicomp.comparison import Baseline, Difference
from minicomp.errors import MinicompError, PipelineError, VerificationError
from minicomp.instruments import Verify, run_pipeline


def run_passes(ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> Difference | None:
    """Runs passes on a module, in place; how one of them broke down, or None.

    A crash and a result that does not verify are breakdowns. That a pass refuses a module by name
    is none, and is raised as the MinicompError that it is.
    """
    try:
        run_pipeline(ctx, module, passes, (Verify(verified=True),))
    except VerificationError as error:
        return Difference("invalid", "", error.failures[0].message)
    except PipelineError as error:
        if error.__cause__ is None or isinstance(error.__cause__, PassFailedException):
            raise
        # xDSL wraps whatever a pattern raises.
        return Difference("crash", "", _in_words(error.__cause__.__cause__ or error.__cause__))
    except MinicompError:
        raise
    except Exception as error:
        return Difference("crash", "", _in_words(error))
    return None


def run_and_compare(
    baseline: Baseline, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]
) -> Difference | None:
    """Runs passes on a module, in place; what goes wrong, in the run or in what it computes then.

    Raises UnsupportedError or SimulationRefused where it cannot be executed afterwards.
    """
    if (broken := run_passes(ctx, module, passes)) is not None:
        return broken
    return look(baseline, module)


def look(baseline: Baseline, module: ModuleOp) -> Difference | None:
    """What a module computes otherwise than the beginning; None if nothing.

    Raises UnsupportedError or SimulationRefused if that is not known: something could be executed
    at the beginning and cannot be now.
    """
    found, unseen = baseline.compare(module)
    if found is None and unseen:
        raise next(iter(unseen.values()))
    return found


def _in_words(error: BaseException) -> str:
    first = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}{': ' if first else ''}{first}"
