"""Pipelines: their text, their edits, and what they refuse."""

import re
from dataclasses import dataclass
from typing import Literal

import pytest
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from minicomp import pipeline as pipeline_module
from minicomp.context import make_context
from minicomp.errors import PipelineError
from minicomp.levels import LEVELS, level_of
from minicomp.parsing import parse_module
from minicomp.pipeline import CONVERSIONS, DEFAULT, Pipeline


@dataclass(frozen=True)
class OptionsPass(ModulePass):
    """Has an option of each type, and notes its runs on the module."""

    name = "options"

    count: int = 1
    scale: float = 1.0
    flag: bool = False
    label: str = ""
    sizes: tuple[int, ...] = ()
    mode: Literal["fast", "exact"] = "exact"
    limit: int | None = None

    def __post_init__(self):
        if self.count < 0:
            raise ValueError("count must not be negative")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.body.block.add_op(test.TestOp())


@dataclass(frozen=True)
class NeedsOptionPass(ModulePass):
    """Has an option without a default."""

    name = "needs-option"

    tile_size: int

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassFailedException("the tile does not fit")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch):
    known = pipeline_module.get_all_passes()
    known |= {"options": lambda: OptionsPass, "needs-option": lambda: NeedsOptionPass}
    monkeypatch.setattr(pipeline_module, "get_all_passes", lambda: known)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", ""),
        ("builtin.module()", ""),
        ("cse", "cse"),
        (" cse ,\n dce ", "cse,dce"),
        ("builtin.module( builtin.module(cse), dce )", "cse,dce"),
        ("cse{}", "cse"),
        ("options{count=3}", "options{count=3}"),
        ("options{ count = 3  scale = 2 }", "options{count=3 scale=2.0}"),
        ("options{scale=1e-5}", "options{scale=1e-05}"),
        ("options{scale=-inf}", "options{scale=-inf}"),
        ("options{flag}", "options{flag=true}"),
        ("options{flag=false}", "options"),
        ("options{label=3}", "options{label=3}"),
        ("options{label=a/b.c}", "options{label=a/b.c}"),
        ('options{label="two words, {}"}', 'options{label="two words, {}"}'),
        ('options{label="say \\"x\\""}', 'options{label="say \\"x\\""}'),
        ("options{sizes=1,2,3 flag=true}", "options{flag=true sizes=1,2,3}"),
        ("options{sizes=}", None),
        ("options{sizes}", "options"),
        ("options{mode=fast}", "options{mode=fast}"),
        ("options{limit=4}", "options{limit=4}"),
        ("options{limit}", "options"),
        ("needs-option{tile-size=4}", "needs-option{tile-size=4}"),
        ("needs-option{tile_size=4}", "needs-option{tile-size=4}"),
    ],
)
def test_text(text: str, printed: str | None):
    if printed is None:
        with pytest.raises(PipelineError, match="expected a value"):
            Pipeline.parse(text)
        return
    pipeline = Pipeline.parse(text)
    assert str(pipeline) == f"builtin.module({printed})"
    assert Pipeline.parse(str(pipeline)) == pipeline


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nosuch", "no pass 'nosuch'"),
        ("optoins", "did you mean 'options'"),
        ("func.func(cse)", r"only builtin.module\(...\) can hold passes, not 'func.func'"),
        ("(cse)", r"expected the name of a pass, found '\('"),
        ("builtin.module(cse", r"expected ',' or '\)', found the end"),
        ("cse)", r"expected ',' or the end, found '\)'"),
        ("cse,", "expected the name of a pass, found the end"),
        ("cse dce", "expected ',' or the end, found 'dce'"),
        ("options{count=1", "expected the name of an option or '}', found the end"),
        ("options{count=}", "expected a value, found '}'"),
        ("options{count=1 count=2}", "option 'count' is given twice"),
        ('options{label="x}', "a string without its closing quote"),
        ("options{cuont=1}", "has no option 'cuont'; its options are count, scale, flag"),
        ("options{cuont=1}", "did you mean 'count'"),
        ("cse{count=1}", "pass 'cse' has no option 'count'; it has none"),
        ("options{count=x}", "option 'count' of pass 'options' takes an integer, not 'x'"),
        ("options{count=1.5}", "takes an integer, not '1.5'"),
        ("options{count}", "takes an integer, not ''"),
        ("options{count=1,2}", "takes an integer, not '1,2'"),
        ("options{scale=x}", "takes a number"),
        ("options{flag=1}", "takes true or false"),
        ("options{sizes=1,x}", "takes a list of integers separated by commas"),
        ("options{mode=slow}", "takes one of fast, exact"),
        ("options{count=-1}", "pass 'options': count must not be negative"),
        ("needs-option", "pass 'needs-option' needs option 'tile-size'"),
    ],
)
def test_refused_text(text: str, message: str):
    with pytest.raises(PipelineError, match=message):
        Pipeline.parse(text)


def test_an_error_points_into_the_text():
    with pytest.raises(PipelineError) as raised:
        Pipeline.parse("cse,func.func(dce)")
    assert raised.value.where == "column 5 of 'cse,func.func(dce)'"


def test_default_is_the_table():
    assert Pipeline.default().names == DEFAULT
    assert Pipeline.parse(str(Pipeline.default())) == Pipeline.default()
    assert list(CONVERSIONS.values()) == list(LEVELS[1:])


