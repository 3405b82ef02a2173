"""Noes counted in files: across processes, within bounds, and never in the way of an answer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assent.approval.escalation import DenialTracker, Offer
from assent.approval.tally import SavedTally, allowed, open_offer, refused
from assent.state import denials

SESSION = ("claude", "s1")


def row(state: Path) -> Path:
    (found,) = (each for each in (state / "denials").iterdir() if each.name != "lock")
    return found


def test_a_yes_ends_the_row_and_another_session_has_its_own(tmp_path: Path) -> None:
    state = str(tmp_path)
    allowed(state, *SESSION)
    assert not (tmp_path / "denials").exists() or not denials.rows(state)
    refused(state, *SESSION, 2)
    allowed(state, *SESSION)
    assert refused(state, *SESSION, 2) is None
    assert refused(state, "codex", "s1", 2) is None
    assert refused(state, *SESSION, 1) is not None


def test_an_offer_is_taken_once_among_all_processes(tmp_path: Path) -> None:
    offer = refused(str(tmp_path), *SESSION, 3)
    assert offer == Offer(offer.id, "s1", 3, 3, runtime="claude") if offer else False
    assert offer is not None
    one, other = SavedTally(str(tmp_path)), SavedTally(str(tmp_path))
    assert one.offers() == other.offers() == (offer,)
    assert open_offer(str(tmp_path), *SESSION) == offer
    assert (one.drop(offer), other.drop(offer), one.offers()) == (True, False, ())


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"counts": [1]}', '{"counts": ["a", 1, 1, 1, 1]}', '{"counts": [-1, 0, 0, 0, 0]}', "null"]
)
def test_a_damaged_file_counts_from_the_start(tmp_path: Path, text: str) -> None:
    refused(str(tmp_path), *SESSION, 2)
    row(tmp_path).write_text(text)
    assert refused(str(tmp_path), *SESSION, 2) is None
    assert refused(str(tmp_path), *SESSION, 1) is not None


def test_what_cannot_be_written_is_counted_in_the_process(tmp_path: Path) -> None:
    (tmp_path / "denials").write_text("no folder")
    tally = SavedTally(str(tmp_path))
    assert [tally.change(SESSION, DenialTracker.denied) for _ in range(3)] == [False, False, True]
    offer = Offer("o", "s1", 3, 3, runtime="claude")
    tally.keep(offer)
    assert (tally.offers(), tally.drop(offer), tally.offers()) == ((offer,), True, ())


def test_calls_without_a_session_leave_no_file(tmp_path: Path) -> None:
    tally = SavedTally(str(tmp_path))
    tally.change(("claude", ""), DenialTracker.denied)
    assert not (tmp_path / "denials").exists()


def test_the_files_are_bounded_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(denials, "MOST", 3)
    for number in range(6):
        refused(str(tmp_path), "claude", f"s{number}", 1)
        os.utime(
            tmp_path / "denials" / denials._name("claude", f"s{number}"),
            (number, number),
        )
    assert sorted(each["session"] for each in denials.rows(str(tmp_path))) == ["s3", "s4", "s5"]
    assert row_modes(tmp_path) == {0o600}
    denials.forget(str(tmp_path), older_than=5)
    assert [each["session"] for each in denials.rows(str(tmp_path))] == ["s5"]


def row_modes(state: Path) -> set[int]:
    return {each.stat().st_mode & 0o777 for each in (state / "denials").iterdir()}
