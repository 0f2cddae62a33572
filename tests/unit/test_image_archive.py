from __future__ import annotations

import hashlib
import json
import os
import tarfile
from pathlib import Path

from tools.images.archive import ImageConfig, write_image


def _root(folder: Path, time: int) -> Path:
    (folder / "etc").mkdir(parents=True)
    for name in ("b", "a", "etc/c"):
        (folder / name).write_text(name)
        os.utime(folder / name, (time, time))
    return folder


def test_equal_trees_give_equal_archives(tmp_path: Path) -> None:
    config = ImageConfig(entrypoint=("/manager",), user="65532")
    archives: list[bytes] = []
    for number in (1, 2):
        file = tmp_path / f"{number}.tar"
        write_image(file, ["x:1"], _root(tmp_path / str(number), number * 1000), config)
        archives.append(file.read_bytes())
    assert archives[0] == archives[1]


def test_the_archive_names_its_layer_by_digest(tmp_path: Path) -> None:
    file = tmp_path / "image.tar"
    write_image(file, ["x:1", "y:2"], _root(tmp_path / "root", 1), ImageConfig(command=("sh",)))
    with tarfile.open(file) as tar:
        content = {name: tar.extractfile(name) for name in tar.getnames()}
        read = {name: stream.read() for name, stream in content.items() if stream is not None}
    manifest = json.loads(read["manifest.json"])[0]
    assert manifest["RepoTags"] == ["x:1", "y:2"]
    layer = hashlib.sha256(read[manifest["Layers"][0]]).hexdigest()
    description = json.loads(read[manifest["Config"]])
    assert description["rootfs"]["diff_ids"] == [f"sha256:{layer}"]
    assert description["config"]["Cmd"] == ["sh"]
