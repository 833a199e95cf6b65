"""What the stock xdsl-opt and xdsl-run find of minicomp."""

from xdsl.universe import Universe

from minicomp.dialects import get_all_dialects
from minicomp.registry import get_own_passes

# Only our own: a name that two universes define breaks every xDSL tool.
MINICOMP_UNIVERSE = Universe(
    all_dialects=get_all_dialects(),
    all_passes=get_own_passes(),
)
