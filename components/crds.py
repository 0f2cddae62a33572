"""All CRDs of a release as one resource, known by the hash of its content.

As single resources the CRDs of Trainer and JobSet cost every preview about 20 seconds and the
state 4 MB, though they change only with a version. See docs/decisions/0002.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pulumi
from pulumi.dynamic import (
    CheckResult,
    CreateResult,
    DiffResult,
    ReadResult,
    Resource,
    ResourceProvider,
    UpdateResult,
)

from components.kubectl import kubectl

_HASH_ANNOTATION = "trainstack.io/bundle-hash"
_FIELD_MANAGER = "--field-manager=trainstack-crds"


def bundle_files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise pulumi.RunError(f"no CRDs under {folder}\n  next: run `make env`, which fetches them")
    return files


def bundle_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in bundle_files(folder):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


class _CrdBundleProvider(ResourceProvider):
    """Applies the files server-side; the hash on each object tells whether it is still ours."""

    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
        return CheckResult(news, [])

    def diff(self, _id: str, _olds: dict[str, Any], _news: dict[str, Any]) -> DiffResult:
        moved = _olds["cluster"] != _news["cluster"]
        changed = _olds.get("applied") != _news["content"]
        return DiffResult(
            changes=moved or changed,
            replaces=["cluster"] if moved else [],
            stables=["names"],
            delete_before_replace=False,
        )

    def create(self, props: dict[str, Any]) -> CreateResult:
        return CreateResult(props["title"], {**props, **_apply(props)})

    def update(self, _id: str, _olds: dict[str, Any], _news: dict[str, Any]) -> UpdateResult:
        applied = _apply(_news)
        gone = [name for name in _olds["names"] if name not in applied["names"]]
        _delete(_news["kubeconfig"], gone)
        return UpdateResult({**_news, **applied})

    def read(self, id_: str, props: dict[str, Any]) -> ReadResult:
        path = r"{.items[*].metadata.annotations.trainstack\.io/bundle-hash}"
        query = ("get", "crds", "--ignore-not-found", f"-o=jsonpath={path}", *props["names"])
        hashes = kubectl(props["kubeconfig"], *query).split()
        whole = hashes == [props["applied"]] * len(props["names"])
        return ReadResult(id_, {**props, "applied": props["applied"] if whole else "drifted"})

    def delete(self, _id: str, _props: dict[str, Any]) -> None:
        _delete(_props["kubeconfig"], _props["names"])


def _apply(props: dict[str, Any]) -> dict[str, Any]:
    config, folder = props["kubeconfig"], props["folder"]
    options = ("--server-side", "--force-conflicts", _FIELD_MANAGER)
    kubectl(config, "apply", *options, "-f", folder)
    printed = kubectl(config, "get", "-f", folder, "-o=jsonpath={.items[*].metadata.name}")
    names = sorted(printed.split())
    kubectl(config, "wait", "--for=condition=Established", "--timeout=60s", "crds", *names)
    mark = f"{_HASH_ANNOTATION}={props['content']}"
    kubectl(config, "annotate", "--overwrite", "crds", *names, mark)
    return {"names": names, "applied": props["content"]}


def _delete(kubeconfig: str, names: list[str]) -> None:
    if names:
        kubectl(kubeconfig, "delete", "crds", "--ignore-not-found", "--timeout=120s", *names)


class CrdBundle(Resource, module="trainstack", name="CrdBundle"):
    """The CRDs of `folder` in the cluster, Established."""

    names: pulumi.Output[list[str]]

    def __init__(
        self,
        name: str,
        *,
        title: str,
        folder: Path,
        kubeconfig: pulumi.Output[str],
        cluster: pulumi.Input[str],
        opts: pulumi.ResourceOptions,
    ) -> None:
        properties = {
            "title": title,
            "folder": str(folder),
            "content": bundle_hash(folder),
            "kubeconfig": kubeconfig,
            "cluster": cluster,
            "names": None,
            "applied": None,
        }
        secret = pulumi.ResourceOptions(additional_secret_outputs=["kubeconfig"])
        merged = pulumi.ResourceOptions.merge(opts, secret)
        super().__init__(_CrdBundleProvider(), name, properties, merged)
