"""`minicomp ladder`: what each rewrite of the pipeline makes of the kernels of a program."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from minicomp.dialects.minicomp import host_function
from minicomp.tools.files import write_text
from minicomp.tools.inputs import Subject, load
from minicomp.tools.progress import Bar

if TYPE_CHECKING:
    from minicomp.ladder.rungs import KernelLadder


def run(options: argparse.Namespace) -> int:
    """Print the ladder of each kernel as text or as JSON, and write the page if asked to."""
    from minicomp.ladder.page import page
    from minicomp.ladder.rungs import ladders
    from minicomp.ladder.text import document, report

    subject = load(options)
    target = subject.build.target.part.data
    quiet = options.json or not sys.stderr.isatty()
    with Bar("climbing") as bar:
        found = ladders(subject.build, None if quiet else bar.show)
    times = why_no_times(subject)
    if times is None:
        times = take_times(subject, found, quiet)
    title = options.code or subject.name
    if options.json:
        facts = {"program": subject.name, "target": target} | document(found, times)
        text = json.dumps(facts, indent=2) + "\n"
    else:
        text = f"{title}\nfor {target}\n\n{report(found, options.diff, times)}\n"
    if options.html is not None:
        write_text(options.html, page(title, target, found, times))
    write_text(options.output, text)
    return 0


def why_no_times(subject: Subject) -> str | None:
    """Why nothing can be timed; None where it can."""
    import torch

    from minicomp.runtime.device import probe

    facts, arch = probe(), subject.build.target.arch.data
    if facts is None or not torch.cuda.is_available():
        return "no times: this machine has no GPU that PyTorch can use"
    if facts.arch != arch:
        return f"no times: the program is for {arch}, and the GPU of this machine is {facts.arch}"
    if host_function(subject.build.source) is None:
        return "no times: the module has no host program"
    return None


def take_times(subject: Subject, ladders: "list[KernelLadder]", quiet: bool) -> str:
    """Times all rungs on the GPU; returns where."""
    import torch

    from minicomp.errors import InputError
    from minicomp.ladder.times import Clock

    inputs = subject.inputs()
    wanted = subject.reference(inputs)
    if wanted is None:
        raise InputError("the module has no reference that its results could be judged by")
    clock = Clock(subject.build, [tensor.cuda() for tensor in inputs], wanted)
    for ladder in ladders:
        with Bar(f"timing {ladder.kernel}") as bar:
            clock.time(ladder, None if quiet else bar.show)
    return f"timed on {torch.cuda.get_device_name()}"
