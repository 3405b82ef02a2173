"""Trust is a person's mark on a folder, by the folder's canonical path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assent.contract import StoreError
from assent.state.trust import distrust, is_trusted, trust, trusted_folders


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def test_a_marked_folder_and_what_is_in_it_are_trusted(place: Path) -> None:
    state = str(place / "state")
    (place / "app/sub").mkdir(parents=True)
    (place / "app-two").mkdir()
    (place / "link").symlink_to("app")
    assert not is_trusted(str(place / "app"), state)
    assert trust(str(place / "link"), state) == str(place / "app")
    asked = ("app", "app/sub", "app/new", "link/sub", "app-two", "app/../app-two", "")
    assert [is_trusted(f"{place}/{name}", state) for name in asked] == [True] * 4 + [False] * 3
    assert trusted_folders(state) == (str(place / "app"),)


def test_a_link_out_of_a_trusted_folder_is_not_trusted(place: Path) -> None:
    (place / "app").mkdir()
    (place / "other").mkdir()
    (place / "app/link").symlink_to(place / "other")
    trust(str(place / "app"), str(place / "state"))
    assert not is_trusted(str(place / "app/link"), str(place / "state"))


def test_a_mark_is_taken_away_once(place: Path) -> None:
    state = str(place / "state")
    (place / "app").mkdir()
    trust(str(place / "app"), state)
    trust(str(place / "app"), state)
    assert [distrust(str(place / "app"), state) for _ in range(2)] == [True, False]
    assert trusted_folders(state) == ()


@pytest.mark.parametrize("folder", ["relative", "/", "/no/such/folder", ""])
def test_what_is_no_folder_of_a_project_cannot_be_marked(place: Path, folder: str) -> None:
    with pytest.raises(StoreError):
        trust(folder, str(place / "state"))
    assert trusted_folders(str(place / "state")) == ()


@pytest.mark.parametrize("text", ["{", "{}", '["relative"]', "[1]", "null", '"/"'])
def test_a_file_that_was_tampered_with_is_an_error_and_not_trust(place: Path, text: str) -> None:
    (place / "trust.json").write_text(text)
    with pytest.raises(StoreError, match="repair it or remove it"):
        is_trusted("/", str(place))
