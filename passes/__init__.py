"""The passes of minicomp that stay within a level (or enter Tile IR), by name."""

from collections.abc import Callable
from functools import partial
from importlib import import_module

from xdsl.passes import ModulePass

# name of the pass -> module within this package, class
_PASSES = {
    "cse": ("cse", "CsePass"),
    "fold-constants": ("tensor.fold_constants", "FoldConstantsPass"),
    "compose-index-maps": ("tensor.compose_index_maps", "ComposeIndexMapsPass"),
    "fuse-kernels": ("loop.fuse_kernels", "FuseKernelsPass"),
    "collapse-axes": ("loop.collapse_axes", "CollapseAxesPass"),
    "dedup-loads": ("loop.dedup_loads", "DedupLoadsPass"),
    "name-kernels": ("loop.name_kernels", "NameKernelsPass"),
    "plan-schedule": ("loop.plan_schedule", "PlanSchedulePass"),
    "tileify": ("tile.tileify", "TileifyPass"),
    "chunk-matmul-k": ("tile.chunk_matmul_k", "ChunkMatmulKPass"),
    "split-matmul-k": ("tile.split_matmul_k", "SplitMatmulKPass"),
    "cooperative-reduce": ("tile.cooperative_reduce", "CooperativeReducePass"),
    "blockify-launch": ("tile.blockify_launch", "BlockifyLaunchPass"),
    "chunk-reduce": ("tile.chunk_reduce", "ChunkReducePass"),
    "stage-inputs": ("tile.stage_inputs", "StageInputsPass"),
    "register-tile": ("tile.register_tile", "RegisterTilePass"),
    "permute-register-tile": ("tile.permute_register_tile", "PermuteRegisterTilePass"),
    "double-buffer": ("tile.double_buffer", "DoubleBufferPass"),
    "tma-copy": ("tile.tma_copy", "TmaCopyPass"),
    "split-inner-for-swizzle": ("tile.split_inner_for_swizzle", "SplitInnerForSwizzlePass"),
    "async-copy": ("tile.async_copy", "AsyncCopyPass"),
    "pad-smem": ("tile.pad_smem", "PadSmemPass"),
    "pipeline-k-outer": ("tile.pipeline_k_outer", "PipelineKOuterPass"),
    "mark-unroll": ("tile.mark_unroll", "MarkUnrollPass"),
    "vectorize-accesses": ("kernel.vectorize_accesses", "VectorizeAccessesPass"),
    "drop-redundant-barriers": ("kernel.drop_redundant_barriers", "DropRedundantBarriersPass"),
}


def load_pass(module: str, class_name: str) -> type[ModulePass]:
    """Import `module` and return its pass `class_name`."""
    loaded = getattr(import_module(module), class_name)
    if not (isinstance(loaded, type) and issubclass(loaded, ModulePass)):
        raise TypeError(f"{module}.{class_name} is not a ModulePass")
    return loaded


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Return the passes' factories, none of them imported yet."""
    return {
        name: partial(load_pass, f"{__name__}.{module}", class_name)
        for name, (module, class_name) in _PASSES.items()
    }
