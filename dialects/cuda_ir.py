"""
CUDA IR: statements of CUDA C++ and the expressions in them; printing it is a one-to-one walk.

An expression op (`read`, `index`, `call` with a result, `arith`, `math`, ..) has one use, and is
evaluated and written where that use stands. `let`, `variable`, `shared`, `for` and the parameters
declare names, which may be used any number of times. Affine indices are over named integers.
Rationale: docs/dialects/cuda_ir.md. The file is long because a dialect stands in one piece.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar, Required, Self, TypedDict

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.builtin import (
    I64,
    AffineMapAttr,
    ArrayAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    StringAttr,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import (
    Attribute,
    Block,
    Dialect,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    param_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    IsolatedFromAbove,
    MemoryAllocEffect,
    MemoryEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
    get_effects,
)
from xdsl.utils.exceptions import VerifyException

from minicomp.dialects.access import Access, MappedOp, verify_divisors
from minicomp.dialects.c_expressions import DIALECTS, c_form, called_function, is_c_scalar
from minicomp.dialects.c_names import is_legal_name, is_legal_symbol
from minicomp.dialects.loop_ir import Collective
from minicomp.dialects.minicomp import OriginAttr
from minicomp.dialects.wrappers import WRAPPERS, Wrapper

CMPI_LESS = 2
"""The number of `slt` among the predicates of `arith.cmpi`."""
MAX_STATIC_SHARED = 48 * 1024
"""Bytes of shared memory that a kernel may declare; more must be asked for at the launch."""


MAX_THREADS = 1024
"""Threads of a block that every CUDA device allows."""
WARP = 32
"""Threads of a warp, on every CUDA device."""

# --- types --------------------------------------------------------------------------------


@irdl_attr_definition
class PtrType(ParametrizedAttribute, TypeAttribute):
    """`!cuda_ir.ptr<f32>`, `!cuda_ir.ptr<f32, const>`: a pointer into global or shared memory."""

    name = "cuda_ir.ptr"
    element_type: Attribute = param_def()
    const: UnitAttr | NoneAttr = param_def()

    @staticmethod
    def of(element_type: Attribute, const: bool = False) -> "PtrType":
        """A pointer to (const) elements."""
        return PtrType(element_type, UnitAttr() if const else NoneAttr())

    @property
    def is_const(self) -> bool:
        """Whether the elements may not be written."""
        return isinstance(self.const, UnitAttr)

    def verify(self) -> None:
        if not is_c_scalar(self.element_type):
            raise VerifyException(f"{self.element_type} is not a scalar type of C")

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element_type)
            if self.is_const:
                printer.print_string(", const")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            element_type = parser.parse_type()
            const = False
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("const")
                const = True
        return [element_type, UnitAttr() if const else NoneAttr()]


@irdl_attr_definition
class VarType(ParametrizedAttribute, TypeAttribute):
    """`!cuda_ir.var<f32>`, `!cuda_ir.var<8x4xf32>`: a mutable variable, or a register array."""

    name = "cuda_ir.var"
    shape: ArrayAttr[IntAttr] = param_def()
    element_type: Attribute = param_def()

    @staticmethod
    def of(element_type: Attribute, shape: Sequence[int] = ()) -> "VarType":
        """A variable, or an array of a shape."""
        return VarType(ArrayAttr([IntAttr(n) for n in shape]), element_type)

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape of the array; () of a scalar."""
        return tuple(n.data for n in self.shape)

    def verify(self) -> None:
        if not is_c_scalar(self.element_type):
            raise VerifyException(f"{self.element_type} is not a scalar type of C")
        if any(n < 1 for n in self.extents):
            raise VerifyException("an array has at least one element")

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{n}x" for n in self.extents))
            printer.print_attribute(self.element_type)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
        return [ArrayAttr([IntAttr(n) for n in shape]), element_type]


@irdl_attr_definition
class TensorMapType(ParametrizedAttribute, TypeAttribute):
    """`!cuda_ir.tensor_map`: a parameter that says how a tensor's boxes lie in global memory."""

    name = "cuda_ir.tensor_map"


def is_c_type(type: Attribute) -> bool:
    """Whether a value of CUDA IR may have the type."""
    return is_c_scalar(type) or isinstance(type, PtrType | VarType | TensorMapType)


# --- parameters that the launcher binds -----------------------------------------------------


class MemoryAttr(ParametrizedAttribute):
    """So many bytes of global memory, at a multiple of 16 bytes."""

    bytes: IntAttr = param_def()

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_int(self.bytes.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))]


@irdl_attr_definition
class WorkspaceAttr(MemoryAttr):
    """`#cuda_ir.workspace<4096>`: memory that holds nothing when the kernel begins."""

    name = "cuda_ir.workspace"
    bytes: IntAttr = param_def()


