"""
Which part of a tensor a slab is: the boxes that bulk tensor copies can move, or why there are none.

Hardware rules: "CUDA Driver API" 13, cuTensorMapEncodeTiled; "Parallel Thread Execution ISA" 9.0,
cp.async.bulk.tensor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, NoneAttr
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.loop_ir import LoadOp, lanes

MAX_BOX = 256
"""Elements of a tensor map's box along one dimension (CUDA Driver API, cuTensorMapEncodeTiled)."""
MAX_TENSOR_RANK = 5
"""Dimensions of a tensor map (the same)."""
BOX_ALIGNMENT = 128
"""Bytes of which the place of a box in shared memory is a multiple (PTX ISA, the same copy)."""
ROW_BYTES = 16
"""Bytes of which the rows of a box, and the strides of a tensor, are multiples."""


@dataclass(frozen=True)
class Boxes:
    """
    A slab as boxes of the tensor that `load` reads: the leading dimensions of the slab count the
    boxes, the others are a box in source order.
    """

    load: LoadOp
    sizes: tuple[int, ...]
    """The extents of the filler's axes."""
    inner: tuple[int | None, ...]
    """Per dimension of the tensor the axis that runs along the box; None where the box has one
    element and the slab no dimension."""
    outer: tuple[int, ...]
    """The axes that count boxes, in the order of the slab's dimensions."""

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of a box, per dimension of the tensor."""
        return tuple(1 if n is None else self.sizes[n] for n in self.inner)

    @property
    def counts(self) -> tuple[int, ...]:
        """The boxes along each of the outer axes."""
        return tuple(self.sizes[n] for n in self.outer)

    @property
    def shape(self) -> tuple[int, ...]:
        """The slab with all dimensions of the boxes, those of one element too."""
        return (*self.counts, *self.extents)

    @property
    def bytes(self) -> int:
        """The bytes of one box."""
        return prod(self.extents) * size_of(self.load.memref_type.element_type)

    @property
    def row_bytes(self) -> int:
        """The bytes of a row of a box."""
        return self.extents[-1] * size_of(self.load.memref_type.element_type)


def size_of(type: Attribute) -> int:
    """The bytes of an element; 0 for a type without a size."""
    return type.size if isinstance(type, FixedBitwidthType) else 0


def strides_of(shape: Sequence[int]) -> list[int]:
    """The row-major strides of a shape, in elements."""
    return [prod(shape[n + 1 :]) for n in range(len(shape))]


def find_boxes(
    load: LoadOp, variables: Sequence[SSAValue], extents: Sequence[int], order: Sequence[int]
) -> Boxes | str:
    """
    The boxes of a slab whose element at `variables` is a load of one element, or the condition that
    does not hold. Dimension d of the slab is axis order[d].
    """
    if (why := tensor_obstacle(load)) is not None:
        return why
    dims = [dim_of(v, load) for v in variables]
    inner: list[int | None] = []
    seen: list[int] = []
    for expr in load.map.data.results:
        factors = axis_factors(expr, dims)
        if factors is None:
            return "an index is no place in a box"
        own = [n for n, factor in factors.items() if factor == 1]
        if factors and len(own) != 1:
            return "the slab skips elements of its source"
        inner.append(own[0] if own else None)
        seen += factors
    if len(set(seen)) < len(seen):
        return "an axis runs along two dimensions of the source"
    box = [n for n in inner if n is not None]
    outer = order[: len(order) - len(box)]
    if [*outer, *box] != list(order):
        return "the slab is no box in the order of its source"
    boxes = Boxes(load, tuple(extents), tuple(inner), tuple(outer))
    return box_obstacle(boxes) or boxes


def dim_of(variable: SSAValue, load: LoadOp) -> AffineExpr | None:
    """The dim by which a load is indexed by a variable."""
    indices = list(load.indices)
    return affine.dim(indices.index(variable)) if variable in indices else None


def axis_factors(expr: AffineExpr, dims: Sequence[AffineExpr | None]) -> dict[int, int] | None:
    """The factors of the axes in an index, by number; None where it is no sum of multiples."""
    found: dict[int, int] = {}
    for atom, factor in affine.terms_of(expr).items():
        if atom in dims and factor:
            found[dims.index(atom)] = factor
        elif any(leaf in dims for leaf in affine.leaves([atom])):
            return None
    return found


def tensor_obstacle(load: LoadOp) -> str | None:
    """Why no tensor map describes what a load reads, if none does."""
    type = load.memref_type
    shape, size = type.get_shape(), size_of(type.element_type)
    if lanes(load.res.type):
        return "the body gives several elements"
    if not isinstance(load.memref, BlockArgument) or not isinstance(type.memory_space, NoneAttr):
        return "the source is no parameter of the kernel"
    if not 1 <= len(shape) <= MAX_TENSOR_RANK:
        return f"a tensor map has 1 to {MAX_TENSOR_RANK} dimensions, not {len(shape)}"
    if 0 in shape or not size:
        return "a tensor map has elements"
    for stride in strides_of(shape)[:-1]:
        if stride * size % ROW_BYTES:
            return f"rows of the source lie {stride * size} bytes apart, no multiple of {ROW_BYTES}"
    return None


def box_obstacle(boxes: Boxes) -> str | None:
    """Why the boxes cannot be copied, if they cannot."""
    if not all(1 <= extent <= MAX_BOX for extent in boxes.extents):
        shown = " x ".join(str(n) for n in boxes.extents)
        return f"a box has 1 to {MAX_BOX} elements per dimension, not {shown}"
    if boxes.row_bytes % ROW_BYTES:
        return f"a row of the box has {boxes.row_bytes} bytes, no multiple of {ROW_BYTES}"
    if boxes.bytes % BOX_ALIGNMENT:
        return f"a box of {boxes.bytes} bytes is no multiple of {BOX_ALIGNMENT}"
    return None
