"""When to offer another mode after denials, by numbers alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.approval.escalation import DenialTracker, Offer, SavedTally, allowed, open_offer, refused
from assent.state import denials


def after(tracker: DenialTracker, denials: int) -> list[int]:
    """Which of the next denials lead to an offer, by the total."""
    return [tracker.total for _ in range(denials) if tracker.denied()]


def test_three_in_a_row_are_an_offer() -> None:
    assert after(DenialTracker(), 3) == [3]


def test_an_approval_ends_the_row_and_not_the_total() -> None:
    tracker = DenialTracker()
    offered: list[int] = []
    for _ in range(10):
        offered += after(tracker, 2)
        tracker.approved()
    assert (offered, tracker.row, tracker.total) == ([20], 0, 20)


def test_an_offer_that_is_accepted_ends_the_row() -> None:
    tracker = DenialTracker()
    assert after(tracker, 3) == [3]
    tracker.accepted()
    assert (tracker.row, after(tracker, 3)) == (0, [6])


def test_after_a_rejection_it_takes_twice_as_many_in_a_row() -> None:
    tracker = DenialTracker()
    assert after(tracker, 3) == [3]
    tracker.rejected()
    assert after(tracker, 3) == [6]
    tracker = DenialTracker()
    after(tracker, 3)
    tracker.rejected()
    tracker.approved()
    assert after(tracker, 6) == [9]


def test_after_a_rejection_it_takes_twice_as_many_in_all() -> None:
    tracker = DenialTracker()
    after(tracker, 3)
    tracker.rejected()
    offered: list[int] = []
    for _ in range(30):
        tracker.approved()
        offered += after(tracker, 2)
    assert offered == [40]


def test_after_two_rejections_the_session_is_left_in_peace() -> None:
    tracker = DenialTracker()
    assert after(tracker, 3) == [3]
    tracker.rejected()
    assert after(tracker, 3) == [6]
    tracker.rejected()
    assert after(tracker, 1000) == []


def test_an_offer_that_is_ignored_is_no_rejection_and_does_not_come_with_every_denial() -> None:
    assert after(DenialTracker(), 12) == [3, 6, 9, 12]


@given(st.lists(st.sampled_from(("no", "yes", "accept", "reject")), max_size=150))
def test_offers_come_only_after_denials_enough_and_never_after_two_rejections(events: list[str]) -> None:
    tracker, row, total, rejections, opened = DenialTracker(), 0, 0, 0, False
    for event in events:
        if event == "no":
            row, total = row + 1, total + 1
            if tracker.denied():
                assert row >= 3 * 2**rejections or total >= 20 * 2**rejections
                assert rejections < 2
                opened = True
        elif event == "yes":
            row = 0
            tracker.approved()
        elif opened:
            opened = False
            if event == "accept":
                row = 0
                tracker.accepted()
            else:
                rejections += 1
                tracker.rejected()
        assert (tracker.row, tracker.total, tracker.rejections) == (row, total, rejections)


def test_an_offer_says_why() -> None:
    assert Offer("o", "s", 3, 7).words == "you said no 3 times in a row, 7 times in this session"


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