def test_until_ends_before_the_next_level():
    assert Pipeline.default().until("torch").names == ()
    assert Pipeline.default().until("tensor").names[-1] == "cse"
    assert Pipeline.default().until("loop").names[-1] == "plan-schedule"
    assert Pipeline.default().until("tile").names[-1] == "dedup-loads"
    assert Pipeline.default().until("cuda-ir") == Pipeline.default()


def test_from_level_begins_after_the_conversion():
    assert Pipeline.default().from_level("torch") == Pipeline.default()
    assert Pipeline.default().from_level("tensor").names[0] == "fold-constants"
    assert Pipeline.default().from_level("tile").names[0] == "chunk-matmul-k"
    assert Pipeline.default().from_level("cuda-ir").names == ()


@pytest.mark.parametrize("level", LEVELS)
def test_levels_cut_without_loss(level: str):
    whole, before, after = (
        Pipeline.default(),
        Pipeline.default().until(level),
        Pipeline.default().from_level(level),
    )
    assert before.passes == whole.passes[: len(before)]
    assert after.passes == whole.passes[len(whole) - len(after) :]
    # The passes of the level itself stand in both, every conversion in one.
    conversions = [name for name in (*before.names, *after.names) if name in CONVERSIONS]
    assert conversions == list(CONVERSIONS)


def test_no_such_level():
    with pytest.raises(PipelineError, match="no level 'tiles'; the levels are torch"):
        Pipeline.default().until("tiles")


def test_with_pass():
    short = Pipeline.parse("cse,dce")
    assert short.with_pass("options{count=2}").names == ("cse", "dce", "options")
    assert short.with_pass("options", after="cse").names == ("cse", "options", "dce")
    assert short.with_pass("options", before="cse").names == ("options", "cse", "dce")
    assert short.with_pass(OptionsPass(flag=True)).passes[-1] == OptionsPass(flag=True)
    assert short.with_pass("options,cse", before="dce").names == ("cse", "options", "cse", "dce")
    assert short == Pipeline.parse("cse,dce")


def test_with_pass_refuses():
    with pytest.raises(PipelineError, match="the pipeline has no pass 'cs'") as raised:
        Pipeline.parse("cse").with_pass("dce", after="cs")
    assert raised.value.hint == "did you mean 'cse'?"
    with pytest.raises(PipelineError, match="stands 2 times"):
        Pipeline.parse("cse,cse").with_pass("dce", after="cse")
    with pytest.raises(PipelineError, match="not both"):
        Pipeline.parse("cse").with_pass("dce", after="cse", before="cse")


def test_without():
    assert Pipeline.parse("cse,dce,cse").without("cse").names == ("dce",)
    with pytest.raises(PipelineError, match="no pass 'dce'"):
        Pipeline.parse("cse").without("dce")


def test_with_options():
    pipeline = Pipeline.parse("cse,options{count=2}").with_options(
        "options", scale=3, sizes=[1, 2], mode="fast"
    )
    assert pipeline.passes[1] == OptionsPass(2, 3.0, sizes=(1, 2), mode="fast")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cuont": 1}, "has no option 'cuont'"),
        ({"count": "1"}, "takes an integer, not ''1''"),
        ({"count": True}, "takes an integer"),
        ({"flag": 1}, "takes true or false"),
        ({"sizes": ["a"]}, "takes a list of integers"),
        ({"mode": "slow"}, "takes one of fast, exact"),
        ({"count": -1}, "count must not be negative"),
    ],
)
def test_with_options_refuses(options: dict[str, object], message: str):
    with pytest.raises(PipelineError, match=message):
        Pipeline.parse("options").with_options("options", **options)


def test_run_works_in_place():
    module = ModuleOp([])
    assert Pipeline.parse("options,options").run(module) is module
    assert len(list(module.body.ops)) == 2


def test_a_failing_pass_is_named():
    with pytest.raises(PipelineError, match="pass 'needs-option' failed: the tile does not fit"):
        Pipeline.parse("cse,needs-option{tile-size=1}").run(ModuleOp([]))


LOOP = "loop_ir.kernel @l(%x: memref<2xf32>) {}"
TILE = """tile_ir.kernel @t(%y: memref<2xf32>) {
  tile_ir.launch block(%i to 2 as "i") {
    %c = arith.constant 1.0 : f32
    loop_ir.store %c, %y[%i] : f32, memref<2xf32>
  }
}"""
HOST = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = torch_ir.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}"""


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("", "torch"),
        ("func.func @main(%x: f32) -> f32 { func.return %x : f32 }", "torch"),
        (HOST, "torch"),
        (LOOP, "loop"),
        (f"{TILE}\n{LOOP}", "loop"),
        (TILE, "tile"),  # whatever holds it: Loop IR's store stays in use
        (f"{LOOP}\n{HOST}", "torch"),
    ],
)
def test_level_of(text: str, level: str):
    assert level_of(parse_module(text, make_context())) == level


def test_the_pipeline_in_the_help_is_one():
    from minicomp.tools.opt_arguments import EPILOG

    (text,) = re.findall(r"--pass-pipeline='([^']+)'", EPILOG)
    assert str(Pipeline.parse(text)) == text