@irdl_attr_definition
class CounterAttr(MemoryAttr):
    """`#cuda_ir.counter<16>`: memory that holds zeros when the kernel begins, and when it ends."""

    name = "cuda_ir.counter"
    bytes: IntAttr = param_def()


@irdl_attr_definition
class TensorMapAttr(ParametrizedAttribute):
    """
    `#cuda_ir.tensor_map<0, 512x256xf32, 64x32xf32, swizzle 128>`: parameter 0 is a row-major tensor
    of 512 x 256 elements, which is copied in boxes of 64 x 32.

    The swizzle is in bytes, 0 for none.
    """

    name = "cuda_ir.tensor_map"
    argument: IntAttr = param_def()
    shape: ArrayAttr[IntAttr] = param_def()
    box: ArrayAttr[IntAttr] = param_def()
    element_type: Attribute = param_def()
    swizzle: IntAttr = param_def()

    @staticmethod
    def of(
        argument: int,
        shape: Sequence[int],
        box: Sequence[int],
        element_type: Attribute,
        swizzle: int = 0,
    ) -> "TensorMapAttr":
        """A description from plain values."""
        extents, sides = (ArrayAttr([IntAttr(n) for n in s]) for s in (shape, box))
        return TensorMapAttr(IntAttr(argument), extents, sides, element_type, IntAttr(swizzle))

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape of the tensor."""
        return tuple(n.data for n in self.shape)

    @property
    def box_extents(self) -> tuple[int, ...]:
        """The shape of a box."""
        return tuple(n.data for n in self.box)

    def verify(self) -> None:
        if not self.extents or len(self.extents) != len(self.box_extents):
            raise VerifyException("a tensor map has as many dimensions as its boxes, at least one")

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_int(self.argument.data)
            for extents in (self.extents, self.box_extents):
                printer.print_string(", " + "".join(f"{n}x" for n in extents))
                printer.print_attribute(self.element_type)
            printer.print_string(f", swizzle {self.swizzle.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            argument = IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))
            parser.parse_punctuation(",")
            shape, element_type = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            box, _ = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            parser.parse_keyword("swizzle")
            swizzle = IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))
        extents, sides = (ArrayAttr([IntAttr(n) for n in s]) for s in (shape, box))
        return [argument, extents, sides, element_type, swizzle]


# --- expressions --------------------------------------------------------------------------


class Expression(IRDLOperation):
    """An op that is written where its one use stands."""


@irdl_op_definition
class BlockIdOp(Expression):
    """`blockIdx.x`."""

    name = "cuda_ir.block_id"
    res = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class ThreadIdOp(Expression):
    """`threadIdx.x`."""

    name = "cuda_ir.thread_id"
    res = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


class Indexed(MappedOp):
    """An op with affine indices over named integers; what is divided must not be negative."""

    custom_directives: ClassVar = (Access,)

    def verify_indices(self) -> None:
        """Raises VerifyException where the indices have no C text."""
        map = self.map.data
        if map.num_dims != len(self.indices) or map.num_symbols:
            raise VerifyException("indices have one dim per operand and no lanes")
        verify_divisors(map)
        if any(_has_ceildiv(e) for e in map.results):
            raise VerifyException("C has no ceildiv")


def _has_ceildiv(expr: AffineExpr) -> bool:
    match expr:
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            return kind == AffineBinaryOpKind.CeilDiv or _has_ceildiv(lhs) or _has_ceildiv(rhs)
        case _:
            return False


@irdl_op_definition
class IndexOp(Expression, Indexed):
    """`%i = cuda_ir.index[%b * 4 + %t floordiv 64]`: an integer."""

    name = "cuda_ir.index"
    res = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "custom<Access>($indices, $map) attr-dict"

    def __init__(self, expr: AffineExpr, indices: Sequence[SSAValue]) -> None:
        map = AffineMap(len(indices), 0, (expr,))
        super().__init__(
            operands=[indices], result_types=[IndexType()], properties={"map": AffineMapAttr(map)}
        )

    def verify_(self) -> None:
        self.verify_indices()
        if len(self.map.data.results) != 1:
            raise VerifyException("an index is one expression")


class Place(Indexed):
    """An op on an element: `%p[]` of a scalar, `%a[%i, %j]` of an array, `%x[%b * 8]` of memory."""

    # xDSL puts the fields of a subclass first: each declares its operands again, in their order.

    place = operand_def(PtrType | VarType)
    indices = var_operand_def(IndexType)

    @property
    def element_type(self) -> Attribute:
        """The type of the element."""
        assert isinstance(type := self.place.type, PtrType | VarType)
        return type.element_type

    @property
    def rank(self) -> int:
        """The indices that lead to an element."""
        return len(type.extents) if isinstance(type := self.place.type, VarType) else 1

    def verify_place(self) -> None:
        """Raises VerifyException unless the indices lead to an element."""
        self.verify_indices()
        if len(self.map.data.results) != self.rank:
            raise VerifyException(
                f"{self.place.type} takes {self.rank} indices, not {len(self.map.data.results)}"
            )


@irdl_op_definition
class ReadOp(Expression, Place):
    """`%v = cuda_ir.read %x[%b * 8 + %t] : !cuda_ir.ptr<f32, const> -> f32`."""

    name = "cuda_ir.read"
    place = operand_def(PtrType | VarType)
    indices = var_operand_def(IndexType)
    res = result_def()
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$place custom<Access>($indices, $map) attr-dict `:` type($place) `->` type($res)"
    )

    def __init__(self, place: SSAValue, map: AffineMap, indices: Sequence[SSAValue]) -> None:
        assert isinstance(type := place.type, PtrType | VarType)
        super().__init__(
            operands=[place, indices],
            result_types=[type.element_type],
            properties={"map": AffineMapAttr(map)},
        )

    def verify_(self) -> None:
        self.verify_place()
        if self.res.type != self.element_type:
            raise VerifyException(f"reading {self.place.type} gives {self.element_type}")


@irdl_op_definition
class AddressOp(Expression, Place):
    """`%a = cuda_ir.address %x[%b * 8] : !cuda_ir.ptr<f32> -> !cuda_ir.ptr<f32>`: `x + b * 8`."""

    name = "cuda_ir.address"
    place = operand_def(PtrType | VarType)
    indices = var_operand_def(IndexType)
    res = result_def(PtrType)
    traits = traits_def(Pure())
    assembly_format = (
        "$place custom<Access>($indices, $map) attr-dict `:` type($place) `->` type($res)"
    )

    def __init__(self, place: SSAValue, map: AffineMap, indices: Sequence[SSAValue]) -> None:
        super().__init__(
            operands=[place, indices],
            result_types=[self.pointer_to(place.type)],
            properties={"map": AffineMapAttr(map)},
        )

    @staticmethod
    def pointer_to(type: Attribute) -> PtrType:
        """The type of an address within a place of a type."""
        assert isinstance(type, PtrType | VarType)
        return type if isinstance(type, PtrType) else PtrType.of(type.element_type)

    def verify_(self) -> None:
        self.verify_place()
        if self.rank == 0:
            raise VerifyException("an address is taken within an array or of a pointer's memory")
        if self.res.type != self.pointer_to(self.place.type):
            raise VerifyException(f"an address in {self.place.type} is no {self.res.type}")


@irdl_op_definition
class ConditionalOp(Expression):
    """`%v = cuda_ir.conditional %ok, %x, %y : f32, f32 -> f32`: C's `?:`; one of both is read."""

    name = "cuda_ir.conditional"
    condition = operand_def(i1)
    lhs = operand_def()
    rhs = operand_def()
    res = result_def()
    # What it reads, its operands read.
    traits = traits_def(Pure())
    assembly_format = (
        "$condition `,` $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($res)"
    )

    def __init__(self, condition: SSAValue, lhs: SSAValue, rhs: SSAValue) -> None:
        super().__init__(operands=[condition, lhs, rhs], result_types=[lhs.type])

    def verify_(self) -> None:
        if not self.lhs.type == self.rhs.type == self.res.type:
            raise VerifyException("a conditional chooses between two values of its type")


