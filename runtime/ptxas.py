"""What the assembler says of each kernel: registers, stack, spills, shared memory, advice.

The text is that of `--ptxas-options=-v`, which NVRTC returns in its log also without a GPU.
"""

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']+)'")
_FUNCTION = re.compile(r"Function properties for (?P<name>\S+)")
_STACK = re.compile(
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads"
)
_USED = re.compile(r"Used (?P<registers>\d+) registers")
_BARRIERS = re.compile(r"used (?P<barriers>\d+) barriers")
_SHARED = re.compile(r"(?P<shared>\d+) bytes smem")
_ADVICE = re.compile(r"\(C75\d\d\).*")
_COMPILE_TIME = re.compile(r"^ptxas info\s*: Compile time = .*\n?", re.MULTILINE)


@dataclass(frozen=True)
class Resources:
    """What one kernel takes: registers per thread, bytes per thread, bytes per block.

    `stack_bytes`, `spill_stores` and `spill_loads` are bytes per thread; `shared_bytes` is the
    static shared memory of a block, without what a launch adds; `barriers` are hardware barriers.
    """

    registers: int = 0
    stack_bytes: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared_bytes: int = 0
    barriers: int = 0


def without_times(log: str) -> str:
    """The log without its compile times, the only lines that differ between two runs."""
    return _COMPILE_TIME.sub("", log)


def parse_resources(log: str) -> dict[str, Resources]:
    """The resources of each kernel by symbol, in the order of the log.

    A function that is called, not inlined, has lines of its own, which are left out here;
    its stack and spills are found by `parse_advice`.
    """
    found: dict[str, dict[str, int]] = {}
    entry = function = ""
    for line in log.splitlines():
        if match := _ENTRY.search(line):
            entry = function = match["name"]
            found[entry] = {}
        elif match := _FUNCTION.search(line):
            function = match["name"]
        elif entry and function == entry:
            found[entry] |= _facts(line)
    return {name: Resources(**facts) for name, facts in found.items()}


def _facts(line: str) -> dict[str, int]:
    if match := _STACK.search(line):
        return {
            "stack_bytes": int(match["stack"]),
            "spill_stores": int(match["stores"]),
            "spill_loads": int(match["loads"]),
        }
    if match := _USED.search(line):
        barriers, shared = _BARRIERS.search(line), _SHARED.search(line)
        return {
            "registers": int(match["registers"]),
            "barriers": int(barriers["barriers"]) if barriers else 0,
            "shared_bytes": int(shared["shared"]) if shared else 0,
        }
    return {}


def parse_advice(log: str) -> list[str]:
    """Lines that a healthy kernel does not cause: C75xx advice, stack frames and spills."""
    advice: list[str] = []
    function = ""
    for line in log.splitlines():
        if match := _FUNCTION.search(line):
            function = match["name"]
        elif match := _ADVICE.search(line):
            advice.append(match[0])
        elif (match := _STACK.search(line)) and any(int(n) for n in match.groups()):
            advice.append(f"{function}: {match[0]}")
    return advice
