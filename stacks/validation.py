"""The whole check of a stack: every mistake in one run, and a stack only when there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from stacks.bag import BLOCKS, blocks_of, unwritten
from stacks.checks import run_checks
from stacks.checks.subject import Platform, Subject
from stacks.mending import parse
from stacks.mistakes import Mistake, Reported, in_words
from stacks.models import GpuPool, Runtime, StackCluster, StackConfig, Trainer
from stacks.nearest import closest
from stacks.rules import Rule
from stacks.values import is_mapping
from stacks.yaml_document import OURS, Document, Node, read_file

STACKS = FilePath(__file__).parent
_INSTEAD_OF_A_BLOCK = (
    Rule.NO_CONFIG,
    Rule.NOT_STRUCTURED,
    Rule.SECRET_BLOCK,
    Rule.WRONG_NAMESPACE,
)


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack without mistakes, and the platform it stands on if that is another stack."""

    config: StackConfig
    platform: StackConfig | None = None

    @property
    def pools(self) -> tuple[GpuPool, ...]:
        """The pools its jobs may use, whoever makes them."""
        return self.platform.gpu_pools if self.platform is not None else self.config.gpu_pools

    @property
    def trainer(self) -> Trainer | None:
        """What this stack installs; None: the platform has it."""
        return self.config.trainer if self.platform is None else None

    @property
    def runtimes(self) -> tuple[Runtime, ...]:
        """The runtimes this stack makes."""
        return self.config.runtimes


@dataclass(frozen=True, slots=True)
class Report:
    file: str
    errors: tuple[Reported, ...]
    warnings: tuple[Reported, ...]
    stack: Stack | None  # None when there are errors

    def text(self) -> str:
        lines = [
            line for found in (*self.errors, *self.warnings) for line in found.lines(self.file)
        ]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "valid": self.stack is not None,
            "errors": [found.as_json() for found in self.errors],
            "warnings": [found.as_json() for found in self.warnings],
        }


def stack_file(stack: str, folder: FilePath = STACKS) -> FilePath:
    return folder / f"Pulumi.{stack}.yaml"


def stack_name(file: FilePath) -> str:
    return file.name.removeprefix("Pulumi.").removesuffix(".yaml")


def stacks_beside(file: FilePath) -> list[str]:
    """The other stacks of the same folder."""
    return sorted(stack_name(f) for f in file.parent.glob("Pulumi.*.yaml") if f != file)


def validate_file(file: FilePath) -> Report:
    document = read_file(file)
    if [mistake.rule for mistake in document.mistakes] == [Rule.FILE_MISSING]:
        return _report(file, document, [_no_such_stack(file, document.mistakes[0])], None)
    blocks, around = blocks_of(document)
    mistakes = [*document.mistakes, *around]
    if document.root is None:
        return _report(file, document, mistakes, None)
    return _validate(file, document, blocks, mistakes)


def validate_blocks(file: FilePath, blocks: dict[str, Any]) -> Report:
    """Config that did not come from the file, so it has paths but no lines."""
    return _validate(file, Document(None, ()), blocks, [])


def _validate(
    file: FilePath, document: Document, blocks: dict[str, Any], mistakes: list[Mistake]
) -> Report:
    # A block that was refused as a whole is not missing too, and its names are not unknown.
    refused = BLOCKS if any(m.rule in _INSTEAD_OF_A_BLOCK for m in mistakes) else ()
    empty = list(unwritten(blocks))
    hollow = {mistake.path for mistake in empty}
    absent = [name for name in BLOCKS if name not in blocks]
    unread = [*(set(refused) & set(absent)), *(path[0] for path in hollow if len(path) == 1)]
    mended = parse(blocks, sorted(str(name) for name in unread))
    formal = [m for m in mended.mistakes if m.path not in hollow]
    platform = _platform(mended.config, file) if mended.sound(("cluster", "stack")) else None
    subject = Subject(mended.config, mended.sound, platform)
    found = [*mistakes, *empty, *formal, *run_checks(subject)]
    wrong = [mistake for mistake in found if not mistake.rule.only_warns]
    below = platform.config if platform is not None else None
    if wrong:  # warnings may follow from them
        return _report(file, document, wrong, None)
    return _report(file, document, found, Stack(mended.config, below))


def _no_such_stack(file: FilePath, mistake: Mistake) -> Mistake:
    others = stacks_beside(file)
    return replace(
        mistake,
        allowed=", ".join(others) or "a stack file; make new STACK=name KIND=local writes one",
        nearest=closest(stack_name(file), others),
    )


def _platform(config: StackConfig, file: FilePath) -> Platform | None:
    if not isinstance(config.cluster, StackCluster):
        return None
    name = config.cluster.stack
    below = stack_file(name, file.parent)
    place = ("cluster", "stack")
    if not below.is_file():
        others = stacks_beside(file)
        near = closest(name, others)
        return Platform(
            None,
            Mistake(
                rule=Rule.PLATFORM_MISSING,
                path=place,
                message=f"there is no stacks/{below.name}",
                found=name,
                allowed=", ".join(others),
                nearest=near,
                write=f"stack: {near[0]}" if near else "",
            ),
        )
    document = read_file(below)
    blocks, _ = blocks_of(document)
    cluster = blocks.get("cluster")
    if below.resolve() == file.resolve() or (
        is_mapping(cluster) and cluster.get("kind") == "stack"
    ):
        message = f"stack {name} stands on another stack itself"
        own = Mistake(
            rule=Rule.PLATFORM_ON_PLATFORM,
            path=place,
            message=message,
            found=name,
            allowed="a stack with a cluster of its own",
        )
        return Platform(None, own)
    report = validate_file(below)
    if report.stack is None:
        broken = Mistake(
            rule=Rule.PLATFORM_BROKEN,
            path=place,
            message=f"stacks/{below.name} has {len(report.errors)} mistake(s) itself",
            found=name,
            allowed=f"see make validate STACK={name}",
        )
        return Platform(None, broken)
    return Platform(report.stack.config, None)


def _report(
    file: FilePath, document: Document, mistakes: list[Mistake], stack: Stack | None
) -> Report:
    tricks = {mistake.place for mistake in document.mistakes if mistake.place is not None}
    reported: list[Reported] = []
    for mistake in mistakes:
        path = mistake.path
        full = ("config", f"{OURS}{path[0]}", *path[1:]) if path else ()
        place = mistake.place or (document.place_of(full, mistake.at_key) if path else None)
        if mistake.place is None and place in tricks:
            continue  # what the YAML trick led to
        where = in_words(path, document.names_along(full))
        reported.append(Reported(_as_written(mistake, document.node_at(full)), place, where))

    def order(found: Reported) -> tuple[bool, int, int, str]:
        place = found.place
        line, column = (place.line, place.column) if place is not None else (0, 0)
        return place is None, line, column, found.where

    reported.sort(key=order)
    return Report(
        file=_shown(file),
        errors=tuple(found for found in reported if not found.mistake.rule.only_warns),
        warnings=tuple(found for found in reported if found.mistake.rule.only_warns),
        stack=stack,
    )


def _as_written(mistake: Mistake, node: Node | None) -> Mistake:
    """A number that should be text, with the digits its writer wrote."""
    if mistake.rule is not Rule.WRONG_TYPE or not isinstance(mistake.found, float) or node is None:
        return mistake
    write = mistake.write.replace(f'"{mistake.found}"', f'"{node.written}"')
    return replace(mistake, write=write)


def _shown(file: FilePath) -> str:
    return f"stacks/{file.name}" if file.parent.resolve() == STACKS.resolve() else str(file)
