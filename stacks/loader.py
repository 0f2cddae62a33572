"""From Pulumi's config bag to the stack; stops before the first resource when it is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi.runtime.config import CONFIG

from stacks.bag import blocks_of
from stacks.validation import Report, Stack, stack_file, validate_blocks, validate_file
from stacks.yaml_document import OURS, read_file


def load_stack() -> Stack:
    """The stack, or every mistake in it and no resource registered."""
    report = check_bag(CONFIG.get(), pulumi.get_stack())
    if report.stack is None:
        count = len(report.errors)
        raise pulumi.RunError(
            f"{report.file}: {count} mistake(s), nothing was changed\n{report.text()}"
        )
    for warning in report.warnings:
        pulumi.warn("\n".join(warning.lines(report.file)))
    return report.stack


def check_bag(bag: Mapping[str, str], stack: str) -> Report:
    """The file tells lines and columns; the bag is what counts where the two differ.

    They differ when config was given by `--config` or `--config-file`.
    """
    file = stack_file(stack)
    blocks = {
        key.removeprefix(OURS): _value(text) for key, text in bag.items() if key.startswith(OURS)
    }
    if file.is_file():
        from_file = validate_file(file)
        if from_file.stack is None or blocks_of(read_file(file))[0] == blocks:
            return from_file
    return validate_blocks(file, blocks)


def _value(text: str) -> Any:
    """Pulumi hands structures on as JSON and bare scalars as they are."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
