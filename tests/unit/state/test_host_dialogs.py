"""Questions in a program's own dialog wait for the call that tells of a yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.contract import StoreError
from assent.state import host_dialogs


def test_a_question_is_taken_once(tmp_path: Path) -> None:
    state = str(tmp_path)
    host_dialogs.note(state, "s1", "call-a", "id-1")
    host_dialogs.note(state, "s1", "call-b", "id-2")
    assert host_dialogs.find(state, "s1", "call-a") == "id-1"
    assert [host_dialogs.take(state, "s1", each) for each in ("call-a", "call-a", "call-b", "call-c")] == [
        "id-1",
        "",
        "id-2",
        "",
    ]


def test_the_same_call_asked_again_is_the_newer_question(tmp_path: Path) -> None:
    for id in ("id-1", "id-2"):
        host_dialogs.note(str(tmp_path), "s1", "call-a", id)
    assert host_dialogs.drop(str(tmp_path), "s1") == ("id-2",)


def test_sessions_do_not_see_each_other(tmp_path: Path) -> None:
    host_dialogs.note(str(tmp_path), "s1", "call-a", "id-1")
    assert (host_dialogs.take(str(tmp_path), "s2", "call-a"), host_dialogs.drop(str(tmp_path), "s2")) == ("", ())
    assert host_dialogs.drop(str(tmp_path), "s1") == ("id-1",)
    assert host_dialogs.drop(str(tmp_path), "s1") == ()


def test_a_session_keeps_no_more_than_so_many(tmp_path: Path) -> None:
    for number in range(host_dialogs.MOST + 5):
        host_dialogs.note(str(tmp_path), "s1", f"call-{number}", f"id-{number}")
    kept = host_dialogs.drop(str(tmp_path), "s1")
    assert (len(kept), kept[0]) == (host_dialogs.MOST, "id-5")


def test_a_broken_file_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    host_dialogs.note(str(tmp_path), "s1", "call-a", "id-1")
    [path] = [each for each in (tmp_path / "sessions").iterdir() if each.suffix != ".lock"]
    path.write_text("{")
    with pytest.raises(StoreError, match="remove it"):
        host_dialogs.take(str(tmp_path), "s1", "call-a")
