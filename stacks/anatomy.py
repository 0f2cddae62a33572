"""What the models say about one place of a stack file: its type, its words, its keys."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from stacks.mistakes import Path
from stacks.models import Spec, StackConfig
from stacks.scalars import Allowed
from stacks.values import is_list, is_mapping


@dataclass(frozen=True, slots=True)
class Part:
    """One place that a value may stand at."""

    annotation: Any
    allowed: Allowed | None
    default_exists: bool = False

    @property
    def model(self) -> type[Spec] | None:
        return self.annotation if _is_model(self.annotation) else None

    @property
    def variants(self) -> dict[str, type[Spec]]:
        """For a union that is told apart by a tag: tag value to model."""
        if get_origin(self.annotation) not in (Union, types.UnionType):
            return {}
        members: list[type[Spec]] = [m for m in get_args(self.annotation) if _is_model(m)]
        return {tag_of(member)[1]: member for member in members}

    @property
    def choices(self) -> tuple[Any, ...]:
        return get_args(self.annotation) if get_origin(self.annotation) is Literal else ()

    @property
    def example(self) -> Any:
        """A value that is right here."""
        if self.allowed is not None:
            return self.allowed.example
        if self.model is not None:
            return example_of(self.model)
        if self.choices:
            return self.choices[0]
        return {bool: True, int: 1, str: "text"}.get(self.annotation, [])


def part_at(path: Path, blocks: Any) -> Part | None:
    """The part of the models that `path` leads to, or None where they know no such place."""
    part, value = Part(StackConfig, None), blocks
    for step in path:
        inner = _step(part, step, value)
        if inner is None:
            return None
        part, value = inner, _value_at(value, step)
    return part


def key_part_at(path: Path, blocks: Any) -> Part | None:
    """What a key of a map with free names may be."""
    around = part_at(path[:-1], blocks)
    if around is None or get_origin(around.annotation) is not dict:
        return None
    return _unwrap(get_args(around.annotation)[0], (), False)


def keys_of(part: Part, value: Any) -> list[str]:
    """The keys a mapping may have at this place."""
    model = _chosen(part, value)
    return [alias for alias, _ in fields_of(model)] if model is not None else []


def fields_of(model: type[Spec]) -> Iterator[tuple[str, FieldInfo]]:
    for field in model.model_fields.values():
        assert field.alias is not None
        yield field.alias, field


def field_part(field: FieldInfo) -> Part:
    return _unwrap(field.annotation, field.metadata, not field.is_required())


def example_of(model: type[Spec]) -> dict[str, Any]:
    return {
        alias: field_part(field).example for alias, field in fields_of(model) if field.is_required()
    }


def tag_of(model: type[Spec]) -> tuple[str, str]:
    """The key and value by which a variant is recognised."""
    field = model.model_fields["kind"]
    assert field.alias is not None
    return field.alias, get_args(field.annotation)[0]


def all_models(root: type[Spec] = StackConfig) -> list[type[Spec]]:
    """Every model of the stack file, in the order a reader meets them."""
    found: list[type[Spec]] = []

    def visit(annotation: Any) -> None:
        if _is_model(annotation):
            if annotation not in found:
                found.append(annotation)
                for field in annotation.model_fields.values():
                    visit(field.annotation)
            return
        for argument in get_args(annotation):
            visit(argument)

    visit(root)
    return found


def value_at(blocks: Any, path: Path) -> Any:
    """What stands at a place; None where nothing does."""
    for step in path:
        blocks = _value_at(blocks, step)
    return blocks


def _step(part: Part, step: str | int, value: Any) -> Part | None:
    if isinstance(step, int):
        arguments = get_args(part.annotation)
        return _unwrap(arguments[0], (), False) if get_origin(part.annotation) is tuple else None
    if get_origin(part.annotation) is dict:
        return _unwrap(get_args(part.annotation)[1], (), True)
    model = _chosen(part, value)
    if model is None:
        return None
    field = dict(fields_of(model)).get(step)
    return field_part(field) if field is not None else None


def _chosen(part: Part, value: Any) -> type[Spec] | None:
    if part.model is not None:
        return part.model
    variants = part.variants
    if not variants or not is_mapping(value):
        return None
    tag = tag_of(next(iter(variants.values())))[0]
    return variants.get(str(value.get(tag)))


def _unwrap(annotation: Any, metadata: Iterable[Any], default_exists: bool) -> Part:
    """Through Annotated and `| None` to what a value must be."""
    found = [item for item in metadata if isinstance(item, Allowed)]
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            found += [item for item in more if isinstance(item, Allowed)]
            continue
        if get_origin(annotation) in (Union, types.UnionType):
            members = [member for member in get_args(annotation) if member is not type(None)]
            if len(members) == 1:
                annotation = members[0]
                continue
        return Part(annotation, found[0] if found else None, default_exists)


def _value_at(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if is_list(value) and step < len(value) else None
    return value.get(step) if is_mapping(value) else None


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Spec)
