"""`python -m tools …`: what the Makefile calls."""

from __future__ import annotations

import sys

from tools.cli import app
from tools.console import console
from tools.errors import ToolError

if __name__ == "__main__":
    try:
        app()
    except ToolError as error:
        console.print(f"[red]error:[/red] {error}", markup=True)
        sys.exit(1)
