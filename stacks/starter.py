"""`make new`: a stack file to begin with."""

from __future__ import annotations

import re
import string
from enum import StrEnum
from pathlib import Path

from stacks.checks.names import is_reserved
from stacks.models import StackCluster
from stacks.validation import STACKS, stack_file, stack_name, validate_file

_TEMPLATES = Path(__file__).with_name("starters")
_STACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class Kind(StrEnum):
    LOCAL = "local"
    EKS = "eks"
    KUBECONFIG = "kubeconfig"
    STACK = "stack"


class StarterError(Exception):
    """Why no file was written, and what to do."""


def write_starter(stack: str, kind: Kind, platform: str = "", folder: Path = STACKS) -> Path:
    """Write `Pulumi.<stack>.yaml`; never over a file that is there."""
    if not _STACK_NAME.fullmatch(stack):
        raise StarterError(
            f"{stack!r} is not a stack's name\n"
            "  next: letters, digits, dots, hyphens and underscores; begin with a letter or digit"
        )
    file = stack_file(stack, folder)
    if file.exists():
        raise StarterError(f"stacks/{file.name} is there already\n  next: edit it, or delete it")
    values = {"STACK": stack, "CLUSTER": _label(stack, 32), "TENANT": _label(stack, 63)}
    if kind is Kind.STACK:
        values |= _platform_values(platform, folder, values["TENANT"])
    template = string.Template((_TEMPLATES / f"{kind}.yaml").read_text())
    file.write_text(template.safe_substitute(values))
    return file


def _platform_values(platform: str, folder: Path, tenant: str) -> dict[str, str]:
    """A platform to stand on: the named one, or the only one there is."""
    platforms: dict[str, str] = {}
    taken: dict[str, list[str]] = {}
    for file in sorted(folder.glob("Pulumi.*.yaml")):
        found = validate_file(file).stack
        if found is None or isinstance(found.config.cluster, StackCluster) or not found.runtimes:
            continue
        name = stack_name(file)
        platforms[name] = found.runtimes[0].name
        taken[name] = [tenant.name for tenant in found.config.tenants]
    if not platform and len(platforms) == 1:
        platform = next(iter(platforms))
    if platform not in platforms:
        what = (
            f"stack {platform} is not a platform with runtimes" if platform else "which platform?"
        )
        names = ", ".join(platforms) or "none; make one with KIND=local, eks or kubeconfig"
        raise StarterError(f"{what}\n  next: add PLATFORM=<stack>, one of {names}")
    if tenant in taken[platform]:
        raise StarterError(
            f"stack {platform} has a tenant {tenant} already\n  next: choose another STACK="
        )
    return {"PLATFORM": platform, "RUNTIME": platforms[platform]}


def _label(stack: str, longest: int) -> str:
    """The stack's name as a Kubernetes name."""
    label = re.sub(r"[^a-z0-9-]+", "-", stack.lower()).strip("-")
    usable = label[:1].isalpha() and not is_reserved(label)
    return (label if usable else f"team-{label}")[:longest].strip("-")
