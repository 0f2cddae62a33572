"""The smallest image that truly runs torch.distributed with gloo on CPUs.

PyPI's x86_64 wheel of torch is a CUDA build: with its NVIDIA libraries an image of 4.2 GB. On a
machine without a GPU none of those libraries is ever called, but the loader wants them to exist.
So the wheel goes in alone, with the three small libraries that torch really touches while loading
(CUDA runtime, CUPTI, NVSHMEM), and the names of the others are links to torch's own empty library.
Python is told to resolve functions when they are called, not when a library is loaded.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tools import pins
from tools.commands import output_of

TORCH_IMAGE = f"trainstack.local/torch-cpu:{pins.TORCH}"
TORCH_REQUIREMENTS = Path(__file__).with_name("torch-requirements.lock")
_PYTHON = "3.11"  # Debian bookworm's
_PACKAGES = Path(f"usr/local/lib/python{_PYTHON}/dist-packages")
_NEVER_CALLED = (
    "libcublas.so.13",
    "libcublasLt.so.13",
    "libcudnn.so.9",
    "libcufft.so.12",
    "libcufile.so.0",
    "libcurand.so.10",
    "libcusparse.so.12",
    "libcusparseLt.so.0",
    "libnccl.so.2",
    "libnvrtc.so.13",
)
_NOT_NEEDED = (
    "bin",
    "torch/include",
    "torch/bin/protoc*",
    "torch/lib/libtorch_cuda_linalg.so",
    "nvidia/cu13/include",
    "nvidia/cu13/lib/*.a",
    "nvidia/cu13/lib/libnvperf*",
    "nvidia/cu13/lib/libcheckpoint.so",
    "nvidia/cu13/lib/libpcsamplingutil.so",
    "nvidia/nvshmem/include",
    "nvidia/nvshmem/bin",
    "nvidia/nvshmem/lib/*.a",
    "nvidia/nvshmem/lib/*.bc",
    "nvidia/nvshmem/lib/nvshmem_*",
    "nvidia/nvshmem/lib/cmake",
)
_TORCHRUN = "#!/usr/bin/python3\nfrom torch.distributed.run import main\nmain()\n"
# Proves the image before it is used, and leaves the byte code of what training imports.
_PROOF = """
import torch, torch.distributed as dist, torch.distributed.run, torch.utils.data, numpy
import torch.distributed.fsdp, torch.nn.parallel, torch.optim, torch._dynamo
import torch.distributed.elastic.agent.server.local_elastic_agent
import torch.distributed.elastic.rendezvous.registry
assert torch.__version__.split("+")[0] == "{version}", torch.__version__
assert dist.is_gloo_available() and not torch.cuda.is_available()
dist.init_process_group("gloo", init_method="file:///tmp/proof", rank=0, world_size=1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
model(torch.ones(4, 2)).sum().backward()
torch.optim.AdamW(model.parameters()).step()
"""


def make_torch_root(root: Path) -> None:
    """Fill `root` with Debian's Python and torch, and run torch in it once."""
    _debian(root)
    packages = root / _PACKAGES
    packages.mkdir(parents=True, exist_ok=True)
    _install(packages)
    for pattern in _NOT_NEEDED:
        for path in packages.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in _NEVER_CALLED:
        (packages / "torch" / "lib" / name).symlink_to("libtorch_global_deps.so")
    (packages / "resolve-when-called.pth").write_text(
        "import os, sys; sys.setdlopenflags(os.RTLD_LAZY)\n"
    )
    torchrun = root / "usr/local/bin/torchrun"
    torchrun.write_text(_TORCHRUN)
    torchrun.chmod(0o755)
    (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    (root / "workspace").mkdir()
    _run(["chroot", root, "/usr/bin/python3", "-c", _PROOF.format(version=pins.TORCH)])
    (root / "tmp/proof").unlink(missing_ok=True)


def _debian(root: Path) -> None:
    excluded = ("man", "doc", "locale", "info", "lintian")
    _run(
        ["mmdebstrap", "--quiet", "--variant=essential", "--mode=root", "--format=directory"]
        + ['--aptopt=APT::Install-Recommends "false"']
        + [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in excluded]
        + ["--include=python3,libstdc++6,ca-certificates,git"]
        + ['--customize-hook=rm -rf "$1"/var/lib/apt/lists "$1"/var/cache/apt']
        + ["bookworm", root]
    )


def _install(packages: Path) -> None:
    _run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
        + ["--require-hashes", "--requirement", TORCH_REQUIREMENTS, "--target", packages]
        # The image's Python and platform, whatever this machine's are.
        + ["--only-binary=:all:", "--implementation=cp", f"--python-version={_PYTHON}"]
        + [f"--platform={p}_x86_64" for p in ("manylinux_2_28", "manylinux_2_27", "manylinux_2_26")]
        + [f"--platform={p}_x86_64" for p in ("manylinux_2_25", "manylinux_2_17", "manylinux2014")]
        + ["--upgrade", "--root-user-action=ignore"]
    )


def _run(command: list[str | Path]) -> None:
    output_of(
        command,
        doing=f"making the torch image, in `{Path(command[0]).name}`,",
        next_step="check the network, the package index and the Debian mirror, then run it again",
    )
