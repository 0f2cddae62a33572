"""From what pydantic says to what a person can act on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from stacks.anatomy import Part, key_part_at, keys_of, part_at, tag_of, value_at
from stacks.mistakes import Mistake, Path, as_yaml
from stacks.nearest import closest, odd_character, without_look_alikes
from stacks.rules import Rule
from stacks.scalars import TRAINING_FOLDER
from stacks.values import is_list, is_mapping
from stacks.yaml_document import OURS

_TYPE_WORDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_RANGE_WORDS = {
    "greater_than_equal": "too small",
    "less_than_equal": "too large",
    "string_too_long": "too long",
    "string_too_short": "too short",
    "too_short": "too few",
    "too_long": "too many",
}
MISSPELLED = (Rule.UNKNOWN_KEY, Rule.UNKNOWN_BLOCK)


@dataclass(frozen=True, slots=True)
class _Problem:
    """One error of pydantic, with its place in the file and in the models."""

    kind: str
    path: Path
    at_key: bool
    found: Any
    part: Part | None
    text: str
    context: dict[str, Any]
    blocks: dict[str, Any]

    @property
    def words(self) -> str:
        allowed = self.part.allowed if self.part is not None else None
        return allowed.words if allowed is not None else ""

    @property
    def example(self) -> Any:
        return self.part.example if self.part is not None else ""

    def line(self, value: Any) -> str:
        """A line to paste: with its key, or as an item of a list."""
        text = as_yaml(value)
        if isinstance(self.path[-1], int):
            return f"- {text}"
        return f"{OURS if len(self.path) == 1 else ''}{self.path[-1]}: {text}"


def explain(error: ValidationError, blocks: dict[str, Any]) -> Iterator[Mistake]:
    mistakes = [
        _explain(problem, blocks)
        for problem in error.errors(include_url=False)
        if not _follows_from_its_items(problem)
    ]
    meant = {(*m.path[:-1], near) for m in mistakes if m.rule in MISSPELLED for near in m.nearest}
    for mistake in mistakes:
        if mistake.rule is not Rule.MISSING_KEY or mistake.path not in meant:
            yield mistake


def path_of(problem: ErrorDetails, blocks: Any) -> tuple[Path, bool]:
    """The place in the file, without the steps pydantic adds; and whether the key is meant."""
    path: list[str | int] = []
    value, tagged = blocks, False
    steps = problem["loc"]
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        if step == "[key]":
            return tuple(path), True
        if not tagged:
            part = part_at(tuple(path), blocks)
            tagged = part is not None and bool(part.variants)
            if tagged and not (last and problem["type"] == "missing"):
                continue  # the tag of a union, which may well be a key's name, too
        tagged = False
        if is_mapping(value) and step in value:
            value = value[str(step)]
        elif is_list(value) and isinstance(step, int):
            value = value[step]
        elif not (last and problem["type"] == "missing"):
            continue
        path.append(step)
    return tuple(path), problem["type"] in ("extra_forbidden", "missing")


def _follows_from_its_items(problem: ErrorDetails) -> bool:
    """Pydantic counts only right items, so that a list with a wrong one may seem too short."""
    if problem["type"] != "too_short" or not is_list(problem["input"]):
        return False
    return len(problem["input"]) >= problem.get("ctx", {}).get("min_length", 0)


def training_scripts() -> list[str]:
    files = (file for file in TRAINING_FOLDER.rglob("*.py") if not file.name.startswith("__"))
    return sorted(str(file.relative_to(TRAINING_FOLDER)) for file in files)


def _explain(details: ErrorDetails, blocks: dict[str, Any]) -> Mistake:
    path, at_key = path_of(details, blocks)
    problem = _Problem(
        kind=details["type"],
        path=path,
        at_key=at_key,
        found=details["input"],
        part=key_part_at(path, blocks) if details["loc"][-1] == "[key]" else part_at(path, blocks),
        text=details["msg"],
        context=details.get("ctx", {}),
        blocks=blocks,
    )
    return _EXPLAINERS.get(problem.kind, _our_own)(problem)


def _our_own(problem: _Problem) -> Mistake:
    """Errors of our own validators: the type is the rule."""
    rule = Rule(problem.kind)
    near = tuple(problem.context.get("nearest", ()))
    if rule is Rule.SCRIPT_MISSING:
        near = closest(str(problem.found), training_scripts(), 3)
    return Mistake(
        rule=rule,
        path=problem.path,
        at_key=problem.at_key,
        message=problem.text,
        found=problem.found,
        allowed=problem.context.get("allowed") or problem.words,
        nearest=near,
        write=problem.line(near[0]) if near else "",
    )


def _missing_key(problem: _Problem) -> Mistake:
    return Mistake(
        rule=Rule.MISSING_KEY,
        path=problem.path,
        at_key=True,
        message="is missing",
        allowed=problem.words,
        write=problem.line(problem.example),
    )


def _unknown_key(problem: _Problem) -> Mistake:
    path, key = problem.path, str(problem.path[-1])
    parent = part_at(path[:-1], problem.blocks)
    around = value_at(problem.blocks, path[:-1])
    allowed = keys_of(parent, around) if parent is not None else []
    free = [name for name in allowed if name not in around]
    near = closest(key, free) or closest(key, allowed)
    odd = odd_character(key)
    pasted = bool(near) and near[0] in free and _is_short(problem.found)
    return Mistake(
        rule=Rule.UNKNOWN_BLOCK if len(path) == 1 else Rule.UNKNOWN_KEY,
        path=path,
        at_key=True,
        message=f"no such {'block' if len(path) == 1 else 'key'}{f' ({odd})' if odd else ''}",
        found=key,
        allowed=", ".join(allowed),
        nearest=near,
        write=replace(problem, path=(*path[:-1], near[0])).line(problem.found) if pasted else "",
    )


def _wrong_kind(problem: _Problem) -> Mistake:
    variants = problem.part.variants if problem.part is not None else {}
    tag = tag_of(next(iter(variants.values())))[0] if variants else "kind"
    given = problem.found.get(tag) if is_mapping(problem.found) else None
    near = closest(str(given), variants) if given is not None else ()
    example = near[0] if near else next(iter(variants), "")
    return Mistake(
        rule=Rule.WRONG_KIND,
        path=(*problem.path, tag),
        message=f"no such {tag}" if given is not None else f"{tag} is missing",
        at_key=given is None,
        found=given,
        allowed=", ".join(variants),
        nearest=near,
        write=f"{tag}: {example}",
    )


def _wrong_value(problem: _Problem) -> Mistake:
    part = problem.part
    choices = [str(choice) for choice in (part.choices if part is not None else ())]
    near = closest(str(problem.found), choices)
    return Mistake(
        rule=Rule.WRONG_VALUE,
        path=problem.path,
        message="not one of the values this takes",
        found=problem.found,
        allowed=problem.words or ", ".join(choices),
        nearest=near,
        write=problem.line(near[0]) if near else "",
    )


def _wrong_form(problem: _Problem) -> Mistake:
    odd = odd_character(problem.found)
    mended = without_look_alikes(problem.found)
    pasted = problem.part is not None and not problem.at_key
    return Mistake(
        rule=Rule.WRONG_FORM,
        path=problem.path,
        at_key=problem.at_key,
        message=odd if odd is not None else "not of the form this takes",
        found=problem.found,
        allowed=problem.words,
        nearest=(mended,) if odd is not None and mended not in (problem.found, "") else (),
        write=problem.line(problem.example) if pasted else "",
    )


def _wrong_type(problem: _Problem) -> Mistake:
    expected, words = _TYPE_WORDS[problem.kind], problem.words
    meant = _converted(problem.found, expected)
    variants = problem.part.variants if problem.part is not None else {}
    if isinstance(problem.found, str) and problem.found in variants:
        meant = {tag_of(variants[problem.found])[0]: problem.found}
    return Mistake(
        rule=Rule.WRONG_TYPE,
        path=problem.path,
        message=f"{_type_in_words(problem.found)} where {expected} is wanted",
        found=problem.found,
        allowed=words if words.startswith(expected) else f"{expected}: {words}".rstrip(": "),
        write=problem.line(meant if meant is not None else problem.example),
    )


def _converted(found: Any, expected: str) -> Any:
    """The value of the expected type that was probably meant."""
    if expected == "text" and isinstance(found, int | float) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str):
        return None
    if expected == "a whole number" and found.strip().isdecimal():
        return int(found)
    if expected == "true or false":
        return {"true": True, "false": False}.get(found.lower())
    return [found] if expected == "a list" else None


def _out_of_range(problem: _Problem) -> Mistake:
    found = problem.found
    size = f" ({len(found)} characters)" if isinstance(found, str) else ""
    return Mistake(
        rule=Rule.OUT_OF_RANGE,
        path=problem.path,
        at_key=problem.at_key,
        message=f"{_RANGE_WORDS[problem.kind]}{size}",
        found=found,
        allowed=problem.words or problem.text.lower(),
    )


_EXPLAINERS: dict[str, Callable[[_Problem], Mistake]] = {
    "extra_forbidden": _unknown_key,
    "missing": _missing_key,
    "union_tag_invalid": _wrong_kind,
    "union_tag_not_found": _wrong_kind,
    "literal_error": _wrong_value,
    "string_pattern_mismatch": _wrong_form,
    **dict.fromkeys(_TYPE_WORDS, _wrong_type),
    **dict.fromkeys(_RANGE_WORDS, _out_of_range),
}


def _type_in_words(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case _:
            return "a list" if is_list(value) else "a mapping"


def _is_short(value: Any) -> bool:
    return isinstance(value, str | int | float | bool) or len(as_yaml(value)) < 80
