from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path

import pytest

from stacks.versions import NEWEST
from tools import golang, pins, toolchain
from tools.golang import MODULES
from tools.toolchain import key_of

CHECKOUT = Path(__file__).parents[2]
KUBECTL = next(tool for tool in pins.GO_TOOLS if tool.name == "kubectl")


def _program(folder: Path, name: str, prints: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{prints}'\n")
    file.chmod(0o755)
    return file


def test_a_tool_on_path_in_the_pinned_version_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _program(tmp_path, "kubectl", f"Client Version: v{pins.KUBERNETES}")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert toolchain._on_path(KUBECTL) == program  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("version", ["v1.34.30", "v1.33.3", "1.34.3"])
def test_another_version_on_path_is_not(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(tmp_path, "kubectl", f"Client Version: {version}")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert toolchain._on_path(KUBECTL) is None  # pyright: ignore[reportPrivateUsage]


def test_the_cache_key_follows_pin_and_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key_of(KUBECTL)
    assert key_of(KUBECTL) == before
    assert key_of(dataclasses.replace(KUBECTL, version="1.34.4")) != before
    copy = tmp_path / "gomodules"
    shutil.copytree(MODULES, copy)
    monkeypatch.setattr(toolchain, "MODULES", copy)
    assert key_of(KUBECTL) == before
    (copy / "kubernetes" / "go.sum").write_text("changed")
    assert key_of(KUBECTL) != before


def test_an_old_go_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, "go", "go1.20.1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("TRAINSTACK_CACHE", str(tmp_path / "cache"))
    from_wheel = tmp_path / "cache" / "tools" / "go" / pins.GO_WHEEL / "go" / "bin"
    from_wheel.mkdir(parents=True)
    _program(from_wheel, "go", "go1.26.6")
    assert golang.find_go().executable == from_wheel / "go"


def _module_versions(module: str) -> dict[str, str]:
    text = (MODULES / module / "go.mod").read_text()
    return dict(re.findall(r"^(?:require)?\s*(\S+) v(\S+)$", text, re.MULTILINE))


def test_pins_say_what_the_go_modules_build() -> None:
    kubernetes, controllers = _module_versions("kubernetes"), _module_versions("controllers")
    assert kubernetes["k8s.io/kubernetes"] == pins.KUBERNETES
    assert kubernetes["go.etcd.io/etcd/server/v3"] == pins.ETCD
    assert controllers["github.com/kubeflow/trainer/v2"] == pins.TRAINER
    assert controllers["sigs.k8s.io/jobset"] == pins.JOBSET
    assert controllers["sigs.k8s.io/karpenter"] == pins.KARPENTER
    assert controllers["sigs.k8s.io/kwok"] == pins.KWOK
    assert _module_versions("coredns")["github.com/coredns/coredns"] == pins.COREDNS
    assert _module_versions("pulumi-cli")["github.com/pulumi/pulumi/pkg/v3"] == pins.PULUMI


def test_tested_versions_are_what_we_build_and_fetch() -> None:
    assert NEWEST.trainer == pins.TRAINER
    assert NEWEST.jobset == pins.JOBSET
    assert pins.KUBERNETES.startswith(f"{NEWEST.kubernetes}.")
    assert NEWEST.karpenter == pins.KARPENTER_AWS
    fetched = _module_versions("karpenter-aws")
    assert fetched["github.com/aws/karpenter-provider-aws"] == pins.KARPENTER_AWS


def test_pins_say_what_the_python_lock_holds() -> None:
    lock = (CHECKOUT / "requirements.lock").read_text()
    assert f"\npulumi=={pins.PULUMI} " in lock
    assert f"\npulumi-kubernetes=={pins.PULUMI_KUBERNETES} " in lock
    torch = (CHECKOUT / "tools" / "images" / "torch-requirements.lock").read_text()
    assert f"\ntorch=={pins.TORCH} " in torch
