"""Contents of copies: many small ones in one file, written whole, found again, counted, and removed."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assent.contract import StoreError
from assent.undo import contents, store
from assent.undo.copy import About
from assent.undo.restore import put_back
from assent.undo.store import CopyStore, Limits
from assent.undo.take import CannotCopy, take
from tests.undo.test_restore import NOW, back, copy_of
from tests.undo.trees import look

MANY = contents.FEW + 10


def filled(folder: Path, *, start: int = 0, count: int = MANY, length: int = 100) -> Path:
    folder.mkdir(exist_ok=True)
    for number in range(start, start + count):
        (folder / f"f{number}").write_bytes(b"%06d" % number * length)
    return folder


def used(state: Path) -> int:
    return sum(path.stat().st_size for path in (state / "undo").rglob("*") if path.is_file())


def test_many_small_contents_are_one_file(tmp_path: Path) -> None:
    kept, tree = CopyStore(str(tmp_path / "state")), filled(tmp_path / "t")
    before = look(tree)
    copy = copy_of(kept, tree)
    assert len(os.listdir(tmp_path / "state/undo/batches")) == 1
    assert os.listdir(tmp_path / "state/undo/objects") == []
    assert os.listdir(tmp_path / "state/undo/new") == []
    for path in tree.iterdir():
        path.unlink()
    back(kept, copy)
    assert look(tree) == before


def test_a_content_in_a_batch_is_not_kept_again(tmp_path: Path) -> None:
    kept, tree = CopyStore(str(tmp_path / "state")), filled(tmp_path / "t")
    copy_of(kept, tree)
    copy_of(kept, tree, id="again", now=NOW + 1)
    copy_of(kept, tree / "f3", id="one of them", now=NOW + 2)
    assert len(os.listdir(tmp_path / "state/undo/batches")) == 1
    assert os.listdir(tmp_path / "state/undo/objects") == []


def test_a_batch_is_written_again_once_most_of_it_is_not_needed(tmp_path: Path) -> None:
    kept, tree = CopyStore(str(tmp_path / "state")), filled(tmp_path / "t")
    copy_of(kept, tree, id="old")
    young = copy_of(kept, *(tree / f"f{number}" for number in range(5)), id="young", now=NOW + 100)
    batches = tmp_path / "state/undo/batches"
    (before,) = (path.stat().st_size for path in batches.iterdir())
    assert kept.clean(Limits(age=50), NOW + 101) == 1
    (after,) = (path.stat().st_size for path in batches.iterdir())
    assert after < before / 4
    (tree / "f4").unlink()
    back(kept, young)
    assert (tree / "f4").read_bytes() == b"000004" * 100


def test_what_a_removed_copy_paid_for_counts_for_the_next_that_needs_it(tmp_path: Path) -> None:
    kept, large = CopyStore(str(tmp_path / "state")), tmp_path / "large"
    large.write_bytes(os.urandom(1_000_000))
    copy_of(kept, large, id="old")
    copy_of(kept, large, id="young", now=NOW + 100)
    kept.clean(Limits(age=50), NOW + 101)
    (name,) = os.listdir(tmp_path / "state/undo/copies")
    assert int(name.split(".")[2]) > 1_000_000
    assert kept.clean(Limits(size=1_000_000), NOW + 100_000) == 1


def test_all_that_is_used_is_bounded(tmp_path: Path) -> None:
    """Lists of files count too: an empty file has no content, and its path takes room."""
    kept, limits = CopyStore(str(tmp_path / "state")), Limits(size=120_000)
    for number in range(12):
        tree = filled(tmp_path / "t", start=number * 5, length=20)
        now = NOW + number * 10_000
        take(kept, [str(tree)], id=f"n{number}", now=now, about=About(), limits=limits, written_only=bool(number % 3))
        assert used(tmp_path / "state") <= 120_000
    assert kept.copies()


def test_later_calls_push_out_no_copy_of_the_last_day(tmp_path: Path) -> None:
    """What answered a question stays, however much is deleted or written after it."""
    kept, limits = CopyStore(str(tmp_path / "state")), Limits(size=500_000)
    paths = [tmp_path / name for name in ("precious", "log", "junk")]
    for path in paths:
        path.write_bytes(os.urandom(200_000))
    precious, log, junk = map(str, paths)
    take(kept, [precious], id="precious", now=NOW, about=About(), limits=limits)
    for number in range(5):
        paths[1].write_bytes(os.urandom(200_000))
        now = NOW + 1 + number
        take(kept, [log], id=f"log{number}", now=now, about=About(), limits=limits, written_only=True)
    take(kept, [junk], id="junk", now=NOW + 10, about=About(), limits=limits)
    assert [copy.id for copy in kept.copies()] == ["junk", "precious"]
    paths[2].write_bytes(os.urandom(200_000))
    with pytest.raises(CannotCopy, match="no room"):
        take(kept, [junk], id="more", now=NOW + 11, about=About(), limits=limits)
    assert [copy.id for copy in kept.copies()] == ["junk", "precious"]
    take(kept, [junk], id="tomorrow", now=NOW + 90_000, about=About(), limits=limits)
    assert "tomorrow" in [copy.id for copy in kept.copies()]
    assert used(tmp_path / "state") <= 500_000


def test_a_copy_that_is_put_back_stays_whatever_its_age(tmp_path: Path) -> None:
    kept, path = CopyStore(str(tmp_path / "state")), tmp_path / "old"
    path.write_bytes(os.urandom(400_000))
    copy = copy_of(kept, path)
    path.write_bytes(os.urandom(400_000))
    put_back(kept, copy, id="two", now=NOW + 10**7, limits=Limits(size=500_000, age=50))
    assert {each.id for each in kept.copies()} == {"one", "two"}
    assert kept.entries(copy)[0].size == path.stat().st_size


def test_a_content_that_is_damaged_is_not_put_back(tmp_path: Path) -> None:
    kept, tree = CopyStore(str(tmp_path / "state")), filled(tmp_path / "t")
    copy = copy_of(kept, tree)
    (path,) = (tmp_path / "state/undo/batches").iterdir()
    raw = bytearray(path.read_bytes())
    raw[10] ^= 1
    path.write_bytes(raw)
    with pytest.raises(StoreError, match="damaged"):
        back(kept, copy)
    assert not [name for name in os.listdir(tree) if name.startswith(".assent")]


@pytest.mark.parametrize("cut", [1, 30, 200, 3_000])
def test_a_batch_that_is_cut_short_has_nothing(tmp_path: Path, cut: int) -> None:
    kept, tree = CopyStore(str(tmp_path / "state")), filled(tmp_path / "t")
    copy = copy_of(kept, tree)
    (path,) = (tmp_path / "state/undo/batches").iterdir()
    path.write_bytes(path.read_bytes()[:-cut])
    (tree / "f1").rename(tmp_path / "f1")
    with pytest.raises(StoreError, match="gone"):
        back(kept, copy)
    (tmp_path / "f1").rename(tree / "f1")
    copy_of(kept, tree, id="again", now=NOW + 5)  # which writes what is not there
    (tree / "f1").unlink()
    back(kept, kept.named("again"), "three")
    assert (tree / "f1").exists()


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """The system writes a part of what is written beyond, as on a disk that is full."""
    import signal

    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("count", [1, MANY])
def test_what_is_written_in_part_is_no_copy(tmp_path: Path, count: int) -> None:
    kept, tree = CopyStore(str(tmp_path / "state")), filled(tmp_path / "t", count=count, length=100_000)
    with no_file_longer_than(350_000), pytest.raises(CannotCopy, match="cannot be"):
        copy_of(kept, tree)
    assert kept.copies() == []
    assert used(tmp_path / "state") == 0


def test_what_is_put_back_in_part_is_an_error(tmp_path: Path) -> None:
    kept, tree = CopyStore(str(tmp_path / "state")), filled(tmp_path / "t", count=1, length=100_000)
    copy = copy_of(kept, tree)
    (tree / "f0").unlink()
    with no_file_longer_than(350_000), pytest.raises(StoreError, match="not everything"):
        back(kept, copy)
    assert os.listdir(tree) == []


@pytest.mark.parametrize("length", [1000, contents.SMALL + 1])
def test_a_file_that_changes_while_it_is_copied_is_not_copied(tmp_path: Path, length: int) -> None:
    class Changing(store.Addition):
        def _is_new(self, digest: str, length: int) -> bool:
            os.utime(path, ns=(1, 1))
            return super()._is_new(digest, length)

    path = tmp_path / "t"
    path.write_bytes(b"x" * length)
    kept = CopyStore(str(tmp_path / "state"))
    with kept.adding():
        adding = Changing(kept.folder)
        with path.open("rb") as file, pytest.raises(OSError, match="changes"):
            adding.content(file.fileno(), 10**9)
        adding.close()


def test_a_list_of_files_that_could_not_be_read_again_is_no_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST_MANIFEST", 5_000)
    kept, tree = CopyStore(str(tmp_path / "state")), filled(tmp_path / "t")
    with pytest.raises(CannotCopy, match="too long"):
        copy_of(kept, tree)
    assert kept.copies() == []


def test_a_copy_of_many_files_syncs_few_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait for the disk for each file took most of the time."""
    synced: list[int] = []
    real = os.fsync

    def counted(handle: int) -> None:
        synced.append(handle)
        real(handle)

    monkeypatch.setattr(os, "fsync", counted)
    copy_of(CopyStore(str(tmp_path / "state")), filled(tmp_path / "t", count=300))
    assert len(synced) <= 5
