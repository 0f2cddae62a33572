"""A stack file as values with their places, and every way YAML can trick its writer refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import yaml
from yaml import events

from stacks.mistakes import Mistake, Path, Place, as_yaml
from stacks.plain_scalars import Ambiguous, read_plain
from stacks.rules import Rule
from stacks.values import is_list

OURS = "trainstack:"
LARGEST_BYTES = 4_000_000
DEEPEST = 20
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
# libyaml is ten times faster; the pure reader gives the same events where it is missing.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Node:
    """A value and where it stands; mappings also know where their keys stand."""

    place: Place
    value: Any
    written: str = ""  # a scalar's own text: 1.30 is a number that has lost its zero
    keys: dict[str, Place] = field(default_factory=dict[str, Place])
    children: dict[str | int, Node] = field(default_factory=dict[str | int, "Node"])


@dataclass(frozen=True, slots=True)
class Document:
    """What could be read, and what was wrong with the file while reading it."""

    root: Node | None
    mistakes: tuple[Mistake, ...]

    def node_at(self, path: Path) -> Node | None:
        node = self.root
        for part in path:
            node = node.children.get(part) if node is not None else None
        return node

    def place_of(self, path: Path, at_key: bool = False) -> Place | None:
        """Where `path` stands, or the nearest thing around it that does."""
        for length in range(len(path), -1, -1):
            node = self.node_at(path[:length])
            if node is None:
                continue
            if length and (at_key or length < len(path)):
                parent = self.node_at(path[: length - 1])
                key = parent.keys.get(str(path[length - 1])) if parent is not None else None
                return key if key is not None else node.place
            return node.place
        return None

    def names_along(self, path: Path) -> list[str | None]:
        """For each list item on the way, the text of its `name`."""
        names: list[str | None] = []
        for end, part in enumerate(path, start=1):
            if isinstance(part, int):
                named = self.node_at((*path[:end], "name"))
                text = named.value if named is not None else None
                names.append(text if isinstance(text, str) else None)
        return names


def read_file(file: FilePath) -> Document:
    try:
        size = file.stat().st_size
        content = file.read_bytes() if size <= LARGEST_BYTES else b""
    except OSError as error:
        return _refused(Rule.FILE_MISSING, f"the file cannot be read: {error.strerror}")
    if size > LARGEST_BYTES:
        return _refused(
            Rule.FILE_TOO_LARGE,
            f"the file has {size / 1e6:.1f} MB",
            allowed=f"at most {LARGEST_BYTES / 1e6:.0f} MB; give teams stacks of their own "
            "(cluster.kind: stack)",
        )
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        return _refused(Rule.NOT_UTF8, f"byte {error.start} is not UTF-8 text")
    return read_text(text)


def read_text(text: str) -> Document:
    refused = _unreadable(text)
    if refused is not None:
        return refused
    reader = _Reader(text)
    try:
        reader.read(yaml.parse(text, Loader=_Loader))
    except _UnreadableError:
        return Document(None, tuple(reader.mistakes))
    except yaml.YAMLError as error:
        return _not_yaml(text, error)
    if reader.root is None or reader.root.value is None:
        return _refused(
            Rule.EMPTY_DOCUMENT, "the file is empty", Place(1, 1), allowed="a `config:` mapping"
        )
    return Document(reader.root, tuple(reader.mistakes))


def _unreadable(text: str) -> Document | None:
    """Characters that YAML readers stumble over, each in its own way."""
    if text.startswith(_BOM):
        return _refused(
            Rule.BYTE_ORDER_MARK,
            "the file begins with an invisible byte order mark",
            Place(1, 1),
            allowed="UTF-8 without a byte order mark",
        )
    control = _CONTROL.search(text)
    if control is not None:
        *_, last = lines = _LINE_BREAK.split(text[: control.start()])
        return _refused(
            Rule.CONTROL_CHARACTER,
            f"a control character (U+{ord(control[0]):04X})",
            Place(len(lines), len(last) + 1),
            allowed='escapes in double quotes, such as "\\e"',
        )
    return None


def _not_yaml(text: str, error: yaml.YAMLError) -> Document:
    mark: yaml.Mark | None = getattr(error, "problem_mark", None)
    place = Place(mark.line + 1, mark.column + 1) if mark is not None else None
    lines = text.splitlines()
    line = lines[mark.line] if mark is not None and mark.line < len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return _refused(Rule.TAB, "a tab in front of the line", place, allowed="spaces")
    return _refused(Rule.BROKEN_YAML, f"not YAML: {getattr(error, 'problem', error)}", place)


def _refused(rule: Rule, message: str, place: Place | None = None, allowed: str = "") -> Document:
    return Document(None, (Mistake(rule=rule, message=message, place=place, allowed=allowed),))


class _UnreadableError(Exception):
    """Reading on makes no sense."""


@dataclass(slots=True)
class _Frame:
    """An open mapping or sequence."""

    node: Node
    ours: bool  # inside a `trainstack:` block
    flow: bool  # written with brackets or braces
    key: str | None = None  # the key whose value comes next
    key_is_wrong: bool = False
    wants_key: bool = False


class _Reader:
    """From YAML events to nodes, without recursion: depth is the writer's choice, not ours."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.root: Node | None = None
        self.mistakes: list[Mistake] = []
        self._open: list[_Frame] = []
        self._documents = 0

    def read(self, stream: Iterator[events.Event]) -> None:
        for event in stream:
            mark: Any = event.start_mark
            place = Place(mark.line + 1, mark.column + 1)
            match event:
                case events.DocumentStartEvent():
                    self._documents += 1
                    if event.version is not None or event.tags:
                        self._note(Rule.TAG, "a YAML directive", place, allowed="no % lines")
                        raise _UnreadableError
                    if self._documents > 1:
                        self._note(Rule.SECOND_DOCUMENT, "a second document begins", place)
                        raise _UnreadableError
                case events.AliasEvent():
                    self._refuse_anchor(place, f"*{event.anchor}")
                    if self._open and self._open[-1].wants_key:
                        raise _UnreadableError
                    self._add(Node(place, None))
                case events.ScalarEvent():
                    self._check_decorations(event, place)
                    self._scalar(event, place)
                case events.MappingStartEvent() | events.SequenceStartEvent():
                    self._check_decorations(event, place)
                    self._start(event, place)
                case events.MappingEndEvent() | events.SequenceEndEvent():
                    self._open.pop()
                case _:
                    pass

    def _start(
        self, event: events.MappingStartEvent | events.SequenceStartEvent, place: Place
    ) -> None:
        is_mapping = isinstance(event, events.MappingStartEvent)
        if self._open and self._open[-1].wants_key:
            self._note(Rule.KEY_NOT_TEXT, "a mapping or list as a key", place)
            raise _UnreadableError
        if len(self._open) >= DEEPEST:
            message = f"nested more than {DEEPEST} levels deep"
            self._note(Rule.TOO_DEEP, message, place)
            raise _UnreadableError
        node = Node(place, {} if is_mapping else [])
        ours = self._inside_ours()
        self._add(node)
        flow = bool(event.flow_style)
        self._open.append(_Frame(node, ours, flow=flow, wants_key=is_mapping))

    def _inside_ours(self) -> bool:
        if not self._open:
            return False
        top = self._open[-1]
        return top.ours or (len(self._open) == 2 and (top.key or "").startswith(OURS))

    def _scalar(self, event: events.ScalarEvent, place: Place) -> None:
        text: str = event.value
        plain = event.style is None or event.style == ""
        if self._open and self._open[-1].wants_key:
            self._key(text, plain, place)
            return
        value: Any = read_plain(text) if plain else text
        begin: Any = event.start_mark
        end: Any = event.end_mark
        source = self._text[begin.index : end.index] if event.style == '"' else ""
        if (plain and "?" in text and self._open and self._open[-1].flow) or "\\/" in source:
            value = Ambiguous(text, as_yaml(text))  # syntax errors to Pulumi's reader
        if isinstance(value, Ambiguous):
            if self._inside_ours():
                self._note(
                    Rule.AMBIGUOUS,
                    "YAML readers do not agree on what this is",
                    place,
                    found=text,
                    write=value.write,
                )
            value = text
        self._add(Node(place, value, written=text))

    def _key(self, text: str, plain: bool, place: Place) -> None:
        frame = self._open[-1]
        frame.key = text
        if text == "<<" and plain:
            self._refuse_anchor(place, "<<")
        elif frame.ours and plain and not isinstance(read_plain(text), str):
            self._note(
                Rule.KEY_NOT_TEXT,
                "YAML readers do not agree that this key is text",
                place,
                found=text,
                write=f'"{text}":',
            )
        frame.key_is_wrong = text in frame.node.keys
        if frame.key_is_wrong:
            first = frame.node.keys[text]
            self._note(
                Rule.DUPLICATE_KEY,
                f"{text} stands here again; the first is on line {first.line}",
                place,
                allowed="one of them",
            )
        else:
            frame.node.keys[text] = place
        frame.wants_key = False

    def _add(self, node: Node) -> None:
        if not self._open:
            self.root = node
            return
        frame = self._open[-1]
        if is_list(frame.node.value):
            frame.node.children[len(frame.node.children)] = node
            frame.node.value.append(node.value)
            return
        assert frame.key is not None
        if not frame.key_is_wrong:
            frame.node.children[frame.key] = node
            frame.node.value[frame.key] = node.value
        frame.wants_key = True

    def _check_decorations(self, event: events.NodeEvent, place: Place) -> None:
        if event.anchor is not None:
            self._refuse_anchor(place, f"&{event.anchor}")
        tag = getattr(event, "tag", None)
        if tag is not None:
            message = f"a YAML tag ({tag})"
            self._note(Rule.TAG, message, place, allowed="plain values; their type follows")

    def _refuse_anchor(self, place: Place, text: str) -> None:
        self._note(
            Rule.ANCHOR,
            "anchors, aliases and merge keys hide what a line means",
            place,
            found=text,
            allowed="the value itself, written out",
        )

    def _note(self, rule: Rule, message: str, place: Place, **facts: Any) -> None:
        path = self._path()
        self.mistakes.append(Mistake(rule=rule, message=message, path=path, place=place, **facts))

    def _path(self) -> Path:
        """Where the reader is, inside our blocks; empty outside of them."""
        if not self._inside_ours():
            return ()
        steps: list[str | int] = []
        for frame in self._open[1:]:
            if isinstance(frame.node.value, list):
                # Around us is the item added last; at the innermost level comes the next one.
                steps.append(len(frame.node.children) - (frame is not self._open[-1]))
            else:
                steps.append(str(frame.key))
        return (str(steps[0]).removeprefix(OURS), *steps[1:])
