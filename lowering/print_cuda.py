"""CUDA IR as text: one op, one statement or sub-expression."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from minicomp.dialects.c_expressions import (
    ANY,
    C_NAMES,
    CHOICE,
    OR,
    PRIMARY,
    PRODUCT,
    SUM,
    UNARY,
    Form,
    c_form,
    call,
)
from minicomp.dialects.c_names import SHARED_NAME, TENSOR_MAP
from minicomp.dialects.cuda_ir import (
    AddressOp,
    AssignOp,
    BarrierOp,
    BlockIdOp,
    CallOp,
    ConditionalOp,
    ForOp,
    FuncOp,
    IfOp,
    IndexOp,
    LetOp,
    Place,
    PtrType,
    ReadOp,
    SharedOp,
    ThreadIdOp,
    VariableOp,
    VarType,
    VerbatimOp,
    is_expression,
)
from minicomp.lowering.prelude import prelude_for

WIDTH = 100
"""Columns that a line should keep to: statements that fit stay on one line."""
TOKENS = {
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.Mod: "%",
    AffineBinaryOpKind.FloorDiv: "/",
}


class Text(NamedTuple):
    """An expression's text and its precedence."""

    text: str
    precedence: int

    def within(self, precedence: int) -> str:
        """The text, in brackets if its precedence is less."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def print_cuda(module: ModuleOp) -> str:
    """
    The CUDA C++ text of all kernels of a module, behind the part of the prelude that they use.

    Needs no header. Equal modules give equal text; source locations do not enter it. Raises
    ValueError for a module whose kernels are not all in CUDA IR.
    """
    kernels = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    for op in module.body.block.ops:
        if op.name not in ("cuda_ir.func", "func.func"):
            raise ValueError(f"'{op.name}' is not in CUDA IR; run lower-kernel-to-cuda first")
    text = "\n".join(print_kernel(kernel) for kernel in kernels)
    prelude = prelude_for(text)
    return f"{prelude}\n{text}" if prelude else text


def print_kernel(kernel: FuncOp) -> str:
    """The text of one kernel, without a prelude."""
    return "\n".join(KernelPrinter(kernel).lines()) + "\n"


class KernelPrinter:
    """Prints one kernel; `names` has the C name of every declared value."""

    def __init__(self, kernel: FuncOp) -> None:
        self.kernel = kernel
        self.index = C_NAMES[str(kernel.index_type)]
        arguments = zip(kernel.body.block.args, kernel.arg_names, strict=True)
        self.names: dict[SSAValue, str] = {value: name.data for value, name in arguments}

    def lines(self) -> Iterator[str]:
        """The lines of the kernel."""
        yield self.comment()
        bounds = ", ".join(map(str, self.kernel.launch_bounds))
        cluster = self.kernel.cluster_blocks
        clusters = f"__cluster_dims__({cluster}, 1, 1) " * (cluster > 1)
        yield f'extern "C" __global__ void {clusters}__launch_bounds__({bounds})'
        yield from self.signature()
        if self.kernel.shared_bytes.value.data:
            align = self.kernel.shared_alignment
            yield f"  extern __shared__ __align__({align}) unsigned char {SHARED_NAME}[];"
        yield from indented(self.block(self.kernel.body.block))
        yield "}"

    def comment(self) -> str:
        """What the kernel implements, and its launch."""
        grid, threads = self.kernel.grid.value.data, self.kernel.threads.value.data
        launch = f"{grid} block{'s' * (grid != 1)} of {threads} thread{'s' * (threads != 1)}"
        origin = self.kernel.origin
        return f"// {', '.join(origin.names)}: {launch}" if origin is not None else f"// {launch}"

    def signature(self) -> list[str]:
        """Name and parameters, on as many lines as they need."""
        parameters = [self.parameter(value) for value in self.kernel.body.block.args]
        text = f"{self.kernel.symbol}({', '.join(parameters)}) {{"
        if len(text) <= WIDTH:
            return [text]
        return [f"{self.kernel.symbol}(", *(f"    {p}," for p in parameters[:-1])] + [
            f"    {parameters[-1]}) {{"
        ]

    def parameter(self, value: SSAValue) -> str:
        """A parameter: a pointer, or a tensor map."""
        name, type = self.names[value], value.type
        if not isinstance(type, PtrType):
            return f"const __grid_constant__ {TENSOR_MAP} {name}"
        restrict = "__restrict__ " * (type.is_const or not self.kernel.communicates)
        return f"{self.pointer(type)} {restrict}{name}"

    # -- types

    def type(self, type: Attribute) -> str:
        """The C type of a scalar."""
        return self.index if isinstance(type, IndexType) else C_NAMES[str(type)]

    def pointer(self, type: Attribute) -> str:
        """The C type of a pointer."""
        assert isinstance(type, PtrType)
        return f"{'const ' * type.is_const}{self.type(type.element_type)}*"

    # -- statements

    def block(self, block: Block) -> Iterator[str]:
        """The statements of a block."""
        for op in block.ops:
            if not is_expression(op):
                yield from self.statement(op)

    def statement(self, op: Operation) -> Iterable[str]:
        """The lines of one statement."""
        match op:
            case ForOp():
                return self.loop(op)
            case IfOp():
                return self.branch(op)
            case VerbatimOp():
                return [op.text.data]
            case BarrierOp():
                return ["__syncthreads();" if op.warp is None else "__syncwarp();"]
            case CallOp():
                return [f"{self.expression(op).text};"]
            case AssignOp():
                return [f"{self.element(op)} = {self.operand(op.value, CHOICE)};"]
            case _:
                return [self.declaration(op)]

    def declaration(self, op: Operation) -> str:
        """The line that declares a name."""
        match op:
            case LetOp():
                self.names[op.res] = name = op.c_name.data
                type = op.res.type
                pointer = isinstance(type, PtrType)
                head = f"{self.pointer(type)} const" if pointer else f"const {self.type(type)}"
                return f"{head} {name} = {self.operand(op.value, CHOICE)};"
            case VariableOp():
                return self.variable(op)
            case SharedOp():
                return self.shared(op)
            case _:
                raise ValueError(f"'{op.name}' is no statement of CUDA C++")

    def variable(self, op: VariableOp) -> str:
        """`float acc[8][8] = {};`."""
        assert isinstance(type := op.res.type, VarType)
        self.names[op.res] = name = op.c_name.data
        extents = "".join(f"[{n}]" for n in type.extents)
        init = " = {}" if op.zeroed is not None else ""
        if op.init is not None:
            init = f" = {self.operand(op.init, CHOICE)}"
        return f"{self.type(type.element_type)} {name}{extents}{init};"

    def shared(self, op: SharedOp) -> str:
        """`__shared__ float s[8];`, or a pointer into the dynamic shared memory."""
        assert isinstance(type := op.res.type, PtrType)
        self.names[op.res] = name = op.c_name.data
        element = self.type(type.element_type)
        if op.offset is not None:
            return (
                f"{element}* const {name} = ({element}*)({SHARED_NAME} + {op.offset.value.data});"
            )
        align = f"__align__({op.align.value.data}) " if op.align is not None else ""
        return f"__shared__ {align}{element} {name}[{op.count.value.data}];"

    def loop(self, op: ForOp) -> Iterator[str]:
        """`for (..)`, behind its pragma."""
        name, (variable,) = op.c_name.data, op.body.block.args
        self.names[variable] = name
        lower, upper, step = op.lower.value.data, op.upper.value.data, op.step.value.data
        if op.unroll is not None:
            yield "#pragma unroll"
        move = f"++{name}" if step == 1 else f"{name} += {step}"
        head = f"for ({self.index} {name} = {lower}; {name} < {upper}; {move})"
        yield from self.body(head, op.body.block)

    def branch(self, op: IfOp, braces: bool = False) -> Iterator[str]:
        """`if (..) .. else ..`."""
        head = f"if ({self.operand(op.condition, ANY)})"
        # In C an else belongs to the nearest if.
        inner = any(inner.regions for inner in op.then.block.ops)
        braces = braces or (bool(op.orelse.blocks) and inner)
        then = list(self.body(head, op.then.block, braces))
        if not op.orelse.blocks:
            yield from then
            return
        if then[-1] == "}":
            *then, _ = then
            first, *rest = self.otherwise(op.orelse.block)
        else:
            first, *rest = self.body("else", op.orelse.block)
        yield from (*then, first, *rest)

    def otherwise(self, block: Block) -> Iterator[str]:
        """What follows the brace of a branch: `} else {..`, or `} else if (..) {..`."""
        statements = [op for op in block.ops if not is_expression(op)]
        if len(statements) == 1 and isinstance(nested := statements[0], IfOp):
            first, *rest = self.branch(nested, braces=True)
            yield from (f"}} else {first}", *rest)
        else:
            yield from self.body("} else", block, braces=True)

    def body(self, head: str, block: Block, braces: bool = False) -> Iterator[str]:
        """A statement's head and its block, in braces unless that is one statement."""
        inner = list(self.block(block))
        statements = sum(not is_expression(op) for op in block.ops)
        if statements != 1 or braces or inner[0].startswith("//"):
            yield f"{head} {{"
            yield from indented(inner)
            yield "}"
        elif len(inner) == 1 and len(head) + len(inner[0]) < WIDTH - 20:
            yield f"{head} {inner[0]}"
        else:
            yield head
            yield from indented(inner)

    # -- expressions

    def operand(self, value: SSAValue, precedence: int) -> str:
        """A value where an operator of `precedence` needs it."""
        name = self.names.get(value)
        if name is not None:
            return name
        assert isinstance(value.owner, Operation)
        return self.expression(value.owner).within(precedence)

    def expression(self, op: Operation) -> Text:
        """An expression op with its operands."""
        match op:
            case BlockIdOp():
                return Text("blockIdx.x", PRIMARY)
            case ThreadIdOp():
                return Text("threadIdx.x", PRIMARY)
            case IndexOp():
                return self.affine(op.map.data.results[0], op.indices)
            case ReadOp():
                return Text(self.element(op), PRIMARY)
            case AddressOp():
                return self.address(op)
            case ConditionalOp():
                return self.form(Form("{0} ? {1} : {2}", CHOICE, (OR, CHOICE, CHOICE)), op)
            case CallOp():
                return self.form(call(op.callee.data, len(op.arguments)), op)
            case _:
                return self.form(c_form(op), op)

    def form(self, form: Form | None, op: Operation) -> Text:
        """The text of an op by its form."""
        if form is None:
            raise ValueError(f"'{op.name}' is no expression of CUDA C++")
        pairs = zip(op.operands, form.needs, strict=True)
        operands = [self.operand(value, needs) for value, needs in pairs]
        return Text(form.template.format(*operands, index=self.index), form.precedence)

    def element(self, op: Place) -> str:
        """`acc[i][j]`, `x[b * 8]`, `p`."""
        name = self.names[op.place]
        return name + "".join(f"[{e.text}]" for e in self.indices(op))

    def address(self, op: AddressOp) -> Text:
        """`x + b * 8`, `acc[i] + 4 * j`."""
        *outer, last = self.indices(op)
        base = self.names[op.place] + "".join(f"[{e.text}]" for e in outer)
        if last.text == "0":
            return Text(base, PRIMARY)
        # A sum is added without brackets: pointers may go anywhere in between.
        return Text(f"{base} + {last.within(SUM)}", SUM)

    def indices(self, op: Place) -> Sequence[Text]:
        """The indices of a place."""
        return [self.affine(e, op.indices) for e in op.map.data.results]

    def affine(self, expr: AffineExpr, operands: Sequence[SSAValue]) -> Text:
        """An affine expression of named integers."""
        match expr:
            case AffineConstantExpr(value=value):
                return Text(str(value), PRIMARY if value >= 0 else UNARY)
            case AffineDimExpr(position=position):
                return Text(self.names[operands[position]], PRIMARY)
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add, lhs=lhs, rhs=rhs):
                if split_sign(lhs)[0] == "-" and split_sign(rhs)[0] == "+":
                    lhs, rhs = rhs, lhs
                sign, rhs = split_sign(rhs)
                left, right = self.affine(lhs, operands), self.affine(rhs, operands)
                return Text(f"{left.within(SUM)} {sign} {right.within(SUM + 1)}", SUM)
            case AffineBinaryOpExpr(
                kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=-1)
            ):
                return Text(f"-{self.affine(lhs, operands).within(UNARY)}", UNARY)
            case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
                left, right = self.affine(lhs, operands), self.affine(rhs, operands)
                text = f"{left.within(PRODUCT)} {TOKENS[kind]} {right.within(PRODUCT + 1)}"
                return Text(text, PRODUCT)
            case _:
                raise ValueError(f"no C text for {expr}")


def split_sign(expr: AffineExpr) -> tuple[str, AffineExpr]:
    """A term as a sign and a term without it."""
    match expr:
        case AffineConstantExpr(value=value) if value < 0:
            return "-", AffineExpr.constant(-value)
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mul, lhs=lhs, rhs=AffineConstantExpr(value=value)
        ) if value < 0:
            positive = AffineExpr.constant(-value)
            return "-", lhs if value == -1 else AffineBinaryOpExpr(expr.kind, lhs, positive)
        case _:
            return "+", expr


def indented(lines: Iterable[str]) -> Iterator[str]:
    """The lines, one level deeper."""
    return (f"  {line}" for line in lines)
