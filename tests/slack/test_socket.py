"""Slack by Socket Mode, end to end: a held call runs or does not, by what a listed person presses."""

from __future__ import annotations

from tests.server.program import Program
from tests.slack.conftest import records
from tests.slack.standin import StandIn


def test_a_call_that_is_allowed_in_slack_runs_and_the_trail_names_who(program: Program, slack: StandIn) -> None:
    waiting = program.calling("make once", session="a1")
    message = slack.message(about="make once")
    assert set(message.buttons) == {
        "assent_once", "assent_15m", "assent_session", "assent_deny", "assent_edit", "assent_why",
    }  # fmt: skip
    slack.press(message, "assent_once")
    assert waiting.result(20).json["allowed"] is True
    slack.changed(message, "Allowed once by U0ANN (u0ann), in slack")
    assert message.buttons == {}
    ended = records(program, kind="answer", session="a1")[0]
    assert (ended["who"], ended["channel"], ended["outcome"]) == ("U0ANN (u0ann)", "slack", "allow")


def test_a_call_that_is_denied_in_slack_does_not_run(program: Program, slack: StandIn) -> None:
    waiting = program.calling("make nothing", session="a2")
    message = slack.message(about="make nothing")
    slack.press(message, "assent_deny")
    assert waiting.result(20).json["allowed"] is False
    slack.changed(message, "Denied by U0ANN")
