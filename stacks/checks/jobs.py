"""Each job by itself: its code, its environment, its runtime."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stacks.checks.subject import PlacedJob, Subject
from stacks.mistakes import Mistake, Path
from stacks.models import Job
from stacks.nearest import closest
from stacks.rules import Rule

# Linux takes 128 KiB as one argument or variable; etcd about 1 MiB as the whole TrainJob.
_ONE_TEXT_BYTES = 100_000
_ALL_TEXTS_BYTES = 300_000
_SECRET_NAME = re.compile(
    r"(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(API|ACCESS|PRIVATE)_?KEY)(_|$)",
    re.IGNORECASE,
)


def check(subject: Subject) -> Iterator[Mistake]:
    known = sorted({runtime.name for runtime in subject.runtimes})
    without_git = _runtimes_without_git(subject)
    for path, tenant in subject.tenants():
        for number, name in enumerate(tenant.allowed_runtimes or ()):
            yield from _runtime_exists(subject, (*path, "allowedRuntimes", number), name, known)
    for placed in subject.jobs():
        job, path = placed.job, placed.path
        yield from _code(subject, path, job)
        yield from _environment(subject, path, job)
        yield from _texts(subject, path, job)
        yield from _runtime_exists(subject, (*path, "runtime"), job.runtime, known)
        yield from _runtime_allowed(subject, placed)
        if job.git is not None and job.runtime in without_git and subject.sound((*path, "git")):
            yield Mistake(
                rule=Rule.NO_GIT,
                path=(*path, "git"),
                at_key=True,
                message=f"runtime {job.runtime} cannot clone a repository",
                allowed="a runtime with a gitImage",
                write="gitImage: alpine/git:2.49.1",
            )


def _runtimes_without_git(subject: Subject) -> set[str]:
    own = {
        runtime.name
        for number, runtime in enumerate(subject.config.runtimes)
        if runtime.git_image is None and subject.sound(("runtimes", number, "gitImage"))
    }
    below = subject.below.runtimes if subject.below is not None else ()
    return own | {runtime.name for runtime in below if runtime.git_image is None}


def _code(subject: Subject, path: Path, job: Job) -> Iterator[Mistake]:
    if not subject.sound((*path, "script"), (*path, "git")):
        return
    if (job.script is None) == (job.git is None):
        yield Mistake(
            rule=Rule.CODE,
            path=path,
            message="gives both `script` and `git`" if job.script else "gives no code to run",
            allowed="exactly one of `script` and `git`",
            write=f"script: {job.script or 'spirals_ddp.py'}",
        )


def _environment(subject: Subject, path: Path, job: Job) -> Iterator[Mistake]:
    for name in job.env:
        place = (*path, "env", name)
        if not subject.sound(place):
            continue
        if name in job.secret_env:
            yield Mistake(
                rule=Rule.VARIABLE_TWICE,
                path=place,
                at_key=True,
                message="stands in `secretEnv` too",
                allowed="one of them",
            )
        elif _SECRET_NAME.search(name):
            yield Mistake(
                rule=Rule.SECRET_IN_CLEAR,
                path=place,
                at_key=True,
                message="looks like a secret, and stack files and state are not for secrets",
                allowed="a reference to a Secret in the tenant's namespace",
                write=f"secretEnv: {{{name}: {{secret: my-secret, key: value}}}}",
            )


def _texts(subject: Subject, path: Path, job: Job) -> Iterator[Mistake]:
    for key, texts in (("args", job.args), ("env", tuple(job.env.values()))):
        sizes = [len(text.encode()) for text in texts]
        large = sum(sizes) > _ALL_TEXTS_BYTES or max(sizes, default=0) > _ONE_TEXT_BYTES
        if large and subject.sound((*path, key)):
            yield Mistake(
                rule=Rule.TEXTS_TOO_LARGE,
                path=(*path, key),
                at_key=True,
                message=f"{sum(sizes)} bytes, the largest text {max(sizes)}",
                allowed=f"at most {_ONE_TEXT_BYTES} bytes each and {_ALL_TEXTS_BYTES} together; "
                "put data into a file",
            )


def _runtime_exists(subject: Subject, path: Path, name: str, known: list[str]) -> Iterator[Mistake]:
    own = subject.sound.names("runtimes", len(subject.config.runtimes))
    if name in known or not own or not subject.knows_the_platform or not subject.sound(path):
        return
    near = closest(name, known)
    write = f"- {near[0]}" if near and isinstance(path[-1], int) else ""
    yield Mistake(
        rule=Rule.UNKNOWN_RUNTIME,
        path=path,
        message="no such runtime",
        found=name,
        allowed=", ".join(known)
        or "this stack has no runtimes; add them under trainstack:runtimes",
        nearest=near,
        write=write or (f"runtime: {near[0]}" if near else ""),
    )


def _runtime_allowed(subject: Subject, placed: PlacedJob) -> Iterator[Mistake]:
    allowed, place = placed.tenant.allowed_runtimes, (*placed.path, "runtime")
    if allowed is None or placed.job.runtime in allowed:
        return
    if subject.sound(place, (*placed.tenant_path, "allowedRuntimes")):
        yield Mistake(
            rule=Rule.RUNTIME_NOT_ALLOWED,
            path=place,
            message=f"tenant {placed.tenant.name} may not use this runtime",
            found=placed.job.runtime,
            allowed=", ".join(allowed),
            write=f"runtime: {allowed[0]}",
        )
