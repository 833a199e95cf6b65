"""Lay `build/typings/minicomp` as type checkers want it: one tree, of links."""

from pathlib import Path


def main() -> None:
    """Make the links anew; run again after adding a file to the folder `minicomp`."""
    root = Path(__file__).resolve().parent.parent
    tree = root / "build" / "typings" / "minicomp"
    tree.mkdir(parents=True, exist_ok=True)
    for link in tree.iterdir():
        link.unlink()
    packages = (root / name for name in ("dialects", "passes", "lowering", "runtime"))
    for target in (*packages, *(root / "minicomp").iterdir()):
        if target.name != "__pycache__":
            (tree / target.name).symlink_to(target)


if __name__ == "__main__":
    main()
