"""What a person may have meant: close spellings, other spellings of the field, look-alikes."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

# Letters of other alphabets that look like ASCII ones in most fonts.
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝոԍοανρτυικΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТХ‐‑‒–—−",  # noqa: RUF001
    "aeopcyxijshdqwngoavptuikABEZHIKMNOPTYXABEKMHOPCTX------",
)
# What other tools call it.
_ELSEWHERE = {
    "numnodes": "nodes",
    "replicas": "nodes",
    "workers": "nodes",
    "numprocpernode": "processesPerNode",
    "nprocpernode": "processesPerNode",
    "nodeselector": "pool",
    "nodepool": "pool",
    "pools": "gpuPools",
    "instancetype": "shape",
    "command": "args",
    "arguments": "args",
    "environment": "env",
    "shmsize": "sharedMemory",
    "activedeadlineseconds": "deadline",
    "timeout": "deadline",
    "runtimeref": "runtime",
    "namespace": "name",
    "namespaces": "tenants",
    "backofflimit": "maxRestarts",
    "failurepolicy": "failure",
    "availabilityzones": "zones",
    "zone": "zones",
    "limit": "maxGpus",
    "capacitytypes": "capacity",
}


def closest(found: str, allowed: Iterable[str], count: int = 1) -> tuple[str, ...]:
    """The allowed spellings nearest to `found`; none when nothing is near."""
    canonical = {_canonical(name): name for name in allowed}
    wanted = _canonical(found)
    if wanted in canonical:
        return (canonical[wanted],)
    elsewhere = _ELSEWHERE.get(wanted)
    if elsewhere is not None and elsewhere in canonical.values():
        return (elsewhere,)
    close = difflib.get_close_matches(wanted, canonical, count, cutoff=0.6)
    return tuple(canonical[name] for name in close)


def odd_character(text: str) -> str | None:
    """The first character that a name cannot have, in words; None when all are plain."""
    for position, character in enumerate(text, start=1):
        if character.isascii() and character.isprintable() and character != " ":
            continue
        if character in "\r\n" and position >= len(text.rstrip("\r\n")) + 1:
            return "it ends with a line break (a block scalar `|` adds one; use `|-` or quotes)"
        name = unicodedata.name(character, f"U+{ord(character):04X}").lower()
        twin = character.translate(_LOOK_ALIKES)
        looks = f", which looks like {twin}" if twin != character else ""
        return f"character {position} is {name}{looks}"
    return None


def without_look_alikes(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate(_LOOK_ALIKES)
    return "".join(character for character in plain if character.isprintable()).strip()


def _canonical(name: str) -> str:
    return without_look_alikes(name).replace("-", "").replace("_", "").replace(" ", "").lower()
