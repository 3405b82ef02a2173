"""When to offer another mode after denials, by numbers alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assent.approval.escalation import DenialTracker, Offer


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
