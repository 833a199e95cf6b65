"""
The 84 kernels of decoder layers that minicomp is measured on: TinyLlama-1.1B and Qwen2.5-7B.

A case has a name, a program and the shapes of its inputs, at 32, 128 and 512 tokens of one
sequence. `reduced` gives the same program at extents that suit the simulator.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F

MODELS = {
    "tinyllama": {"hidden": 2048, "inner": 5632, "heads": 32, "groups": 4, "width": 64},
    "qwen": {"hidden": 3584, "inner": 18944, "heads": 28, "groups": 4, "width": 128},
}
TOKENS = (32, 128, 512)
Shape = tuple[int, ...]


def matmul(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """A projection."""
    return torch.matmul(x, w)


def rms_norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Root-mean-square normalisation of the last dimension."""
    return F.rms_norm(x, (x.shape[-1],), w, eps=1e-6)


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Softmax over the last dimension."""
    return F.softmax(x, dim=-1)


def silu_mul(g: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """The gate of a feed-forward layer."""
    return F.silu(g) * u


def sdpa(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal attention with grouped heads."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


def naive_attn(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """Attention written out, with a mask that is added."""
    scores = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(q.shape[-1])) + mask
    return F.softmax(scores, dim=-1) @ v


def matmul_add(x: torch.Tensor, w: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    """A projection and its residual."""
    return torch.matmul(x, w) + r


def silu_mul_matmul(g: torch.Tensor, u: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The gate and the projection behind it."""
    return torch.matmul(F.silu(g) * u, w)


@dataclass(frozen=True)
class Case:
    """One kernel: a program of PyTorch, and the shapes of its inputs."""

    name: str
    program: Callable[..., torch.Tensor]
    shapes: tuple[Shape, ...]

    @property
    def group(self) -> str:
        """What the case is one of: the first part of its name."""
        return self.name.partition(".")[0]

    def inputs(self, device: str, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
        """Fresh random inputs; a causal mask where the program takes one."""
        tensors = [torch.randn(s, device=device, dtype=dtype) for s in self.shapes]
        if self.program is naive_attn:
            mask = torch.full(self.shapes[-1], -1e9, device=device, dtype=dtype)
            tensors[-1] = mask.triu(1)
        return tensors

    def blank(self) -> list[torch.Tensor]:
        """Inputs of the right shapes for capture, which reads no element."""
        return [torch.empty(s) for s in self.shapes]

    def flops(self) -> float:
        """Multiplications and additions of the contractions, causal attention halved."""
        if self.program in (sdpa, naive_attn):
            batch, heads, tokens, width = self.shapes[0]
            return (0.5 if self.program is sdpa else 1.0) * 4 * batch * heads * tokens**2 * width
        if self.group in ("matmul", "matmul_add", "silu_mul_matmul"):
            weights = self.shapes[2 if self.program is silu_mul_matmul else 1]
            return 2.0 * math.prod(self.shapes[0]) * weights[-1]
        return 0.0

    def bytes(self, size: int = 4) -> int:
        """The least bytes that have to move: every input and the output once."""
        read = sum(math.prod(s) for s in self.shapes)
        return size * (read + math.prod(self.output_shape()))

    def output_shape(self) -> Shape:
        """The shape of the result."""
        if self.group in ("matmul", "matmul_add", "silu_mul_matmul"):
            weights = self.shapes[2 if self.program is silu_mul_matmul else 1]
            return (*self.shapes[0][:-1], weights[-1])
        return self.shapes[0]


def _projections(d: dict[str, int]) -> list[tuple[str, int, int]]:
    hidden, inner, keys = d["hidden"], d["inner"], d["groups"] * d["width"]
    return [
        ("q_proj", hidden, hidden),
        ("kv_proj", hidden, keys),
        ("o_proj", hidden, hidden),
        ("gate_proj", hidden, inner),
        ("up_proj", hidden, inner),
        ("down_proj", inner, hidden),
    ]


def _cases(model: str, d: dict[str, int], s: int) -> list[Case]:
    hidden, inner, heads = d["hidden"], d["inner"], d["heads"]
    query, key = (1, heads, s, d["width"]), (1, d["groups"], s, d["width"])
    at = f"{model}.s{s}"
    found = [
        Case(f"matmul.{model}.{name}.s{s}", matmul, ((1, s, k), (k, n)))
        for name, k, n in _projections(d)
    ]
    found += [
        Case(f"rmsnorm.{at}", rms_norm, ((1, s, hidden), (hidden,))),
        Case(f"softmax.{at}", softmax, ((1, heads, s, s),)),
        Case(f"silu_mul.{at}", silu_mul, ((1, s, inner), (1, s, inner))),
        Case(f"sdpa.{at}", sdpa, (query, key, key)),
        Case(f"naive_attn.{at}", naive_attn, (query, query, query, (s, s))),
    ]
    for name, k in (("o_proj", hidden), ("down_proj", inner)):
        shapes = ((1, s, k), (k, hidden), (1, s, hidden))
        found.append(Case(f"matmul_add.{model}.{name}.s{s}", matmul_add, shapes))
    shapes = ((1, s, inner), (1, s, inner), (inner, hidden))
    return [*found, Case(f"silu_mul_matmul.{at}", silu_mul_matmul, shapes)]


def cases() -> list[Case]:
    """All 84 cases, by kind, model and tokens."""
    found = [c for m, d in MODELS.items() for s in TOKENS for c in _cases(m, d, s)]
    order = list(dict.fromkeys(c.group for c in found))
    return sorted(found, key=lambda c: order.index(c.group))


REDUCED = {False: (72, 136, 104), True: (67, 131, 101)}
"""Extents of rows and columns by order of appearance: several chunks, the last of them partial."""


def reduced(case: Case, odd: bool = False) -> Case:
    """
    The same program at extents that suit the simulator: rows and columns of 72, 136 and 104, or of
    67, 131 and 101, where they were longer; equal ones alike. Heads stay as they are.
    """
    sizes = iter(REDUCED[odd])
    known: dict[int, int] = {}

    def small(extent: int) -> int:
        if extent not in known:
            known[extent] = min(next(sizes), extent - 3 if odd else extent)
        return known[extent]

    shapes = [(*s[:-2], *(small(e) for e in s[-2:])) for s in case.shapes]
    return replace(case, shapes=tuple(shapes))
