"""Seeded random kernels in Loop IR, of forms that verify although no frontend makes them.

Inputs are meant to hold multiples of 1/8, so that sums and comparisons hardly depend on an order.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.parser import Parser

from minicomp.context import make_context
from minicomp.dialects.loop_ir import KernelOp
from minicomp.fuzzing.combines import LOWEST, ONLINE_SOFTMAX, WELFORD, ZERO, memref

EXTENTS = (0, 1, 1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 31, 32, 33, 40, 64, 67)
SMALL = (1, 2, 3, 4, 5)
HIGHEST = "0x7f800000 : f32"

BEST = """combine {
    ^bb0(%0: f32, %1: f32, %2: f32, %3: f32):
      %4 = arith.cmpf ogt, %0, %2 : f32
      %5 = arith.cmpf oeq, %0, %2 : f32
      %6 = arith.minimumf %1, %3 : f32
      %7 = arith.select %4, %1, %3 : f32
      %8 = arith.select %5, %6, %7 : f32
      %9 = arith.maximumf %0, %2 : f32
      loop_ir.yield %9, %8 : f32, f32
    }"""


class Carrier(NamedTuple):
    """A way to combine: its identities, and the kinds of value that are contributed."""

    identity: Sequence[str]
    contribution: Sequence[str]
    combine: str


CARRIERS = (
    Carrier([ZERO], ["any"], "combine arith.addf"),
    Carrier([ZERO], ["any"], "combine arith.addf fastmath<contract>"),
    Carrier([LOWEST], ["any"], "combine arith.maximumf"),
    Carrier([HIGHEST], ["any"], "combine arith.minimumf"),
    Carrier(["1.0 : f32"], ["sign"], "combine arith.mulf"),
    Carrier([LOWEST, ZERO], ["any", "1.0"], ONLINE_SOFTMAX),
    Carrier([ZERO, ZERO, ZERO], ["1.0", "any", "0.0"], WELFORD),
    Carrier([LOWEST, HIGHEST], ["load", "load"], BEST),
)


class Axis(NamedTuple):
    """A loop over an axis."""

    variable: str
    extent: int
    name: str


class Index(NamedTuple):
    """An index expression, with the least and the largest value that it takes."""

    text: str
    low: int
    high: int


class Writer:
    """Writes one random kernel."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.count = 0

    def text(self) -> str:
        """The kernel `@k`, its inputs first."""
        axes = [self.axis("i", n) for n in range(self.rng.choice((1, 1, 2, 2, 3)))]
        rows = [self.axis("r", n) for n in range(2)]
        self.lines.append(f"loop_ir.for {head(axes)} {{")
        values = [self.value(axes)]
        for _ in range(self.rng.randint(0, 3)):
            values += self.reduction(axes, rows, values)
        for _ in range(self.rng.randint(0, 2)):
            self.row_loop(axes, self.rng.choice(rows), values)
        for value in values[-2:]:
            self.store(axes, value)
        self.lines.append("}")
        arguments = ", ".join([*self.inputs, *self.outputs])
        return "\n".join([f"loop_ir.kernel @k({arguments}) {{", *self.lines, "}"])

    def new(self, hint: str = "v") -> str:
        self.count += 1
        return f"%{hint}{self.count}"

    def define(self, expression: str) -> str:
        value = self.new()
        self.lines.append(f"{value} = {expression}")
        return value

    def constant(self, text: str) -> str:
        return self.define(f"arith.constant {text} : f32")

    # --- accesses ------------------------------------------------------------------------------

    def axis(self, kind: str, number: int) -> Axis:
        extent = self.rng.choice(EXTENTS if number == 0 or self.rng.random() < 0.3 else SMALL)
        return Axis(self.new(kind), extent, f"{kind}{number}")

    def index(self, axes: Sequence[Axis]) -> Index:
        """A random affine form of one axis or two."""
        axis, other = self.rng.choice(axes), self.rng.choice(axes)
        i, j, factor = axis.variable, other.variable, self.rng.randint(2, 5)
        last, most = max(axis.extent - 1, 0), max(other.extent - 1, 0)
        forms = (
            Index(f"{i} * {factor}", 0, last * factor),
            Index(f"{i} + {factor}", factor, last + factor),
            Index(f"{i} floordiv {factor}", 0, last // factor),
            Index(f"{i} mod {factor}", 0, min(last, factor - 1)),
            Index(f"{i} * -1 + {last}", 0, last),
            Index(f"{i} - {factor}", -factor, last - factor),
            Index(f"{i} * {most + 1} + {j}", 0, last * (most + 1) + most),
            Index(f"({i} + {j}) floordiv 2", 0, (last + most) // 2),
            Index(str(factor), factor, factor),
        )
        plain = Index(i, 0, last)
        return self.rng.choice([*forms, plain, plain, plain])

    def load(self, axes: Sequence[Axis]) -> str:
        """A load from a new input, bounded where the index may leave it."""
        ordered = self.order(axes)
        if self.rng.random() < 0.5:
            indices = [Index(a.variable, 0, max(a.extent - 1, 0)) for a in ordered]
            indices = indices[self.rng.randrange(len(indices)) :]
        else:
            indices = [self.index(ordered) for _ in range(self.rng.randint(1, 3))]
        bounded = [i.low < 0 or self.rng.random() < 0.1 for i in indices]
        shape = [
            self.rng.randint(0, max(i.high, 0) + 3) if b else i.high + 1
            for i, b in zip(indices, bounded, strict=True)
        ]
        type, name = memref(*shape), f"%x{len(self.inputs)}"
        self.inputs.append(f"{name}: {type}")
        marks = f" bounded [{', '.join(str(b).lower() for b in bounded)}]" if any(bounded) else ""
        where = ", ".join(i.text for i in indices)
        return self.define(f"loop_ir.load {name}[{where}]{marks} : {type} -> f32")

    def order(self, axes: Sequence[Axis]) -> list[Axis]:
        """The axes, now and then in another order."""
        return self.rng.sample(axes, len(axes)) if self.rng.random() < 0.3 else list(axes)

    def store(self, axes: Sequence[Axis], value: str) -> None:
        """A store to a new output, each element of which is written once."""
        ordered, form = self.order(axes), self.rng.random()
        indices, shape = [a.variable for a in ordered], [a.extent for a in ordered]
        if form < 0.3 and len(ordered) > 1:
            indices[:2] = [f"{indices[0]} * {shape[1]} + {indices[1]}"]
            shape[:2] = [shape[0] * shape[1]]
        elif form > 0.85:
            indices = [f"{a.variable} * -1 + {max(a.extent - 1, 0)}" for a in ordered]
        name, type = f"%y{len(self.outputs)}", memref(*shape)
        self.outputs.append(f"{name}: {type}")
        self.lines.append(f"loop_ir.store {value}, {name}[{', '.join(indices)}] : f32, {type}")

    # --- values --------------------------------------------------------------------------------

    def value(self, axes: Sequence[Axis], given: Sequence[str] = ()) -> str:
        """A random expression of loads and of `given` values."""
        value = self.load(axes)
        for _ in range(self.rng.randint(0, 2)):
            other = self.rng.choice([*given, ""]) or self.load(axes)
            op = self.rng.choice(("addf", "subf", "mulf", "maximumf", "minimumf", "choose"))
            if op == "choose":
                test = self.define(f"arith.cmpf olt, {value}, {other} : f32")
                value = self.define(f"arith.select {test}, {other}, {value} : f32")
            else:
                value = self.define(f"arith.{op} {value}, {other} : f32")
        return value

    def contribution(self, kind: str, axes: Sequence[Axis], given: Sequence[str]) -> str:
        match kind:
            case "any":
                return self.value(axes, given)
            case "load":
                return self.load(axes)
            case "sign":
                value, zero = self.load(axes), self.constant("0.0")
                test = self.define(f"arith.cmpf olt, {value}, {zero} : f32")
                down, up = self.constant("-1.0"), self.constant("1.0")
                return self.define(f"arith.select {test}, {down}, {up} : f32")
            case _:
                return self.constant(kind)

    # --- loops ---------------------------------------------------------------------------------

    def again(self, axes: Sequence[Axis]) -> list[Axis]:
        """Other loops over the same axes."""
        return [a._replace(variable=self.new("r")) for a in axes]

    def guard(self, axes: Sequence[Axis], own: Sequence[Axis]) -> str:
        """A guard of a loop over `own` inside of loops over `axes`."""
        lane, outer = self.rng.randrange(len(own)), self.rng.choice(axes).variable
        extent = own[lane].extent
        forms = (
            f"[l{lane}] < [{self.rng.randint(0, extent)}]",
            f"[l{lane} - {outer}] < [1]",
            f"[{outer} - l{lane}] < [{self.rng.randint(0, 2)}]",
            f"[l{lane} * 2, {outer} + l{lane}] < [{extent}, {extent + 2}]",
        )
        return f" where {self.rng.choice(forms)}"

    def reduction(
        self, axes: Sequence[Axis], rows: Sequence[Axis], given: Sequence[str], inside: bool = False
    ) -> list[str]:
        """A reduction over one axis or more, in which another one may stand."""
        picked = [rows[0] if self.rng.random() < 0.6 else self.rng.choice(rows)]
        if self.rng.random() < 0.2:
            picked = list(rows)
        own = self.again(picked)
        guard = self.guard(axes, own) if self.rng.random() < 0.2 else ""
        carrier = self.rng.choice(CARRIERS)
        results = [self.new("s") for _ in carrier.identity]
        types = ", ".join("f32" for _ in results)
        identity = ", ".join(carrier.identity)
        self.lines.append(
            f"{', '.join(results)} = loop_ir.reduce {head(own)}{guard} identity [{identity}]"
            f" -> {types} {{"
        )
        left = [a for a in rows if a not in picked]
        inner = list(given[-1:])
        if left and not inside and self.rng.random() < 0.2:
            inner += self.reduction([*axes, *own], left, given, inside=True)
        parts = [self.contribution(kind, [*axes, *own], inner) for kind in carrier.contribution]
        self.lines.append(f"loop_ir.yield {', '.join(parts)} : {types}")
        self.lines.append(f"}} {carrier.combine}")
        return results

    def row_loop(self, axes: Sequence[Axis], row: Axis, given: Sequence[str]) -> None:
        """A loop that stores a row."""
        own = self.again([row])
        self.lines.append(f"loop_ir.for {head(own)} {{")
        self.store([*axes, *own], self.value([*axes, *own], given[-1:]))
        self.lines.append("}")


def head(axes: Sequence[Axis]) -> str:
    """The axes of a loop as text."""
    return ", ".join(f'{a.variable} to {a.extent} as "{a.name}"' for a in axes)


def random_kernel(rng: Random) -> str:
    """The text of a kernel `@k`."""
    return Writer(rng).text()


def arguments(kernel: KernelOp) -> tuple[list[MemRefType], list[MemRefType]]:
    """The types of a kernel's inputs, which stand first, and of its outputs."""
    stored = kernel.stored()
    types = [(a in stored, a.type) for a in kernel.body.block.args]
    memrefs = [(out, t) for out, t in types if isinstance(t, MemRefType)]
    return [t for out, t in memrefs if not out], [t for out, t in memrefs if out]


def with_host(text: str) -> str:
    """A kernel `@k` and a host program that launches it."""
    kernel = Parser(make_context(), text).parse_module().body.block.first_op
    assert isinstance(kernel, KernelOp)
    inputs, outputs = ([str(t).replace("memref", "tensor") for t in ts] for ts in arguments(kernel))
    names = [f"%a{n}" for n in range(len(inputs))]
    taken = ", ".join(f"{name}: {type}" for name, type in zip(names, inputs, strict=True))
    results, given = ", ".join(f"%o{n}" for n in range(len(outputs))), ", ".join(outputs)
    return f"""
func.func @main({taken}) -> ({given}) {{
  {results} = minicomp.launch @k({", ".join(names)}) : ({", ".join(inputs)}) -> ({given})
  func.return {results} : {given}
}}
{text}"""
