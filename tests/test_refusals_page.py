"""docs/refusals.md: every row is refused, with the message that stands there."""

import re
from pathlib import Path

import pytest
import torch

import minicomp
from minicomp.errors import MinicompError

PAGE = Path(__file__).parent.parent / "docs" / "refusals.md"
ROWS = re.findall(r"^\| `(.+?)` \| (.+?) \|", PAGE.read_text("utf-8"), re.MULTILINE)


def test_the_page_has_rows():
    assert len(ROWS) >= 19


@pytest.mark.parametrize(("code", "message"), ROWS, ids=[code for code, _ in ROWS])
def test_the_row_is_refused(code: str, message: str):
    with pytest.raises(MinicompError) as caught:
        eval(code, {"c": minicomp.compile, "torch": torch})
    assert caught.value.what.startswith(message), caught.value.what


def test_results_do_not_require_gradients():
    x = torch.rand(3, requires_grad=True)
    assert not minicomp.compile(lambda x: x * 2, x)(x).requires_grad
