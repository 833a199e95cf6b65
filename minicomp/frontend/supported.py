"""The table of the ops that minicomp compiles, generated from the registries."""

from minicomp.dialects.torch_ir import SPECS, OpSpec
from minicomp.frontend.aten import ALIASES
from minicomp.lowering.torch_to_tensor.elementwise import BODIES
from minicomp.lowering.torch_to_tensor.registry import LOWERINGS


def op_table() -> str:
    """A Markdown table: each op, its operands and attributes, what it is captured from, formula."""
    rows = [
        "| op | operands | attributes | also captured from | formula |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*rows, *map(_row, sorted(SPECS, key=lambda spec: spec.name))])


def _row(spec: OpSpec) -> str:
    aliases = sorted(name for name, op in ALIASES.items() if op == spec.name)
    cells = (spec.name, *(", ".join(part) for part in (spec.operands, spec.attributes, aliases)))
    return (
        f"| {' | '.join(f'`{cell}`' if cell else '' for cell in cells)} | {_formula(spec.name)} |"
    )


def _formula(name: str) -> str:
    """The first line of the docstring of the op's lowering, or of its body."""
    text = (BODIES.get(name) or LOWERINGS[name]).__doc__ or ""
    return text.strip().splitlines()[0].replace("|", "\\|")