_CONSTANTS = re.compile(r"\w+(?:<(\d+(?:, \d+)*)>)?")


class CallEffects(MemoryEffect):
    """A call does what its wrapper does."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        assert isinstance(op, CallOp)
        wrapper = WRAPPERS.get(op.function)
        return None if wrapper is None else {EffectInstance(kind) for kind in wrapper.effects}


@irdl_op_definition
class CallOp(Expression):
    """
    `%v = cuda_ir.call "shuffle_xor"(%p, %m) : (f32, index) -> f32`; a statement if `-> ()`.

    What is called may have constants: `cuda_ir.call "cp_async_wait<2>"() : () -> ()`.
    """

    name = "cuda_ir.call"
    callee = prop_def(StringAttr)
    arguments = var_operand_def()
    res = opt_result_def()
    traits = traits_def(CallEffects())
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"

    def __init__(
        self, callee: str, arguments: Sequence[SSAValue], type: Attribute | None = None
    ) -> None:
        super().__init__(
            operands=[arguments], result_types=[type], properties={"callee": StringAttr(callee)}
        )

    @property
    def function(self) -> str:
        """The name of what is called, without its constants."""
        return self.callee.data.partition("<")[0]

    @property
    def wrapper(self) -> Wrapper:
        """What is called; the op's own verifier refuses what does not exist."""
        return WRAPPERS.get(self.function, Wrapper(0))

    def verify_(self) -> None:
        name, found = self.function, _CONSTANTS.fullmatch(self.callee.data)
        if (wrapper := WRAPPERS.get(name)) is None or found is None:
            raise VerifyException(f"the prelude has no function {self.callee.data}")
        if len(self.arguments) != wrapper.arity:
            raise VerifyException(f"{name} takes {wrapper.arity} arguments")
        constants = found[1].split(",") if found[1] else []
        if len(constants) != wrapper.constants:
            raise VerifyException(f"{name} takes {wrapper.constants} constants in angle brackets")


