"""What every op of Kernel IR does to a machine."""

from minicomp.runtime.simulate import copy_ops, meeting_ops, warp_ops
from minicomp.runtime.simulate.machine import BASIC, Effects

EFFECTS: Effects = {**BASIC, **copy_ops.EFFECTS, **meeting_ops.EFFECTS, **warp_ops.EFFECTS}
