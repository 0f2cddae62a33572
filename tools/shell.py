"""The settings of a shell that works on this checkout: tools, cluster, local state."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from tools.toolchain import Toolchain

# Secrets in the local state are the embedded cluster's own credentials, which lie beside it in
# clear. A fixed passphrase keeps the committed salt valid and asks a new user nothing.
LOCAL_PASSPHRASE = "trainstack-local"  # noqa: S105 - see above


def local_folder(project: Path) -> Path:
    return project / ".trainstack"


def cluster_home(project: Path) -> Path:
    return local_folder(project) / "cluster"


def state_folder(project: Path) -> Path:
    return local_folder(project) / "state"


def link_assets(project: Path, tools: Toolchain) -> None:
    """The program reads charts and CRDs at one place in the checkout, wherever the cache is."""
    local_folder(project).mkdir(exist_ok=True)
    link = local_folder(project) / "assets"
    if link.is_symlink() and link.readlink() == tools.assets:
        return
    aside = local_folder(project) / f".assets-{os.getpid()}"
    aside.symlink_to(tools.assets)
    aside.replace(link)


def settings(project: Path, tools: Toolchain) -> dict[str, str]:
    state_folder(project).mkdir(parents=True, exist_ok=True)
    return {
        "PATH": tools.path(),
        "KUBECONFIG": str(cluster_home(project) / "kubeconfig"),
        "PULUMI_HOME": str(tools.pulumi_home),
        "PULUMI_BACKEND_URL": f"file://{state_folder(project)}",
        "PULUMI_CONFIG_PASSPHRASE": LOCAL_PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }


def as_exports(values: dict[str, str]) -> str:
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in values.items())
