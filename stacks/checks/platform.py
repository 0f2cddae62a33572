"""A stack on top of another: what it may not declare again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stacks.checks.subject import Subject
from stacks.mistakes import Mistake
from stacks.models import StackCluster
from stacks.rules import Rule


def check(subject: Subject) -> Iterator[Mistake]:
    cluster, platform = subject.config.cluster, subject.platform
    if platform is None or not isinstance(cluster, StackCluster):
        return
    if platform.mistake is not None:
        yield platform.mistake
    for field, block in (("gpu_pools", "gpuPools"), ("trainer", "trainer")):
        if field in subject.config.model_fields_set:
            yield Mistake(
                rule=Rule.PLATFORMS_BLOCK,
                path=(block,),
                at_key=True,
                message=f"belongs to the platform stack {cluster.stack}",
                allowed=f"this block in stacks/Pulumi.{cluster.stack}.yaml",
            )
    below = platform.config
    if below is not None:
        tenants = [tenant.name for tenant in below.tenants]
        runtimes = [runtime.name for runtime in below.runtimes]
        own_tenants = [tenant.name for tenant in subject.config.tenants]
        own_runtimes = [runtime.name for runtime in subject.config.runtimes]
        yield from _taken(subject, "tenants", own_tenants, tenants)
        yield from _taken(subject, "runtimes", own_runtimes, runtimes)


def _taken(
    subject: Subject, block: str, names: Sequence[str], taken: Sequence[str]
) -> Iterator[Mistake]:
    for number, name in enumerate(names):
        path = (block, number, "name")
        if name in taken and subject.sound(path):
            yield Mistake(
                rule=Rule.PLATFORMS_NAME,
                path=path,
                message=f"the platform stack has one of its {block} by this name",
                found=name,
                allowed="another name",
            )
