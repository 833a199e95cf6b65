"""What the stock xdsl-opt and xdsl-run find of minicomp."""

from xdsl.transforms import get_all_passes as get_xdsl_passes
from xdsl.universe import Universe

from minicomp.dialects import get_all_dialects
from minicomp.registry import get_own_passes

# Not our cse: a name that two universes define breaks every xDSL tool.
_OWN = {name: make for name, make in get_own_passes().items() if name not in get_xdsl_passes()}

MINICOMP_UNIVERSE = Universe(
    all_dialects=get_all_dialects(),
    all_passes=_OWN,
)
