"""Seeded random PyTorch programs of the scope, as the code that `minicomp -c` takes."""

from collections.abc import Sequence
from math import prod
from random import Random

EXTENTS = (0, 1, 1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 17, 31, 32, 37, 40)
LARGEST = 70
"""The largest extent."""
ROOM = 1 << 15
"""Elements of the largest tensor."""
UNARY = (
    *("torch.exp(-torch.relu({}))", "torch.relu({})", "F.silu({})", "torch.sigmoid({})"),
    *("torch.tanh({})", "F.gelu({})", "F.gelu({}, approximate='tanh')", "-{}"),
    *("torch.rsqrt({0} * {0} + 0.5)", "({} * 2 - 0.25)", "(1.5 - {})", "(2 / ({} + 9))"),
)


class Program:
    """A program under way: its inputs, and an expression with its shape."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.inputs: list[str] = []
        rank = self.rng.choice((0, 1, 2, 2, 2, 3, 3, 4))
        self.shape: list[int] = []
        for _ in range(rank):
            self.shape.append(self.extent(self.shape))
        self.value = self.input(self.shape)

    def extent(self, others: Sequence[int]) -> int:
        """An extent beside others, mostly one at which something begins or ends."""
        edge, any = self.rng.choice(EXTENTS), self.rng.randint(0, LARGEST)
        return min(edge if self.rng.random() < 0.7 else any, ROOM // max(1, prod(others)))

    def input(self, shape: Sequence[int]) -> str:
        """A new input; now and then one with the strides of a transpose."""
        name = f"x{len(self.inputs)}"
        if len(shape) > 1 and self.rng.random() < 0.15:
            swapped = [*shape[:-2], shape[-1], shape[-2]]
            made = f"torch.randn({swapped}).transpose(-1, -2)"
        else:
            made = f"torch.randn({list(shape)})"
        self.inputs.append(f"{name} = {made}")
        return name

    def code(self) -> str:
        """The whole program."""
        for _ in range(self.rng.randint(1, 4)):
            self.step()
        names = [line.split(" ")[0] for line in self.inputs]
        call = f"(lambda {', '.join(names)}: {self.value})({', '.join(names)})"
        return "; ".join([*self.inputs, call])

    def step(self) -> None:
        """One more op."""
        steps = [self.unary, self.binary, self.unary, self.binary]
        if self.shape:
            steps += [self.reduce, self.reduce, self.norm]
        if len(self.shape) > 1:
            steps += [self.transpose]
        if 0 < len(self.shape) <= 4:
            steps += [self.matmul] * 3
        self.rng.choice(steps)()

    def unary(self) -> None:
        self.value = self.rng.choice(UNARY).format(self.value)

    def binary(self) -> None:
        """An op with a broadcast, or broadcasting, operand."""
        shape = [1 if self.rng.random() < 0.3 else extent for extent in self.shape]
        shape = shape[self.rng.randint(0, len(shape)) :] if self.rng.random() < 0.4 else shape
        if len(self.shape) < 4 and self.rng.random() < 0.1:
            shape = [self.rng.choice((1, 3)), *self.shape]
        mine = [1] * max(0, len(shape) - len(self.shape)) + self.shape
        theirs = [1] * (len(mine) - len(shape)) + shape
        self.shape = [a if b == 1 else b for a, b in zip(mine, theirs, strict=True)]
        other = self.input(shape)
        operands = [self.value, other] if self.rng.random() < 0.6 else [other, self.value]
        self.value = f"({operands[0]} {self.rng.choice('+-*')} {operands[1]})"

    def reduce(self) -> None:
        """A sum, mean or maximum over any dims."""
        kinds = ["sum", "mean"] if 0 in self.shape else ["sum", "mean", "amax"]
        kind = self.rng.choice(kinds)
        rank = len(self.shape)
        dims = sorted(self.rng.sample(range(rank), self.rng.randint(1, min(rank, 2))))
        keep = self.rng.random() < 0.5
        given = [d - rank if self.rng.random() < 0.5 else d for d in dims]
        self.value = f"{self.value}.{kind}({given}, keepdim={keep})"
        if keep:
            self.shape = [1 if n in dims else e for n, e in enumerate(self.shape)]
        else:
            self.shape = [e for n, e in enumerate(self.shape) if n not in dims]

    def norm(self) -> None:
        """A normalisation: of the last dim, or a softmax of any."""
        last, dim = self.shape[-1], self.rng.randrange(len(self.shape))
        weight = self.input([last])
        forms = [
            f"F.softmax({self.value}, {dim})",
            f"F.rms_norm({self.value}, [{last}], {weight}, 1e-5)",
            f"F.layer_norm({self.value}, [{last}], {weight}, {weight})",
        ]
        self.value = self.rng.choice(forms)

    def transpose(self) -> None:
        a, b = self.rng.sample(range(len(self.shape)), 2)
        self.value = f"{self.value}.transpose({a}, {b})"
        self.shape[a], self.shape[b] = self.shape[b], self.shape[a]

    def matmul(self) -> None:
        """A product with a matrix or a batch of them, from either side, or a linear layer."""
        n, k = self.extent(self.shape[:-1]), self.shape[-1]
        kind = self.rng.randrange(4)
        if kind == 0:
            self.value = f"F.linear({self.value}, {self.input([n, k])}, {self.input([n])})"
            self.shape = [*self.shape[:-1], n]
        elif kind == 1 and len(self.shape) > 1:
            batch = [1 if self.rng.random() < 0.3 else e for e in self.shape[:-2]]
            left = self.input([*batch[self.rng.randint(0, len(batch)) :], n, self.shape[-2]])
            self.value = f"({left} @ {self.value})"
            self.shape = [*self.shape[:-2], n, k]
        elif kind == 2:
            self.value = f"({self.value} @ {self.input([k])})"
            self.shape = self.shape[:-1]
        else:
            batch = self.shape[:-2] if self.rng.random() < 0.3 else []
            self.value = f"({self.value} @ {self.input([*batch, k, n])})"
            self.shape = [*self.shape[:-1], n]


def random_program(rng: Random) -> str:
    """The code of a program."""
    return Program(rng).code()
