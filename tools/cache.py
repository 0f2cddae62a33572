"""The machine-wide cache of built things: shared by clones, keyed by pins, never half written."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from tools.console import say
from tools.errors import ToolError


def cache_root() -> Path:
    """`TRAINSTACK_CACHE`, else the user's cache folder; always outside the checkout."""
    chosen = os.environ.get("TRAINSTACK_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return Path(base).expanduser().resolve() / "trainstack"


@contextmanager
def exclusive(lock_file: Path, waiting_for: str) -> Generator[None]:
    """Hold a lock file; a second run waits and says for what. The kernel drops a dead holder's."""
    lock_file.parent.mkdir(parents=True, exist_ok=True)
    with lock_file.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"  .. another run is busy with {waiting_for}; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def obtain(destination: Path, what: str, make: Callable[[Path], None]) -> Path:
    """Return `destination`, making it first if it is not there.

    `make` fills a folder aside, which is renamed into place as a whole: an interrupted run leaves
    no half-made thing, and of two parallel runs one makes it and the other finds it.
    """
    if destination.exists():
        return destination
    destination.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(destination.parent / f".{destination.name}.lock", what):
        if destination.exists():
            return destination
        aside = Path(tempfile.mkdtemp(prefix=f".{destination.name}.", dir=destination.parent))
        aside.chmod(0o755)
        try:
            make(aside)
            aside.rename(destination)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return destination


def require_free_space(folder: Path, needed_gib: float, purpose: str) -> None:
    """Refuse before anything changes when the disk cannot hold what is coming."""
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    free_gib = shutil.disk_usage(existing).free / 2**30
    if free_gib < needed_gib:
        raise ToolError(
            f"disk full: {purpose} needs about {needed_gib:g} GiB under {folder}, "
            f"{free_gib:.1f} GiB are free",
            "free some space there, or point TRAINSTACK_CACHE at a larger disk",
        )
