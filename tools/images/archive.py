"""Container images without Docker: an archive that `ctr images import` and `docker load` read."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageConfig:
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    user: str = ""
    working_folder: str = "/"


def write_image(archive: Path, names: list[str], root: Path, config: ImageConfig) -> None:
    """One layer holding `root` as it is; equal trees give equal bytes."""
    with tempfile.TemporaryDirectory(dir=archive.parent) as aside:
        layer = Path(aside) / "layer.tar"
        _write_layer(layer, root)
        digest = _sha256(layer)
        description = json.dumps(_description(digest, config), sort_keys=True).encode()
        config_name = f"{hashlib.sha256(description).hexdigest()}.json"
        layer_name = f"{digest}/layer.tar"
        manifest = [{"Config": config_name, "RepoTags": names, "Layers": [layer_name]}]
        with tarfile.open(archive, "w") as tar:
            _add_bytes(tar, config_name, description)
            with layer.open("rb") as content:
                entry = tarfile.TarInfo(layer_name)
                entry.size = layer.stat().st_size
                tar.addfile(entry, content)
            _add_bytes(tar, "manifest.json", json.dumps(manifest).encode())


def _write_layer(layer: Path, root: Path) -> None:
    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = 0
        return entry

    with tarfile.open(layer, "w", format=tarfile.PAX_FORMAT) as tar:
        for child in sorted(root.iterdir()):
            tar.add(child, arcname=child.name, filter=plain)  # recursion is in sorted order


def _description(digest: str, config: ImageConfig) -> dict[str, object]:
    return {
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "Env": [_PATH],
            "Entrypoint": list(config.entrypoint) or None,
            "Cmd": list(config.command) or None,
            "User": config.user,
            "WorkingDir": config.working_folder,
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [],
    }


def _add_bytes(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
