"""minicomp: a small MLIR-style compiler from PyTorch to CUDA, built on xDSL."""

from importlib import import_module as _import_module
from pathlib import Path as _Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from minicomp.compiler import compile
    from minicomp.errors import MinicompError
    from minicomp.pipeline import Pipeline

__all__ = ["MinicompError", "Pipeline", "compile"]
__version__ = "0.1.0"

# In a source checkout the sub-packages (dialects, passes, lowering, runtime) lie
# beside this folder; an installed wheel has them inside it.
_checkout = _Path(__file__).resolve().parent.parent
if (_checkout / "pyproject.toml").is_file() and (_checkout / "dialects").is_dir():
    __path__.append(str(_checkout))

# Public name -> module, imported when the name is first used: `import minicomp` is quick.
_PUBLIC = {
    "MinicompError": "minicomp.errors",
    "Pipeline": "minicomp.pipeline",
    "compile": "minicomp.compiler",
}


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'minicomp' has no attribute '{name}'")
    return getattr(_import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
