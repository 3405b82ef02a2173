"""The traits of programs: what the table may say, and that the code asks for what is there."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import assent
from assent.policy.rule_width import BY_OPERANDS
from assent.programs.catalog import catalog
from assent.programs.traits import TRAITS, has

SOURCE = Path(assent.__file__).parent
TABLE = {trait: str(listed).split() for trait, listed in catalog.rows(TRAITS)[TRAITS].items()}


@pytest.mark.parametrize(
    ("program", "trait", "expected"),
    [
        ("bash", "shell", True),
        ("bash5", "shell", False),
        ("python3.11", "python", True),
        ("python3.11-config", "python", False),
        ("python3.11-config", "maybe-python", True),
        ("py", "maybe-python", True),
        ("pytest", "maybe-python", False),
        ("python3-dbg", "reaches-terminals", True),
        ("", "maybe-python", False),
        ("3.11", "python", False),
    ],
)
def test_a_program_is_named_whole_by_version_or_by_its_beginning(program: str, trait: str, expected: bool) -> None:
    assert has(program, trait) is expected


def test_a_trait_that_is_not_listed_is_an_error() -> None:
    with pytest.raises(KeyError):
        has("bash", "shells")


@pytest.mark.parametrize("trait", TABLE)
def test_a_trait_lists_each_program_once_and_includes_only_traits(trait: str) -> None:
    assert [word for word, count in Counter(TABLE[trait]).items() if count > 1] == []
    assert {word[1:] for word in TABLE[trait] if word[0] == "@"} <= set(TABLE)
    assert all(re.fullmatch(r"@[a-z-]+|[^@#*]+[#*]?", word) for word in TABLE[trait])
    has("", trait)


def test_every_trait_is_asked_for_and_every_one_that_is_asked_for_is_listed() -> None:
    texts = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    asked = set(re.findall(r"(?<![.\w])has\((?:[^()]|\([^()]*\))*, \"([a-z-]+)\"\)", texts))
    families = {"shell", "python", "node", "php"}  # of interpreters, in `flows.py`
    included = {word[1:] for words in TABLE.values() for word in words if word[0] == "@"}
    assert asked | families | set(BY_OPERANDS) <= set(TABLE)
    assert set(TABLE) - asked - families - set(BY_OPERANDS) - included == set()


def test_every_trait_says_which_way_a_mistake_goes() -> None:
    lines = (SOURCE / "programs/traits.toml").read_text().splitlines()
    for above, line in pairwise(lines):
        if re.match(r"[a-z-]+ =", line):
            assert above.startswith(("# Danger: ", "# Proof: ")), line
