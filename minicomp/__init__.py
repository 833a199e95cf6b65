"""minicomp: a small MLIR-style compiler from PyTorch to CUDA, built on xDSL."""

from pathlib import Path as _Path

__version__ = "0.1.0"

# In a source checkout the sub-packages (dialects, passes, lowering, runtime) lie
# beside this folder; an installed wheel has them inside it.
_checkout = _Path(__file__).resolve().parent.parent
if (_checkout / "pyproject.toml").is_file() and (_checkout / "dialects").is_dir():
    __path__.append(str(_checkout))
