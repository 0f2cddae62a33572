"""Files that follow from the models. They are committed; a test proves that they are fresh."""

from __future__ import annotations

import json
from pathlib import Path

from stacks.reference import configuration_page
from stacks.schema import stack_file_schema

PROJECT = Path(__file__).parents[1]


def generated_files() -> dict[Path, str]:
    return {
        Path("stacks/stack.schema.json"): json.dumps(stack_file_schema(), indent=1) + "\n",
        Path("docs/configuration.md"): configuration_page(),
    }


def write_generated() -> list[Path]:
    """Write what changed; the files written, from the project's folder."""
    written: list[Path] = []
    for file, text in generated_files().items():
        target = PROJECT / file
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
            written.append(file)
    return written
