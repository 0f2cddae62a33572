"""Checks that need more than one field: names, references, capacity, versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stacks.checks import capacity, cluster, jobs, names, placement, platform, pools, versions
from stacks.checks.subject import Subject
from stacks.mistakes import Mistake

_CHECKS: tuple[Callable[[Subject], Iterator[Mistake]], ...] = (
    names.check,
    cluster.check,
    versions.check,
    platform.check,
    pools.check,
    jobs.check,
    placement.check,
    capacity.check,
)


def run_checks(subject: Subject) -> Iterator[Mistake]:
    for check in _CHECKS:
        yield from check(subject)
