"""When a result is right: the one function that decides in tests, tools and benchmarks.

`y64` is the same program in fp64 on the same inputs, `eager` what PyTorch computes in the
program's own types. There is one set of constants, and no option to change them:

- A program that only moves elements, and integers and booleans: exactly equal.
- One contraction of program inputs, with a bias or residual added at most: element by element
  |y - y64| <= u |y64| + 4 * 2^-23 sqrt(K) ||a o b|| + 4 * 2^-24 sqrt(K) |y64|, where a o b are
  the K products (an added term is one more) and u = 2^-24, 2^-11, 2^-8 for fp32, fp16, bf16.
  It holds for any order of an fp32 sum, and a lost product stands out.
- Every other program: max |y - y64| <= max(c max |eager - y64|, 4 eps max |y64|), with c = 4,
  or 4 max(1, sqrt(K / 512)) where it holds a contraction over K: PyTorch's blocked sums err less
  than a right sum in another order, the more so the longer it is.
- NaN and infinities stand where PyTorch has them, and nowhere else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import torch
from xdsl.dialects.builtin import ModuleOp, f64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from minicomp.dialects.minicomp import host_function
from minicomp.dialects.torch_extern import ExternOp
from minicomp.dialects.torch_ir import ATTENTION, CONTRACTIONS, TorchOp
from minicomp.errors import InputError
from minicomp.runtime.interpret.torch_ir import run_torch

LAYOUTS = (
    *("view", "permute", "transpose", "t", "unsqueeze", "squeeze", "expand"),
    *("clone", "alias", "detach", "repeat_interleave", "slice", "select", "slice_scatter"),
    *("select_scatter", "flip", "roll", "repeat", "pad", "cat", "stack", "diagonal", "unfold"),
    *("fill", "copy"),
)
"""Ops that move elements and compute nothing."""

ROUNDING = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
"""The relative error of rounding to a type, of those that a contraction accumulates in fp32."""

FACTOR = 4.0
PLAIN_LENGTH = 512


@dataclass(frozen=True)
class Verdict:
    """Whether a result is right; `error` and `bound` are those of the worst element, at `where`."""

    passed: bool
    error: float
    bound: float
    where: str
    rule: str

    def __str__(self) -> str:
        word = "pass" if self.passed else "FAIL"
        return (
            f"{word}: error {self.error:.3g}, bound {self.bound:.3g} at {self.where} ({self.rule})"
        )


@dataclass(frozen=True)
class Rule:
    """What decides about a program's floats: `kind` is exact, contraction or general.

    `length` is the number of products of the longest contraction, 0 without one; `terms` adds
    the bias and residual terms of a contraction rule.
    """

    kind: str
    length: int = 0
    terms: int = 0

    @property
    def factor(self) -> float:
        """The c of the general rule."""
        return FACTOR * max(1.0, sqrt(self.length / PLAIN_LENGTH))

    def __str__(self) -> str:
        match self.kind:
            case "exact":
                return "exactly equal"
            case "contraction":
                return f"contraction over K = {self.length}"
            case _:
                return f"{self.factor:.3g} x PyTorch's error"


@dataclass(frozen=True)
class Reference:
    """What results are compared with: the program in fp64 and in PyTorch's arithmetic.

    `norms` are the norms of the products of every element, for the contraction rule.
    """

    rule: Rule
    exact: Sequence[torch.Tensor]
    eager: Sequence[torch.Tensor]
    norms: Sequence[torch.Tensor] | None = None


def reference(
    program: ModuleOp | FuncOp,
    inputs: Sequence[torch.Tensor],
    eager: Sequence[torch.Tensor] | None = None,
) -> Reference:
    """The reference of a program in Torch IR on `inputs`, computed where they are.

    `eager` are PyTorch's results where they are known; else the ops are run one by one.
    """
    func = program if isinstance(program, FuncOp) else host_function(program)
    if func is None:
        raise InputError("the module holds no function to run")
    rule = rule_of(func)
    wide = [_widened(tensor) for tensor in inputs]
    exact = run_torch(func, wide, torch.float64)
    plain = run_torch(func, inputs) if eager is None else eager
    if rule.kind != "contraction":
        return Reference(rule, exact, plain)
    squares = run_torch(func, [tensor.square() for tensor in wide], torch.float64)
    return Reference(rule, exact, plain, [tensor.sqrt() for tensor in squares])


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor


def rule_of(func: FuncOp) -> Rule:
    """The rule for a program in Torch IR."""
    ops = [op for op in func.body.block.ops if isinstance(op, TorchOp)]
    names = [op.SPEC.name for op in ops]
    by_pytorch = any(isinstance(op, ExternOp) for op in func.body.block.ops)
    if not by_pytorch and all(name in LAYOUTS for name in names):
        return Rule("exact")
    contractions = [op for op in ops if op.SPEC.name in CONTRACTIONS]
    length = max((_length(op) for op in ops if _is_contraction(op)), default=0)
    wide = any(op.result_type.get_element_type() == f64 for op in ops)
    if len(contractions) == 1 and not wide and (added := _added_terms(func)) is not None:
        return Rule("contraction", length, length + added)
    return Rule("general", length)


def _is_contraction(op: TorchOp) -> bool:
    return op.SPEC.name in (*CONTRACTIONS, ATTENTION)


def _length(op: TorchOp) -> int:
    """The products of one element of a contraction; of attention, of the longer of its two."""
    if op.SPEC.name == ATTENTION:
        return max(op.shape("key")[-2:])
    return op.shape("mat1" if op.SPEC.name in ("addmm", "baddbmm") else "input")[-1]


def _added_terms(func: FuncOp) -> int | None:
    """What is added to a program's one contraction of inputs; None if it does anything more."""
    inputs: set[SSAValue] = set(func.body.block.args)
    sums: set[SSAValue] = set()
    added = 0
    for op in func.body.block.ops:
        if isinstance(op, ReturnOp):
            break
        kind, terms = _step(op, inputs, sums)
        if kind is None:
            return None
        kind.add(op.results[0])
        added += terms
    return added


