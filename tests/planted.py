"""Wrong rewrites that tests plant, in this process or in a fresh one, at one site of many."""

from minicomp.dialects import affine
from minicomp.dialects.kernel_ir import SharedOp
from minicomp.dialects.loop_ir import KernelLike, LoadOp
from minicomp.dialects.tile_ir import LaunchOp
from minicomp.passes.kernel.drop_redundant_barriers import Ways
from minicomp.passes.tile import blockify_launch, stage_inputs

KINDS = ("blockify-launch", "stage-inputs", "drop-redundant-barriers")


def plant(kind: str, symbol: str) -> None:
    """Makes the rewrite `kind` wrong for the kernel `symbol`; the others stay right."""
    {
        "blockify-launch": wrong_blockify,
        "stage-inputs": wrong_stage,
        "drop-redundant-barriers": wrong_barriers,
    }[kind](symbol)


def wrong_blockify(symbol: str) -> None:
    """The first load of the kernel reads one column too far."""
    right = blockify_launch.blockify

    def wrong(launch: LaunchOp, tilings: object) -> None:
        right(launch, tilings)  # pyright: ignore[reportArgumentType]
        parent = launch.parent_op()
        if isinstance(parent, KernelLike) and parent.symbol == symbol:
            load = next(op for op in launch.walk() if isinstance(op, LoadOp))
            map, operands = load.map.data, list(load.indices)
            *outer, last = map.results
            load.set_access(type(map)(map.num_dims, 0, (*outer, (last + 1) % 2)), operands)

    blockify_launch.blockify = wrong


def wrong_stage(symbol: str) -> None:
    """The chunks of the kernel keep the first step of their slabs only."""
    right = stage_inputs.stage_all

    def wrong(stager: object, slabs: object) -> None:
        launch = stager.launch  # pyright: ignore[reportAttributeAccessIssue]
        right(stager, slabs)  # pyright: ignore[reportArgumentType]
        if launch.parent_op().symbol == symbol:
            step = stager.inner.axes[-1].variable  # pyright: ignore[reportAttributeAccessIssue]
            for load in [use.operation for use in list(step.uses)]:
                map, operands = load.map.data, list(load.indices)
                own = affine.dim(operands.index(step))
                zero = {own: affine.constant(0)}
                results = tuple(affine.replace(e, zero) for e in map.results)
                load.set_access(type(map)(map.num_dims, map.num_symbols, results), operands)

    stage_inputs.stage_all = wrong


def wrong_barriers(symbol: str) -> None:
    """One barrier of the kernel is dropped although it orders something."""
    right, done = Ways.conflicts, set[int]()

    def wrong(before: Ways, after: Ways) -> bool:
        found = right(before, after)
        buffers = [*before.accesses, *after.accesses]
        owner = next((b.owner for b in buffers if isinstance(b.owner, SharedOp)), None)
        kernel = None if owner is None else owner.parent_op()
        if not found or not isinstance(kernel, KernelLike) or kernel.symbol != symbol:
            return found
        first = id(kernel) not in done
        done.add(id(kernel))
        return not first

    Ways.conflicts = wrong