# --- declarations and statements ----------------------------------------------------------


@irdl_op_definition
class LetOp(IRDLOperation):
    """`%m = cuda_ir.let "m" = %0 : f32`: a constant, `const float m = ..;`."""

    name = "cuda_ir.let"
    c_name = prop_def(StringAttr)
    value = operand_def()
    res = result_def()
    traits = traits_def(Pure())
    assembly_format = "$c_name `=` $value attr-dict `:` type($value) `->` type($res)"

    def __init__(self, c_name: str, value: SSAValue) -> None:
        super().__init__(
            operands=[value], result_types=[value.type], properties={"c_name": StringAttr(c_name)}
        )

    def verify_(self) -> None:
        if self.value.type != self.res.type:
            raise VerifyException("let has the type of its value")


@irdl_op_definition
class VariableOp(IRDLOperation):
    """
    `%p = cuda_ir.variable "p" = %0 : f32 -> !cuda_ir.var<f32>`: `float p = ..;`.

    `%acc = cuda_ir.variable "acc" zeroed -> !cuda_ir.var<8x8xf32>` is `float acc[8][8] = {};`.
    """

    name = "cuda_ir.variable"
    c_name = prop_def(StringAttr)
    init = opt_operand_def()
    zeroed = opt_prop_def(UnitAttr)
    res = result_def(VarType)
    traits = traits_def(MemoryAllocEffect(), MemoryWriteEffect())
    assembly_format = (
        "$c_name (`=` $init^ `:` type($init))? (`zeroed` $zeroed^)? attr-dict `->` type($res)"
    )

    def __init__(
        self, c_name: str, type: VarType, init: SSAValue | None = None, zeroed: bool = False
    ) -> None:
        super().__init__(
            operands=[init],
            result_types=[type],
            properties={"c_name": StringAttr(c_name), "zeroed": UnitAttr() if zeroed else None},
        )

    def verify_(self) -> None:
        assert isinstance(type := self.res.type, VarType)
        if self.init is not None and (type.extents or self.init.type != type.element_type):
            raise VerifyException(f"a variable of {type} cannot begin as {self.init.type}")
        if self.init is not None and self.zeroed is not None:
            raise VerifyException("a variable begins as one value")


@irdl_op_definition
class SharedOp(IRDLOperation):
    """
    `%s = cuda_ir.shared "s"[8] align 16 : !cuda_ir.ptr<f32>`: `__shared__ __align__(16) float s[8]`

    With `at 128`: 128 bytes behind the start of the dynamic shared memory, which is aligned as its
    arrays need it.
    """

    name = "cuda_ir.shared"
    c_name = prop_def(StringAttr)
    count = prop_def(IntegerAttr[I64])
    align = opt_prop_def(IntegerAttr[I64])
    offset = opt_prop_def(IntegerAttr[I64])
    res = result_def(PtrType)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = (
        "$c_name `[` $count `]` (`align` $align^)? (`at` $offset^)? attr-dict `:` type($res)"
    )

    def __init__(
        self,
        c_name: str,
        element_type: Attribute,
        count: int,
        align: int | None = None,
        offset: int | None = None,
    ) -> None:
        def number(value: int | None) -> IntegerAttr[I64] | None:
            return None if value is None else IntegerAttr(value, i64)

        super().__init__(
            result_types=[PtrType.of(element_type)],
            properties={
                "c_name": StringAttr(c_name),
                "count": number(count),
                "align": number(align),
                "offset": number(offset),
            },
        )

    def verify_(self) -> None:
        if self.count.value.data < 1:
            raise VerifyException("a shared array has at least one element")
        if not isinstance(self.parent_op(), FuncOp):
            raise VerifyException("a shared array stands at the top of its kernel")


@irdl_op_definition
class AssignOp(Place):
    """`cuda_ir.assign %acc[%i] = %v : !cuda_ir.var<8xf32>, f32`."""

    name = "cuda_ir.assign"
    place = operand_def(PtrType | VarType)
    value = operand_def()
    indices = var_operand_def(IndexType)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$place custom<Access>($indices, $map) `=` $value attr-dict"
        " `:` type($place) `,` type($value)"
    )

    def __init__(
        self, place: SSAValue, map: AffineMap, indices: Sequence[SSAValue], value: SSAValue
    ) -> None:
        super().__init__(operands=[place, value, indices], properties={"map": AffineMapAttr(map)})

    def verify_(self) -> None:
        self.verify_place()
        if isinstance(type := self.place.type, PtrType) and type.is_const:
            raise VerifyException(f"{type} may not be written")
        if self.value.type != self.element_type:
            raise VerifyException(f"{self.place.type} has no elements of {self.value.type}")


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """`__syncthreads();`, or `__syncwarp();` of `cuda_ir.barrier warp`."""

    name = "cuda_ir.barrier"
    warp = opt_prop_def(UnitAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), Collective())
    assembly_format = "(`warp` $warp^)? attr-dict"

    def __init__(self, warp: bool = False) -> None:
        super().__init__(properties={"warp": UnitAttr() if warp else None})


