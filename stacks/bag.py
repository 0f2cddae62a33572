"""From the whole stack file to our blocks: what stands under `config:` and is spelled like ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stacks.anatomy import fields_of
from stacks.mistakes import Mistake, Path, as_yaml
from stacks.models import StackConfig
from stacks.nearest import closest
from stacks.rules import Rule
from stacks.values import is_list, is_mapping
from stacks.yaml_document import OURS, Document

BLOCKS = tuple(alias for alias, _ in fields_of(StackConfig))
# What Pulumi itself keeps in a stack file.
_PULUMIS_KEYS = ("config", "encryptedkey", "encryptionsalt", "environment", "secretsprovider")
# Providers this program uses; their settings are theirs to check.
_OTHER_NAMESPACES = ("aws", "kubernetes", "pulumi")


def unwritten(value: Any, path: Path = ()) -> Iterator[Mistake]:
    """Keys without a value, which mean "no limit" to nobody who reads them; and hidden secrets."""
    if value is None:
        yield Mistake(
            rule=Rule.EMPTY_VALUE,
            path=path,
            message="has no value",
            found=None,
            allowed="a value; leave the key out if it is not wanted",
        )
    elif is_mapping(value) and list(value) == ["secure"] and len(path) > 1:
        yield Mistake(
            rule=Rule.SECRET_BLOCK,
            path=path,
            message="Pulumi reads a lone key `secure` as an encrypted secret",
            allowed="a reference to a Secret (secretEnv)",
        )
    elif is_mapping(value):
        for key, item in value.items():
            yield from unwritten(item, (*path, key))
    elif is_list(value):
        for number, item in enumerate(value):
            yield from unwritten(item, (*path, number))


def blocks_of(document: Document) -> tuple[dict[str, Any], list[Mistake]]:
    """Our blocks by name, and what is wrong around them."""
    root = document.root
    if root is None:
        return {}, []
    top = root.value
    config: Any = top.get("config") if is_mapping(top) else None
    if not is_mapping(config):
        return {}, [
            Mistake(
                rule=Rule.NO_CONFIG,
                message="there is no `config:` mapping",
                place=root.place,
                write="config:\n  trainstack:cluster: {kind: local}",
            ),
            *_unknown_top_keys(document),
        ]
    mistakes = [*_unknown_top_keys(document), *_misspelled(document, config)]
    ours = {key.removeprefix(OURS): value for key, value in config.items() if key.startswith(OURS)}
    blocks: dict[str, Any] = {}
    for name, value in ours.items():
        problem = _not_a_block(document, name, value)
        if problem is None:
            blocks[name] = value
        else:
            mistakes.append(problem)
    return blocks, mistakes


def _unknown_top_keys(document: Document) -> Iterator[Mistake]:
    assert document.root is not None
    for key, place in document.root.keys.items():
        if key not in _PULUMIS_KEYS:
            near = closest(key, _PULUMIS_KEYS)
            if key.startswith(OURS) or key in BLOCKS:
                near = ("config",)
            yield Mistake(
                rule=Rule.UNKNOWN_TOP_KEY,
                message=f"Pulumi knows no key {key} here, and would pass over it",
                place=place,
                allowed=", ".join(_PULUMIS_KEYS),
                nearest=near,
                write=f"config: with {key} under it" if near == ("config",) else "",
            )


def _misspelled(document: Document, config: dict[str, Any]) -> Iterator[Mistake]:
    """Keys that were meant to be ours; Pulumi would hand them to nobody."""
    for key in config:
        namespace, colon, name = key.partition(":")
        if key.startswith(OURS) or namespace in _OTHER_NAMESPACES:
            continue
        block = closest(name if colon else namespace, BLOCKS)
        ours = closest(namespace, (OURS[:-1],)) if colon else block
        if not ours and not block:
            continue
        meant = f"{OURS}{block[0] if block else name}"
        yield Mistake(
            rule=Rule.WRONG_NAMESPACE,
            message=f"{key} is not one of our keys, and nothing would read it",
            place=document.place_of(("config", key), at_key=True),
            allowed=", ".join(f"{OURS}{block}" for block in BLOCKS),
            nearest=(meant,),
            write=f"{meant}:",
        )


def _not_a_block(document: Document, name: str, value: Any) -> Mistake | None:
    place = document.place_of(("config", f"{OURS}{name}"))
    if value is None:
        return None  # told as a key without a value
    if is_mapping(value) and "secure" in value:
        return Mistake(
            rule=Rule.SECRET_BLOCK,
            message=f"{OURS}{name} is encrypted as a whole",
            place=place,
            allowed="the block in clear; secrets are references (secretEnv)",
        )
    if name in BLOCKS and not isinstance(value, dict | list):
        example = {"cluster": {"kind": "local"}, "trainer": {"version": "2.3.0"}}.get(name, [])
        return Mistake(
            rule=Rule.NOT_STRUCTURED,
            message=f"{OURS}{name} is not a mapping or a list",
            place=place,
            found=value,
            allowed="a mapping" if name in ("cluster", "trainer") else "a list",
            write=f"{OURS}{name}: {as_yaml(example)}",
        )
    return None
