"""Files are put back unchanged: bytes, modes, times, links, holes; and what that replaces can be put back too."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from assent.contract import StoreError
from assent.undo.copy import About, Copy
from assent.undo.restore import differences, put_back
from assent.undo.store import CopyStore, Limits
from assent.undo.take import CannotCopy, take
from tests.examples import examples
from tests.undo import trees

LIMITS = Limits()
NOW = 1_800_000_000.0


@contextmanager
def place() -> Iterator[tuple[CopyStore, Path]]:
    folder = os.path.realpath(tempfile.mkdtemp())
    try:
        work = Path(folder) / "work"
        work.mkdir()
        yield CopyStore(f"{folder}/state"), work
    finally:  # shutil stops at a folder that its owner may not change
        subprocess.run(["chmod", "-R", "u+rwx", folder], check=True)
        shutil.rmtree(folder)


def copy_of(store: CopyStore, *paths: Path, id: str = "one", limits: Limits = LIMITS, now: float = NOW) -> Copy:
    return take(store, list(map(str, paths)), id=id, now=now, about=About("rm x", "s1", "/p"), limits=limits)


def back(store: CopyStore, copy: Copy, id: str = "two") -> Copy:
    return put_back(store, copy, id=id, now=NOW + 1, limits=LIMITS)


@given(trees.tree(), trees.destructions())
@examples(500)
def test_what_is_destroyed_is_restored_whole(parts: dict[str, Any], destroy: Callable[[Path], None]) -> None:
    with place() as (store, work):
        target = work / "t"
        target.mkdir()
        trees.make(target, parts)
        before = trees.look(target)
        copy = copy_of(store, target)
        assert trees.look(target) == before  # a copy changes nothing
        destroy(target)
        changed = trees.look(target)
        kept = back(store, copy)
        found = trees.look(target)
        assert {name: found.get(name) for name in before} == before
        back(store, kept, "three")
        again = trees.look(target)
        assert {name: again.get(name) for name in changed} == changed
        assert again.keys() == changed.keys()


def test_what_came_since_stays(tmp_path: Path) -> None:
    store, target = CopyStore(str(tmp_path / "state")), tmp_path / "t"
    target.mkdir()
    (target / "old").write_text("1")
    copy = copy_of(store, target)
    (target / "old").unlink()
    (target / "new").write_text("2")
    back(store, copy)
    assert sorted(os.listdir(target)) == ["new", "old"]


def test_a_path_that_was_absent_is_removed_and_kept(tmp_path: Path) -> None:
    store, target = CopyStore(str(tmp_path / "state")), tmp_path / "t"
    copy = copy_of(store, target)
    target.write_text("made since")
    kept = back(store, copy)
    assert not target.exists()
    back(store, kept, "three")
    assert target.read_text() == "made since"


def test_a_content_is_kept_once(tmp_path: Path) -> None:
    store = CopyStore(str(tmp_path / "state"))
    for name in ("a", "b"):
        (tmp_path / name).write_text("the same")
    copy_of(store, tmp_path / "a", tmp_path / "b")
    copy_of(store, tmp_path / "a", id="other")
    assert sum(len(files) for _, _, files in os.walk(tmp_path / "state/undo/objects")) == 1


def test_a_copy_is_private(tmp_path: Path) -> None:
    store, target = CopyStore(str(tmp_path / "state")), tmp_path / "t"
    target.write_text("x")
    target.chmod(0o644)
    copy_of(store, target)
    for folder, folders, files in os.walk(tmp_path / "state"):
        for name in folders:
            assert os.stat(f"{folder}/{name}").st_mode & 0o777 == 0o700
        for name in files:
            assert os.stat(f"{folder}/{name}").st_mode & 0o777 == 0o600


def test_no_link_is_followed_out_of_the_folder(tmp_path: Path) -> None:
    store, away = CopyStore(str(tmp_path / "state")), tmp_path / "away"
    away.mkdir()
    (tmp_path / "t").mkdir()
    (tmp_path / "t/x").write_text("mine")
    copy = copy_of(store, tmp_path / "t/x")
    (tmp_path / "t/x").unlink()
    (tmp_path / "t").rmdir()
    (tmp_path / "t").symlink_to(away)
    with pytest.raises(StoreError, match="link"):
        back(store, copy)
    assert os.listdir(away) == []


def test_a_link_in_the_way_of_a_copy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "t").symlink_to("real")
    with pytest.raises(CannotCopy, match="link"):
        copy_of(CopyStore(str(tmp_path / "state")), tmp_path / "t/x")


@pytest.mark.parametrize(
    ("limits", "why"), [(Limits(size=10), "MB"), (Limits(files=3), "more than 3 files")], ids=["size", "files"]
)
def test_too_much_is_not_copied_and_leaves_nothing(tmp_path: Path, limits: Limits, why: str) -> None:
    store, target = CopyStore(str(tmp_path / "state")), tmp_path / "t"
    target.mkdir()
    for name in "abcdef":
        (target / name).write_text("12345")
    with pytest.raises(CannotCopy, match=why):
        copy_of(store, target, limits=limits)
    assert store.copies() == []


def test_a_socket_is_not_copied(tmp_path: Path) -> None:
    import socket

    target = tmp_path / "t"
    target.mkdir()
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(target / "s"))
        with pytest.raises(CannotCopy, match="socket or a device"):
            copy_of(CopyStore(str(tmp_path / "state")), target)


def test_old_copies_go_and_what_others_need_stays(tmp_path: Path) -> None:
    store = CopyStore(str(tmp_path / "state"))
    (tmp_path / "a").write_text("shared")
    (tmp_path / "b").write_text("of the old one alone")
    copy_of(store, tmp_path / "a", tmp_path / "b", id="old")
    young = copy_of(store, tmp_path / "a", id="young", now=NOW + 100)
    assert store.clean(Limits(age=50), NOW + 101) == 1
    assert [copy.id for copy in store.copies()] == ["young"]
    assert sum(len(files) for _, _, files in os.walk(tmp_path / "state/undo/objects")) == 1
    (tmp_path / "a").unlink()
    back(store, young)
    assert (tmp_path / "a").read_text() == "shared"


def test_the_oldest_go_where_all_take_too_much(tmp_path: Path) -> None:
    store = CopyStore(str(tmp_path / "state"))
    for number in range(10):
        (tmp_path / "a").write_bytes(os.urandom(100_000))
        copy_of(store, tmp_path / "a", id=f"n{number}", now=NOW + number * 10_000)
    store.clean(Limits(size=510_000), NOW + 200_000)
    assert [copy.id for copy in store.copies()] == ["n9", "n8", "n7", "n6"]


def test_the_differences_are_shown(tmp_path: Path) -> None:
    store = CopyStore(str(tmp_path / "state"))
    for name, text in {"a": "one\ntwo\n", "b": "gone", "c": "same"}.items():
        (tmp_path / name).write_text(text)
    copy = copy_of(store, *(tmp_path / name for name in "abcd"))
    (tmp_path / "a").write_text("one\n2\n")
    (tmp_path / "b").unlink()
    (tmp_path / "c").chmod(0o600)
    (tmp_path / "d").write_text("since")
    shown = [line.replace(str(tmp_path), "") for line in differences(store, copy)]
    assert shown == [
        "--- /a (now)",
        "+++ /a (copy)",
        "@@ -1,2 +1,2 @@",
        " one",
        "-2",
        "+two",
        "put back file /b (4 bytes)",
        "change the mode of /c from 600 to 644",
        "remove file /d",
    ]


def test_a_damaged_manifest_is_no_copy(tmp_path: Path) -> None:
    store = CopyStore(str(tmp_path / "state"))
    (tmp_path / "a").write_text("x")
    copy = copy_of(store, tmp_path / "a")
    (path,) = (tmp_path / "state/undo/copies").iterdir()
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(StoreError, match=r"line|cut short"):
        back(store, copy)


def test_what_takes_too_long_is_not_copied(tmp_path: Path) -> None:
    store = CopyStore(str(tmp_path / "state"))
    (tmp_path / "a").write_text("x")
    with pytest.raises(CannotCopy, match="seconds"):
        take(store, [str(tmp_path / "a")], id="one", now=NOW, about=About(), limits=LIMITS, seconds=1e-9)
    assert store.copies() == []