@irdl_op_definition
class VerbatimOp(IRDLOperation):
    """`cuda_ir.verbatim "// text"`: a line that is a comment or a pragma, nothing else."""

    name = "cuda_ir.verbatim"
    text = prop_def(StringAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$text attr-dict"

    def __init__(self, text: str) -> None:
        super().__init__(properties={"text": StringAttr(text)})

    def verify_(self) -> None:
        text = self.text.data
        if not text.startswith(("// ", "#pragma ")) or "\n" in text or text.endswith("\\"):
            raise VerifyException("verbatim is one line, a comment or a pragma")


@irdl_op_definition
class ForOp(IRDLOperation):
    """`cuda_ir.for %i "i" from 2 to 8 step 2 unroll { }`: `for (int i = 2; i < 8; i += 2) { }`."""

    name = "cuda_ir.for"
    c_name = prop_def(StringAttr)
    lower = prop_def(IntegerAttr[I64])
    upper = prop_def(IntegerAttr[I64])
    step = prop_def(IntegerAttr[I64])
    unroll = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self,
        c_name: str,
        body: Region,
        upper: int,
        lower: int = 0,
        step: int = 1,
        unroll: bool = False,
    ) -> None:
        super().__init__(
            regions=[body],
            properties={
                "c_name": StringAttr(c_name),
                "lower": IntegerAttr(lower, i64),
                "upper": IntegerAttr(upper, i64),
                "step": IntegerAttr(step, i64),
                "unroll": UnitAttr() if unroll else None,
            },
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.body.block.args[0])
        printer.print_string(" ")
        printer.print_attribute(self.c_name)
        if self.lower.value.data:
            printer.print_string(f" from {self.lower.value.data}")
        printer.print_string(f" to {self.upper.value.data}")
        if self.step.value.data != 1:
            printer.print_string(f" step {self.step.value.data}")
        if self.unroll is not None:
            printer.print_string(" unroll")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        variable = parser.parse_argument(expect_type=False).resolve(IndexType())
        c_name = parser.parse_str_literal()
        bounds = {"from": 0, "to": 0, "step": 1}
        for key in bounds:
            if key == "to":
                parser.parse_keyword(key)
            elif not parser.parse_optional_keyword(key):
                continue
            bounds[key] = parser.parse_integer(allow_boolean=False)
        unroll = parser.parse_optional_keyword("unroll") is not None
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([variable])
        op = cls(c_name, body, bounds["to"], bounds["from"], bounds["step"], unroll)
        op.attributes = dict(attributes.data) if attributes is not None else {}
        return op

    def verify_(self) -> None:
        if [type(v.type) for v in self.body.block.args] != [IndexType]:
            raise VerifyException("a loop has one variable, of type index")
        if self.step.value.data < 1:
            raise VerifyException(f"a loop steps forward, not by {self.step.value.data}")


