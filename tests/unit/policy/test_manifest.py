"""Manifests: what they may ask for, and that one which may only tighten loosens nothing."""

from __future__ import annotations

import pytest

from assent.contract import PolicyError
from assent.policy.manifest import read_manifest
from assent.policy.modes import Mode

TEXT = """name = "tools"
version = "2"
mode = "auto"
max_mode = "auto"
allow = ["bash(make test)"]
ask = ["bash(make deploy)"]
deny = ["bash(make wipe)"]
"""


def test_a_manifest_says_who_it_is_and_what_it_asks_for() -> None:
    found = read_manifest(TEXT, "pack.toml")
    rules = [[rule.text for rule in each] for each in (found.document.allow, found.document.ask, found.document.deny)]
    assert (found.name, found.version, found.left_out) == ("tools", "2", ())
    assert (found.document.mode, found.document.max_mode) == (Mode.AUTO, Mode.AUTO)
    assert rules == [["bash(make test)"], ["bash(make deploy)"], ["bash(make wipe)"]]
    assert found.document.allow[0].source == "pack.toml:5"


def test_one_that_can_only_tighten_widens_nothing() -> None:
    found = read_manifest(TEXT, "pack.toml", tighten=True)
    assert (found.document.allow, found.document.mode, found.left_out) == ((), None, ("mode", "allow"))
    assert (found.document.mode, found.document.allow) == (None, ())
    assert [rule.text for rule in found.document.deny] == ["bash(make wipe)"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs a name"),
        ('name = "../x"', "is not a valid name"),
        ('name = "A"', "is not a valid name"),
        ("name = 7", "`name` must be a text"),
        ('name = "x"\n[packs]\non = ["dev-tasks"]', "may not set `packs`"),
        ('name = "x"\nfollow_runtime_mode = true', "may not set `follow_runtime_mode`"),
        ('name = "x"\nmode = "yolo"', "yolo"),
        ('name = "x"\nallow = ["mcp__docs(read_only)"]', "relies on what a server says"),
        ('name = "x"\nallow = ["bash("]', "pack.toml:2"),
        ('name = "x"\nallow = [', "not valid TOML"),
    ],
)
def test_what_a_manifest_may_not_say_is_told(text: str, said: str) -> None:
    with pytest.raises(PolicyError, match=said.replace("(", r"\(")) as caught:
        read_manifest(text, "pack.toml")
    assert "pack.toml" in str(caught.value)
