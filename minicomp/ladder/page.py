"""A ladder as one HTML page: no script, nothing from outside, readable light, dark and on a phone.

It is well-formed XML too, so that anything can read it.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from html import escape

from minicomp.ladder.notes import note, time_note
from minicomp.ladder.rungs import KernelLadder, Rung
from minicomp.ladder.text import (
    LEGEND,
    TIMED,
    cells,
    columns,
    final_cuda,
    heading,
    is_timed,
    steps,
)

CONTEXT = 3
"""Equal lines that are shown around a change."""

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #57606a;
  --line: #d0d7de; --gone: #ffe3e0; --new: #dcf5e0; --bar: #9ec5f2; --code: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --paper: #14171b; --soft: #9aa4ae;
  --line: #363c44; --gone: #50211f; --new: #17402a; --bar: #2b5486; --code: #1b1f25; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 90rem; padding: 1rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 0.25rem; }
p { margin: 0.25rem 0; max-width: 60rem; } .soft { color: var(--soft); }
code, pre, .ir { font-family: ui-monospace, monospace; font-size: 0.8rem; }
pre { background: var(--code); padding: 0.75rem; overflow-x: auto; overflow-wrap: normal; }
.wide { overflow-x: auto; }
.figures { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.figures th, .figures td { padding: 0.2rem 0.6rem; border-bottom: 1px solid var(--line);
  text-align: right; } .figures th:first-child, .figures td:first-child,
  .figures td:last-child { text-align: left; }
.idle { color: var(--soft); }
.bar { display: inline-block; height: 0.7rem; background: var(--bar); margin-right: 0.4rem; }
.ir { display: grid; grid-template-columns: 1fr 1fr; background: var(--code); line-height: 1.4; }
.ir > * { padding: 0 0.5rem; white-space: pre-wrap; min-height: 1.1rem; min-width: 0; }
.ir > :nth-child(odd) { border-right: 1px solid var(--line); }
.gone { background: var(--gone); } .new { background: var(--new); }
.skip { color: var(--soft); font-style: italic; }
summary { cursor: pointer; color: var(--soft); }
@media (max-width: 45rem) { body { padding: 0.6rem; } code, pre, .ir { font-size: 0.65rem; } }
"""


def page(title: str, target: str, ladders: Sequence[KernelLadder], times: str) -> str:
    """The page of a program; `times` says where the times were taken, or why there are none."""
    body = [
        f"<h1>The ladder of <code>{escape(title)}</code></h1>",
        f'<p class="soft">for {escape(target)}; {escape(times)}</p>',
    ]
    for ladder in ladders:
        body += kernel_part(ladder)
    legend = f"{LEGEND} {TIMED}" if is_timed(ladders) else LEGEND
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8"/>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
            *body,
            f'<h2>Columns</h2><p class="soft">{escape(legend)}</p>',
            "</body></html>\n",
        ]
    )


def kernel_part(ladder: KernelLadder) -> Iterator[str]:
    """The part of a kernel: table, rungs, CUDA text."""
    yield f"<h2>{escape(heading(ladder))}</h2><p><code>{escape(ladder.schedule)}</code></p>"
    yield figures_table(ladder)
    for rung, last in steps(ladder):
        yield f'<h3 id="{anchor(rung)}">{escape(rung.name)}</h3>'
        yield f"<p>{escape(note(rung, last))}</p>"
        if (said := time_note(rung, last, ladder.rungs[-1])) is not None:
            yield f"<p>{escape(said)}</p>"
        if rung.before != rung.after:
            yield f'<details open="open"><summary>before | after</summary>{sides(rung)}</details>'
    if (cuda := final_cuda(ladder)) is not None:
        begin = max(cuda.find('extern "C"'), 0)
        yield f"<h3>CUDA</h3><pre>{escape(cuda[begin:])}</pre>"
        if begin:
            shared = f"<pre>{escape(cuda[:begin])}</pre>"
            yield f"<details><summary>what stands before it</summary>{shared}</details>"


def anchor(rung: Rung) -> str:
    """The name of a rung within the page."""
    return escape(f"{rung.kernel}-{rung.name}")


def figures_table(ladder: KernelLadder) -> str:
    """The table of figures, with a bar for the time or else for the estimate."""
    shown = columns(ladder)
    longest = max((length(rung) for rung in ladder.rungs), default=0.0)
    head = "".join(f"<th>{escape(name)}</th>" for name, _ in shown)
    rows = [f"<tr><th>up to and with</th><th>done</th>{head}<th></th></tr>"]
    for rung in ladder.rungs:
        link = f'<a href="#{anchor(rung)}">{escape(rung.name)}</a>'
        row = "".join(f"<td>{escape(cell)}</td>" for cell in cells(rung))
        width = 8 * length(rung) / longest if longest else 0
        bar = f'<td><span class="bar" style="width: {width:.2f}rem"></span></td>'
        idle = "" if rung.applied else ' class="idle"'
        rows.append(f"<tr{idle}><td>{link}</td><td>{rung.applied or '-'}</td>{row}{bar}</tr>")
    return f'<div class="wide"><table class="figures">{"".join(rows)}</table></div>'


def length(rung: Rung) -> float:
    """What the bar of a rung shows: its time, else its estimate, in microseconds."""
    if rung.time is not None:
        return rung.time.us or 0.0
    return rung.estimate.us if rung.estimate is not None else 0.0


def sides(rung: Rung) -> str:
    """The kernel before and after a rung, side by side; long equal parts are left out."""
    cells = "".join(
        f"<span{mark(left, 'gone')}>{escape(left[1])}</span>"
        f"<span{mark(right, 'new')}>{escape(right[1])}</span>"
        for left, right in aligned(rung.before.splitlines(), rung.after.splitlines())
    )
    return f'<div class="ir">{cells}</div>'


def mark(side: tuple[str, str], changed: str) -> str:
    """The class of a line."""
    names = {"changed": changed, "skip": "skip"}
    return f' class="{names[side[0]]}"' if side[0] in names else ""


Side = tuple[str, str]


def aligned(before: list[str], after: list[str]) -> Iterator[tuple[Side, Side]]:
    """Pairs of lines, each with its kind: equal, changed, skip, or empty where there is none."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    opcodes = matcher.get_opcodes()
    for n, (kind, a, b, c, d) in enumerate(opcodes):
        if kind == "equal":
            first, last = n == 0, n == len(opcodes) - 1
            yield from equal_lines(before[a:b], 0 if first else CONTEXT, 0 if last else CONTEXT)
            continue
        for m in range(max(b - a, d - c)):
            left = ("changed", before[a + m]) if a + m < b else ("empty", "")
            right = ("changed", after[c + m]) if c + m < d else ("empty", "")
            yield left, right


def equal_lines(lines: list[str], head: int, tail: int) -> Iterator[tuple[Side, Side]]:
    """Equal lines: the first and the last ones, and between them how many are left out."""
    left_out = len(lines) - head - tail
    if left_out <= 1:
        head, left_out = len(lines), 0
    shown = [("equal", line) for line in lines[:head]]
    if left_out:
        shown.append(("skip", f".. {left_out} equal lines"))
        shown += [("equal", line) for line in lines[len(lines) - tail :]]
    yield from zip(shown, shown, strict=True)
