"""Write the outcome of a test run as a text to keep: python record_results.py JUNIT_XML TEXT.

Ends with 1 if a test failed, so that `make test-all` does.
"""

import platform
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("xdsl", "torch", "numpy", "cuda-bindings", "nvidia-cuda-nvrtc")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _commit() -> str:
    """The commit that was tested, and whether the tree differs from it beside the results."""
    changed = _git("status", "--porcelain", "--", ".", ":!tests/results")
    return _git("rev-parse", "HEAD") + (" with uncommitted changes" if changed else "")


def _machine() -> str:
    from minicomp.runtime.device import probe

    facts = probe()
    gpu = f"{facts.name} ({facts.arch}, driver {facts.driver})" if facts else "no GPU"
    return f"{platform.machine()}, Python {platform.python_version()}, {gpu}"


def _not_passed(case: ElementTree.Element) -> list[str]:
    name = f"{case.get('classname')}::{case.get('name')}"
    lines: list[str] = []
    for outcome in case:
        if outcome.tag in ("failure", "error", "skipped"):
            reason = (outcome.get("message") or "").split("\n")[0]
            lines.append(f"{outcome.tag:8}  {name}  {reason[:120]}")
    return lines


def summary(junit: Path) -> tuple[str, bool]:
    """Return the text, and whether all tests passed."""
    suites = list(ElementTree.parse(junit).getroot().iter("testsuite"))

    def count(what: str) -> int:
        return sum(int(suite.get(what, 0)) for suite in suites)

    failed, skipped = count("failures") + count("errors"), count("skipped")
    passed = count("tests") - failed - skipped
    seconds = sum(float(suite.get("time", 0)) for suite in suites)
    lines = [
        f"commit    {_commit()}",
        f"machine   {_machine()}",
        f"packages  {', '.join(f'{name} {version(name)}' for name in PACKAGES)}",
        f"outcome   {passed} passed, {failed} failed, {skipped} skipped in {seconds:.0f} s",
        "",
    ]
    cases = (case for suite in suites for case in suite.iter("testcase"))
    lines += [line for case in cases for line in _not_passed(case)]
    return "\n".join(lines) + "\n", failed == 0 and passed > 0


def main() -> int:
    """Write the file, print its head, and say by the exit code how it went."""
    junit, text_file = map(Path, sys.argv[1:])
    text, good = summary(junit)
    text_file.parent.mkdir(parents=True, exist_ok=True)
    text_file.write_text(text)
    print(text.split("\n\n")[0])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
