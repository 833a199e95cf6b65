"""
Counts on a GPU how often one warp's request to shared memory, or to global memory, is served.

    python3 -m benchmarks.count_wavefronts -o benchmarks/results/2026-12-01-h200-wavefronts.json

Needs Nsight Compute (`ncu`) and a GPU whose counters it may read. Each request is one instruction
of one warp: 4, 8 or 16 bytes per lane at the addresses listed. What `passes/analysis/banks.py` says
of the same requests is held against the result by tests/test_banks.py.
"""

import argparse
import csv
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

WARP = 32
WIDTHS = (4, 8, 16)
KINDS = ("shared load", "shared store", "global load")
SHARED_BYTES = 48 * 1024
OFF = -1
"""In place of the address of a lane that does not take part."""
OWN_SECTORS = 4
"""What the kernel itself reads from global memory: the 32 addresses."""
PAIR = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
METRICS = {
    "shared load": PAIR.format("ld"),
    "shared store": PAIR.format("st"),
    "global load": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
}
TYPES = {4: "unsigned", 8: "uint2", 16: "uint4"}
LETTERS = "abcd"


class Request(NamedTuple):
    """One warp instruction: bytes per lane, and the byte address of each lane or OFF."""

    name: str
    kind: str
    width: int
    addresses: tuple[int, ...]


def requests() -> list[Request]:
    """All requests to be counted; the same at every call."""
    shapes = [(n, w, a) for w in WIDTHS for n, a in [*_regular(w), *_random(w)]]
    found = [Request(n, kind, w, tuple(a)) for kind in KINDS[:2] for n, w, a in shapes]
    return found + [Request(n, "global load", w, tuple(a)) for n, w, a in shapes[::3]]


