"""One mistake in a stack file: where it is, what was found, and what to type instead."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stacks.plain_scalars import reads_as_itself
from stacks.rules import Rule
from stacks.values import is_list, is_mapping

Path = tuple[str | int, ...]
_NOTHING = object()
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONGEST_SHOWN = 120
# Text that needs no quotes anywhere in YAML, flow lists included.
_PLAIN_TEXT = re.compile(r"[A-Za-z0-9/~_][A-Za-z0-9/~_.@:+=-]*(?<!:)")


@dataclass(frozen=True, order=True, slots=True)
class Place:
    """Line and column, counted from one as editors do."""

    line: int
    column: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Mistake:
    rule: Rule
    message: str
    path: Path = ()
    at_key: bool = False  # the key is wrong, not its value
    found: Any = _NOTHING
    allowed: str = ""
    nearest: tuple[str, ...] = ()
    write: str = ""
    place: Place | None = None  # only for mistakes of the file itself; others are looked up


@dataclass(frozen=True, slots=True)
class Reported:
    """A mistake with its place in the file and its path in words."""

    mistake: Mistake
    place: Place | None
    where: str

    def lines(self, file: str) -> list[str]:
        mistake = self.mistake
        position = f":{self.place.line}:{self.place.column}" if self.place is not None else ""
        path = f" {self.where}:" if self.where else ""
        facts = {
            "found": show(mistake.found) if mistake.found is not _NOTHING else "",
            "allowed": mistake.allowed,
            "nearest": ", ".join(mistake.nearest),
            "write": mistake.write,
        }
        label = "warning" if mistake.rule.only_warns else "error"
        head = f"{file}{position}: {label}:{path} {mistake.message} [{mistake.rule}]"
        body: list[str] = []
        for name, text in facts.items():
            first, *rest = text.splitlines() or [""]
            if first:
                body.append(f"    {name:8} {first}")
            body += [f"    {'':8} {line}" for line in rest]
        return [head, *body]

    def as_json(self) -> dict[str, Any]:
        mistake = self.mistake
        return {
            "rule": str(mistake.rule),
            "path": self.where,
            "line": self.place.line if self.place is not None else None,
            "column": self.place.column if self.place is not None else None,
            "message": mistake.message,
            "found": _plain(mistake.found),
            "allowed": mistake.allowed or None,
            "nearest": list(mistake.nearest),
            "write": mistake.write or None,
        }


def in_words(path: Path, names: Sequence[str | None]) -> str:
    """`tenants[0](nlp).jobs[1](t5-large).nodes`; `names` go with the indexes, in their order."""
    text, left = "", iter(names)
    for part in path:
        if isinstance(part, int):
            name = next(left, None)
            text += f"[{part}]" + (f"({printable(name)})" if name is not None else "")
        else:
            text += f".{printable(part)}" if text else printable(part)
    return text


def printable(text: str) -> str:
    """Text that cannot move the cursor or hide: escapes for what is not printable."""
    return text if text.isprintable() else json.dumps(text)


def show(value: Any) -> str:
    """A value as it would stand in the file, on one line and not too long."""
    text = as_yaml(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def as_yaml(value: Any) -> str:
    """One line of YAML that reads back as `value` with any reader."""
    if isinstance(value, str):
        plain = _PLAIN_TEXT.fullmatch(value) is not None and reads_as_itself(value)
        return value if plain else _quoted(value)
    if is_list(value):
        return "[" + ", ".join(as_yaml(item) for item in value) + "]"
    if is_mapping(value):
        return "{" + ", ".join(f"{as_yaml(k)}: {as_yaml(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)


def _quoted(text: str) -> str:
    """Double-quoted YAML; JSON's pairs of surrogates are no YAML, so wide escapes are our own."""

    def escaped(character: str) -> str:
        if character in _ESCAPES:
            return _ESCAPES[character]
        if character.isprintable():
            return character
        code = ord(character)
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"

    return f'"{"".join(escaped(character) for character in text)}"'


def _plain(value: Any) -> Any:
    return None if value is _NOTHING else value
