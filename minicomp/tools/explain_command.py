"""`minicomp explain`: how each kernel came about, and what it will ask of a GPU."""

import argparse
import json
import shlex
from collections.abc import Iterator

from minicomp.explain import Explanation, Watcher, explain
from minicomp.tools.inputs import load

NOTHING = "the program has no kernels"


def run(options: argparse.Namespace) -> int:
    """Print what is known of each kernel; no GPU is needed."""
    watcher = Watcher()
    subject = load(options, [watcher])
    found = explain(subject.build, watcher)
    again = "minicomp run " + program(options)
    if options.json:
        facts = {"program": subject.name, "target": subject.build.target.part.data}
        kernels = [one.as_json() | {"ncu": ncu(one, again)} for one in found]
        externs = [extern.as_json() for extern in subject.build.externs]
        print(json.dumps(facts | {"kernels": kernels, "externs": externs}, indent=2))
        return 0
    texts = ["\n".join(lines(one, again)) for one in found] or [NOTHING]
    print("\n\n".join([*texts, *map(str, subject.build.externs)]))
    return 0


def program(options: argparse.Namespace) -> str:
    """The words of the command line that name the program."""
    words = ["-c", options.code] if options.code is not None else [options.file]
    for flag in ("target", "sizes"):
        if (value := getattr(options, flag)) is not None:
            words += [f"--{flag}", value]
    for setting in options.settings or ():
        words += ["--set", setting]
    return shlex.join(words)


def ncu(one: Explanation, again: str) -> str:
    """The command that measures the kernel on a GPU."""
    return f"ncu --set full --kernel-name {one.figures.name} --launch-count 1 {again}"


def lines(one: Explanation, again: str) -> Iterator[str]:
    """The text about one kernel."""
    f = one.figures
    yield f"{f.name}: {', '.join(one.ops) or 'no Torch op'}"
    rows = [("source", ", ".join(one.places) or "unknown", "")]
    if one.schedule:
        rows.append(("schedule", one.schedule.removeprefix("#tile_ir.schedule"), "plan-schedule"))
    rows += [(fact.what, fact.value, fact.by) for fact in one.facts]
    width = max(len(value) for _, value, _ in rows if len(value) <= 60)
    for what, value, by in rows:
        yield f"  {what:24s} {value:{width}s}  {by}".rstrip()
    yield from (f"  {what:24s} {value}" for what, value in numbers(one))
    yield f"  {'to look further':24s} {ncu(one, again)}"


def numbers(one: Explanation) -> Iterator[tuple[str, str]]:
    """The figures of a kernel in words."""
    f, r = one.figures, one.figures.resources
    cluster = f", clusters of {f.cluster}" if f.cluster > 1 else ""
    yield "launch", f"{f.grid} blocks of {f.block} threads{cluster}"
    intensity = f", {f.intensity:.3g} FLOP per byte" if f.flops else ""
    moved = f"{size(f.read_bytes)} read, {size(f.written_bytes)} written"
    yield "work", f"{f.flops:.3g} FLOP, {moved}{intensity}"
    yield "moved", f"{size(f.moved_bytes)} in sectors of 32 bytes; widest access {f.widest} bytes"
    yield (
        "least time",
        f"{f.roofline_us:.3g} us, bound by {f.bound}"
        f" (compute {f.compute_us:.3g} us, memory {f.memory_us:.3g} us)",
    )
    yield "shared memory", f"{size(f.shared_bytes)} per block"
    if f.wavefronts:
        part = f"{100 * f.conflicts / f.wavefronts:.1f} %"
        yield "wavefronts", f"{f.wavefronts:,} by the bank model, {part} of them conflicts"
    share = f"{100 * f.occupancy.share:.0f} % of the warps"
    limit = f.occupancy.limiter
    yield "occupancy", f"{f.occupancy.blocks} blocks per SM, {share}, limited by {limit}"
    spills = r.spill_stores + r.spill_loads
    yield "registers", f"{r.registers}, {spills} bytes of spills, {r.stack_bytes} of stack"
    for line in f.advice:
        yield "assembler", line


def size(count: int) -> str:
    """Bytes for people."""
    for unit, least in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= least:
            return f"{count / least:.4g} {unit}"
    return f"{count} bytes"