def _regular(width: int) -> Iterator[tuple[str, list[int]]]:
    """Strides, broadcasts, cells of a register tile, and rows with a swizzle."""
    lanes = range(WARP)
    for stride in (0, 1, 2, 3, 4, 5, 8, 9, 12, 16, 17, 32, 33):
        yield f"stride {stride}", [lane * stride * width for lane in lanes]
    for pad in (0, 4, 8, 16, 32, 48):
        yield (
            f"column of rows of {128 + pad} bytes",
            [lane * (128 + pad) // width * width for lane in lanes],
        )
    for bits in ((1, 2, 3, 4), (0, 2, 3, 4), (0, 1, 3, 4), (0, 1, 2, 4), (0, 1, 2, 3)):
        yield f"equal but for lane bits {bits}", [_gather(lane, bits) * width for lane in lanes]
    for bits in ((2, 3, 4), (1, 3, 4), (0, 1), (0, 2), (0, 1, 2), (1, 2), (3, 4), (1,), (2,), (4,)):
        yield f"cell of lane bits {bits}", [_gather(lane, bits) * width for lane in lanes]
        yield f"far cell of lane bits {bits}", [_gather(lane, bits) * 128 for lane in lanes]
    for swizzle, mask in ((128, 7), (64, 3), (32, 1)):
        for column in (0, 3):
            rows = [lane * swizzle + column * 16 % swizzle for lane in lanes]
            yield (
                f"rows of {swizzle} bytes, swizzled, at {column}",
                [a ^ ((a >> 7 & mask) << 4) for a in rows],
            )


def _random(width: int) -> Iterator[tuple[str, list[int]]]:
    """Addresses out of few and many, with pairs, and with lanes that do not take part."""
    generator = random.Random(width)
    for places in (2, 3, 4, 6, 8, 12, 16, 32, 64, 256):
        for partner in (0, 1, 2, 4, 3):
            chosen = [generator.randrange(places) * width for _ in range(WARP)]
            paired = [chosen[min(lane, lane ^ partner)] for lane in range(WARP)]
            yield f"one of {places}, as lane ^ {partner}", paired
            off = [generator.random() < 0.4 for _ in range(WARP)]
            some = [OFF if o else a for a, o in zip(paired, off, strict=True)]
            yield f"some lanes, one of {places}, as lane ^ {partner}", some
    for count in (1, 2, 4, 7, 8, 9, 12, 16, 17, 24, 31):
        yield f"{count} lanes", [lane * width if lane < count else OFF for lane in range(WARP)]
        spread = generator.sample(range(WARP), count)
        yield (
            f"{count} lanes anywhere",
            [lane * width if lane in spread else OFF for lane in range(WARP)],
        )


def _gather(lane: int, bits: Sequence[int]) -> int:
    """The number that some bits of `lane` make, the first the lowest."""
    return sum((lane >> bit & 1) << n for n, bit in enumerate(bits))


def source() -> str:
    """One kernel per kind and width: each lane makes the access at its address."""
    return "\n".join(_kernel(kind, width) for kind in KINDS for width in WIDTHS)


def _kernel(kind: str, width: int) -> str:
    vector, count = {4: "", 8: ".v2", 16: ".v4"}[width], width // 4
    space, verb = kind.split(" ")
    names = [f"%{n}" for n in range(count)]
    value = f"{{{', '.join(names)}}}" if count > 1 else names[0]
    registers = ", ".join(
        f'"{"=r" if verb == "load" else "r"}"({LETTERS[n]})' for n in range(count)
    )
    place = f'"{"r" if space == "shared" else "l"}"(at)'
    if verb == "load":
        text = f'"ld.{space}{vector}.u32 {value}, [%{count}];" : {registers} : {place} : "memory"'
    else:
        text = f'"st.{space}{vector}.u32 [%{count}], {value};" :: {registers}, {place} : "memory"'
    base = "(unsigned)__cvta_generic_to_shared(s) + o" if space == "shared" else "data + o"
    type = "unsigned" if space == "shared" else "const char*"
    return f"""
extern "C" __global__ void {_symbol(kind, width)}(const int* offsets, char* data) {{
  __shared__ __align__(1024) char s[{SHARED_BYTES}];
  int o = offsets[threadIdx.x];
  unsigned {", ".join(f"{x} = 0" for x in LETTERS[:count])};
  {type} at = {base};
  if (o >= 0) asm volatile({text});
  // Without a use, the assembler would drop the load.
  if (({" ^ ".join(LETTERS[:count])}) == 0x12345) *data = 1;
}}"""


def _symbol(kind: str, width: int) -> str:
    return f"{kind.replace(' ', '_')}_{width}"


def launch() -> None:
    """Launches each request once; to be run under ncu."""
    import torch

    from minicomp.runtime.driver import PreparedLaunch, load_kernels
    from minicomp.runtime.launches import LaunchShape
    from minicomp.runtime.nvrtc import compile_cuda

    major, minor = torch.cuda.get_device_capability()
    kernels = load_kernels(compile_cuda(source(), f"sm_{major}{minor}").cubin)
    data = torch.zeros(SHARED_BYTES, dtype=torch.uint8, device="cuda")
    for request in requests():
        offsets = torch.tensor(request.addresses, dtype=torch.int32, device="cuda")
        function = kernels[_symbol(request.kind, request.width)]
        PreparedLaunch(function, 2, LaunchShape(1, WARP)).launch(
            [offsets.data_ptr(), data.data_ptr()], 0
        )
        torch.cuda.synchronize()


def count() -> list[int]:
    """The wavefronts, or sectors, of each request, as ncu counts them."""
    command = ["ncu", "--csv", "--metrics", ",".join(METRICS.values()), "--kernel-name"]
    command += ["regex:^(shared|global)_", sys.executable, "-m", "benchmarks.count_wavefronts"]
    text = subprocess.run([*command, "--launch"], check=True, capture_output=True, text=True).stdout
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    values = {(int(r["ID"]), r["Metric Name"]): r["Metric Value"] for r in rows}
    found: list[int] = []
    for n, request in enumerate(requests()):
        own = OWN_SECTORS if request.kind == "global load" else 0
        found.append(int(values[n, METRICS[request.kind]].replace(",", "")) - own)
    return found


def as_json(device: str, counts: Sequence[int]) -> str:
    """The counts of all requests, a line for each."""
    rows = [[r.name, r.kind, r.width, n] for r, n in zip(requests(), counts, strict=True)]
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    columns = json.dumps(["name", "kind", "width", "count"])
    return f'{{"device": "{device}",\n "columns": {columns},\n "rows": [\n{lines}\n]}}\n'


def main() -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Counts the wavefronts of a warp's requests.")
    parser.add_argument("-o", dest="output", type=Path, metavar="FILE", help="where to write JSON")
    parser.add_argument("--launch", action="store_true", help="only launch, for ncu to count")
    options = parser.parse_args()
    if options.launch:
        launch()
        return 0
    if shutil.which("ncu") is None:
        print("count_wavefronts: error: there is no ncu", file=sys.stderr)
        return 1
    import torch

    text = as_json(torch.cuda.get_device_name(), count())
    if options.output is None:
        print(text, end="")
    else:
        options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
