"""State files are whole or not there, closed to others, and changed by one process at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assent.contract import StoreError
from assent.state.files import held, read, replace, replace_text, state_folder


def test_a_file_is_replaced_whole_and_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("old")
    path.chmod(0o644)
    replace_text(str(path), "new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)
    assert os.listdir(tmp_path) == ["x.json"]


def test_a_file_that_cannot_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        replace_text(str(path), "\ud800")
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["x.json"])
    with pytest.raises(StoreError):
        replace_text(str(tmp_path / "none/x"), "new")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError):
        replace(str(tmp_path / "folder"), b"new", 0o644)
    assert sorted(os.listdir(tmp_path)) == ["folder", "x.json"]


def test_a_link_at_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError), held(str(tmp_path / "lock")):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_reading_is_bounded_and_never_waits(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    os.mkfifo(tmp_path / "pipe")
    assert read(str(tmp_path / "x"), 5)[0] == b"12345"
    for name, limit in (("x", 4), ("pipe", 4), ("", 4)):
        with pytest.raises(OSError, match=r"longer than 4|not a regular file|directory"):
            read(str(tmp_path / name), limit)


def test_a_folder_is_made_closed_and_closed_again(tmp_path: Path) -> None:
    folder = tmp_path / "a/b"
    assert state_folder(str(folder)) == str(folder)
    folder.chmod(0o755)
    state_folder(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
