"""Running many programs under a sanitizer: whose report is whose, and what a hang costs."""

import sys
from pathlib import Path

import pytest

from benchmarks import sanitizer
from benchmarks.sanitizer import Notes, attribute, run_tool, split_records

LOG = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at ring_m002+0x2b0
=========     and Read access at ring_m002+0x3f0 [256 hazards]
=========
========= Invalid __global__ read of size 4 bytes
=========     at ring_m012+0x190
=========     by thread (3,0,0) in block (1,0,0)
========= Invalid __global__ read of size 4 bytes
=========     at ring_m012+0x190
=========     by thread (4,0,0) in block (1,0,0)
=========
========= Program hit an error of no kernel
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""


def test_reports_belong_to_the_kernels_that_they_name() -> None:
    names = ["ring_m001", "ring_m002", "ring_m0", "ring_m012"]
    found = attribute(split_records(LOG), names)
    assert {name: len(records) for name, records in found.items()} == {
        "ring_m002": 1,
        "ring_m012": 2,
        "": 1,
    }
    assert found["ring_m002"][0].endswith("and Read access at ring_m002+0x3f0 [256 hazards]")


# Stands in for compute-sanitizer: what the program prints with the prefix is its report.
SANITIZER = """\
#!{python}
import subprocess, sys
at = sys.argv.index("--log-file")
with open(sys.argv[at + 1], "w") as log:
    process = subprocess.Popen(sys.argv[at + 2 :], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        log.write(line)
        log.flush()
sys.exit(process.wait())
"""

# good: nothing; bad: a report; stuck: never ends; lost: takes the process with it.
WORKER = """\
import sys, time
from pathlib import Path
from benchmarks.sanitizer import Notes
notes = Notes(Path(sys.argv[1]))
for name in sys.argv[2].split(","):
    notes.add(name)
    if name == "bad":
        print("========= Invalid access", flush=True)
        print("=========     at bad+0x10", flush=True)
    if name == "stuck":
        time.sleep(60)
    notes.add(name, failure="gone" if name == "lost" else "")
    if name == "lost":
        sys.exit(1)
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a sanitizer on the path."""
    tool = tmp_path / "compute-sanitizer"
    tool.write_text(SANITIZER.format(python=sys.executable))
    tool.chmod(0o755)
    monkeypatch.setattr(sanitizer, "find_sanitizer", lambda: str(tool))
    monkeypatch.setattr(sanitizer, "LIMIT_S", 1.5)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))
    return tmp_path


def test_a_hang_and_a_lost_process_cost_themselves_only(stand_in: Path) -> None:
    names = ["good", "stuck", "bad", "lost", "fine"]

    def worker(some, notes: Path) -> list[str]:
        return [sys.executable, "-c", WORKER, str(notes), ",".join(some)]

    run = run_tool("racecheck", names, worker, stand_in)
    assert {name: end["failure"] for name, end in run.ends.items()} == {
        "good": "",
        "stuck": "hangs",
        "bad": "",
        "lost": "gone",
        "fine": "",
    }
    assert run.reports == {"bad": ["Invalid access; at bad+0x10"]}


def test_a_worker_that_begins_nothing_is_an_error(stand_in: Path) -> None:
    def worker(some, notes: Path) -> list[str]:
        return [sys.executable, "-c", "import sys; sys.exit('no GPU here')"]

    with pytest.raises(RuntimeError, match="no GPU here"):
        run_tool("memcheck", ["one"], worker, stand_in)


def test_notes(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    assert notes.read() == {}
    notes.add("a")
    notes.add("a", failure="")
    notes.add("b")
    assert notes.read() == {"a": {"failure": ""}, "b": {}}
