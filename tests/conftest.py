"""One cluster of the tests' own for the whole session, and a copy of the project to change."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.platform import Platform
from tools.cluster import lifecycle
from tools.cluster.instance import running_as_root
from tools.deploy import deploy
from tools.shell import cluster_home, link_assets, settings
from tools.toolchain import Toolchain, ensure_toolchain

CHECKOUT = Path(__file__).parents[1]
_NOT_COPIED = shutil.ignore_patterns(".venv", ".trainstack", ".git", "tests", "docs", "__pycache__")


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return ensure_toolchain()


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> Iterator[Platform]:
    """A project copy whose `local` cluster is real and running; removed at the end."""
    if not running_as_root():
        pytest.fail("these tests need a real node, and that needs root; next: sudo make test")
    project = tmp_path_factory.mktemp("platform") / "project"
    shutil.copytree(CHECKOUT, project, ignore=_NOT_COPIED)
    (project / ".venv").symlink_to(CHECKOUT / ".venv")
    instance = lifecycle.start(cluster_home(project), toolchain)
    link_assets(project, toolchain)
    os.environ |= settings(project, toolchain)
    try:
        yield Platform(project=project, toolchain=toolchain, instance=instance)
    finally:
        lifecycle.reset(cluster_home(project))


@pytest.fixture(scope="session")
def deployed(platform: Platform) -> Platform:
    """The platform with stack `local` deployed; costs little when an earlier test did it."""
    deploy(platform.project, platform.toolchain)
    return platform
