"""Code files are read again whenever their texts may have changed."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest

from assent.facts import code
from assent.facts.code import CodeFiles


def none() -> list[str]:
    return []


def settled(path: Path, text: str) -> str:
    """Write a file whose size and time of change do not tell it from others."""
    path.write_text(text)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return str(path)


def added(*paths: str) -> CodeFiles:
    files = CodeFiles()
    files.add(paths)
    return files


def test_a_change_of_the_same_size_and_time_is_seen(tmp_path: Path) -> None:
    path = settled(tmp_path / "x.sh", "echo one")
    files = added(path)
    settled(tmp_path / "x.sh", "echo two")
    assert not files.unchanged(none)
    assert added(path).found[path].text == "echo two"


def test_a_file_in_place_of_another_is_seen(tmp_path: Path) -> None:
    path = settled(tmp_path / "x.sh", "echo one")
    added(path)
    os.replace(settled(tmp_path / "y.sh", "echo two"), path)
    assert added(path).found[path].text == "echo two"


def test_a_file_that_was_absent_is_read_once_it_is_there(tmp_path: Path) -> None:
    path = str(tmp_path / "x.sh")
    files = added(path)
    assert files.found[path].problem == "absent"
    assert files.unchanged(none)
    settled(tmp_path / "x.sh", "echo one")
    assert not files.unchanged(none)
    assert added(path).found[path].text == "echo one"


def test_a_new_match_of_a_glob_is_seen(tmp_path: Path) -> None:
    files = added(f"glob:{tmp_path}/*.sh")
    assert files.unchanged(none)
    settled(tmp_path / "x.sh", "echo one")
    assert not files.unchanged(none)


def test_a_file_that_the_session_wrote_meanwhile_is_seen() -> None:
    files = CodeFiles(written=lambda: ["/a"])
    files.add(("session:",))
    assert files.unchanged(lambda: ["/a"])
    assert not files.unchanged(lambda: ["/a", "/b"])


def test_a_change_through_a_memory_map_is_seen(tmp_path: Path) -> None:
    """The kernel sets the times of a file when a page of it is first written, and not at later writes to that page."""
    path = settled(tmp_path / "x.sh", "echo one")
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[5:8] = b"two"
        files = added(path)
        mapped[5:8] = b"six"
        assert not files.unchanged(none)
        assert added(path).found[path].text == "echo six"


def test_a_folder_replaced_by_a_link_is_seen(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        settled(tmp_path / name / "x.sh", f"echo {name}")
    path = str(tmp_path / "one/x.sh")
    files = added(path, f"glob:{tmp_path}/one/*.sh", f"{tmp_path}/one/")
    assert files.unchanged(none)
    (tmp_path / "one").rename(tmp_path / "old")
    (tmp_path / "one").symlink_to("two")
    assert not files.unchanged(none)
    assert added(path).found[path].text == "echo two"


def test_a_new_file_in_a_folder_or_below_it_is_seen(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    names, below = added(f"{tmp_path}/sub/"), added(f"below:{tmp_path}")
    assert names.unchanged(none)
    assert below.unchanged(none)
    (tmp_path / "sub/x.sh").touch()
    assert not names.unchanged(none)
    assert not below.unchanged(none)


def test_other_bytes_with_the_same_length_are_another_text(tmp_path: Path) -> None:
    path = tmp_path / "x.sh"
    path.write_bytes("echo \u00e9".encode())
    assert added(str(path)).found[str(path)].text == "echo \u00e9"
    path.write_bytes("echo \u00e9".encode("latin-1") + b"x")
    assert added(str(path)).found[str(path)].text == "echo \u00e9x"


def test_the_bound_on_all_files_of_a_call_holds_for_known_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "LONGEST", 12)
    one, two = settled(tmp_path / "one.sh", "echo one"), settled(tmp_path / "two.sh", "echo two")
    assert added(two).found[two].text == "echo two"
    assert added(one, two).found[two].problem == "long"
