"""State files are whole or not there, closed to others, and changed by one process at a time."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from assent.contract import PolicyError, StoreError
from assent.state import files
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


def failure(path: Path, *, managed: bool = False) -> tuple[str, str, int, str]:
    with pytest.raises(PolicyError) as caught:
        files.config_text(str(path), managed=managed)
    error = caught.value
    return error.message, error.file, error.line, error.suggestion


def test_home_is_named_by_the_environment_or_lies_in_the_users_folder() -> None:
    assert files.assent_home({}, "/home/me") == "/home/me/.assent"
    assert files.assent_home({"ASSENT_HOME": ""}, "/home/me") == "/home/me/.assent"
    assert files.assent_home({"ASSENT_HOME": "/data/assent/"}, "/home/me") == "/data/assent"
    assert files.assent_home({}, "") == ""
    with pytest.raises(PolicyError, match="`ASSENT_HOME` is `here`, not an absolute path; give an absolute path"):
        files.assent_home({"ASSENT_HOME": "here"}, "/home/me")


def test_files_have_their_places() -> None:
    assert files.user_file("/home/me/.assent") == "/home/me/.assent/config.toml"
    assert files.project_file("/ws") == "/ws/.assent.toml"
    assert files.own_paths("/home/me/.assent", ("/ws",)) == ("/etc/assent", "/home/me/.assent", "/ws/.assent.toml")


def test_a_file_is_read_and_a_missing_one_is_none(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('mode = "auto" # ü\n', encoding="utf-8")
    assert files.config_text(str(tmp_path / "c.toml")) == 'mode = "auto" # ü\n'
    assert files.config_text(str(tmp_path / "none.toml")) is None
    assert files.config_text(str(tmp_path / "c.toml/below")) is None


def test_what_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(b"a = 1\nb = '\xff'\n")
    assert failure(path) == ("not UTF-8 text", str(path), 2, "save it as UTF-8")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    advice = "make it a readable file, or move it away"
    assert failure(tmp_path / "pipe")[0] == "cannot be read: it is not a regular file"
    assert failure(tmp_path / "folder") == (
        "cannot be read: it is not a regular file",
        str(tmp_path / "folder"),
        0,
        advice,
    )
    assert failure(tmp_path / "dangling")[0] == "a dangling link"


def test_what_is_too_long_is_refused(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"#" * (files.MAX_CONFIG + 1))
    assert failure(tmp_path / "long")[0] == f"cannot be read: it is longer than {files.MAX_CONFIG} bytes"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file that belongs to root")
def test_a_managed_file_must_be_out_of_reach(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("")
    path.chmod(0o644)
    assert files.config_text(str(path), managed=True) == ""
    path.chmod(0o664)
    assert failure(path, managed=True)[0] == "a managed policy must not be writable by others"
    path.chmod(0o644)
    os.chown(path, 65534, 0)
    assert failure(path, managed=True)[0] == "a managed policy must belong to root"
    os.chown(path, 0, 0)
    tmp_path.chmod(0o777)
    assert failure(path, managed=True)[:2] == ("a managed policy must not be writable by others", str(tmp_path))


def test_a_state_folder_is_made_and_kept_closed(tmp_path: Path) -> None:
    folder = tmp_path / "a/state"
    assert files.state_folder(str(folder)) == str(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    files.state_folder(str(folder))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_state_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be created"):
        files.state_folder(str(tmp_path / "file"))


def test_a_state_file_is_replaced_whole_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("old")
    path.chmod(0o644)
    files.replace_text(str(path), "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)
    assert os.listdir(tmp_path) == ["x.json"]
    with pytest.raises(StoreError, match="cannot be written"):
        files.replace_text(str(tmp_path / "none/x.json"), "new")


def test_a_file_that_comes_and_goes_is_there_or_not_but_no_broken_link(tmp_path: Path) -> None:
    path, spare = tmp_path / "c.toml", tmp_path / "spare"
    done = threading.Event()

    def flicker() -> None:
        while not done.is_set():
            spare.write_text("x")
            os.replace(spare, path)
            path.unlink()

    other = threading.Thread(target=flicker)
    other.start()
    try:
        found = {files.config_text(str(path)) for _ in range(20_000)}
    finally:
        done.set()
        other.join()
    assert found == {None, "x"}
