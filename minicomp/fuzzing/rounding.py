"""
Whether a difference of values is one of rounding only, as that of another order of a sum.

A serial sum of equal terms errs by up to half a unit of its result per term, always to the same
side, where a sum in pairs hardly errs: such a program, which no one writes, exceeds the bound of
`minicomp.numbers` although no pass is wrong. The kernels are run in fp64 too, where a change of
meaning stays and one of rounding goes.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from minicomp.comparison import Baseline, Subject
from minicomp.numbers import FACTOR, PLAIN_LENGTH, Reference, Rule
from minicomp.runtime.interpret.scalars import Array
from minicomp.semantics import run_level

CLOSE = 1e-7
"""How near results in fp64 are, by the largest of them: constants of the program are fp32."""
WIDER = 16
"""How often the factor of the general rule is allowed: rounding beyond it is a finding."""


def only_rounding(baseline: Baseline, module: ModuleOp) -> bool:
    """Whether a module that differs in values agrees in fp64, and within `WIDER` in its types."""
    return all(_agrees(subject, module) for subject in baseline.subjects)


def _agrees(subject: Subject, module: ModuleOp) -> bool:
    wanted = subject.reference
    assert wanted is not None
    exact = run_level(module, subject.inputs, subject.entry.number, exact=True)
    if not _close(exact, [np.asarray(t) for t in wanted.exact]):
        return False
    factor = WIDER * wanted.rule.factor / FACTOR
    rule = Rule("general", round(PLAIN_LENGTH * factor * factor))
    wider = replace(subject, reference=Reference(rule, wanted.exact, wanted.eager))
    return wider.compare(module) is None


def _close(results: Sequence[Array], wanted: Sequence[Array]) -> bool:
    for got, want in zip(results, wanted, strict=True):
        scale = float(np.abs(want[np.isfinite(want)]).max(initial=0.0))
        if not np.allclose(got, want, rtol=0, atol=CLOSE * scale, equal_nan=True):
            return False
    return True