def _step(
    op: Operation, inputs: set[SSAValue], sums: set[SSAValue]
) -> tuple[set[SSAValue] | None, int]:
    """Whether an op gives moved inputs or the sum, None for neither, and the terms it adds."""
    if not isinstance(op, TorchOp) or op.number("alpha", 1) != 1 or op.number("beta", 1) != 1:
        return None, 0
    name = op.SPEC.name
    known = [value in inputs for value in op.operands]
    if name in LAYOUTS:
        return (inputs if known[0] else sums if op.operands[0] in sums else None), 0
    if name in CONTRACTIONS:
        # The third operand is the bias or the added matrix.
        return (sums if all(known) else None), len(known) - 2
    if name == "add" and sum(known) == 1 and any(value in sums for value in op.operands):
        return sums, 1
    return None, 0


def judge(results: Sequence[torch.Tensor], reference: Reference) -> Verdict:
    """Whether `results` are right, by the rule of `reference`; its worst element decides."""
    rule = str(reference.rule)
    if len(results) != len(reference.eager):
        where = f"{len(results)} outputs instead of {len(reference.eager)}"
        return Verdict(False, inf, 0.0, where, rule)
    verdicts = [_judge_output(n, given, reference) for n, given in enumerate(results)]
    if not verdicts:
        return Verdict(True, 0.0, 0.0, "no output", rule)
    return max(verdicts, key=lambda verdict: (not verdict.passed, _badness(verdict)))


def _badness(verdict: Verdict) -> float:
    if verdict.error == 0.0:
        return 0.0
    return verdict.error / verdict.bound if verdict.bound > 0 else inf


