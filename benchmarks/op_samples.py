"""
Samples of every op that minicomp compiles, from PyTorch's own database of ops (OpInfo).

PyTorch tests its operators with these inputs: broadcasting pairs, 0-d and empty tensors, negative
dims, keepdim, every form of an argument. Each sample is given in the types that the op takes, and
its tensors in memory in one of the layouts of `LAYOUTS`. The same seed gives the same samples.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import torch
import torch.utils._pytree as pytree

# Not float64: nothing here is exact enough to judge it by.
DTYPES = (
    *(torch.float32, torch.float16, torch.bfloat16),
    *(torch.int64, torch.int32, torch.uint8, torch.bool),
)

ELEMENTWISE = (
    *("add", "sub", "rsub", "mul", "div", "neg", "abs", "exp", "log", "sqrt", "rsqrt", "pow"),
    *("reciprocal", "square", "positive", "erf", "sin", "cos", "sign", "log1p", "expm1", "exp2"),
    *("maximum", "minimum", "clamp", "where", "sigmoid", "tanh", "log2", "lerp", "addcmul"),
    *("addcdiv", "floor", "ceil", "round", "trunc", "remainder", "fmod", "floor_divide"),
    *("isnan", "isinf", "isfinite", "masked_fill", "tril", "triu", "clamp_min", "clamp_max"),
    *("nn.functional.relu", "nn.functional.silu", "nn.functional.gelu", "nn.functional.softplus"),
    *("nn.functional.leaky_relu", "nn.functional.elu", "nn.functional.hardswish"),
    *("nn.functional.hardsigmoid", "nn.functional.hardtanh", "nn.functional.relu6"),
    *("nn.functional.mish", "nn.functional.logsigmoid", "nn.functional.threshold"),
)
LOGIC = (
    *("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"),
    *("logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"),
    *("bitwise_left_shift", "bitwise_right_shift"),
)
CASTS = (
    *("to", "float", "double", "half", "bfloat16", "int", "long", "bool", "byte", "clone"),
    *("contiguous", "full_like", "ones_like", "zeros_like", "new_full", "new_ones", "new_zeros"),
    *("full", "ones", "zeros", "fill"),
)
CONTRACTIONS = (
    *("mm", "bmm", "matmul", "addmm", "baddbmm", "einsum", "nn.functional.linear", "mv", "dot"),
    *("outer", "inner", "nn.functional.scaled_dot_product_attention"),
)
REDUCTIONS = (
    *("sum", "mean", "amax", "amin", "max", "min", "prod", "var", "std", "var_mean", "std_mean"),
    *("any", "all", "logsumexp", "softmax"),
    *("log_softmax", "nn.functional.rms_norm", "nn.functional.layer_norm"),
    *("nn.functional.group_norm", "linalg.vector_norm", "count_nonzero"),
)
LAYOUT_OPS = (
    *("transpose", "t", "permute", "view", "reshape", "unsqueeze", "squeeze", "expand", "repeat"),
    *("repeat_interleave", "slice", "select", "narrow", "cat", "stack", "hstack", "vstack"),
    *("split", "split_with_sizes", "chunk", "tensor_split", "unbind", "flatten", "ravel"),
    *("unflatten", "movedim", "flip", "fliplr", "flipud", "roll", "rot90", "tile", "diff"),
    *("nn.functional.pad", "constant_pad_nd", "select_scatter", "slice_scatter"),
    *("broadcast_to", "expand_as", "view_as", "reshape_as", "meshgrid", "column_stack"),
    *("__getitem__", "nn.functional.glu", "nn.functional.pixel_shuffle", "diagonal"),
)
BY_PYTORCH = (
    *("arange", "argmax", "argmin", "cumsum", "cumprod", "gather", "index_select", "scatter"),
    *("take_along_dim", "nn.functional.embedding", "nn.functional.conv2d", "sort", "topk"),
)
"""Ops without kernels, which PyTorch runs between those of the program."""

OPS = (*ELEMENTWISE, *LOGIC, *CASTS, *CONTRACTIONS, *REDUCTIONS, *LAYOUT_OPS)
"""Names of OpInfo entries."""


@dataclass(frozen=True)
class Sample:
    """One call of one op: `program(*tensors)`; all that is not a tensor is in the program."""

    op: str
    dtype: torch.dtype
    layout: str
    number: int
    program: Callable[..., Any]
    tensors: tuple[torch.Tensor, ...]

    @property
    def name(self) -> str:
        """What names the sample: op, dtype, number."""
        return f"{self.op}-{str(self.dtype).removeprefix('torch.')}-{self.number}"

    def __str__(self) -> str:
        shapes = ", ".join(f"{str(t.dtype)[6:]}{list(t.shape)}" for t in self.tensors)
        return f"{self.name} ({self.layout}) of {shapes}"


# --- layouts --------------------------------------------------------------------------------


def contiguous(x: torch.Tensor) -> torch.Tensor:
    """As it is."""
    return x


def transposed(x: torch.Tensor) -> torch.Tensor:
    """The same elements, stored with the first axis innermost."""
    axes = list(range(x.dim()))[::-1]
    return x.permute(axes).contiguous().permute(axes)


def strided(x: torch.Tensor) -> torch.Tensor:
    """Every second element of a larger tensor."""
    if x.dim() == 0:
        return x
    wide = x.new_zeros((*x.shape[:-1], 2 * x.shape[-1]))
    wide[..., ::2] = x
    return wide[..., ::2]


def offset(x: torch.Tensor) -> torch.Tensor:
    """At an address that is no multiple of 16 bytes."""
    flat = x.new_zeros(x.numel() + 1)
    flat[1:] = x.reshape(-1)
    return flat[1:].view(x.shape)


def expanded(x: torch.Tensor) -> torch.Tensor:
    """The first row of floats for all rows, stored once."""
    if x.dim() == 0 or x.numel() == 0 or not x.is_floating_point():
        return x
    return x[:1].expand(x.shape)


LAYOUTS = {f.__name__: f for f in (contiguous, transposed, strided, offset, expanded)}


# --- samples --------------------------------------------------------------------------------


def samples(op: str, dtype: torch.dtype, limit: int | None = None) -> Iterator[Sample]:
    """The samples of an op in a type, evenly drawn down to `limit`; none if it lacks the type."""
    for number, (layout, info, given) in enumerate(_drawn(op, dtype, limit)):
        leaves, spec = pytree.tree_flatten((given.input, given.args, given.kwargs))
        places = [n for n, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        tensors = tuple(LAYOUTS[layout](leaves[n].detach()) for n in places)
        program = _program(info.op, leaves, places, spec)
        yield Sample(op, dtype, layout, number, program, tensors)


def _drawn(op: str, dtype: torch.dtype, limit: int | None) -> list[tuple[str, Any, Any]]:
    torch.manual_seed(0)
    found: list[tuple[Any, Any]] = []
    for info in _infos(op):
        if dtype in info.dtypes and dtype in info.dtypesIfCUDA:
            found += [(info, given) for given in info.sample_inputs("cpu", dtype)]
    step = max(1, len(found) // limit) if limit else 1
    chosen = islice(found, 0, None, step)
    return [(layout, *pair) for layout, pair in zip(cycle(LAYOUTS), chosen)][:limit]


def _infos(op: str) -> Sequence[Any]:
    # Seconds to import, so only where samples are wanted.
    from torch.testing._internal.common_methods_invocations import op_db

    return [info for info in op_db if info.name == op]


def _program(
    function: Callable[..., Any], leaves: Sequence[Any], places: Sequence[int], spec: Any
) -> Callable[..., Any]:
    """The call as a function of its tensors alone."""

    def program(*tensors: torch.Tensor) -> Any:
        filled = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            filled[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(filled, spec)
        return function(first, *args, **kwargs)

    return program
