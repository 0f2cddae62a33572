"""kubectl for the two resources of ours that the Kubernetes provider has no good answer to."""

from __future__ import annotations

import os
import subprocess
import tempfile


class KubectlError(Exception):
    """What kubectl said when it failed."""


def kubectl(kubeconfig: str, *arguments: str, stdin: str | None = None) -> str:
    """Run kubectl against one cluster; the credentials exist as a file only while it runs."""
    with tempfile.NamedTemporaryFile("w", prefix="kubeconfig-", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(kubeconfig)
        file.flush()
        result = subprocess.run(
            ["kubectl", f"--kubeconfig={file.name}", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
    if result.returncode != 0:
        raise KubectlError(result.stderr.strip() or result.stdout.strip())
    return result.stdout
