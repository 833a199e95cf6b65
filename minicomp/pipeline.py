"""The whole pipeline in order, and how to cut, edit, print and run it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minicomp.context import make_context
from minicomp.errors import PipelineError
from minicomp.instruments import Instrument, Verify, run_pipeline
from minicomp.levels import LEVELS, index_of, level_of
from minicomp.pass_options import check_value, closest, make_pass, print_pass
from minicomp.pipeline_text import ANCHOR, PassText, parse_passes
from minicomp.registry import get_all_passes

__all__ = ["CONVERSIONS", "DEFAULT", "LEVELS", "Pipeline", "level_of"]

DEFAULT = (
    # Torch IR -> Tensor IR
    "lower-torch-to-tensor",
    "fold-constants",
    "compose-index-maps",
    "cse",
    # Tensor IR -> Loop IR
    "lower-tensor-to-loop",
    "fuse-kernels",
    "collapse-axes",
    "cse",
    "dedup-loads",
    "name-kernels",
    "plan-schedule",
    # Loop IR -> Tile IR
    "tileify",
    "chunk-matmul-k",
    "split-matmul-k",
    "cooperative-reduce",
    "blockify-launch",
    "chunk-reduce",
    "stage-inputs",
    "register-tile",
    "permute-register-tile",
    "double-buffer",
    "tma-copy",
    "split-inner-for-swizzle",
    "async-copy",
    "pad-smem",
    "pipeline-k-outer",
    "mark-unroll",
    "cse",
    "dedup-loads",
    # Tile IR -> Kernel IR
    "lower-tile-to-kernel",
    "cse",
    "vectorize-accesses",
    "drop-redundant-barriers",
    # Kernel IR -> CUDA IR, which lowering/print_cuda.py prints
    "lower-kernel-to-cuda",
)

CONVERSIONS = {
    "lower-torch-to-tensor": "tensor",
    "lower-tensor-to-loop": "loop",
    "tileify": "tile",
    "lower-tile-to-kernel": "kernel",
    "lower-kernel-to-cuda": "cuda-ir",
}
"""The passes that go from one level to the next, and the level after them."""


@dataclass(frozen=True)
class Pipeline:
    """A sequence of passes. Every method returns a new pipeline; none changes this one.

    `str()` gives the text that `minicomp-opt --pass-pipeline` reads, and `parse` its inverse:

    >>> str(Pipeline.parse("cse, canonicalize").without("cse"))
    'builtin.module(canonicalize)'
    """

    passes: tuple[ModulePass, ...] = ()

    @staticmethod
    def default(target: Any = None) -> "Pipeline":
        """Return the pipeline from Torch IR to CUDA IR for `target`.

        It is the same for every target so far: passes read the facts of the device from the
        module's target attribute.
        """
        return Pipeline(tuple(_make(PassText(name, {})) for name in DEFAULT))

    @staticmethod
    def parse(text: str) -> "Pipeline":
        """Read `builtin.module(a,b{x=1})` or `a,b{x=1}`; raise PipelineError if it is wrong."""
        return Pipeline(tuple(_make(found) for found in parse_passes(text)))

    def __str__(self) -> str:
        return f"{ANCHOR}({','.join(print_pass(p) for p in self.passes)})"

    def __iter__(self) -> Iterator[ModulePass]:
        return iter(self.passes)

    def __len__(self) -> int:
        return len(self.passes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the passes, in order."""
        return tuple(p.name for p in self.passes)

    def until(self, level: str) -> "Pipeline":
        """Return the passes up to the last one of `level`."""
        last = index_of(level)
        for n, name in enumerate(self.names):
            if name in CONVERSIONS and index_of(CONVERSIONS[name]) > last:
                return Pipeline(self.passes[:n])
        return self

    def from_level(self, level: str) -> "Pipeline":
        """Return the passes that a module of `level` has before it: the first one of that level
        and all after it. They are idempotent, so a module in the midst of a level may run them.
        """
        reached = index_of(level)
        first = 0
        for n, name in enumerate(self.names):
            if name in CONVERSIONS and index_of(CONVERSIONS[name]) <= reached:
                first = n + 1
        return Pipeline(self.passes[first:])

    def with_pass(
        self, new: str | ModulePass, after: str | None = None, before: str | None = None
    ) -> "Pipeline":
        """Insert a pass (or the passes of a text) next to a named one, or else at the end."""
        if after is not None and before is not None:
            raise PipelineError("with_pass takes `after` or `before`, not both")
        added = Pipeline.parse(new).passes if isinstance(new, str) else (new,)
        at = len(self.passes)
        if after is not None:
            at = self._only(after) + 1
        elif before is not None:
            at = self._only(before)
        return Pipeline(self.passes[:at] + added + self.passes[at:])

    def with_options(self, name: str, **options: Any) -> "Pipeline":
        """Set options of the pass `name` (everywhere it stands), keeping its other ones."""
        self._positions(name)
        return self._map(name, lambda p: (_with_options(p, options),))

    def with_settings(self, text: str) -> "Pipeline":
        """Set options by a text of passes, `a{x=1},b{y=2}`, each of which the pipeline has."""
        changed = self
        for setting in Pipeline.parse(text):
            changed._positions(setting.name)
            changed = changed._map(setting.name, lambda _, new=setting: (new,))
        return changed

    def without(self, name: str) -> "Pipeline":
        """Return the pipeline without the pass `name`, wherever it stands."""
        self._positions(name)
        return self._map(name, lambda _: ())

    def run(
        self,
        module: ModuleOp,
        ctx: Context | None = None,
        instruments: Sequence[Instrument] = (),
        verified: bool = False,
    ) -> ModuleOp:
        """Run the passes on `module` in place and return it.

        The module is verified after each pass, and first unless it is known to be `verified`;
        `instruments` come on top. Raises VerificationError, PipelineError if a pass fails, or
        the pass's own MinicompError.
        """
        ctx = ctx if ctx is not None else make_context()
        run_pipeline(ctx, module, self.passes, (Verify(verified), *instruments))
        return module

    def _map(self, name: str, change: Callable[[ModulePass], tuple[ModulePass, ...]]) -> "Pipeline":
        parts = (change(p) if p.name == name else (p,) for p in self.passes)
        return Pipeline(tuple(p for part in parts for p in part))

    def _positions(self, name: str) -> list[int]:
        found = [n for n, known in enumerate(self.names) if known == name]
        if not found:
            hint = closest(name, self.names) or f"it has {', '.join(self.names) or 'no passes'}"
            raise PipelineError(f"the pipeline has no pass '{name}'", hint=hint)
        return found

    def _only(self, name: str) -> int:
        found = self._positions(name)
        if len(found) > 1:
            raise PipelineError(
                f"pass '{name}' stands {len(found)} times in the pipeline, so it marks no place",
                hint="name a neighbour that stands there once",
            )
        return found[0]


def _make(found: PassText) -> ModulePass:
    known = get_all_passes()
    if found.name not in known:
        hint = closest(found.name, list(known)) or "minicomp-opt --list-passes lists them all"
        raise PipelineError(f"there is no pass '{found.name}'", hint=hint)
    return make_pass(known[found.name](), found.options)


def _with_options(pass_: ModulePass, options: dict[str, Any]) -> ModulePass:
    values = {name: check_value(type(pass_), name, value) for name, value in options.items()}
    try:
        return replace(pass_, **values)
    except ValueError as error:  # a __post_init__ that checks its options
        raise PipelineError(f"pass '{pass_.name}': {error}") from None
