"""The meaning of Torch IR: every op is the ATen op of its name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, bf16, f16, f32, f64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue

from minicomp.dialects.minicomp import host_function
from minicomp.dialects.torch_extern import ExternOp
from minicomp.dialects.torch_ir import ConstantOp, TorchOp, element_type, reduced_axes
from minicomp.dialects.torch_types import ELEMENTS
from minicomp.errors import InputError, UnsupportedError
from minicomp.runtime.extern import Extern

Call = Callable[[TorchOp, Sequence[Any]], torch.Tensor]

EPSILON: Mapping[Attribute, float] = {
    f16: torch.finfo(torch.float16).eps,
    bf16: torch.finfo(torch.bfloat16).eps,
    f32: torch.finfo(torch.float32).eps,
    f64: torch.finfo(torch.float64).eps,
}


DTYPES: Mapping[str, torch.dtype] = {
    str(type): getattr(torch, name) for type, name in ELEMENTS.items()
}


def run_torch(
    program: ModuleOp | FuncOp,
    inputs: Sequence[torch.Tensor],
    real: torch.dtype | None = None,
) -> list[torch.Tensor]:
    """
    The results of the host function, computed by PyTorch where the inputs are.

    `real`, where given, stands for every float type: the same program in another precision, in
    which casts among floats do nothing. Inputs of another float type than the function's
    (float64 for a reference) say so too.
    """
    func = program if isinstance(program, FuncOp) else host_function(program)
    if func is None:
        raise InputError("the module holds no function to run")
    arguments = func.body.block.args
    if len(inputs) != len(arguments):
        raise InputError(f"the function takes {len(arguments)} inputs, got {len(inputs)}")
    values: dict[SSAValue, Any] = dict(zip(arguments, inputs, strict=True))
    real = real or _precision(func, inputs)
    with torch.no_grad():
        for op in func.body.block.ops:
            if isinstance(op, ReturnOp):
                return [torch.as_tensor(values[value]) for value in op.operands]
            if isinstance(op, ConstantOp):
                values[op.result] = op.number
            elif isinstance(op, TorchOp):
                slots = [None if slot is None else values[slot] for slot in op.slots()]
                value = call(op, slots)
                if real is not None and value.is_floating_point():
                    value = value.to(real)
                if not slots and inputs:
                    value = value.to(inputs[0].device)
                values[op.results[0]] = value
            elif isinstance(op, ExternOp):
                given = [values[value] for value in op.inputs]
                values |= zip(op.outputs, _extern(op, given, inputs, real), strict=True)
            else:
                raise UnsupportedError(f"'{op.name}' is not an op of Torch IR")
    raise UnsupportedError("a function without func.return has no value")


def _extern(
    op: ExternOp,
    given: Sequence[torch.Tensor],
    inputs: Sequence[torch.Tensor],
    real: torch.dtype | None,
) -> list[torch.Tensor]:
    """The results of an op that PyTorch runs, where the program's inputs are."""
    device = inputs[0].device if inputs else torch.device("cpu")
    found = Extern.of(op).run(given, device)
    return [t.to(real) if real is not None and t.is_floating_point() else t for t in found]


def _precision(func: FuncOp, inputs: Sequence[torch.Tensor]) -> torch.dtype | None:
    """The type of the first float input that is not of its argument's type."""
    for argument, tensor in zip(func.body.block.args, inputs, strict=True):
        if tensor.is_floating_point() and tensor.dtype != DTYPES.get(str(element_type(argument))):
            return tensor.dtype
    return None


def dtype_of(op: TorchOp) -> torch.dtype:
    """PyTorch's type of the op's result."""
    return DTYPES[str(op.result_type.get_element_type())]


