"""The list of packs that a person activated: it is intact, or it stops everything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assent import PolicyError
from assent.state import activated

PACK = activated.Pack("previews", "/srv/plugin.toml", activated.digest(b"x"), "ada", 1.5, False)
ROW = {name: getattr(PACK, name) for name in activated.FIELDS}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    found = tmp_path / "state"
    found.mkdir(mode=0o700)
    return found


def test_what_is_added_is_found(state: Path) -> None:
    activated.add(str(state), PACK, b"x")
    assert activated.packs(str(state)) == (PACK,)
    assert activated.remove(str(state), "previews")
    assert activated.packs(str(state)) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "../../plugin"},
        {"name": 7},
        {"source": 0},
        {"source": "plugin.toml"},
        {"sha256": None},
        {"who": []},
        {"made": "yesterday"},
        {"tightens": "no"},
        {"tightens": 0},
    ],
)
def test_a_list_that_nobody_of_us_wrote_is_an_error(state: Path, wrong: dict[str, Any]) -> None:
    (state / "packs.json").write_text(json.dumps([{**ROW, **wrong}]))
    with pytest.raises(PolicyError):
        activated.packs(str(state))


@pytest.mark.parametrize("text", ["", "{}x", '{"a": 1}', "[1]", "[" * 100_000])
def test_what_is_no_list_does_not_count_as_empty(state: Path, text: str) -> None:
    (state / "packs.json").write_text(text)
    with pytest.raises(PolicyError):
        activated.packs(str(state))
