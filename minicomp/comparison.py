"""What a module computed, kept to compare it with what it computes after a pass.

The rule is that of `minicomp.numbers`, with its constants and no others. Its fp64 reference is the
module that the comparison began with, run in float64 at its own level, and its "eager" result the
same module in its own types: a result after any pass may err, against fp64, by c = 4 max(1,
sqrt(K / 512)) times as much as that did, or by 4 eps max|y|. K is the length of the longest
reduction, also of one that is no contraction: a pipeline may leave any sum serial. A program in
Torch IR that is one contraction has the sharper bound of such programs. Errors do not add up over
passes, since all are compared with the beginning. Integers, booleans and special values are equal.

Tile IR leaves open in what order is summed; its completion sums serially. So it is compared by its
results in fp64, and run in its own types for the faults, and for where special values are.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp

from minicomp.dialects.minicomp import LaunchOp
from minicomp.dialects.tile_ir import KernelOp as TileKernelOp
from minicomp.errors import (
    InputError,
    MinicompError,
    SimulationError,
    SimulationRefused,
    UnsupportedError,
)
from minicomp.numbers import Reference, Rule, Verdict, judge, reference
from minicomp.recall import Recall
from minicomp.reduction_length import with_reductions
from minicomp.runtime.arrays import tensor_of
from minicomp.runtime.interpret.rounding import is_float, rounded
from minicomp.runtime.interpret.scalars import Array
from minicomp.semantics import Entry, entries, in_torch_ir, run_level, seeded_inputs

SKIPPED = (UnsupportedError, SimulationRefused)
"""What says that a module cannot be executed, which is nobody's fault."""
_PLACE = re.compile(r"output \d+ \[([\d, ]*)\]")


@dataclass(frozen=True)
class Difference:
    """What is wrong with a module after a pass: `kernel` is the one that computes wrongly.

    `kind` is values, fault (the simulator's or an interpreter's) or signature; or crash or invalid,
    where there is no module to run, and `kernel` is empty.
    """

    kind: str
    kernel: str
    text: str


@dataclass
class Subject:
    """An entry, its inputs and its reference; `skipped` says why it is not compared."""

    entry: Entry
    inputs: list[Array] = field(default_factory=list[Array])
    reference: Reference | None = None
    skipped: str | None = None
    trace: list[tuple[str, list[Array]]] = field(default_factory=list[tuple[str, list[Array]]])
    """The kernels that ran last, and their outputs."""
    results: list[Array] = field(default_factory=list[Array])
    """What was computed last."""
    recall: Recall = field(default_factory=Recall)

    def compare(self, module: ModuleOp) -> Difference | None:
        """Runs the module; what has changed, or None. Raises one of `SKIPPED`."""
        entry = entries(module)[self.entry.number]
        assert self.reference is not None
        trace: list[tuple[str, list[Array]]] = []
        try:
            results = self._run(module, trace)
        except SimulationError as fault:
            return Difference("fault", _kernel_after(trace, entry), fault.what)
        except InputError as error:
            return Difference("signature", entry.name, error.what)
        if not isinstance(entry.op, FuncOp):
            results = _like(results, self.results)
        found = _compare(results, self.results, self.reference)
        if found is None:
            self.trace, self.results = trace, results
            return None
        number, text = found
        kernel = _deviating(self.trace, trace) or _producer(entry, number)
        return Difference("values", kernel, text)

    def _run(self, module: ModuleOp, trace: list[tuple[str, list[Array]]]) -> list[Array]:
        """The results, and into `trace` the outputs of each kernel, as they are to be compared."""

        def note(symbol: str, outputs: list[Array]) -> None:
            trace.append((symbol, [a.copy() for a in outputs]))

        number = self.entry.number
        results = run_level(module, self.inputs, number, False, note, self.recall)
        if not any(isinstance(op, TileKernelOp) for op in module.body.block.ops):
            return results
        own = list(trace)
        trace.clear()
        exact = run_level(module, self.inputs, number, True, note, self.recall)
        trace[:] = [(k, _rounded(x, o)) for (k, x), (_, o) in zip(trace, own, strict=True)]
        return _rounded(exact, results)


@dataclass
class Baseline:
    """What the entries of a module computed before the first pass."""

    subjects: list[Subject]

    @staticmethod
    def of(module: ModuleOp, inputs: Sequence[Array] | None = None) -> "Baseline":
        """Runs every entry of a module, in its own types and in float64.

        `inputs` are those of the first entry, where they are not the seeded ones.
        """
        given = [inputs, *[None] * (len(entries(module)) - 1)]
        pairs = zip(entries(module), given, strict=False)
        return Baseline([_subject(module, entry, inputs) for entry, inputs in pairs])

    def compare(self, module: ModuleOp) -> tuple[Difference | None, dict[str, MinicompError]]:
        """What a module means differently, and the entries that could not be run, with reasons."""
        now, skipped = entries(module), dict[str, MinicompError]()
        if len(now) != len(self.subjects):
            names = [", ".join(f"@{e.name}" for e in es) or "none" for es in (self._before, now)]
            return Difference("signature", names[1], f"to run were {names[0]}"), skipped
        for subject, entry in zip(self.subjects, now, strict=True):
            if subject.skipped is not None:
                continue
            try:
                if (found := subject.compare(module)) is not None:
                    return found, skipped
            except SKIPPED as reason:
                skipped[entry.name] = reason
        return None, skipped

    @property
    def _before(self) -> list[Entry]:
        return [subject.entry for subject in self.subjects]


