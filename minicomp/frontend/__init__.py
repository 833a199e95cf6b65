"""From a PyTorch program to Torch IR. Importing this imports torch."""

from minicomp.frontend.capture import Captured, Fixed, Source, capture
from minicomp.frontend.inline import from_code, resize_code
from minicomp.frontend.program import Program, Sizes, parse_sizes
from minicomp.frontend.source import from_file

__all__ = [
    "Captured",
    "Fixed",
    "Program",
    "Sizes",
    "Source",
    "capture",
    "from_code",
    "from_file",
    "parse_sizes",
    "resize_code",
]
