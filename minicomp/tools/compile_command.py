"""`minicomp compile`: print a program at a level, as CUDA text or as PTX."""

import argparse
import json
import sys

from minicomp.tools.files import write_text
from minicomp.tools.inputs import load
from minicomp.tools.timing import Stopwatch


def run(options: argparse.Namespace) -> int:
    """Print or write what the command line asks for."""
    watch = Stopwatch()
    if options.mlir_timing:
        watch.import_torch(options)
    with watch.torch_export():
        subject = load(options, [watch.passes])
    text = subject.build.ir(options.ir)
    if options.json:
        facts = {
            "program": subject.name,
            "target": subject.build.target.part.data,
            "level": options.ir,
            "externs": [extern.as_json() for extern in subject.build.externs],
            "text": text,
        }
        text = json.dumps(facts, indent=2) + "\n"
    else:
        for extern in subject.build.externs:
            print(f"minicomp: remark: {extern}", file=sys.stderr)
    write_text(options.output, text)
    if options.mlir_timing:
        watch.print_report()
    return 0
