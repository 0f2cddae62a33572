"""Every image the local stack needs, each under the name its chart or manifest asks for."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools import pins
from tools.cache import cache_root, obtain, require_free_space
from tools.console import step
from tools.images.archive import ImageConfig, write_image
from tools.images.torch import TORCH_IMAGE, TORCH_REQUIREMENTS, make_torch_root
from tools.toolchain import Toolchain

# Not root and no shell: what the managers' own images use.
_NON_ROOT = "65532:65532"


@dataclass(frozen=True, slots=True)
class Image:
    """A finished archive; `key` changes whenever its content would."""

    name: str
    key: str
    archive: Path


def ensure_images(tools: Toolchain) -> list[Image]:
    return [
        _of_binary("pause", f"registry.k8s.io/pause:{pins.PAUSE}", tools.tool("pause"), ""),
        _of_binary(
            "coredns", f"registry.k8s.io/coredns/coredns:v{pins.COREDNS}", tools.tool("coredns"), ""
        ),
        _of_binary(
            "jobset",
            f"registry.k8s.io/jobset/jobset:v{pins.JOBSET}",
            tools.tool("jobset-manager"),
            _NON_ROOT,
        ),
        _of_binary(
            "trainer",
            f"ghcr.io/kubeflow/trainer/trainer-controller-manager:v{pins.TRAINER}",
            tools.tool("trainer-manager"),
            _NON_ROOT,
        ),
        _torch(),
    ]


def _of_binary(name: str, tag: str, binary: str, user: str) -> Image:
    """A static binary and the authorities it may trust; nothing else."""
    source = Path(binary).resolve()

    def fill(root: Path) -> ImageConfig:
        shutil.copy(source, root / "manager")
        (root / "tmp").mkdir()
        (root / "tmp").chmod(0o1777)
        return ImageConfig(entrypoint=("/manager",), user=user)

    with source.open("rb") as content:
        key = hashlib.file_digest(content, "sha256").hexdigest()[:12]
    return _image(name, tag, key, fill)


def _torch() -> Image:
    inputs = TORCH_REQUIREMENTS.read_bytes() + Path(__file__).with_name("torch.py").read_bytes()

    def fill(root: Path) -> ImageConfig:
        require_free_space(cache_root(), 8, "making the torch image")
        make_torch_root(root)
        return ImageConfig(command=("python3",), working_folder="/workspace")

    return _image("torch-cpu", TORCH_IMAGE, hashlib.sha256(inputs).hexdigest()[:12], fill)


def _image(name: str, tag: str, key: str, fill: Callable[[Path], ImageConfig]) -> Image:
    folder = cache_root() / "images" / f"{name}-{key}"

    def make(aside: Path) -> None:
        with step(f"image {tag}"):
            root = aside / "root"
            root.mkdir()
            write_image(aside / "image.tar", [tag], root, fill(root))
            shutil.rmtree(root)

    obtain(folder, f"the {name} image", make)
    return Image(name=tag, key=f"{name}-{key}", archive=folder / "image.tar")
