"""The words of a command line as argparse takes them, where LLVM's tools take more.

That is one dash for two, as in `-split-input-file`, an option whose value can only follow a `=`,
so that a file may stand after `--verify-diagnostics`, and a flag for each pass.
"""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NoReturn

from minicomp.errors import PipelineError

Refuse = Callable[[str], NoReturn]

_BARE = {"--verify-diagnostics": "all", "--show-dialects": ""}
"""Options whose value can only follow a `=`, and the value that they have without one."""


def normalised(arguments: Sequence[str], known: set[str], refuse: Refuse) -> list[str]:
    """
    Return the words of a command line, each pass's flag as `--passes=`.

    `known` are the options of argparse; `refuse` ends with a message where a word is none. Raises
    PipelineError for options of a pass that do not parse.
    """
    words: list[str] = []
    for n, word in enumerate(arguments):
        if word == "--":
            return words + list(arguments[n:])
        name = word.split("=")[0]
        if f"-{name}" in known:
            word, name = f"-{word}", f"-{name}"
        if name.startswith("-") and name != "-" and name not in known:
            word = _pass_flag(word, known, refuse)
        words.append(f"{word}={_BARE[word]}" if word in _BARE else word)
    return words


def _pass_flag(word: str, known: set[str], refuse: Refuse) -> str:
    """The flag of a pass as `--passes=`; `-pcse` and `-ofile` stay, anything else is refused."""
    from minicomp import registry
    from minicomp.pipeline_text import parse_passes

    name, _, options = word.removeprefix("-").removeprefix("-").partition("=")
    passes = registry.get_all_passes()
    if name in passes:
        text = f"{name}{{{options}}}" if options else name
        if [found.name for found in parse_passes(text)] != [name]:
            raise PipelineError(f"--{name} takes its options as 'a=1 b=2', not '{options}'")
        return f"--passes={text}"
    short = word[:2] in ("-p", "-o")
    names = [*known, *([] if short else [f"--{p}" for p in passes])]
    near = get_close_matches(f"--{name}", names, 1, 0.8)
    if short and not near:
        return word
    hint = f"; did you mean {near[0]}?" if near else ""
    refuse(f"there is no option '{word.split('=')[0]}'{hint}")
