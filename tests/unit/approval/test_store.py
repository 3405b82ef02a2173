"""Held calls on disk: private, durable, each approval used once, and failures in words."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.approval.commands import Leftover
from assent.approval.denial import deny
from assent.approval.store import WIPE_EVERY, SqliteStore
from assent.contract import Call, PayloadError, StoreError
from assent.contract.approval import Ending, Held
from tests.broker.memory_store import MemoryStore
from tests.broker.stage import NO, YES, held

Make = Callable[[], MemoryStore | SqliteStore]


@pytest.fixture(params=["memory", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return MemoryStore if request.param == "memory" else lambda: SqliteStore(str(tmp_path / "held.db"))


def test_an_approval_is_kept_once_and_used_once(make: Make) -> None:
    async def run() -> None:
        store, question = make(), held("a")
        await store.hold(question)
        await store.shown("a", 5.0)
        assert [await store.answered("a", YES), await store.answered("a", NO)] == [True, False]
        assert [await store.use("a"), await store.use("a")] == [True, False]
        await store.finish("a", deny("a", Ending.CLOSED))
        assert [await store.answered("a", YES), await store.use("a"), len(store)] == [False, False, 0]
        await store.close()

    asyncio.run(run())


def test_what_is_not_held_has_no_approval_to_use(make: Make) -> None:
    async def run() -> None:
        store = make()
        assert [await store.answered("a", YES), await store.use("a")] == [False, False]
        await store.finish("a", deny("a", Ending.CLOSED))
        assert await store.leftovers() == ()
        await store.close()

    asyncio.run(run())


def test_an_id_is_held_once(make: Make) -> None:
    async def run() -> None:
        store = make()
        await store.hold(held("a"))
        with pytest.raises(StoreError):
            await store.hold(held("a"))
        assert len(store) == 1

    asyncio.run(run())


def test_only_the_user_can_read_the_file_and_its_log(tmp_path: Path) -> None:
    async def run() -> None:
        old = os.umask(0)
        try:
            store = SqliteStore(str(tmp_path / "state/held.db"))
            await store.hold(held("a"))
        finally:
            os.umask(old)
        files = sorted(each for each in (tmp_path / "state").iterdir() if not each.name.endswith("-shm"))
        assert len(files) == 3
        assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
        assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
        await store.close()
        assert [each.name for each in (tmp_path / "state").iterdir()] == ["held.db"]

    asyncio.run(run())


def test_a_store_that_was_left_is_taken_over_with_all_it_holds(tmp_path: Path) -> None:
    async def run() -> None:
        path = str(tmp_path / "held.db")
        dead = SqliteStore(path)
        for id in "abc":
            await dead.hold(held(id))
        await dead.shown("b", 77.5)
        await dead.answered("b", YES)
        await dead.shown("c", 78.5)
        await dead.use("c")
        heir = SqliteStore(path)
        assert await heir.leftovers() == ()
        dead._db.close()
        os.close(dead._lock)  # as the system does when a process dies
        assert await heir.leftovers() == (
            Leftover(held("a"), 0.0),
            Leftover(held("b"), 77.5, shown=True, answer=YES),
            Leftover(held("c"), 78.5, shown=True, used=True),
        )
        assert await SqliteStore(path).leftovers() == ()
        assert [await heir.use("b"), await heir.use("b"), await heir.use("c")] == [True, False, False]

    asyncio.run(run())


def test_another_store_cannot_use_or_end_what_is_not_its_own(tmp_path: Path) -> None:
    async def run() -> None:
        one, other = SqliteStore(str(tmp_path / "held.db")), SqliteStore(str(tmp_path / "held.db"))
        await one.hold(held("a"))
        assert [await other.answered("a", YES), await other.use("a")] == [False, False]
        await other.finish("a", deny("a", Ending.CLOSED))
        assert len(one) == 1

    asyncio.run(run())


def test_a_row_that_cannot_be_read_is_dropped(tmp_path: Path) -> None:
    async def run() -> None:
        path = str(tmp_path / "held.db")
        heir = SqliteStore(path)
        row = ("a", "nobody", '{"id": 5}')
        heir._db.execute("INSERT INTO held (id, owner, body, deadline) VALUES (?, ?, ?, 0)", row)
        assert await heir.leftovers() == ()
        assert len(heir) == 0

    asyncio.run(run())


def test_a_newer_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "held.db"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 7")
    with pytest.raises(StoreError, match=r"newer Assent \(form 7, this one knows 1\); update Assent"):
        SqliteStore(str(path))
    assert [each.name for each in tmp_path.iterdir()] == ["held.db"]


def test_a_file_that_is_no_database_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "held.db").write_text("this is a note, not a database" * 100)
    with pytest.raises(StoreError, match="the store of held calls failed"):
        SqliteStore(str(tmp_path / "held.db"))


def test_a_link_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "held.db").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError):
        SqliteStore(str(tmp_path / "held.db"))


def test_input_that_json_cannot_hold_is_not_held(tmp_path: Path) -> None:
    async def run() -> None:
        store, fine = SqliteStore(str(tmp_path / "held.db")), held("a")
        for value in (b"bytes", float("nan"), {1: 2}, object()):
            question = Held("a", Call("bash", {"x": value}), "digest", fine.decision, fine.preview)
            with pytest.raises(PayloadError):
                await store.hold(question)
        assert len(store) == 0

    asyncio.run(run())


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    async def run() -> None:
        store = SqliteStore(str(tmp_path / "held.db"))
        await store.close()
        await store.close()
        with pytest.raises(StoreError):
            await store.hold(held("a"))

    asyncio.run(run())


def test_a_clock_that_was_set_back_makes_nobody_wait_longer_for_what_is_left_over() -> None:
    question = held("a", timeout=300, unseen=60)
    shown = Leftover(question, 5000.0, shown=True, answer=YES)
    assert [shown.rebased(7.0, wall).deadline for wall in (4900.0, 1000.0, 5100.0)] == [107.0, 307.0, -93.0]
    assert Leftover(question, 0.0).rebased(7.0, 4900.0) == Leftover(question, 67.0)


def test_locks_of_the_dead_are_cleared_away_and_those_of_the_living_are_kept(tmp_path: Path) -> None:
    async def run() -> None:
        path = str(tmp_path / "held.db")
        dead, alive, heir = SqliteStore(path), SqliteStore(path), SqliteStore(path)
        os.close(dead._lock)
        assert await heir.leftovers() == ()
        locks = {each.name for each in tmp_path.iterdir() if each.name.endswith(".lock")}
        assert locks == {f"held.db.{store.owner}.lock" for store in (alive, heir)}

    asyncio.run(run())


def test_a_lock_whose_file_is_taken_away_meanwhile_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    real = fcntl.flock

    def flock(file: int, how: int) -> None:
        real(file, how)
        for lock in tmp_path.glob("*.lock"):
            if not taken:
                taken.append(lock.name)
                lock.unlink()

    monkeypatch.setattr(fcntl, "flock", flock)
    store = SqliteStore(str(tmp_path / "held.db"))
    assert taken == [f"held.db.{store.owner}.lock"]
    assert [each.name for each in tmp_path.glob("*.lock")] == taken


def bytes_of(path: Path) -> bytes:
    """Everything that the files of a store hold."""
    return b"".join(each.read_bytes() for each in path.parent.iterdir() if each.name.startswith(path.name))


@pytest.mark.parametrize("size", [10, 50_000])
def test_nothing_of_an_ended_question_is_left_in_any_file(tmp_path: Path, size: int) -> None:
    path = tmp_path / "held.db"

    async def scene() -> None:
        store = SqliteStore(str(path))
        others = SqliteStore(str(path))  # another process keeps the file open
        for number in range(4):
            question = held(f"q{number}", command=f"curl -H 'Authorization: s3cr3t-{number}' {'x' * size}")
            await store.hold(question)
            await store.answered(question.id, YES)
            await store.use(question.id)
            await store.finish(question.id, deny(question.id, Ending.CANCELLED))
        still = held("still", command="echo still-asked")
        await others.hold(still)
        await asyncio.sleep(WIPE_EVERY * 2)
        assert b"s3cr3t" not in bytes_of(path)
        assert b"still-asked" in bytes_of(path)
        await store.close()
        await others.close()

    asyncio.run(scene())
