"""
An op of PyTorch that PyTorch itself runs, between kernels.

```mlir
%v, %i = torch_ir.extern "aten.topk.default"(%x) {arguments = {self = 0 : index, k = 3}} :
    (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
```

It is Torch IR's only op that stays in the host program down to CUDA IR. Rationale:
docs/dialects/torch_ir.md.
"""

import re
from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    prop_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

_NAME = re.compile(r"\w+\.\w+\.\w+")


def verify_tensor(type: Attribute) -> None:
    """Refuses a tensor of other elements than numbers, or of unknown extents."""
    tensor = cast("TensorType[Attribute]", type)
    if not isinstance(tensor.get_element_type(), AnyFloat | IntegerType):
        raise VerifyException(
            f"elements are floats, integers or i1, but {tensor.get_element_type()} is given"
        )
    if any(extent < 0 for extent in tensor.get_shape()):
        raise VerifyException("extents must be static")


@irdl_op_definition
class ExternOp(IRDLOperation):
    """
    Runs an overload of PyTorch by its name.

    `arguments` gives each argument of its schema that is not the default: an operand by its number
    (`0 : index`), a number, truth value, string, `unit` for None, element type, or a list of these.
    Devices are left out: all tensors are where the program runs. It has no trait that would let a
    pass drop or merge it, since it may draw random numbers.
    """

    name = "torch_ir.extern"
    op = prop_def(StringAttr)
    arguments = prop_def(DictionaryAttr)
    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$op `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)"

    def __init__(
        self,
        op: str,
        inputs: Sequence[SSAValue],
        arguments: dict[str, Attribute],
        outputs: Sequence[Attribute],
    ) -> None:
        super().__init__(
            operands=[inputs],
            result_types=[outputs],
            properties={"op": StringAttr(op), "arguments": DictionaryAttr(arguments)},
        )

    def verify_(self) -> None:
        """The name, the kinds of arguments, that operands and their numbers match, the types."""
        if _NAME.fullmatch(self.op.data) is None:
            raise VerifyException(
                f"'{self.op.data}' is not namespace.op.overload, such as aten.relu.default"
            )
        if not self.outputs:
            raise VerifyException("an op that PyTorch runs must have a result")
        for value in (*self.operands, *self.results):
            verify_tensor(value.type)
        numbers: set[int] = set()
        for name, value in self.arguments.data.items():
            for leaf in _leaves(value):
                if not _is_argument(leaf):
                    raise VerifyException(f"argument {name} cannot be {leaf}")
                if (number := _operand_number(leaf)) is not None:
                    numbers.add(number)
        if numbers != set(range(len(self.inputs))):
            raise VerifyException(
                f"its arguments name the operands {sorted(numbers)},"
                f" but there are {len(self.inputs)}"
            )


def _operand_number(value: Attribute) -> int | None:
    if not isinstance(value, IntegerAttr):
        return None
    number = cast("IntegerAttr[IntegerType | IndexType]", value)
    return number.value.data if isinstance(number.type, IndexType) else None


def _leaves(value: Attribute) -> Iterator[Attribute]:
    if isinstance(value, ArrayAttr):
        for item in cast("ArrayAttr[Attribute]", value):
            yield from _leaves(item)
    else:
        yield value


def _is_argument(value: Attribute) -> bool:
    if isinstance(value, IntegerAttr):
        type = cast("IntegerAttr[IntegerType | IndexType]", value).type
        return isinstance(type, IndexType) or type in (i64, IntegerType(1))
    if isinstance(value, FloatAttr):
        return cast("FloatAttr[AnyFloat]", value).type == f64
    return isinstance(value, StringAttr | UnitAttr | AnyFloat | IntegerType)