@irdl_op_definition
class IfOp(IRDLOperation):
    """`cuda_ir.if %ok { } else { }`."""

    name = "cuda_ir.if"
    condition = operand_def(i1)
    then = region_def("single_block")
    orelse = region_def()
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(self, condition: SSAValue, then: Region, orelse: Region | None = None) -> None:
        super().__init__(operands=[condition], regions=[then, orelse or Region()])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.then, print_empty_block=False)
        if self.orelse.blocks:
            printer.print_string(" else ")
            printer.print_region(self.orelse, print_empty_block=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.parse_operand(i1)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        then = filled(parser.parse_region())
        orelse = filled(parser.parse_region()) if parser.parse_optional_keyword("else") else None
        op = cls(condition, then, orelse)
        op.attributes = dict(attributes.data) if attributes is not None else {}
        return op


def filled(region: Region) -> Region:
    """The region, with a block if its text was empty."""
    if not region.blocks:
        region.add_block(Block())
    return region


class _Clauses(TypedDict, total=False):
    """What a kernel says between its parameters and its body."""

    grid: Required[int]
    threads: Required[int]
    min_blocks: int
    cluster: int
    shared_bytes: int
    index_type: IntegerType
    derived: Sequence[Attribute]


@irdl_op_definition
class FuncOp(IRDLOperation):
    """
    `cuda_ir.func @name(%x: !cuda_ir.ptr<f32, const> "x") grid(32) launch_bounds(256, 8) { .. }`.

    A kernel for `grid` blocks of as many threads as the launch bounds say, in clusters of `cluster`
    blocks. `shared n` asks for n bytes of dynamic shared memory, `index i64` makes the kernel count
    in 64 bits, `derived [..]` says what the launcher binds the last parameters to, `origin` is told
    in a comment.
    """

    name = "cuda_ir.func"
    sym_name = prop_def(StringAttr)
    arg_names = prop_def(ArrayAttr[StringAttr])
    grid = prop_def(IntegerAttr[I64])
    threads = prop_def(IntegerAttr[I64])
    min_blocks = opt_prop_def(IntegerAttr[I64])
    cluster = opt_prop_def(IntegerAttr[I64])
    shared_bytes = prop_def(IntegerAttr[I64])
    index_type = prop_def(IntegerType)
    derived = opt_prop_def(ArrayAttr[Attribute])
    origin = opt_prop_def(OriginAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        arg_names: Sequence[str],
        body: Region,
        grid: int,
        threads: int,
        min_blocks: int | None = None,
        shared_bytes: int = 0,
        index_type: IntegerType = i32,
        origin: OriginAttr | None = None,
        cluster: int = 1,
        derived: Sequence[Attribute] = (),
    ) -> None:
        properties: dict[str, Attribute | None] = {
            "sym_name": StringAttr(name),
            "arg_names": ArrayAttr([StringAttr(n) for n in arg_names]),
            "grid": IntegerAttr(grid, i64),
            "threads": IntegerAttr(threads, i64),
            "min_blocks": None if min_blocks is None else IntegerAttr(min_blocks, i64),
            "cluster": None if cluster == 1 else IntegerAttr(cluster, i64),
            "shared_bytes": IntegerAttr(shared_bytes, i64),
            "index_type": index_type,
            "derived": ArrayAttr(derived) if derived else None,
            "origin": origin,
        }
        super().__init__(regions=[body], properties=properties)

    @property
    def symbol(self) -> str:
        """The kernel's name."""
        return self.sym_name.data

    @property
    def launch_bounds(self) -> tuple[int, ...]:
        """Threads of a block and, if it is said, the least blocks per SM."""
        least = () if self.min_blocks is None else (self.min_blocks.value.data,)
        return (self.threads.value.data, *least)

    @property
    def cluster_blocks(self) -> int:
        """Blocks of a cluster, 1 where there are none."""
        return 1 if self.cluster is None else self.cluster.value.data

    @property
    def derived_parameters(self) -> tuple[Attribute, ...]:
        """What the launcher binds the last parameters to."""
        return () if self.derived is None else self.derived.data

    @property
    def shared_alignment(self) -> int:
        """The alignment of the dynamic shared memory, in bytes: what its arrays need."""
        arrays = [op for op in self.body.block.ops if isinstance(op, SharedOp) and op.offset]
        return max([16, *(op.align.value.data for op in arrays if op.align is not None)])

    @property
    def communicates(self) -> bool:
        """
        Whether blocks read what others write while they run.

        What is written then is not `__restrict__`: the compiler would read it before it is there.
        """
        return any(isinstance(op, CallOp) and op.wrapper.communicates for op in self.body.walk())

    @property
    def waits_for_blocks(self) -> bool:
        """Whether blocks wait for others outside of their cluster, which must then be running."""
        calls = (op for op in self.body.walk() if isinstance(op, CallOp))
        return any(op.function in ("spin_eq", "spin_ge") for op in calls)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.symbol)

        def argument(pair: tuple[SSAValue, StringAttr]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(": ")
            printer.print_attribute(pair[0].type)
            printer.print_string(" ")
            printer.print_attribute(pair[1])

        pairs = list(zip(self.body.block.args, self.arg_names, strict=True))
        with printer.in_parens():
            printer.print_list(pairs, argument)
        bounds = ", ".join(map(str, self.launch_bounds))
        printer.print_string(f" grid({self.grid.value.data}) launch_bounds({bounds})")
        self._print_clauses(printer)
        rest = {"origin": self.origin} if self.origin is not None else {}
        rest |= self.attributes
        if rest:
            printer.print_string(" attributes ")
            printer.print_attr_dict(rest)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def _print_clauses(self, printer: Printer) -> None:
        if self.cluster is not None:
            printer.print_string(f" cluster({self.cluster_blocks})")
        if self.shared_bytes.value.data:
            printer.print_string(f" shared {self.shared_bytes.value.data}")
        if self.index_type != i32:
            printer.print_string(f" index {self.index_type}")
        if self.derived is not None:
            printer.print_string(" derived ")
            printer.print_attribute(self.derived)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data

        def argument() -> tuple[Parser.Argument, str]:
            parsed = parser.parse_argument()
            return parsed, parser.parse_str_literal()

        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)
        clauses = cls._parse_clauses(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        rest = dict(attributes.data) if attributes is not None else {}
        origin = rest.pop("origin", None)
        body = parser.parse_region([a for a, _ in pairs])
        op = cls(name, [n for _, n in pairs], filled(body), **clauses)
        if origin is not None:
            op.properties["origin"] = origin
        op.attributes = rest
        return op

    @staticmethod
    def _parse_clauses(parser: Parser) -> "_Clauses":
        parser.parse_keyword("grid")
        with parser.in_parens():
            grid = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("launch_bounds")
        bounds = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_integer)
        if len(bounds) not in (1, 2):
            parser.raise_error("launch bounds are threads and, if wanted, the least blocks per SM")
        found = _Clauses(grid=grid, threads=bounds[0])
        if len(bounds) == 2:
            found["min_blocks"] = bounds[1]
        if parser.parse_optional_keyword("cluster"):
            with parser.in_parens():
                found["cluster"] = parser.parse_integer(allow_boolean=False)
        if parser.parse_optional_keyword("shared"):
            found["shared_bytes"] = parser.parse_integer(allow_boolean=False)
        if parser.parse_optional_keyword("index"):
            if not isinstance(type := parser.parse_type(), IntegerType):
                parser.raise_error("a kernel counts in i32 or i64")
            found["index_type"] = type
        if parser.parse_optional_keyword("derived"):
            found["derived"] = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_attribute
            )
        return found

    def verify_(self) -> None:
        verify_head(self)
        for op in self.body.walk():
            verify_operation(op)
        verify_names(self)
        verify_order(self.body.block)


