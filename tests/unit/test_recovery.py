from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from tools.errors import ToolError
from tools.recovery import recover, stack_locks


def _lock(state: Path, pid: int, host: str) -> None:
    folder = state / ".pulumi" / "locks" / "organization" / "trainstack" / "local"
    folder.mkdir(parents=True)
    body = {
        "pid": pid,
        "username": "someone",
        "hostname": host,
        "timestamp": "2026-01-02T03:04:05Z",
    }
    (folder / "1.json").write_text(json.dumps(body))


def test_a_lock_of_a_dead_process_is_stale(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    _lock(tmp_path, ended.pid, socket.gethostname())
    assert [lock.is_live for lock in stack_locks(tmp_path, "local")] == [False]
    assert stack_locks(tmp_path, "other") == []


def test_a_pid_that_now_belongs_to_another_program_is_stale(tmp_path: Path) -> None:
    _lock(tmp_path, os.getpid(), socket.gethostname())
    assert [lock.is_live for lock in stack_locks(tmp_path, "local")] == [False]


def test_a_lock_of_another_machine_is_respected(tmp_path: Path) -> None:
    _lock(tmp_path, 1, "build-server")
    with pytest.raises(ToolError, match="process 1 of someone on build-server, since 2026") as no:
        recover(tmp_path, tmp_path, "local", {})
    assert "pulumi cancel --stack local" in no.value.next_step
