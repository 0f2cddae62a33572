from __future__ import annotations

import pulumi
import pytest
import yaml

from components.cluster import single_context

TWO = yaml.safe_dump(
    {
        "contexts": [
            {"name": "kind", "context": {"cluster": "kind", "user": "me"}},
            {"name": "prod", "context": {"cluster": "prod", "user": "boss"}},
        ],
        "clusters": [
            {"name": "kind", "cluster": {"server": "https://127.0.0.1:1"}},
            {"name": "prod", "cluster": {"server": "https://prod"}},
        ],
        "users": [
            {"name": "me", "user": {"token": "mine"}},
            {"name": "boss", "user": {"token": "canary"}},
        ],
        "current-context": "prod",
    }
)


def test_only_the_chosen_context_is_taken() -> None:
    text = single_context(TWO, "kind")
    assert "canary" not in text
    assert yaml.safe_load(text)["current-context"] == "kind"
    assert "mine" in text


def test_an_unknown_context_names_the_known_ones() -> None:
    with pytest.raises(pulumi.RunError, match="use one of kind, prod"):
        single_context(TWO, "knid")
