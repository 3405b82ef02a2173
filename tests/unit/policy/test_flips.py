"""The reason that is told is the gravest, and what would flip a decision really does."""

from __future__ import annotations

import pytest

from tests.cases import decide


@pytest.mark.parametrize(
    ("command", "code", "part"),
    [
        ("npm test; rm -rf build", "ask.rule", "delete build and all below it"),
        ("npm test; rm a.txt", "mode.delete", "delete a.txt"),
        ("npm test && touch /srv/x", "mode.outside-workspace", "write /srv/x"),
        ("rm -rf build; cat ~/.ssh/id_rsa", "floor.sensitive-path", "read /home/user/.ssh/id_rsa"),
        ("cat ~/.ssh/id_rsa; rm -rf /", "deny.rule", "delete / and all below it"),
    ],
)
def test_the_gravest_of_several_reasons_is_told(command: str, code: str, part: str) -> None:
    decision = decide("bash", command, "auto")
    assert (decision.code, decision.deciding.what) == (code, part)


def test_a_flip_that_is_enough_is_told_alone() -> None:
    decision = decide("bash", "npm test", "auto")
    assert decision.deciding.flip == "mode `full_auto`, or an allow rule that covers it"
    assert decide("bash", "npm test", "full_auto").outcome.word == "allow"


def test_a_rule_behind_which_the_mode_asks_too_needs_both() -> None:
    decision = decide("bash", "npm test", "auto", ask=["bash(npm test)"])
    assert decision.deciding.flip == (
        "remove `bash(npm test)` from rules:1; and mode `full_auto`, or an allow rule that covers it"
    )


def test_every_rule_that_has_to_go_is_named() -> None:
    decision = decide("bash", "npm test; make", "full_auto", ask=["bash(npm test)", "bash(make)"])
    assert decision.deciding.flip == "remove `bash(npm test)` from rules:1; and remove `bash(make)` from rules:1"


def test_what_no_change_opens_is_said() -> None:
    decision = decide("bash", "npm publish; cat ~/.ssh/id_rsa", "full_auto", deny=["bash(npm publish)"])
    assert decision.deciding.flip == ""


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        ("find . -name '*.pyc' -delete", "allow"),
        ("find src -type f -name '*.orig' -delete", "allow"),
        ("find . '(' -name '*.pyc' -o -name '*.pyo' ')' -delete", "allow"),
        ("find . '(' -name '*.pyc' -o -type f ')' -delete", "deny"),
        ("find . -delete", "deny"),
        ("find . -name '*' -delete", "deny"),
        ("find . ! -name a.py -delete", "deny"),
        ("find . -name '*.pyc' -o -delete", "deny"),
        ("find / -name '*.conf' -delete", "deny"),
        ("cd ~ && find . -name 'id_*' -delete", "deny"),
    ],
)
def test_removing_files_of_a_name_is_not_removing_the_workspace(command: str, outcome: str) -> None:
    assert decide("bash", command, "full_auto").outcome.word == outcome