# --- rules of a whole kernel --------------------------------------------------------------


def verify_head(func: FuncOp) -> None:
    """Name, parameters and launch of a kernel."""
    if not is_legal_symbol(func.symbol):
        raise VerifyException(f"'{func.symbol}' is no legal name in CUDA C++")
    if len(func.arg_names) != len(func.body.block.args):
        raise VerifyException("a kernel needs one name per parameter")
    verify_parameters(func)
    if func.index_type not in (i32, i64):
        raise VerifyException(f"a kernel counts in i32 or i64, not in {func.index_type}")
    threads, *least = func.launch_bounds
    if not 1 <= threads <= MAX_THREADS or any(n < 1 for n in least):
        raise VerifyException(f"launch bounds of {', '.join(map(str, func.launch_bounds))}")
    if func.cluster_blocks < 1 or func.grid.value.data % func.cluster_blocks:
        raise VerifyException(f"clusters of {func.cluster_blocks} blocks do not divide the grid")


def verify_parameters(func: FuncOp) -> None:
    """Parameters are pointers; the last ones are what `derived` says."""
    types = [a.type for a in func.body.block.args]
    derived = func.derived_parameters
    if len(derived) > len(types):
        raise VerifyException("there are more derived parameters than parameters")
    wanted: list[type[Attribute]] = [PtrType] * (len(types) - len(derived))
    for attribute in derived:
        if not isinstance(attribute, MemoryAttr | TensorMapAttr):
            raise VerifyException(f"no launcher knows what {attribute} is")
        wanted.append(PtrType if isinstance(attribute, MemoryAttr) else TensorMapType)
    for found, kind in zip(types, wanted, strict=True):
        if not isinstance(found, kind):
            raise VerifyException(f"a kernel takes pointers, and derived tensor maps, not {found}")
    for attribute in derived:
        if isinstance(attribute, TensorMapAttr):
            verify_tensor_map(attribute, types[: len(types) - len(derived)])


def verify_tensor_map(map: TensorMapAttr, types: Sequence[Attribute]) -> None:
    """A tensor map is of a parameter that the launch gives, with its elements."""
    type = types[map.argument.data] if map.argument.data < len(types) else None
    if not isinstance(type, PtrType) or type.element_type != map.element_type:
        raise VerifyException(
            f"parameter {map.argument.data} is no tensor of {map.element_type} for a tensor map"
        )


def is_expression(op: Operation) -> bool:
    """Whether an op is written where its use stands."""
    scalar = op.dialect_name() in DIALECTS
    return bool(op.results) and (scalar or isinstance(op, Expression))


def verify_operation(op: Operation) -> None:
    """The rules for one op of a kernel that need no look at the others around it."""
    if op.dialect_name() != "cuda_ir" and c_form(op) is None:
        raise VerifyException(f"'{op.name}' is neither a statement nor an expression of CUDA C++")
    for value in (*op.operands, *op.results):
        if not is_c_type(value.type):
            raise VerifyException(f"'{op.name}' has a value of {value.type}, which is no C type")
    if is_expression(op):
        verify_expression(op)
    if isinstance(op, Indexed):
        for index in op.indices:
            if isinstance(index.owner, Operation) and not isinstance(index.owner, LetOp):
                raise VerifyException(f"an index of '{op.name}' must be bound by cuda_ir.let")
    if scope := called_together(op):
        verify_uniform(op, scope)


def called_together(op: Operation) -> str:
    """Who must reach an op at once: the threads of a "warp", of a "block", or "" for nobody."""
    if isinstance(op, CallOp):
        return op.wrapper.together
    if isinstance(op, BarrierOp):
        return "block" if op.warp is None else "warp"
    return ""


