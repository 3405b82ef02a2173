"""The file of grants: which hold where and when, and that nobody else can write to it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assent.approval.grants import GrantBook
from assent.contract import StoreError
from assent.contract.approval import Grant, Scope

NOW = 1_000_000.0


def grant(id: str, scope: Scope, *, project: str = "", session: str = "s", until: float = 0.0) -> Grant:
    return Grant(
        id,
        scope,
        rules=("bash(npm test:*)",),
        answers=("bash(npm:*)",),
        session=session,
        project=project,
        made=NOW,
        until=until,
        who="ann",
        channel="terminal",
        shown="npm test",
    )


@pytest.fixture
def project(tmp_path: Path) -> str:
    (tmp_path / "project").mkdir()
    return str(tmp_path / "project")


@pytest.fixture
def book(tmp_path: Path) -> GrantBook:
    return GrantBook(str(tmp_path / "state"))


def ids(grants: tuple[Grant, ...]) -> list[str]:
    return [each.id for each in grants]


def test_a_grant_is_kept_whole_and_for_its_owner_only(book: GrantBook, project: str, tmp_path: Path) -> None:
    given = grant("a", Scope.PROJECT, project=project)
    kept = book.add(given)
    assert kept == Grant(
        "a",
        Scope.PROJECT,
        rules=("bash(npm test:*)",),
        answers=("bash(npm:*)",),
        project=project,
        made=NOW,
        who="ann",
        channel="terminal",
        shown="npm test",
    )
    assert book.all(NOW) == (kept,)
    assert (tmp_path / "state/grants.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def test_each_scope_holds_where_it_was_given(book: GrantBook, project: str, tmp_path: Path) -> None:
    for scope in (Scope.QUARTER, Scope.SESSION, Scope.PROJECT, Scope.EVERYWHERE):
        book.add(grant(scope.value, scope, project=project))
    other = str(tmp_path)
    assert ids(book.live("s", project, NOW)) == ["15m", "session", "project", "everywhere"]
    assert ids(book.live("t", project, NOW)) == ["project", "everywhere"]
    assert ids(book.live("s", other, NOW)) == ["everywhere"]
    assert ids(book.live("", "", NOW)) == ["everywhere"]


def test_a_project_is_known_by_where_it_really_is(book: GrantBook, project: str, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(project)
    book.add(grant("a", Scope.PROJECT, project=str(link)))
    assert ids(book.live("s", project, NOW)) == ["a"]
    link.unlink()
    link.symlink_to(tmp_path)
    assert book.live("s", str(link), NOW) == ()


def test_grants_end_and_are_forgotten(book: GrantBook, project: str, tmp_path: Path) -> None:
    assert book.add(grant("a", Scope.QUARTER, project=project)).until == NOW + 900
    assert book.add(grant("b", Scope.SESSION, project=project)).until == NOW + 7 * 24 * 3600
    assert book.add(grant("c", Scope.PROJECT, project=project, until=NOW + 5)).until == NOW + 5
    assert book.add(grant("d", Scope.QUARTER, project=project, until=NOW + 9999)).until == NOW + 900
    assert ids(book.live("s", project, NOW + 899)) == ["a", "b", "d"]
    assert ids(book.live("s", project, NOW + 900)) == ["b"]
    assert "npm" in (tmp_path / "state/grants.json").read_text()
    assert ids(book.all(NOW + 900)) == ["b"]
    assert [row["id"] for row in json.loads((tmp_path / "state/grants.json").read_text())["grants"]] == ["b"]


@pytest.mark.parametrize(
    "bad",
    [
        grant("x", Scope.ONCE, project="/p"),
        grant("x", Scope.PROJECT),
        grant("x", Scope.SESSION, project="/p", session=""),
        grant("", Scope.EVERYWHERE),
        Grant("x", Scope.EVERYWHERE),
    ],
)
def test_a_grant_that_would_settle_nothing_or_anything_is_not_kept(book: GrantBook, bad: Grant) -> None:
    with pytest.raises(StoreError):
        book.add(bad)
    assert book.all(NOW) == ()


def test_a_grant_is_taken_back_by_the_beginning_of_its_id(book: GrantBook, project: str) -> None:
    for id in ("abc1", "abd2", "x"):
        book.add(grant(id, Scope.PROJECT, project=project))
    for bad in ("ab", "", "zzz"):
        with pytest.raises(StoreError):
            book.revoke(bad)
    assert book.revoke("abc").id == "abc1"
    assert book.live("s", project, NOW) == book.all(NOW)
    assert ids(book.revoke_all()) == ["abd2", "x"]
    assert book.all(NOW) == ()


def row(**changed: object) -> dict[str, object]:
    texts = dict.fromkeys(("identity", "session", "who", "channel", "shown", "project"), "")
    lists: dict[str, object] = {"rules": ["bash(ls)"], "answers": []}
    return {"id": "a", "scope": "everywhere", "made": 1, "until": 0, **texts, **lists, **changed}


BROKEN = [
    "",
    "[]",
    "{",
    '{"version": 1, "grants": {}}',
    json.dumps({"version": 2, "grants": []}),
    json.dumps({"version": 1, "grants": [row(scope="forever")]}),
    json.dumps({"version": 1, "grants": [row(scope="once")]}),
    json.dumps({"version": 1, "grants": [row(scope="session", session="s", project="/p")]}),
    json.dumps({"version": 1, "grants": [row(rules="bash")]}),
    json.dumps({"version": 1, "grants": [row(rules=[1])]}),
    json.dumps({"version": 1, "grants": [row(until="never")]}),
    json.dumps({"version": 1, "grants": [row(until=float("nan"))]}),
    json.dumps({"version": 1, "grants": [row(more=1)]}),
    json.dumps({"version": 1, "grants": ["a"]}),
    "[" * 100_000,
]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_book_is_an_error_and_not_a_smaller_book(book: GrantBook, tmp_path: Path, text: str) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    path = tmp_path / "state/grants.json"
    path.write_text(text)
    path.chmod(0o600)
    for ask in (lambda: book.live("s", "/p", NOW), lambda: book.all(NOW), lambda: book.revoke("a")):
        with pytest.raises(StoreError, match="repair it, or remove it"):
            ask()
    with pytest.raises(StoreError):
        book.add(grant("a", Scope.EVERYWHERE))
    assert path.read_text() == text


def test_a_book_that_others_can_write_is_not_believed(book: GrantBook, tmp_path: Path) -> None:
    book.add(grant("a", Scope.EVERYWHERE))
    (tmp_path / "state/grants.json").chmod(0o666)
    with pytest.raises(StoreError, match="can be written by others"):
        book.live("s", "/p", NOW)


def test_a_pipe_in_place_of_the_book_is_an_error_and_never_waited_for(book: GrantBook, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    os.mkfifo(tmp_path / "state/grants.json")
    with pytest.raises(StoreError):
        book.live("s", "/p", NOW)


def test_a_clock_that_is_set_back_makes_no_grant_last_longer(book: GrantBook, project: str) -> None:
    for id, scope in (("a", Scope.QUARTER), ("b", Scope.SESSION), ("c", Scope.PROJECT)):
        book.add(grant(id, scope, project=project))
    assert ids(book.live("s", project, NOW - 30)) == ["a", "b", "c"]
    assert ids(book.live("s", project, NOW - 3600)) == ["c"]
