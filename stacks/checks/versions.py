"""Versions that were never tested together are refused."""

from __future__ import annotations

from collections.abc import Iterator

from stacks.checks.subject import Subject
from stacks.mistakes import Mistake, Path
from stacks.models import EksCluster
from stacks.rules import Rule
from stacks.versions import TESTED, Combination


def check(subject: Subject) -> Iterator[Mistake]:
    config = subject.config
    chosen: dict[str, tuple[Path, str]] = {
        "trainer": (("trainer", "version"), config.trainer.version),
        "jobset": (("trainer", "jobsetVersion"), config.trainer.jobset_version),
    }
    if isinstance(config.cluster, EksCluster):
        cluster = config.cluster
        chosen["kubernetes"] = (("cluster", "kubernetesVersion"), cluster.kubernetes_version)
        chosen["karpenter"] = (("cluster", "karpenterVersion"), cluster.karpenter_version)
    chosen = {name: choice for name, choice in chosen.items() if subject.sound(choice[0])}
    nearest = max(TESTED, key=lambda combination: _agreement(combination, chosen))
    for name, (path, version) in chosen.items():
        tested = getattr(nearest, name)
        if version != tested:
            yield Mistake(
                rule=Rule.UNTESTED_VERSIONS,
                path=path,
                message=f"{name} {version} was not tested with the other versions",
                found=version,
                allowed="; ".join(_words(combination) for combination in TESTED),
                nearest=(tested,),
                write=f'{path[-1]}: "{tested}"',
            )


def _agreement(combination: Combination, chosen: dict[str, tuple[Path, str]]) -> int:
    return sum(getattr(combination, name) == version for name, (_, version) in chosen.items())


def _words(combination: Combination) -> str:
    return (
        f"Trainer {combination.trainer} with JobSet {combination.jobset}, "
        f"Kubernetes {combination.kubernetes}, Karpenter {combination.karpenter}"
    )