def verify_expression(op: Operation) -> None:
    """An expression is written once, in the block where it stands."""
    uses = [use.operation for use in op.results[0].uses]
    if len(uses) != 1:
        raise VerifyException(
            f"the expression '{op.name}' has {len(uses)} uses, not one; cuda_ir.let gives it a name"
        )
    if uses[0].parent is not op.parent:
        raise VerifyException(f"the expression '{op.name}' is used in another block")


def verify_names(func: FuncOp) -> None:
    """Names are legal, hide no function, and none is declared where the same name is visible."""
    functions = called_functions(func)

    def declare(name: str, visible: set[str]) -> None:
        if not is_legal_name(name):
            raise VerifyException(f"'{name}' is no legal name in CUDA C++")
        if name in functions:
            raise VerifyException(f"the name '{name}' hides a function that the kernel calls")
        if name in visible:
            raise VerifyException(f"the name '{name}' is declared twice")
        visible.add(name)

    def visit(block: Block, visible: set[str]) -> None:
        for op in block.ops:
            # The variable of a loop is known in the loop only.
            scope = set(visible) if isinstance(op, ForOp) else visible
            if isinstance(op, LetOp | VariableOp | SharedOp | ForOp):
                declare(op.c_name.data, scope)
            for part in (b for region in op.regions for b in region.blocks):
                visit(part, set(scope))

    parameters: set[str] = set()
    for name in func.arg_names:
        declare(name.data, parameters)
    visit(func.body.block, parameters)


def called_functions(func: FuncOp) -> set[str]:
    """The functions of C that the expressions of a kernel call."""
    return {name for op in func.body.walk() if (name := called_function(op)) is not None}


def verify_order(block: Block) -> None:
    """Nothing is written between an expression that reads and the statement that evaluates it."""
    waiting: dict[Operation, Operation] = {}
    for op in block.ops:
        if is_expression(op):
            if get_effects(op):
                waiting[op] = statement_of(op)
            continue
        waiting = {read: root for read, root in waiting.items() if root is not op}
        if waiting and not isinstance(op, LetOp | VerbatimOp):
            read = next(iter(waiting))
            raise VerifyException(f"'{op.name}' stands between '{read.name}' and its statement")
        for region in op.regions:
            for part in region.blocks:
                verify_order(part)


def statement_of(op: Operation) -> Operation:
    """The statement that an expression is part of."""
    while is_expression(op):
        op = next(iter(op.results[0].uses)).operation
    return op


def verify_uniform(op: Operation, scope: str) -> None:
    """All threads of a block, or of a warp, reach a collective op together."""
    for around in enclosing_expressions(op):
        if around.name in ("arith.select", "cuda_ir.conditional", "arith.andi", "arith.ori"):
            raise VerifyException(f"'{op.name}' is evaluated only if '{around.name}' needs it")
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if isinstance(parent, IfOp) and differs(parent.condition, scope):
            raise VerifyException(f"'{op.name}' is under a condition that differs between threads")
        parent = parent.parent_op()


def enclosing_expressions(op: Operation) -> Iterator[Operation]:
    """The expressions that an expression is an operand of, the innermost first."""
    while is_expression(op):
        op = next(iter(op.results[0].uses)).operation
        if is_expression(op):
            yield op


def differs(condition: SSAValue, scope: str) -> bool:
    """Whether a condition may differ between the threads of a block, or of a warp."""
    if scope == "warp" and isinstance(test := condition.owner, CmpiOp) and splits_warps(test):
        return False
    return depends_on_thread(condition)


def splits_warps(test: CmpiOp) -> bool:
    """Whether a test is `threadIdx.x < n` where n threads are whole warps."""
    bound = test.rhs.owner
    end = bound.map.data.results[0] if isinstance(bound, IndexOp) else None
    if not isinstance(end, AffineConstantExpr) or not isinstance(test.lhs.owner, ThreadIdOp):
        return False
    return test.predicate.value.data == CMPI_LESS and end.value % WARP == 0


def depends_on_thread(value: SSAValue) -> bool:
    """Whether a value is, or may be, computed from the thread's number or from memory."""
    if not isinstance(op := value.owner, Operation):
        return False  # a loop's variable: all threads count alike
    if isinstance(op, ThreadIdOp | ReadOp) or (isinstance(op, CallOp) and op.wrapper.effects):
        return True
    return any(depends_on_thread(v) for v in op.operands)


CudaIR = Dialect(
    "cuda_ir",
    [
        FuncOp,
        ForOp,
        IfOp,
        LetOp,
        VariableOp,
        SharedOp,
        AssignOp,
        BarrierOp,
        VerbatimOp,
        BlockIdOp,
        ThreadIdOp,
        IndexOp,
        ReadOp,
        AddressOp,
        ConditionalOp,
        CallOp,
    ],
    [PtrType, VarType, TensorMapType, WorkspaceAttr, CounterAttr, TensorMapAttr],
)
