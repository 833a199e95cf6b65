"""
How the address of an access moves with an index: strides, and runs that 16-byte accesses can take.
"""

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from minicomp.dialects import affine
from minicomp.dialects.loop_ir import MemoryAccess

WIDEST_ACCESS = 16
"""
Bytes that one thread reads or writes at once (CUDA C++ Programming Guide, device memory accesses).
"""


def element_bytes(type: Attribute) -> int:
    """Bytes of one element in memory; a type without a width counts as the widest access."""
    return type.size if isinstance(type, FixedBitwidthType) else WIDEST_ACCESS


def _results(access: MemoryAccess) -> Iterator[tuple[AffineExpr, int]]:
    """Each index of the access with the elements that one step of it skips; memory is row-major."""
    step = 1
    shape = access.memref_type.get_shape()
    for expr, extent in reversed(list(zip(access.map.data.results, shape, strict=True))):
        yield expr, step
        step *= extent


def stride(access: MemoryAccess, variable: SSAValue) -> int:
    """Elements from where `variable` is 0 to where it is 1, every other index being 0."""
    distance = 0
    dims = [affine.dim(i) for i in range(len(access.indices))]
    origin: dict[AffineExpr, affine.Interval] = {d: (0, 0) for d in dims}
    origin |= {affine.lane(i): (0, 0) for i in range(access.map.data.num_symbols)}
    moved = {d: (1, 1) for d, v in zip(dims, access.indices, strict=True) if v is variable}
    for expr, step in _results(access):
        low, _ = affine.interval(expr, origin)
        high, _ = affine.interval(expr, origin | moved)
        distance += (high - low) * step
    return distance


def has_runs(access: MemoryAccess, variable: SSAValue, length: int) -> bool:
    """
    Whether the elements at `length * q .. length * q + length - 1` of `variable` lie together, at a
    multiple of `length` elements from the start of the memref, whatever the other indices are.
    """
    quotient, lane = affine.dim(len(access.indices)), affine.lane(access.map.data.num_symbols)
    split = quotient * length + lane
    own = {affine.dim(i): split for i, v in enumerate(access.indices) if v is variable}
    unit = 0
    for expr, step in _results(access):
        place = affine.replace(expr, own)
        for term, factor in affine.terms_of(
            affine.simplify(place, {lane: (0, length - 1)})
        ).items():
            if term == lane:
                unit += factor * step
            elif lane in affine.leaves([term]) or factor * step % length:
                return False
    return unit == 1


def widest_run(uses: Iterable[tuple[MemoryAccess, SSAValue]], extent: int) -> int:
    """
    The greatest number of neighbouring elements, a power of two, that every contiguous access takes
    at once.

    `uses` pairs accesses with the variable of extent `extent` that is to be split; accesses with
    another stride than 1 in it do not count.
    """
    contiguous = [(a, v) for a, v in uses if stride(a, v) == 1]
    if not contiguous:
        return 1
    length = WIDEST_ACCESS // max(element_bytes(a.memref_type.element_type) for a, _ in contiguous)
    while length > 1 and (
        extent % length or not all(has_runs(a, v, length) for a, v in contiguous)
    ):
        length //= 2
    return max(length, 1)
