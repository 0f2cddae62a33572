"""A wrong file, mended just enough to go on checking the rest of it.

One run must tell all mistakes. So what is wrong in form is replaced by something right and
remembered as unsound; the checks then see a whole stack and leave alone what rests on it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import ValidationError

from stacks.anatomy import part_at, value_at
from stacks.explain import MISSPELLED, explain, path_of
from stacks.mistakes import Mistake, Path
from stacks.models import StackConfig
from stacks.values import is_list, is_mapping

_LAST_RESORT = {"cluster": {"kind": "local"}}
_ROUNDS = 4  # a mended value may uncover what its wrong form had hidden


@dataclass(slots=True)
class Soundness:
    """Which places hold what their writer wrote, and which hold our stand-in."""

    _replaced: set[Path] = field(default_factory=set[Path])
    _around: set[Path] = field(default_factory=set[Path])

    def replaced(self, path: Path) -> None:
        self._replaced.add(path)
        self._around.update(path[:length] for length in range(len(path)))

    def names(self, block: str, count: int) -> bool:
        """Whether all names of a block's items are the writer's own."""
        places: list[Path] = [(block, number, "name") for number in range(count)]
        return (block,) not in self._replaced and self(*places)

    def __call__(self, *paths: Path) -> bool:
        """Whether nothing at, above or below these places was replaced."""
        if not self._replaced:
            return True
        return not any(
            path in self._around
            or any(path[:length] in self._replaced for length in range(len(path) + 1))
            for path in paths
        )


@dataclass(frozen=True, slots=True)
class Mended:
    config: StackConfig
    sound: Soundness
    mistakes: tuple[Mistake, ...]


def parse(blocks: dict[str, Any], refused: Iterable[str] = ()) -> Mended:
    """Always a whole config; with mistakes it is only good for further checks.

    `refused`: blocks that were meant to be there and could not be read.
    """
    sound = Soundness()
    for name in refused:
        sound.replaced((name,))
    mistakes: list[Mistake] = []
    for _ in range(_ROUNDS):
        try:
            config = StackConfig.model_validate_json(json.dumps(blocks))
        except ValidationError as error:
            found = [m for m in explain(error, blocks) if sound(m.path)]
            mistakes += found
            for mistake in found:
                for meant in mistake.nearest if mistake.rule in MISSPELLED else ():
                    if meant not in value_at(blocks, mistake.path[:-1]):
                        sound.replaced((*mistake.path[:-1], meant))  # misspelled, not absent
            blocks = copy.deepcopy(blocks)
            for path, value in _repairs(error, blocks):
                _put(blocks, path, value)
                sound.replaced(path)
            continue
        return Mended(config, sound, tuple(mistakes))
    sound.replaced(())  # beyond mending: the mistakes so far are told, and nothing rests on it
    return Mended(StackConfig.model_validate(_LAST_RESORT), sound, tuple(mistakes))


_REMOVE = object()


def _repairs(error: ValidationError, blocks: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    for problem in error.errors(include_url=False):
        path, _ = path_of(problem, blocks)
        part = part_at(path, blocks)
        removable = isinstance(path[-1], str) and (part is None or part.default_exists)
        if removable and problem["type"] != "missing":
            yield path, _REMOVE
        elif part is not None:
            yield path, part.example


def _put(blocks: Any, path: Path, value: Any) -> None:
    target = blocks
    for step in path[:-1]:
        if is_mapping(target) and step in target:
            target = target[str(step)]
        elif is_list(target) and isinstance(step, int):
            target = target[step]
        else:
            return  # an earlier repair replaced what is around it
    if not is_mapping(target) and not is_list(target):
        return
    if value is _REMOVE:
        cast(Any, target).pop(path[-1], None)
    else:
        cast(Any, target)[path[-1]] = copy.deepcopy(value)