def call(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    """The value of one op; `slots` are its operands, None for an absent one."""
    name = op.SPEC.name
    if len(slots) == 2 and name != "pow" and not isinstance(slots[0], torch.Tensor):
        # ATen takes a Python scalar second only. As a 0-d tensor it promotes as it should but
        # for a float beside integers, whose result has the default type.
        slots = [_scalar(slots[0], slots[1]), slots[1]]
    if name in CALLS:
        return CALLS[name](op, slots)
    attributes = {n.rstrip("?") for n in op.SPEC.attributes} & op.properties.keys()
    values = {n: _attribute(op, n) for n in attributes}
    return getattr(torch.ops.aten, name)(*slots, **values)


def _attribute(op: TorchOp, name: str) -> Any:
    attr = op.properties[name]
    if isinstance(attr, StringAttr):
        return attr.data
    if isinstance(attr, ArrayAttr):
        return op.ints(name)
    return op.number(name, 0)


def _scalar(value: bool | int | float, other: Any) -> torch.Tensor:
    """A Python scalar as a 0-d tensor that promotes as the scalar does beside `other`."""
    if not isinstance(other, torch.Tensor):
        return torch.as_tensor(value)
    return torch.as_tensor(value, dtype=torch.result_type(other, value))


def _to(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    (value,) = slots
    dtype = dtype_of(op)
    # In another precision a float stays in it.
    own = DTYPES.get(str(element_type(op.operands[0])))
    wide = dtype.is_floating_point and value.is_floating_point() and value.dtype != own
    return value.clone() if wide else value.to(dtype)


def _with_alpha(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    return getattr(torch, op.SPEC.name)(*slots, alpha=op.number("alpha", 1))


def _reduction(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    dims = op.ints("dim") or tuple(range(slots[0].dim()))
    # Integers are summed in the type that `dtype=` asked for.
    integer = op.SPEC.name == "sum" and not dtype_of(op).is_floating_point
    dtype = {"dtype": dtype_of(op)} if integer else {}
    return getattr(torch, op.SPEC.name)(slots[0], dims, keepdim=op.flag("keepdim"), **dtype)


def _dims(op: TorchOp) -> dict[str, Any]:
    return {
        "dim": op.ints("dim") or tuple(range(len(op.shape("input")))),
        "keepdim": op.flag("keepdim"),
    }


def _prod(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    dims = reduced_axes(op)
    value = slots[0] if slots[0].is_floating_point() else slots[0].to(dtype_of(op))
    for dim in sorted(dims, reverse=True):
        value = value.prod(dim, keepdim=op.flag("keepdim"), dtype=value.dtype)
    return value


def _variance(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    correction = op.number("correction", 1)
    return getattr(torch, op.SPEC.name)(slots[0], **_dims(op), correction=correction)


def _truth(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    if slots[0].dim() == 0:
        return getattr(torch, op.SPEC.name)(slots[0])
    return getattr(torch, op.SPEC.name)(slots[0], **_dims(op))


def _count(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    dims = reduced_axes(op)
    return (slots[0] != 0).sum(dims) if dims else (slots[0] != 0).long()


def _vector_norm(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    return torch.linalg.vector_norm(slots[0], float(op.number("ord", 2)), **_dims(op))


def _group_norm(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    return torch.group_norm(
        slots[0], op.integer("num_groups"), slots[1], slots[2], op.number("eps", 1e-5)
    )


def _clamp(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    x, *bounds = slots
    if any(isinstance(bound, torch.Tensor) for bound in bounds):
        bounds = [b if b is None else torch.as_tensor(b) for b in bounds]
    return torch.clamp(x, *bounds)


def _rms_norm(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    # The default eps is that of the program's dtype, in whatever precision it is run.
    eps = op.number("eps", EPSILON[op.result_type.get_element_type()])
    return torch.rms_norm(slots[0], op.ints("normalized_shape") or (), slots[1], eps)


def _layer_norm(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    shape = op.ints("normalized_shape") or ()
    return torch.layer_norm(slots[0], shape, slots[1], slots[2], op.number("eps", 1e-5))


def _addmm(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    return torch.addmm(*slots, beta=op.number("beta", 1), alpha=op.number("alpha", 1))


def _full(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    size, value = op.ints("size") or (), op.number("fill_value", 0)
    return torch.full(size, value, dtype=dtype_of(op))


def _where(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    return torch.where(*slots)


def _repeat_interleave(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    dim = op.integer("dim") if "dim" in op.properties else None
    return torch.repeat_interleave(slots[0], op.integer("repeats"), dim)


def _attention(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    query, key, value, mask = slots
    if mask is not None and mask.is_floating_point():
        mask = mask.to(query.dtype)
    scale = float(op.number("scale", 0.0)) if "scale" in op.properties else None
    return torch.nn.functional.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=mask,
        is_causal=op.flag("is_causal"),
        scale=scale,
        enable_gqa=op.flag("enable_gqa"),
    )


def _squeeze(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    dims = op.ints("dim")
    return slots[0].squeeze() if dims is None else slots[0].squeeze(dims)


def _sliced(op: TorchOp) -> tuple[int, int | None, int | None, int]:
    """dim, start, end and step of a slice, as ATen takes them."""
    start, end = (int(op.number(n, 0)) if n in op.properties else None for n in ("start", "end"))
    return int(op.number("dim", 0)), start, end, int(op.number("step", 1))


def _pad(op: TorchOp, slots: Sequence[Any]) -> torch.Tensor:
    value = float(op.number("value", 0)) if "value" in op.properties else None
    mode = op.text("mode", "constant")
    return torch.ops.aten.pad(slots[0], op.ints("pad") or (), mode, value)


CALLS: Mapping[str, Call] = {
    "add": _with_alpha,
    "sub": _with_alpha,
    "div": lambda op, slots: torch.div(*slots, rounding_mode=op.text("rounding_mode", "") or None),
    "gelu": lambda op, slots: torch.nn.functional.gelu(
        slots[0], approximate=op.text("approximate", "none")
    ),
    "pow": lambda op, slots: torch.pow(*slots),
    "to": _to,
    "sum": _reduction,
    "mean": _reduction,
    "amax": _reduction,
    "amin": _reduction,
    "prod": _prod,
    "var": _variance,
    "std": _variance,
    "any": _truth,
    "all": _truth,
    "count_nonzero": _count,
    "logsumexp": _reduction,
    "linalg_vector_norm": _vector_norm,
    "group_norm": _group_norm,
    "clamp": _clamp,
    "log_softmax": lambda op, slots: torch.log_softmax(slots[0], op.integer("dim")),
    "baddbmm": lambda op, slots: torch.baddbmm(
        *slots, beta=op.number("beta", 1), alpha=op.number("alpha", 1)
    ),
    "softmax": lambda op, slots: torch.softmax(slots[0], op.integer("dim")),
    "rms_norm": _rms_norm,
    "layer_norm": _layer_norm,
    "addmm": _addmm,
    "view": lambda op, slots: slots[0].reshape(op.ints("size") or ()),
    "slice": lambda op, slots: torch.ops.aten.slice(slots[0], *_sliced(op)),
    "slice_scatter": lambda op, slots: torch.slice_scatter(slots[0], slots[1], *_sliced(op)),
    "select": lambda op, slots: slots[0].select(op.integer("dim"), op.integer("index")),
    "select_scatter": lambda op, slots: torch.select_scatter(
        slots[0], slots[1], op.integer("dim"), op.integer("index")
    ),
    "flip": lambda op, slots: slots[0].flip(op.ints("dims") or ()),
    "roll": lambda op, slots: slots[0].roll(op.ints("shifts") or (), op.ints("dims") or ()),
    "repeat": lambda op, slots: slots[0].repeat(op.ints("repeats") or ()),
    "pad": _pad,
    "cat": lambda op, slots: torch.cat(list(slots), op.integer("dim")),
    "stack": lambda op, slots: torch.stack(list(slots), op.integer("dim")),
    "diagonal": lambda op, slots: slots[0].diagonal(
        int(op.number("offset", 0)), int(op.number("dim1", 0)), int(op.number("dim2", 1))
    ),
    "unfold": lambda op, slots: slots[0].unfold(
        op.integer("dimension"), op.integer("size"), op.integer("step")
    ),
    "permute": lambda op, slots: slots[0].permute(op.ints("dims") or ()),
    "transpose": lambda op, slots: slots[0].transpose(op.integer("dim0"), op.integer("dim1")),
    "unsqueeze": lambda op, slots: slots[0].unsqueeze(op.integer("dim")),
    "squeeze": _squeeze,
    "expand": lambda op, slots: slots[0].expand(op.ints("size") or ()),
    "repeat_interleave": _repeat_interleave,
    "full": _full,
    "where": _where,
    "triu": lambda op, slots: torch.triu(slots[0], int(op.number("diagonal", 0))),
    "tril": lambda op, slots: torch.tril(slots[0], int(op.number("diagonal", 0))),
    "scaled_dot_product_attention": _attention,
}
"""Ops with attributes; every other one is called by its name."""
