from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

import pytest

from tools.cache import obtain, require_free_space
from tools.errors import ToolError


def test_an_interrupted_build_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "tool"

    def interrupted(aside: Path) -> None:
        (aside / "half").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        obtain(target, "tool", interrupted)
    assert [path.name for path in tmp_path.iterdir()] == [".tool.lock"]


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    made: list[Path] = []
    for _ in range(2):
        obtain(tmp_path / "tool", "tool", made.append)
    assert len(made) == 1


def _slow_build(target: Path, log: Path) -> None:
    def make(aside: Path) -> None:
        with log.open("a") as file:
            file.write("built\n")
        time.sleep(0.5)
        (aside / "tool").write_text("whole")

    obtain(target, "tool", make)


def test_parallel_runs_build_once(tmp_path: Path) -> None:
    target, log = tmp_path / "cache" / "tool", tmp_path / "log"
    context = multiprocessing.get_context("fork")
    runs = [context.Process(target=_slow_build, args=(target, log)) for _ in range(4)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
        assert run.exitcode == 0
    assert log.read_text() == "built\n"
    assert (target / "tool").read_text() == "whole"


def test_a_full_disk_is_named_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="disk full: a test needs about 1e\\+09 GiB") as refused:
        require_free_space(tmp_path / "not" / "yet", 1e9, "a test")
    assert "TRAINSTACK_CACHE" in refused.value.next_step
    require_free_space(tmp_path, 0.001, "a test")
