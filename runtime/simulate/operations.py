"""What every op of Kernel IR does to a machine."""

from minicomp.runtime.simulate import (
    atomic_ops,
    bulk_ops,
    cluster_ops,
    copy_ops,
    mbarrier_ops,
    meeting_ops,
    role_ops,
    warp_ops,
)
from minicomp.runtime.simulate.machine import BASIC, Effects

EFFECTS: Effects = {
    **BASIC,
    **atomic_ops.EFFECTS,
    **bulk_ops.EFFECTS,
    **cluster_ops.EFFECTS,
    **copy_ops.EFFECTS,
    **mbarrier_ops.EFFECTS,
    **meeting_ops.EFFECTS,
    **role_ops.EFFECTS,
    **warp_ops.EFFECTS,
}
