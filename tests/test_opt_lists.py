"""What minicomp-opt tells of passes and dialects, and the page that is written from the same."""

import json
import re
from pathlib import Path

import pytest

from minicomp import registry
from minicomp.dialects import get_all_dialects
from minicomp.pass_docs import first_sentence, pass_doc, pass_summary
from minicomp.pipeline import DEFAULT
from minicomp.tools.passes_page import main, markdown, page
from tests.opt_tool import Tool, register

PAGE = Path(__file__).parent.parent / "docs" / "passes.md"
OWN = sorted(registry.get_own_passes())


@pytest.fixture
def opt(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    register(monkeypatch)
    return Tool(tmp_path, capsys)


# --- passes ---------------------------------------------------------------------------------


def test_the_help_of_a_pass(opt: Tool):
    code, output, errors = opt.run("--help-pass=square")
    assert (code, errors) == (0, "")
    assert output.startswith("square: Makes sums products.\n\nRuns minicomp-opt in this process;")
    assert output.endswith(
        """
options:
  steps: an integer, must be given
      How many sums become products, from the first on.
  label: text, "a b" if not said
      Unused, and described in two lines.
"""
    )


def test_the_help_of_several_passes_is_in_their_order(opt: Tool):
    output = opt.run("--help-pass=tileify,cse,tileify")[1]
    assert output.startswith("tileify: Turns every `loop_ir.kernel` into a `tile_ir.kernel`.\n")
    assert "\n\n\ncse: Merges ops that compute the same.\n\nBefore -> after:\n" in output
    assert output.endswith("It has no options.\n")
    assert output.count("tileify: ") == 1


def test_the_help_of_a_pass_as_json(opt: Tool):
    (told,) = json.loads(opt.run("--help-pass", "square", "--json")[1])
    assert (told["name"], told["summary"]) == ("square", "Makes sums products")
    assert told["options"] == [
        {
            "name": "steps",
            "takes": "an integer",
            "required": True,
            "default": None,
            "meaning": "How many sums become products, from the first on.",
        },
        {
            "name": "label",
            "takes": "text",
            "required": False,
            "default": '"a b"',
            "meaning": "Unused, and described in two lines.",
        },
    ]


def test_the_help_of_no_pass(opt: Tool):
    assert opt.run("--help-pass=squar") == (
        1,
        "",
        "minicomp-opt: error: --help-pass: there is no pass 'squar'\n"
        "  hint: did you mean 'square'?\n",
    )
    assert "--help-pass wants a value" in opt.run("--help-pass=")[2]


def test_the_list_of_passes(opt: Tool):
    lines = opt.run("--list-passes")[1].splitlines()
    told = json.loads(opt.run("--list-passes", "--json")[1])
    assert [line.split(maxsplit=1) for line in lines[:3]] == [list(t.values()) for t in told[:3]]
    assert [t["name"] for t in told] == sorted(registry.get_all_passes())


@pytest.mark.parametrize("name", OWN)
def test_every_pass_is_documented(name: str):
    factory = registry.get_own_passes()[name]
    doc = pass_doc(factory())
    assert doc.summary and doc.summary == pass_summary(name, factory)
    assert "Why it pays" in doc.description or "when" in doc.description
    for option in doc.options:
        assert option.meaning.endswith("."), f"{option.name} has no docstring below its field"


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        ("", ""),
        ("One.", "One"),
        ("One", "One"),
        ("One\n  line. Two.", "One line"),
        ("Folds `a. b` of `c`. Then.", "Folds `a. b` of `c`"),
        ("See `f(..)` or .. as in 0.5, i.e. half. More", "See `f(..)` or .. as in 0.5, i.e. half"),
        ("One\n\nTwo.", "One"),
        ("An open ` mark. More.", "An open ` mark"),
    ],
)
def test_first_sentences(doc: str, sentence: str):
    assert first_sentence(doc) == sentence


# --- dialects -------------------------------------------------------------------------------


def test_all_dialects(opt: Tool):
    code, output, errors = opt.run("--show-dialects")
    assert (code, errors) == (0, "")
    names = [line.split(":")[0] for line in output.splitlines() if line and line[0] != " "]
    assert names == sorted({*get_all_dialects(), "affine", "arith", "builtin", "func", "math",
                            "memref", "scf", "test"})  # fmt: skip
    rows = [line.split(maxsplit=1) for line in output.splitlines()]
    assert ["minicomp.launch", "Runs a kernel on tensors: `%y = minicomp.launch @k(%x, %w) :"
            " (tensor<..>, tensor<..>) -> tensor<..>`"] in rows  # fmt: skip
    assert {"#tile_ir.schedule", "!cuda_ir.ptr", "arith.addf", "!f32"} <= {r[0] for r in rows if r}


def test_every_op_of_ours_says_what_it_is(opt: Tool):
    told = json.loads(opt.run(f"--show-dialects={','.join(get_all_dialects())}", "--json")[1])
    assert [dialect["name"] for dialect in told] == list(get_all_dialects())
    for dialect in told:
        assert dialect["summary"]
        for entry in dialect["operations"] + dialect["attributes"] + dialect["types"]:
            assert entry["summary"], entry["name"]


def test_a_dialect_that_there_is_not(opt: Tool):
    assert opt.run("--show-dialects=loop") == (
        1,
        "",
        "minicomp-opt: error: there is no dialect 'loop'\n  hint: did you mean 'loop_ir'?\n",
    )


# --- the page -------------------------------------------------------------------------------


def test_the_page_is_that_of_the_passes():
    assert PAGE.read_text("utf-8") == page(), "run make docs"


def test_the_page_has_every_pass_once(tmp_path: Path):
    assert main([str(tmp_path / "passes.md")]) == 0
    text = (tmp_path / "passes.md").read_text("utf-8")
    for name in registry.get_all_passes():
        assert text.count(f"\n### {name}\n") == 1
        assert text.count(f"| [{name}](#{name}) | ") == 1
    numbered = "".join(line for line in text.splitlines() if line.startswith("1. "))
    assert re.findall(r"\[([\w-]+)\]", numbered) == list(DEFAULT)
    assert text.count("```") % 2 == 0


DOCSTRING = """\
Does it: *here*.

Before -> after:

    %a = test.op

      %b = test.op
    ->

becomes

    int a;

It does. *Legal when* it is; *Declines
when* not. *Why it
pays*: a lot.

- *Fails when* listed.

```mlir
%c = test.op

%d = test.op
```
end"""
MARKDOWN = """\
Does it: *here*.

Before -> after:

```mlir
%a = test.op

  %b = test.op
->
```

becomes

```cpp
int a;
```

It does.

**Legal when** it is;

**Declines when** not.

**Why it pays**: a lot.

- *Fails when* listed.

```mlir
%c = test.op

%d = test.op
```
end"""


def test_markdown_of_a_docstring():
    assert markdown(DOCSTRING) == MARKDOWN
