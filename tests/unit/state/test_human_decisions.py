"""What a person decided, and what waits for one: neither pushes the other out."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.contract import StoreError
from assent.state import human_decisions
from assent.state.human_decisions import MOST


def test_questions_that_are_taken_back_push_out_nothing_that_a_person_decided(tmp_path: Path) -> None:
    state = str(tmp_path)
    human_decisions.note(state, "s", ["refused"])
    for turn in range(10):
        names = [f"{turn}.{number}" for number in range(300)]
        human_decisions.wait(state, "s", names)
        human_decisions.end(state, "s", names)
    assert human_decisions.has(state, "s", ["refused"])
    assert not human_decisions.has(state, "s", ["9.0"])


def test_two_questions_of_one_name_wait_until_both_ended(tmp_path: Path) -> None:
    state, found = str(tmp_path), []
    for _ in range(2):
        human_decisions.wait(state, "s", ["make it"])
    for _ in range(2):
        found.append(human_decisions.has(state, "s", ["make it"]))
        human_decisions.end(state, "s", ["make it"])
    assert (found, human_decisions.has(state, "s", ["make it"])) == ([True, True], False)


def test_too_many_waiting_names_are_an_error_and_the_first_still_wait(tmp_path: Path) -> None:
    state = str(tmp_path)
    human_decisions.wait(state, "s", ["first"])
    with pytest.raises(StoreError, match="too many commands"):
        human_decisions.wait(state, "s", [str(number) for number in range(MOST)])
    assert human_decisions.has(state, "s", ["first"])
