"""Unquoted YAML text, read only where every reader reads the same.

Pulumi's own reader, PyYAML and editors follow different versions of YAML: `no`, `010` or `1e3` are
text to one and something else to another. What they disagree on is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TEXT_OR_BOOLEAN = re.compile(r"y|n|yes|no|on|off|true|false", re.IGNORECASE)
_NUMBER_LIKE = re.compile(
    r"""[-+]?_*(
        0[0-7_]+ | 0o[0-7_]+ | 0x[0-9a-f_]+ | 0b[01_]+      # octal, hexadecimal, binary
      | [0-9][0-9_]*(\.[0-9_]*)?(e[-+]?[0-9]+)?             # leading zeros, underscores, exponents
      | \.[0-9_]+(e[-+]?[0-9]+)? | \.inf | \.nan
      | [0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?             # base 60: 1:30
    )
    | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([t\s].*)?              # dates
    """,
    re.IGNORECASE | re.VERBOSE,
)
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,17})\.[0-9]{1,17}")
_KEYWORDS: dict[str, bool | None] = {
    "true": True,
    "false": False,
    "null": None,
    "~": None,
    "": None,
}


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Text that is read differently, and what to write for each meaning."""

    text: str
    write: str


def read_plain(text: str) -> str | int | float | bool | Ambiguous | None:
    if text in _KEYWORDS:
        return _KEYWORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _TEXT_OR_BOOLEAN.fullmatch(text):
        meaning = "true" if text.lower() in ("y", "yes", "on", "true") else "false"
        return Ambiguous(text, f'{meaning}, or the text "{text}"')
    if _NUMBER_LIKE.fullmatch(text) or text in ("=", "<<", "Null", "NULL"):
        return Ambiguous(text, f'a plain number, or the text "{text}"')
    return text


def reads_as_itself(text: str) -> bool:
    """Whether unquoted `text` is that text to every reader."""
    return read_plain(text) == text
