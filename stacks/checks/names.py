"""Names that must differ, and lists in which nothing stands twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stacks.checks.subject import Subject
from stacks.mistakes import Mistake, Path
from stacks.rules import Rule

_SYSTEM_NAMESPACES = ("default", "karpenter")
_SYSTEM_PREFIXES = ("kube-", "kubeflow", "openshift-", "trainstack-")


def check(subject: Subject) -> Iterator[Mistake]:
    config = subject.config
    yield from _unique(subject, ("tenants",), [tenant.name for tenant in config.tenants])
    yield from _unique(subject, ("runtimes",), [runtime.name for runtime in config.runtimes])
    yield from _unique(subject, ("gpuPools",), [pool.name for pool in config.gpu_pools])
    for path, tenant in subject.tenants():
        yield from _unique(subject, (*path, "jobs"), [job.name for job in tenant.jobs])
        yield from _not_reserved(subject, (*path, "name"), tenant.name)
        for key, members in (("users", tenant.members.users), ("groups", tenant.members.groups)):
            yield from _once(subject, (*path, "members", key), members)
        yield from _once(subject, (*path, "allowedRuntimes"), tenant.allowed_runtimes or ())
    for number, pool in enumerate(config.gpu_pools):
        path = ("gpuPools", number)
        yield from _once(subject, (*path, "zones"), pool.zones)
        yield from _once(subject, (*path, "reservations"), pool.reservations)
    yield from _once(subject, ("cluster", "zones"), getattr(config.cluster, "zones", ()))


def is_reserved(name: str) -> bool:
    return name in _SYSTEM_NAMESPACES or name.startswith(_SYSTEM_PREFIXES)


def _unique(subject: Subject, path: Path, names: Sequence[str]) -> Iterator[Mistake]:
    first: dict[str, int] = {}
    for number, name in enumerate(names):
        place = (*path, number, "name")
        if not subject.sound(place):
            continue
        if name in first:
            yield Mistake(
                rule=Rule.NAME_TWICE,
                path=place,
                message=f"{path[-1]}[{first[name]}] has this name already",
                found=name,
                allowed="another name",
            )
        else:
            first[name] = number


def _once(subject: Subject, path: Path, items: Sequence[str]) -> Iterator[Mistake]:
    if not subject.sound(path):
        return
    seen: set[str] = set()
    for number, item in enumerate(items):
        if item in seen:
            yield Mistake(
                rule=Rule.LISTED_TWICE,
                path=(*path, number),
                message="stands in this list twice",
                found=item,
                allowed="once",
            )
        seen.add(item)


def _not_reserved(subject: Subject, path: Path, name: str) -> Iterator[Mistake]:
    if is_reserved(name) and subject.sound(path):
        yield Mistake(
            rule=Rule.RESERVED_NAMESPACE,
            path=path,
            message="a namespace of the system",
            found=name,
            allowed="not default, karpenter, kubeflow*, kube-*, openshift-*, trainstack-*",
            write=f"name: team-{name}",
        )