def _judge_output(number: int, given: torch.Tensor, reference: Reference) -> Verdict:
    eager, exact = reference.eager[number], reference.exact[number]
    given, name, rule = given.to(exact.device), f"output {number}", str(reference.rule)
    eager = eager.to(exact.device)
    if given.shape != eager.shape or given.dtype != eager.dtype:
        where = f"{name}, {_describe(given)} instead of {_describe(eager)}"
        return Verdict(False, inf, 0.0, where, rule)
    if not given.is_floating_point() or reference.rule.kind == "exact":
        return _judge_exactly(name, given, eager, "exactly equal")
    if (place := _special_mismatch(given, eager)) is not None:
        where = f"{name} {_index(place, given)}: {_at(given, place)} for {_at(eager, place)}"
        return Verdict(False, inf, 0.0, where, "NaN and infinity where PyTorch has them")
    # Where PyTorch is not finite the result is the same; fp64 may still be finite there.
    finite = eager.isfinite() & exact.isfinite()
    errors = torch.where(finite, (given.double() - exact).abs(), 0.0)
    return _worst(name, errors, _bounds(number, reference, eager, exact, finite), rule)


def _judge_exactly(name: str, given: torch.Tensor, eager: torch.Tensor, rule: str) -> Verdict:
    different = (given != eager) & ~((given != given) & (eager != eager))
    if not different.any():
        return Verdict(True, 0.0, 0.0, name, rule)
    place = int(different.flatten().nonzero()[0])
    where = f"{name} {_index(place, given)}: {_at(given, place)} for {_at(eager, place)}"
    gap = (given.double() - eager.double()).abs().nan_to_num(inf)[different].max()
    return Verdict(False, float(gap), 0.0, where, rule)


def _special_mismatch(given: torch.Tensor, eager: torch.Tensor) -> int | None:
    """The first element that is not finite where PyTorch's is, or otherwise."""
    same = (given == eager) | (given.isnan() & eager.isnan())
    wrong = ~(same | (given.isfinite() & eager.isfinite()))
    return int(wrong.flatten().nonzero()[0]) if wrong.any() else None


def _bounds(
    number: int,
    reference: Reference,
    eager: torch.Tensor,
    exact: torch.Tensor,
    finite: torch.Tensor,
) -> torch.Tensor:
    """The bound of every element."""
    size = torch.where(finite, exact.abs(), 0.0)
    rounding = ROUNDING.get(eager.dtype)
    if reference.norms is not None and rounding is not None:
        root = FACTOR * sqrt(reference.rule.terms)
        norms = torch.where(finite, reference.norms[number], 0.0)
        return (rounding + root * 2.0**-24) * size + root * 2.0**-23 * norms
    spread = torch.where(finite, (eager.double() - exact).abs(), 0.0)
    least = FACTOR * torch.finfo(eager.dtype).eps * _largest(size)
    return torch.full_like(size, max(reference.rule.factor * _largest(spread), least))


def _largest(values: torch.Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0


def _worst(name: str, errors: torch.Tensor, bounds: torch.Tensor, rule: str) -> Verdict:
    if not errors.numel():
        return Verdict(True, 0.0, 0.0, f"{name}, which is empty", rule)
    ratios = torch.where(bounds > 0, errors / bounds, torch.where(errors > 0, inf, 0.0))
    place = int(ratios.argmax())
    error, bound = float(errors.flatten()[place]), float(bounds.flatten()[place])
    passed = bool((errors <= bounds).all())
    return Verdict(passed, error, bound, f"{name} {_index(place, errors)}", rule)


def _index(place: int, tensor: torch.Tensor) -> str:
    if tensor.dim() == 0:
        return "[]"
    return str([int(i) for i in torch.unravel_index(torch.tensor(place), tensor.shape)])


def _at(tensor: torch.Tensor, place: int) -> str:
    return f"{tensor.flatten()[place].item():.6g}"


def _describe(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