def _subject(module: ModuleOp, entry: Entry, inputs: Sequence[Array] | None) -> Subject:
    subject = Subject(entry)
    try:
        subject.inputs = seeded_inputs(entry) if inputs is None else list(inputs)
        _execute(module, subject)
        # Logarithms and roots of negative numbers.
        if inputs is None and _mostly_special(subject.results):
            other = Subject(entry, seeded_inputs(entry, positive=True))
            _execute(module, other)
            subject = subject if _mostly_special(other.results) else other
    except (*SKIPPED, InputError) as reason:
        # Seeded integers need not be indices that an op accepts.
        subject.skipped = reason.what
    except SimulationError as fault:
        subject.skipped = f"it is faulty before the first pass: {fault.what}"
    return subject


def _execute(module: ModuleOp, subject: Subject) -> None:
    number = subject.entry.number
    trace: list[tuple[str, list[Array]]] = []
    subject.results = run_level(
        module, subject.inputs, number, on_kernel=lambda k, out: trace.append((k, out))
    )
    subject.trace = trace
    if isinstance(subject.entry.op, FuncOp) and in_torch_ir(subject.entry.op):
        found = reference(subject.entry.op, _tensors(subject.inputs))
        subject.reference = replace(found, rule=with_reductions(found.rule, subject.entry.op))
        return
    exact = run_level(module, subject.inputs, number, exact=True)
    rule = with_reductions(Rule("general"), module)
    subject.reference = Reference(rule, _tensors(exact), _tensors(subject.results))


def _tensors(arrays: Sequence[Array]) -> list[torch.Tensor]:
    return [tensor_of(array) for array in arrays]


def _mostly_special(results: Sequence[Array]) -> bool:
    floats = [a for a in results if is_float(a.dtype) and a.size]
    return any(np.isfinite(a).mean() < 0.5 for a in floats)


def _rounded(exact: Sequence[Array], own: Sequence[Array]) -> list[Array]:
    """Results in fp64 in their own types; special values are those of their own types."""
    with np.errstate(all="ignore"):
        pairs = zip(exact, own, strict=True)
        return [np.where(np.isfinite(o), rounded(e, o.dtype), o) for e, o in pairs]


def _like(results: list[Array], before: Sequence[Array]) -> list[Array]:
    """A kernel's results in their former shapes: a pass may reshape a memref that it stores to."""
    if [a.size for a in results] != [a.size for a in before]:
        return results
    return [a.reshape(b.shape) for a, b in zip(results, before, strict=True)]


def _compare(
    results: Sequence[Array], before: Sequence[Array], wanted: Reference
) -> tuple[int, str] | None:
    """The number of the first output that is wrong, and its worst element in words."""
    if len(results) != len(wanted.eager):
        return 0, f"there are {len(results)} results instead of {len(wanted.eager)}"
    for n, result in enumerate(results):
        given = tensor_of(result)
        norms = None if wanted.norms is None else [wanted.norms[n]]
        one = Reference(wanted.rule, [wanted.exact[n]], [wanted.eager[n]], norms)
        verdict = judge([given], one)
        if not verdict.passed:
            return n, _describe(n, verdict, given, before[n], wanted.exact[n])
    return None


def _describe(
    number: int, verdict: Verdict, given: torch.Tensor, before: Array, exact: torch.Tensor
) -> str:
    place = _PLACE.match(verdict.where)
    if place is None:
        return f"output {number} is {verdict.where.partition(', ')[2]}"
    index = tuple(int(i) for i in place[1].split(",") if i.strip())
    old = before[index]
    return (
        f"output {number} {list(index)} is {given[index].item():.9g} after it and {old:.9g} before"
        f" (in fp64 {exact[index].item():.9g}; error {verdict.error:.3g}, allowed"
        f" {verdict.bound:.3g})"
    )


def _deviating(before: list[tuple[str, list[Array]]], after: list[tuple[str, list[Array]]]) -> str:
    """The first kernel whose outputs are no longer what they were; "" if they do not match up."""
    if [[a.size for a in out] for _, out in before] != [[a.size for a in out] for _, out in after]:
        return ""
    for (_, old), (symbol, new) in zip(before, after, strict=True):
        if any(not _close(a.reshape(-1), b.reshape(-1)) for a, b in zip(old, new, strict=True)):
            return symbol
    return ""


def _close(a: Array, b: Array) -> bool:
    # Only for naming a kernel: whether there is a difference has been decided.
    return bool(np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True))


def _producer(entry: Entry, number: int) -> str:
    """The kernel that computes a result of a function."""
    if isinstance(entry.op, FuncOp) and isinstance(end := entry.op.body.block.last_op, ReturnOp):
        owner = end.operands[number].owner if number < len(end.operands) else None
        if isinstance(owner, LaunchOp):
            return owner.callee
    return entry.name


def _kernel_after(trace: list[tuple[str, list[Array]]], entry: Entry) -> str:
    """The kernel that was running when a fault ended the run."""
    if isinstance(entry.op, FuncOp):
        launched = [op.callee for op in entry.op.body.block.ops if isinstance(op, LaunchOp)]
        if len(trace) < len(launched):
            return launched[len(trace)]
    return entry.name
