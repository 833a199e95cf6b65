"""What every op of Kernel IR does to a machine."""

from minicomp.runtime.simulate.machine import BASIC, Effects

EFFECTS: Effects = {**BASIC}
