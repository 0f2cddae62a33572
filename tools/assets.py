"""Charts, CRDs and scripts that live inside pinned Go modules, taken out by name and version.

Nothing of other projects is vendored: the files come from the very modules the binaries are
built from, so a chart can never be of another version than its manager.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import yaml

from tools import pins
from tools.cache import cache_root, obtain
from tools.golang import MODULES, Go

_TRAINER = "github.com/kubeflow/trainer/v2"
_JOBSET = "sigs.k8s.io/jobset"
_KARPENTER = "sigs.k8s.io/karpenter"
_KARPENTER_AWS = "github.com/aws/karpenter-provider-aws"
_KWOK = "sigs.k8s.io/kwok"
_PULUMI_SDK = "github.com/pulumi/pulumi/sdk/v3"


def folder() -> Path:
    """`charts/`, `crds/` of Trainer and of both Karpenters, `kwok-stages/`, `pulumi/`."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for module in ("controllers", "karpenter-aws", "pulumi-cli"):
        digest.update((MODULES / module / "go.mod").read_bytes())
    return cache_root() / "assets" / f"trainer-{pins.TRAINER}-{digest.hexdigest()[:12]}"


def collect(go: Go) -> Path:
    def make(aside: Path) -> None:
        controllers = MODULES / "controllers"
        trainer = go.module_folder(_TRAINER, controllers)
        jobset = go.module_folder(_JOBSET, controllers)
        karpenter = go.module_folder(_KARPENTER, controllers)
        _chart(trainer / "charts" / "kubeflow-trainer", aside / "charts" / "kubeflow-trainer")
        _chart(jobset / "charts" / "jobset", aside / "charts" / "jobset")
        _crds(
            [trainer / "manifests" / "base" / "crds", jobset / "charts" / "jobset" / "crds"],
            aside / "crds" / "trainer",
        )
        _crds(
            [karpenter / "kwok" / "charts" / "crds", karpenter / "kwok" / "apis" / "crds"],
            aside / "crds" / "karpenter",
        )
        provider = go.module_folder(_KARPENTER_AWS, MODULES / "karpenter-aws")
        _crds([provider / "pkg" / "apis" / "crds"], aside / "crds" / "karpenter-aws")
        _stages(go.module_folder(_KWOK, controllers), aside / "kwok-stages")
        _pulumi_scripts(go.module_folder(_PULUMI_SDK, MODULES / "pulumi-cli"), aside / "pulumi")

    return obtain(folder(), "charts and CRDs", make)


def _chart(source: Path, destination: Path) -> None:
    """A chart without its CRDs and dependencies.

    CRDs go in as one bundle of ours (see docs/decisions/0002). The Trainer chart lists JobSet as a
    dependency and fails to render from a folder that lacks it, even when told not to install it.
    """
    shutil.copytree(source, destination, ignore=shutil.ignore_patterns("crds", "tests", "*.md*"))
    description = destination / "Chart.yaml"
    chart = yaml.safe_load(description.read_text())
    chart.pop("dependencies", None)
    description.write_text(yaml.safe_dump(chart, sort_keys=True))


def _crds(sources: list[Path], destination: Path) -> None:
    destination.mkdir(parents=True)
    for source in sources:
        for file in sorted(source.glob("*.yaml")):
            if file.name != "kustomization.yaml":
                shutil.copy(file, destination / file.name)


def _stages(kwok: Path, destination: Path) -> None:
    """How simulated nodes and pods behave: KWOK's own stages for nodes, leases and pods."""
    destination.mkdir(parents=True)
    for kind in ("node/fast", "node/heartbeat-with-lease", "pod/fast"):
        for file in sorted((kwok / "kustomize" / "stage" / kind).glob("*.yaml")):
            if file.name != "kustomization.yaml":
                shutil.copy(file, destination / file.name)


def _pulumi_scripts(sdk: Path, destination: Path) -> None:
    destination.mkdir(parents=True)
    for script in (
        sdk / "python" / "cmd" / "pulumi-language-python-exec",
        sdk / "python" / "dist" / "pulumi-resource-pulumi-python",
    ):
        shutil.copy(script, destination / script.name)
        (destination / script.name).chmod(0o755)
