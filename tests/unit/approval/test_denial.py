"""Every way of ending without an approval has words: what happened, and what to do next."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assent.approval.commands import QuestionState
from assent.approval.denial import deny
from assent.contract.approval import Answer, Ending, Resolution, Said

DOCUMENT = Path(__file__).parents[3] / "docs/approval.md"


@pytest.mark.parametrize("ending", Ending)
@pytest.mark.parametrize("detail", ["", "the disk is full"])
def test_every_ending_says_what_happened_and_what_to_do(ending: Ending, detail: str) -> None:
    resolution = deny("a", ending, detail=detail, waited=3)
    assert resolution == Resolution("a", ending, reason=resolution.reason, waited=3)
    assert not resolution.allowed
    assert detail in resolution.reason
    assert "; " in resolution.reason
    assert not resolution.reason.endswith(".")
    assert resolution.reason[0].islower()


def test_what_the_person_tells_the_agent_reaches_it() -> None:
    no = Answer(Said.DENY, message="use the staging host")
    assert deny("a", Ending.ANSWERED, answer=no).reason == "a person said no: use the staging host"


def test_a_stop_tells_the_agent_to_make_no_other_call() -> None:
    words = "a person said no and wants you to stop: make no other call, say where you are, and wait"
    assert deny("a", Ending.ANSWERED, answer=Answer(Said.STOP)).reason == words
    told = deny("a", Ending.ANSWERED, answer=Answer(Said.STOP, message="lunch"))
    assert told.reason == f"{words}: lunch"


def named(title: str) -> list[str]:
    """The first column of the table in one section of the docs."""
    part = DOCUMENT.read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)


def test_the_docs_name_every_state_and_every_ending() -> None:
    assert named("The life of a question") == [each.value for each in QuestionState]
    assert named("How a question ends") == [each.value for each in Ending]
