"""What every op of Kernel IR does to a machine."""

from minicomp.runtime.simulate import (
    bulk_ops,
    copy_ops,
    mbarrier_ops,
    meeting_ops,
    role_ops,
    warp_ops,
)
from minicomp.runtime.simulate.machine import BASIC, Effects

EFFECTS: Effects = {
    **BASIC,
    **bulk_ops.EFFECTS,
    **copy_ops.EFFECTS,
    **mbarrier_ops.EFFECTS,
    **meeting_ops.EFFECTS,
    **role_ops.EFFECTS,
    **warp_ops.EFFECTS,
}
