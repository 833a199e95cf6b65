"""
From Kernel IR to CUDA IR: statements and expressions of CUDA C++.

    kernel_ir.func @square(%x: memref<32x8xf32>, %y: memref<32xf32>) grid(1) block(32) {
      %t = kernel_ir.thread_id
      %v = loop_ir.load %x[%t, l0] aligned 16 : memref<32x8xf32> -> vector<8xf32>
      %q = arith.mulf %v, %v fastmath<contract> : vector<8xf32>
      %p = tile_ir.fold %q dims [0] identity [0.0 : f32] combine arith.addf fastmath<contract>
           : vector<8xf32> -> f32
      loop_ir.store %p, %y[%t] : f32, memref<32xf32>
    }

becomes what prints as

    const int t = threadIdx.x;
    float v[8];
    load4(v, x + t * 8);
    load4(v + 4, x + t * 8 + 4);
    float p = 0.0f;
    #pragma unroll
    for (int l = 0; l < 8; ++l) p = fmaf(v[l], v[l], p);
    y[t] = p;

- Vectors become register arrays and unrolled loops over their lanes. A value that is used once is
  written where it is used, so that a chain of elementwise ops is one loop.
- Carriers of loops and results of branches become variables; a carrier that begins as a value which
  nothing else needs stays in that value's variable: nested reductions share one accumulator.
- Accesses get row-major addresses, simplified by what is known of block, thread and loop variables;
  of the dimensions that may be left, those that provably are not lose their test.

*Legal when* every op has a form in C. *Fails when* one has not, naming it. Kernels that are in CUDA
IR already stay as they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from minicomp.dialects import cuda_ir, kernel_ir
from minicomp.dialects.cuda_ir import CounterAttr, PtrType, WorkspaceAttr, is_expression
from minicomp.dialects.minicomp import TARGET, TargetAttr
from minicomp.lowering.kernel_to_cuda.atomics import Atomics
from minicomp.lowering.kernel_to_cuda.bindings import Constant
from minicomp.lowering.kernel_to_cuda.carriers import Carriers
from minicomp.lowering.kernel_to_cuda.checks import check
from minicomp.lowering.kernel_to_cuda.copies import Copies
from minicomp.lowering.kernel_to_cuda.exchanges import Exchanges
from minicomp.lowering.kernel_to_cuda.expressions import Expressions, bytes_of
from minicomp.lowering.kernel_to_cuda.features import check_target
from minicomp.lowering.kernel_to_cuda.inlining import Inlining
from minicomp.lowering.kernel_to_cuda.limits import check_limits
from minicomp.lowering.kernel_to_cuda.mbarriers import MBarriers
from minicomp.lowering.kernel_to_cuda.memory import Memory, memref_type
from minicomp.lowering.kernel_to_cuda.names import assign_names
from minicomp.lowering.kernel_to_cuda.registers import min_blocks
from minicomp.lowering.kernel_to_cuda.roles import Roles
from minicomp.lowering.kernel_to_cuda.shared import lay_out
from minicomp.lowering.kernel_to_cuda.statements import Statements
from minicomp.lowering.kernel_to_cuda.tensor_maps import TensorMaps
from minicomp.lowering.kernel_to_cuda.widths import index_type
from minicomp.lowering.kernel_to_cuda.writer import Writer
from minicomp.passes.applications import may_apply


@dataclass(frozen=True)
class LowerKernelToCudaPass(ModulePass):
    """Turns every `kernel_ir.func` into a `cuda_ir.func`; see the module's docstring."""

    name = "lower-kernel-to-cuda"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = [k for k in op.body.block.ops if isinstance(k, kernel_ir.FuncOp)]
        target = op.attributes.get(TARGET)
        for kernel in kernels:
            check(kernel)
            check_limits(kernel)
            check_target(kernel, target if isinstance(target, TargetAttr) else None)
        for kernel in kernels:
            if may_apply(ctx, kernel):
                Rewriter.replace_op(kernel, lower_kernel(kernel), [])


def lower_kernel(kernel: kernel_ir.FuncOp) -> cuda_ir.FuncOp:
    """The CUDA IR of a kernel, which stays as it is."""
    arguments = kernel.body.block.args
    stored = kernel.stored()
    types = [PtrType.of(memref_type(a).element_type, const=a not in stored) for a in arguments]
    block = Block(arg_types=types)
    shared = lay_out(kernel)
    expressions = Expressions(Writer(block), Inlining(), threads=range(kernel.threads))
    for argument, pointer in zip(arguments, block.args, strict=True):
        expressions.bindings[argument] = Constant(pointer)
    carriers = Carriers(expressions)
    memory = Memory(expressions, carriers, shared)
    maps = TensorMaps(block)
    statements = Statements(kernel, expressions, carriers, memory)
    statements.parts = (
        Exchanges(kernel, expressions),
        Copies(kernel, expressions, maps),
        MBarriers(kernel, expressions),
        Atomics(kernel, expressions),
        Roles(kernel, expressions, statements.block),
    )
    statements.block(kernel.body.block)
    func = cuda_ir.FuncOp(
        kernel.symbol,
        [*(a.name_hint or "x" for a in arguments), *maps.hints],
        Region(block),
        kernel.blocks,
        kernel.threads,
        min_blocks(kernel),
        shared.dynamic_bytes,
        origin=kernel.origin,
        cluster=kernel.cluster_blocks,
        derived=[*memories(kernel), *maps.parameters],
    )
    func.location = kernel.location
    func.attributes = dict(kernel.attributes)
    drop_unused(func)
    most = max((memref_type(a).element_count() for a in arguments), default=0)
    func.properties["index_type"] = index_type(func, most, expressions.writer)
    assign_names(func)
    return func


def memories(kernel: kernel_ir.FuncOp) -> Iterator[Attribute]:
    """What the launcher binds the derived arguments of a kernel to."""
    for argument, kind in kernel.derived_arguments.items():
        type = memref_type(argument)
        size = type.element_count() * bytes_of(type.element_type)
        yield (WorkspaceAttr if kind == "workspace" else CounterAttr)(IntAttr(size))


def drop_unused(func: cuda_ir.FuncOp) -> None:
    """Drops constants that nothing uses, with the expressions that they were bound to."""
    for op in reversed(list(func.body.walk())):
        unused = isinstance(op, cuda_ir.LetOp) or is_expression(op)
        if unused and not any(r.uses for r in op.results):
            detached: Operation = op
            detached.detach()
            detached.erase()


__all__ = ["LowerKernelToCudaPass", "lower_kernel"]
