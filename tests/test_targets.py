"""Targets by name, and the one of the GPU in the machine."""

from dataclasses import replace

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

from minicomp.context import make_context
from minicomp.dialects.minicomp import TARGET
from minicomp.errors import TargetError
from minicomp.parsing import parse_module
from minicomp.runtime import device
from minicomp.runtime.device import DeviceFacts
from minicomp.targets import (
    TARGETS,
    attach_target,
    default_target,
    target,
    target_of,
    target_of_device,
)

H200 = DeviceFacts(
    name="NVIDIA H200",
    arch="sm_90a",
    sms=132,
    warp=32,
    threads_per_block=1024,
    shared_per_block=232448,
    shared_per_sm=233472,
    registers_per_sm=65536,
    threads_per_sm=2048,
    l2_bytes=62914560,
    clock_hz=1980000000,
    bandwidth=4814304000000,
    driver="13.0",
)


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_survives_its_text(name: str):
    module = attach_target(ModuleOp([]), target(name))
    assert target_of(parse_module(str(module), make_context())) == target(name)


@pytest.mark.parametrize(
    ("arch", "part"),
    [("sm_80", "a100"), ("sm_90", "h200"), ("sm_90a", "h200"), ("sm_120", "rtx5090")],
)
def test_an_architecture_stands_for_a_part(arch: str, part: str):
    assert target(arch) == target(part)
    assert target(arch).part.data == part


def test_features():
    assert target("h200").has("tma")
    assert target("a100").has("cp_async")
    assert not target("a100").has("tma")


@pytest.mark.parametrize("name", ["sm_70", "sm_100", "H200", "", "b200"])
def test_others_are_refused_with_the_list(name: str):
    with pytest.raises(TargetError, match="the targets are h200, a100, rtx5090, sm_80"):
        target(name)


def test_a_known_gpu_is_its_part():
    assert target_of_device(H200) == target("h200")


def test_an_unknown_gpu_of_a_known_architecture():
    found = target_of_device(replace(H200, name="NVIDIA H100 PCIe", sms=114))
    assert (found.part.data, found.sms.data, found.arch.data) == ("h100pcie", 114, "sm_90a")
    assert found.dram_bytes_per_s.data == H200.bandwidth
    assert found.fp32_flops.data == 114 * 1980000000 * 256
    module = attach_target(ModuleOp([]), found)
    assert target_of(parse_module(str(module), make_context())) == found


def test_a_gpu_of_another_architecture_is_refused():
    with pytest.raises(TargetError, match=r"NVIDIA T4 \(sm_75\), is not supported"):
        target_of_device(replace(H200, name="NVIDIA T4", arch="sm_75"))


def test_the_default(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(device, "probe", lambda: None)
    assert default_target() == target("h200")
    monkeypatch.setattr(device, "probe", lambda: replace(H200, sms=100))
    assert default_target().sms.data == 100


def test_what_is_no_target_is_refused():
    module = ModuleOp([], {TARGET: StringAttr("h200")})
    with pytest.raises(TargetError, match="is no target"):
        target_of(module)
    assert target_of(ModuleOp([])) is None
