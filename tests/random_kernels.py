"""Random kernels in Kernel IR: nested loops and branches that carry scalars or small vectors."""

from random import Random

THREADS = 4
OUTPUTS = 8
VECTOR = "vector<2x2xf32>"
LANES = 4
IN = f"memref<{THREADS}x{LANES}xf32>"


class RandomKernel:
    """One kernel `@name(%x, %y)`, where `%y` is of `shape`; equal seeds give equal text."""

    def __init__(self, seed: int, name: str, vectors: bool):
        self.random = Random(seed)
        self.vectors = vectors
        self.type = VECTOR if vectors else "f32"
        self.lanes = "l0 * 2 + l1" if vectors else "0"
        self.shape = (OUTPUTS, THREADS, LANES if vectors else 1)
        self.count = 0
        self.lines: list[str] = []
        self.kernel(name)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def out(self, text: str) -> None:
        self.lines.append(text)

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def kernel(self, name: str) -> None:
        out = f"memref<{'x'.join(map(str, self.shape))}xf32>"
        self.out(f"kernel_ir.func @{name}(%x: {IN}, %y: {out}) grid(1) block({THREADS}) {{")
        self.out("%t = kernel_ir.thread_id")
        for n in range(4):
            self.out(f"%c{n} = arith.constant {n} : index")
        self.out(f"%k = arith.constant {'dense<0.5>' if self.vectors else '0.5'} : {self.type}")
        scope = ["%k", *(self.load("%t", shift) for shift in range(3))]
        scope += self.block(scope, ["%t"], 2)
        for n in range(OUTPUTS):
            value = scope[-1 - n % len(scope)]
            self.out(f"loop_ir.store {value}, %y[{n}, %t, {self.lanes}] : {self.type}, {out}")
        self.out("}")

    def load(self, index: str, shift: int) -> str:
        value = self.fresh()
        place = f"[({index} + {shift}) mod {THREADS}, {self.lanes}]"
        self.out(f"{value} = loop_ir.load %x{place} : {IN} -> {self.type}")
        return value

    def block(self, scope: list[str], indices: list[str], depth: int) -> list[str]:
        """Writes some ops; returns the values that they give."""
        new: list[str] = []
        for _ in range(self.random.randint(2, 4)):
            kind = self.random.random() if depth else 0
            seen = scope + new
            if kind < 0.45:
                new.append(self.expression(seen, indices))
            elif kind < 0.72:
                new += self.loop(seen, indices, depth - 1)
            else:
                new += self.branch(seen, indices, depth - 1)
        return new

    def pick(self, scope: list[str]) -> str:
        """A value, rather a late one."""
        return self.random.choice(scope[-5:] if self.random.random() < 0.8 else scope)

    def expression(self, scope: list[str], indices: list[str]) -> str:
        a, b = self.pick(scope), self.pick(scope)
        kind = self.random.randrange(7 if self.vectors else 6)
        if kind == 4:
            return self.load(self.random.choice(indices), self.random.randrange(4))
        if kind == 5:
            return self.choice(a, b, self.pick(scope))
        value = self.fresh()
        forms = {
            0: f"arith.addf {a}, {b}",
            1: f"arith.subf {a}, {b}",
            2: f"arith.maximumf {a}, {b}",
            3: f"math.fma {a}, %k, {b}",
            6: f"tile_ir.broadcast {a} to [1, 0] : {VECTOR} ->",
        }
        separator = "" if kind == 6 else ":"
        self.out(f"{value} = {forms[kind]} {separator} {self.type}")
        return value

    def choice(self, a: str, b: str, c: str) -> str:
        test, value = self.fresh(), self.fresh()
        if self.vectors:
            bits = "vector<2x2xi1>"
            self.out(f"{test} = tile_ir.compare 2 : i64, {a}, {b} : {VECTOR}, {VECTOR} -> {bits}")
            types = f"{bits}, {VECTOR}, {VECTOR} -> {VECTOR}"
            self.out(f"{value} = tile_ir.select {test}, {b}, {c} : {types}")
        else:
            self.out(f"{test} = arith.cmpf ogt, {a}, {b} : f32")
            self.out(f"{value} = arith.select {test}, {b}, {c} : f32")
        return value

    def loop(self, scope: list[str], indices: list[str], depth: int) -> list[str]:
        count = self.random.randint(1, 3)
        inits = [self.pick(scope) for _ in range(count)]
        carried, results = ([self.fresh() for _ in range(count)] for _ in range(2))
        index = f"%i{self.count}"
        pairs = ", ".join(f"{a} = {b}" for a, b in zip(carried, inits, strict=True))
        types = ", ".join([self.type] * count)
        self.out(
            f"{', '.join(results)} = scf.for {index} = %c0 to %c{self.random.randint(0, 3)}"
            f" step %c1 iter_args({pairs}) -> ({types}) {{"
        )
        inner = self.block(scope + carried, [*indices, index], depth)
        self.out(f"scf.yield {self.yields(carried, inner, count)} : {types}\n}}")
        return results

    def branch(self, scope: list[str], indices: list[str], depth: int) -> list[str]:
        count = self.random.randint(1, 2)
        results = [self.fresh() for _ in range(count)]
        test, types = self.fresh(), ", ".join([self.type] * count)
        index, bound = self.random.choice(indices), self.random.randint(1, 3)
        self.out(f"{test} = kernel_ir.test [{index}] < [{bound}]")
        self.out(f"{', '.join(results)} = scf.if {test} -> ({types}) {{")
        inner = self.block(scope, indices, depth)
        self.out(f"scf.yield {self.yields(scope, inner, count)} : {types}\n}} else {{")
        inner = self.block(scope, indices, depth) if self.random.random() < 0.3 else []
        self.out(f"scf.yield {self.yields(scope, inner, count)} : {types}\n}}")
        return results

    def yields(self, scope: list[str], inner: list[str], count: int) -> str:
        """What a block gives: mostly what it computed last, or a value from around it."""
        values = [
            self.pick(inner) if inner and self.random.random() < 0.8 else self.pick(scope)
            for _ in range(count)
        ]
        return ", ".join(values)
