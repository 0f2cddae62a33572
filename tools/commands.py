"""Run another program and have its output, or an error that says what it said."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.errors import ToolError

_LINES_SHOWN = 8


def output_of(
    command: Sequence[str | Path],
    *,
    doing: str,
    next_step: str,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: str | None = None,
) -> str:
    """What `command` printed; on failure a ToolError with the last lines of its complaint."""
    result = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        said = (result.stderr.strip() or result.stdout.strip()).splitlines()[-_LINES_SHOWN:]
        raise ToolError(f"{doing} failed:\n    " + "\n    ".join(said), next_step)
    return result.stdout
