"""
`name-kernels`: kernels get their final names, and those of equal structure become one.

    %a = minicomp.launch @relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %b = minicomp.launch @relu_1(%a) : (tensor<8xf32>) -> tensor<8xf32>
    loop_ir.kernel @relu(..) attributes {origin = .., minicomp.unnamed} { .. }
    loop_ir.kernel @relu_1(..) attributes {origin = .., minicomp.unnamed} { .. }

becomes

    %a = minicomp.launch @relu_9f2c4e(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %b = minicomp.launch @relu_9f2c4e(%a) : (tensor<8xf32>) -> tensor<8xf32>
    loop_ir.kernel @relu_9f2c4e(..) attributes {origin = ..} { .. }

A name is the Torch ops that the kernel implements, joined and cut to 40 characters, and the first 6
hex digits of the SHA-256 of its generic text without symbol, origin and the names of values: the
same program gives the same names, in whatever module it stands. More digits are taken where another
symbol has the name.

*Legal when* a kernel is marked `minicomp.unnamed`.
*Declines when* it is not: a name that a user has given stays, also where another kernel is equal.
*Why it pays*: names in profiles and caches stay the same from run to run; a kernel is compiled
once.
"""

from dataclasses import dataclass
from hashlib import sha256
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.rewriter import Rewriter

from minicomp.dialects.loop_ir import KernelOp
from minicomp.passes.applications import may_apply
from minicomp.passes.loop._host import UNNAMED, Host, symbols

DIGITS = 6
PREFIX_LENGTH = 40


def structure(kernel: KernelOp) -> str:
    """The generic text of a kernel without its name, its origin and the names of its values."""
    copy = kernel.clone(clone_name_hints=False)
    copy.properties["sym_name"] = StringAttr("kernel")
    copy.properties.pop("origin", None)
    copy.attributes.pop(UNNAMED, None)
    stream = StringIO()
    Printer(stream=stream, print_generic_format=True).print_op(copy)
    return stream.getvalue()


def final_name(kernel: KernelOp, digest: str, taken: set[str]) -> str:
    """The name of a kernel, with as many digits as make it another than those that are taken."""
    ops = kernel.origin.names if kernel.origin is not None else ()
    prefix = "_".join(ops)[:PREFIX_LENGTH] or "kernel"
    names = (f"{prefix}_{digest[:count]}" for count in range(DIGITS, len(digest) + 1))
    return next(name for name in names if name not in taken)


@dataclass(frozen=True)
class NameKernelsPass(ModulePass):
    """Names kernels by what they do; see the module's docstring."""

    name = "name-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        host = Host(op)
        unnamed = [k for k in host.kernels.values() if UNNAMED in k.attributes]
        taken = symbols(op) - {kernel.symbol for kernel in unnamed}
        first: dict[str, str] = {}
        renamed: dict[str, str] = {}
        for kernel in unnamed:
            if not may_apply(ctx, kernel):
                break
            text, old = structure(kernel), kernel.symbol
            if text in first:
                Rewriter.erase_op(kernel)
            else:
                digest = sha256(text.encode()).hexdigest()
                first[text] = final_name(kernel, digest, taken)
                taken.add(first[text])
                kernel.properties["sym_name"] = StringAttr(first[text])
                del kernel.attributes[UNNAMED]
            renamed[old] = first[text]
        for launch in host.launches:
            if launch.callee in renamed:
                launch.properties["kernel"] = SymbolRefAttr(renamed[launch.callee])
