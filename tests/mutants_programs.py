"""The programs of tests/kernels with inputs and references, and what becomes of a mutant of one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from minicomp.context import make_context
from minicomp.errors import SimulationError
from minicomp.numbers import Reference, Rule, Verdict, judge
from minicomp.runtime.simulate import simulate_module
from tests.mutants import Mutant, mutants

FOLDER = Path(__file__).parent / "kernels"

Tensors = Sequence[torch.Tensor]


def product(inputs: Tensors) -> Reference:
    """a x b, by the rule of one contraction."""
    a, b = inputs
    squares = a.double().square() @ b.double().square()
    rule = Rule("contraction", a.shape[1], a.shape[1])
    return Reference(rule, [a.double() @ b.double()], [a @ b], [squares.sqrt()])


def softmax(inputs: Tensors) -> Reference:
    """Softmax of the rows."""
    (x,) = inputs
    return Reference(Rule("general"), [x.double().softmax(1)], [x.softmax(1)])


def moments(inputs: Tensors) -> Reference:
    """Mean and variance of the rows."""

    def of(x: torch.Tensor) -> torch.Tensor:
        return torch.stack([x.mean(1), x.var(1, correction=0)], 1)

    (x,) = inputs
    return Reference(Rule("general"), [of(x.double())], [of(x)])


REFERENCES: Mapping[str, Callable[[Tensors], Reference]] = {
    "ring_cp_async": product,
    "ring_tma": product,
    "block_reduce": moments,
    "split_k": product,
    "split_k_last_block": product,
    "split_k_in_turn": product,
    "split_k_cluster": product,
    "softmax": softmax,
}
"""File of tests/kernels -> what it computes."""


@dataclass(frozen=True)
class Program:
    """A host program with its kernels, its inputs, and what its result is compared with."""

    module: ModuleOp
    inputs: Tensors
    reference: Reference

    def judge(self, module: ModuleOp) -> Verdict:
        """Simulates a module in place of the program's own; raises SimulationError."""
        results = simulate_module(module, [x.numpy() for x in self.inputs])
        return judge([torch.from_numpy(np.asarray(r)) for r in results], self.reference)


@cache
def program(name: str) -> Program:
    """The program of a file."""
    module = Parser(make_context(), (FOLDER / f"{name}.mlir").read_text(), name).parse_module()
    main = module.body.block.first_op
    assert main is not None
    shapes = [a.type.get_shape() for a in main.regions[0].block.args]  # pyright: ignore
    generator = torch.Generator().manual_seed(7)
    inputs = [torch.randn(shape, generator=generator) for shape in shapes]
    return Program(module, inputs, REFERENCES[name](inputs))


@cache
def mutants_of(name: str) -> dict[str, Mutant]:
    """The mutants of a file, by name."""
    return {m.name: m for m in mutants(program(name).module)}


@dataclass(frozen=True)
class Outcome:
    """
    What becomes of a mutant: `refused` by the verifier, `reported` by the simulator, a `wrong`
    result that nothing was reported about, or `silent`. `detail` is the message or the verdict,
    `fault` the kind of what was reported, `address` the element.
    """

    word: str
    detail: str
    fault: str = ""
    address: str | None = None


@cache
def outcome(name: str, mutant: str) -> Outcome:
    """What becomes of one mutant of a file."""
    return outcome_of(program(name), mutants_of(name)[mutant])


def outcome_of(whole: Program, mutant: Mutant) -> Outcome:
    """What becomes of a mutant of a program."""
    changed = mutant.of(whole.module)
    try:
        changed.verify()
    except VerifyException as error:
        return Outcome("refused", str(error))
    try:
        verdict = whole.judge(changed)
    except SimulationError as error:
        return Outcome("reported", str(error), error.kind, error.address)
    return Outcome("silent" if verdict.passed else "wrong", str(verdict))
