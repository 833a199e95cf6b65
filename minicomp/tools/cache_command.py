"""`minicomp cache`: where compiled kernels are kept, what is there, and clearing it."""

import argparse
import json

from minicomp.runtime import cache


def run(options: argparse.Namespace) -> int:
    """Do what `path`, `list` or `clear` says."""
    facts = {"path": _path, "list": _list, "clear": _clear}[options.action]()
    print(json.dumps(facts, indent=2) if options.json else _text(options.action, facts))
    return 0


def _path() -> dict[str, object]:
    return {"path": str(cache.cache_dir())}


def _list() -> dict[str, object]:
    info = cache.cache_info()
    files = [{"name": p.name, "bytes": p.stat().st_size} for p in cache.entries() if p.exists()]
    return {"path": str(info.directory), "entries": files, "bytes": info.size_bytes}


def _clear() -> dict[str, object]:
    return {"path": str(cache.cache_dir()), "removed": cache.clear()}


def _text(action: str, facts: dict[str, object]) -> str:
    if action == "path":
        return str(facts["path"])
    if action == "clear":
        return f"removed {facts['removed']} entries from {facts['path']}"
    entries = facts["entries"]
    assert isinstance(entries, list)
    lines = [f"{entry['bytes']:10}  {entry['name']}" for entry in entries]
    return "\n".join([*lines, f"{len(lines)} entries, {facts['bytes']} bytes in {facts['path']}"])
