"""A snapshot is used only if nobody but its owner can have written it, it is intact, and its sources are the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.state import snapshot

PARTS = {"settings": '{"a":1}', "deny.command": "[1,2]", "empty": ""}
KEY = snapshot.key("1.0", ["text", None])


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    snapshot.save(str(folder), "/project", KEY, PARTS)
    return folder


def file(state: Path) -> Path:
    (found,) = (state / snapshot.FOLDER).iterdir()
    return found


def load(state: Path, key: str = KEY, project: str = "/project") -> dict[str, bytes] | None:
    return snapshot.load(str(state), project, key)


def test_what_was_saved_comes_back(state: Path) -> None:
    assert load(state) == {name: text.encode() for name, text in PARTS.items()}


def test_it_is_for_its_owner_only(state: Path) -> None:
    assert file(state).stat().st_mode & 0o777 == 0o600
    assert file(state).parent.stat().st_mode & 0o777 == 0o700


def test_of_other_sources_or_another_project_there_is_none(state: Path) -> None:
    assert load(state, snapshot.key("1.1", ["text", None])) is None
    assert load(state, project="/other") is None


def test_a_file_that_is_not_there_is_another_source_than_an_empty_one() -> None:
    assert len({snapshot.key([None]), snapshot.key([""]), snapshot.key([]), snapshot.key(["", None])}) == 4


def test_without_a_folder_there_is_none(tmp_path: Path) -> None:
    assert load(tmp_path / "nowhere") is None


def _link(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir(mode=0o700)


BAD: dict[str, Callable[[Path], object]] = {
    "others can write it": lambda path: path.chmod(0o622),
    "its group can write it": lambda path: path.chmod(0o620),
    "others can write its folder": lambda path: path.parent.chmod(0o707),
    "others can write the folder above": lambda path: path.parent.parent.chmod(0o772),
    "a link": _link,
    "a pipe": _pipe,
    "a folder": _folder,
    "empty": lambda path: path.write_bytes(b""),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "cut in its header": lambda path: path.write_bytes(path.read_bytes()[:20]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b" "),
    "another character": lambda path: path.write_bytes(path.read_bytes().replace(b'"a":1', b'"a":2')),
    "another header": lambda path: path.write_bytes(b'["key"]\n' + path.read_bytes()),
    "no text": lambda path: path.write_bytes(b"\xff\xfe" + path.read_bytes()),
    "other lengths": lambda path: path.write_bytes(path.read_bytes().replace(b'["settings",7]', b'["settings",6]')),
    "another name of a part": lambda path: path.write_bytes(path.read_bytes().replace(b"deny.", b"denx.")),
    "lengths that are none": lambda path: path.write_bytes(path.read_bytes().replace(b",7]", b',"x"]')),
}


@pytest.mark.parametrize("spoil", BAD.values(), ids=BAD)
def test_a_spoilt_one_is_none_and_is_made_anew(state: Path, spoil: Callable[[Path], object]) -> None:
    path = file(state)
    spoil(path)
    assert load(state) is None
    for folder in (state, path.parent):
        folder.chmod(0o700)
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    snapshot.save(str(state), "/project", KEY, PARTS)
    assert load(state) is not None


@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=9))
def test_no_other_bytes_in_their_place_are_taken_for_whole(place: int, other: bytes) -> None:
    with TemporaryDirectory() as folder:
        snapshot.save(folder, "/project", KEY, PARTS)
        path = file(Path(folder))
        data = path.read_bytes()
        at = place % len(data)
        changed = (data[:at] + other + data[at + len(other) :])[: len(data)]
        path.write_bytes(changed)
        assert (load(Path(folder)) is None) is (changed != data)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("which", ["file", "folder", "state"])
def test_one_of_another_user_is_none(state: Path, which: str) -> None:
    given = {"file": file(state), "folder": file(state).parent, "state": state}[which]
    os.chown(given, 12345, 12345)
    assert load(state) is None


def test_where_it_cannot_be_kept_nothing_happens(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    snapshot.save(str(tmp_path / "file"), "/project", KEY, PARTS)
    assert (tmp_path / "file").read_text() == ""


def test_only_so_many_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "KEPT", 3)
    for number in range(6):
        snapshot.save(str(tmp_path / "s"), f"/project-{number}", KEY, PARTS)
    assert len(list((tmp_path / "s" / snapshot.FOLDER).iterdir())) == 3
    assert load(tmp_path / "s", project="/project-5") is not None


def test_a_change_of_the_program_is_seen(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text("a")
    before = snapshot.states([str(tmp_path)])
    (tmp_path / "rules.toml").write_text("bb")
    after = snapshot.states([str(tmp_path)])
    (tmp_path / "more.py").write_text("")
    assert len({str(before), str(after), str(snapshot.states([str(tmp_path)]))}) == 3
