"""Slack by Socket Mode, end to end: a held call runs or does not, by what a listed person presses."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.program import Person
from tests.server.test_hooks import Claude, decision
from tests.slack import kit
from tests.slack.conftest import Gate, asking
from tests.slack.standin import ANN, MALLORY, TEAM, StandIn, until

ALL = {"assent_once", "assent_15m", "assent_session", "assent_deny", "assent_edit", "assent_why"}


# ---------------------------------------------------------------- answers


def test_a_call_that_is_allowed_in_slack_runs_and_the_trail_names_who(program: Gate, slack: StandIn) -> None:
    waiting = program.calling("make once", session="a1")
    message = slack.message(about="make once")
    assert set(message.buttons) == ALL
    slack.press(message, "assent_once")
    assert waiting.result(20).json["allowed"] is True
    slack.changed(message, "Allowed once by U0ANN (u0ann), in slack")
    assert message.buttons == {}
    ended = program.records(kind="answer", session="a1")[0]
    assert (ended["who"], ended["channel"], ended["outcome"]) == ("U0ANN (u0ann)", "slack", "allow")


def test_a_call_that_is_denied_in_slack_does_not_run(program: Gate, slack: StandIn) -> None:
    waiting = program.calling("make nothing", session="a2")
    message = slack.message(about="make nothing")
    slack.press(message, "assent_deny")
    assert waiting.result(20).json["allowed"] is False
    slack.changed(message, "Denied by U0ANN")


@pytest.mark.parametrize(("action", "expected"), [("assent_once", "allow"), ("assent_deny", "deny")])
def test_the_hook_of_an_agent_program_waits_for_slack(
    program: Gate, slack: StandIn, action: str, expected: str
) -> None:
    claude = Claude(program, attended=False, session=f"hook {expected}")
    waiting = claude.sending("PreToolUse", f"make hooked-{expected}")
    slack.press(slack.message(about=f"make hooked-{expected}", seconds=30), action)
    assert decision(waiting.result(30)) == expected


@pytest.mark.parametrize(("action", "scope"), [("assent_15m", "15m"), ("assent_session", "session")])
def test_a_wider_answer_remembers_the_rule_that_the_message_shows(
    program: Gate, slack: StandIn, action: str, scope: str
) -> None:
    command = f"npm run wide-{scope}"
    waiting = program.calling(command, session=scope)
    message = slack.message(about=command)
    grants_shown = next(each for each in message.words.split("\n") if "would have matched" in each)
    slack.press(message, action)
    assert waiting.result(20).json["allowed"] is True
    grant = program.records(kind="grant", session=scope)[0]
    assert (grant["scope"], grant["who"], grant["channel"]) == (scope, "U0ANN (u0ann)", "slack")
    assert grant["rule"] in grants_shown
    assert program.call(command, session=scope).json["allowed"] is True  # and nobody was asked
    assert [each for each in slack.messages if command in each.words] == [message]


def test_a_press_is_taken_once(program: Gate, slack: StandIn) -> None:
    waiting = program.calling("make twice", session="a3")
    message = slack.message(about="make twice")
    press = slack.pressed(message, "assent_deny")
    slack.send(press, envelope="e1")
    assert waiting.result(20).json["allowed"] is False
    again = program.calling("make twice", session="a3")
    other = slack.message(1, about="make twice")
    slack.send(press, envelope="e1")
    slack.send({**press, "actions": slack.pressed(other, "assent_once")["actions"]})  # a trigger that was used
    slack.changed(message, "Denied")
    assert not again.done()
    slack.press(other, "assent_once")
    assert again.result(20).json["allowed"] is True


# ---------------------------------------------------------------- dialogs


def test_a_denial_can_say_why_and_stop_the_agent(program: Gate, slack: StandIn) -> None:
    waiting = program.calling("make why", session="b1")
    slack.press(slack.message(about="make why"), "assent_why")
    view = until(lambda: next((v for v in slack.views if "make why" in str(v)), None), 10, "no dialog")
    values = {"reason": {"value": "use the staging database"}, "stop": {"selected_options": [{"value": "stop"}]}}
    assert slack.send(slack.submitted(view, values)) == {"response_action": "clear"}
    told = waiting.result(20).json
    assert told["allowed"] is False
    assert told["stop"] is True
    assert "use the staging database" in told["message"]


def test_a_changed_rule_is_saved_only_after_its_reach_was_shown(program: Gate, slack: StandIn) -> None:
    waiting = program.calling("npm run lint-all", session="b2")
    slack.press(slack.message(about="npm run lint-all"), "assent_edit")
    view = until(lambda: next((v for v in slack.views if "lint-all" in str(v)), None), 10, "no dialog")
    assert "would have matched" in " ".join(kit.texts(view)).lower()
    scope = {"selected_option": {"value": "15m"}}

    broad = slack.send(slack.submitted(view, {"rule": {"value": "bash(*)"}, "scope": scope}))
    assert broad["response_action"] == "errors"
    nonsense = slack.send(slack.submitted(view, {"rule": {"value": "bash(("}, "scope": scope}))
    assert nonsense["response_action"] == "errors"
    assert slack.send(slack.submitted(view, {"rule": {"value": " "}, "scope": scope}))["response_action"] == "errors"

    rule = {"value": "bash(npm run lint-all --fix)"}
    shown = slack.send(slack.submitted(view, {"rule": rule, "scope": scope}))
    assert shown["response_action"] == "update"
    assert kit.view_objections(shown["view"]) == []
    assert "does not cover this call" in " ".join(kit.texts(shown["view"]))
    assert not waiting.done()
    assert slack.send(slack.submitted(shown["view"], {"rule": rule, "scope": scope})) == {"response_action": "clear"}
    assert waiting.result(20).json["allowed"] is True
    assert program.records(kind="grant", session="b2")[0]["rule"] == "bash(npm run lint-all --fix)"


def test_a_dialog_of_somebody_else_decides_nothing(program: Gate, slack: StandIn) -> None:
    waiting = program.calling("make theirs", session="b3")
    slack.press(slack.message(about="make theirs"), "assent_why")
    view = until(lambda: next((v for v in slack.views if "make theirs" in str(v)), None), 10, "no dialog")
    values = {"reason": {"value": ""}, "stop": {"selected_options": []}}
    slack.send(slack.submitted(view, values, user=MALLORY))
    assert not waiting.done()
    slack.send(slack.submitted(view, values))
    assert waiting.result(20).json["allowed"] is False
    late = slack.send(slack.submitted(view, values))
    assert late["response_action"] == "errors"


# ---------------------------------------------------------------- who may not


def test_who_is_not_listed_or_of_another_workspace_is_refused_and_recorded(
    program: Gate, slack: StandIn, person: Person
) -> None:
    waiting = program.calling("make secret", session="c1")
    message = slack.message(about="make secret")
    slack.press(message, "assent_once", user=MALLORY)
    slack.press(message, "assent_once", home="T0GUEST")
    slack.press(message, "assent_once", team="T0OTHER", home="T0OTHER")
    until(lambda: [each for each in slack.whispers if each["user"] == MALLORY] or None, 10, "nobody was told")
    assert not waiting.done()
    question = person.held_in("c1")
    assert person.answer(question, "deny").status == 200
    assert waiting.result(20).json["allowed"] is False
    found = until(lambda: program.records(kind="event", channel="slack") or None, 10, "it was not recorded")
    assert any(MALLORY in each["reason"] and "may not answer" in each["reason"] for each in found)


def test_a_ticket_that_was_made_up_decides_nothing_and_its_message_is_struck(program: Gate, slack: StandIn) -> None:
    waiting = program.calling("make forged", session="c2")
    message = slack.message(about="make forged")
    press = slack.pressed(message, "assent_once")
    id, _, mark = press["actions"][0]["value"].split(".")
    press["actions"][0]["value"] = f"{id}.AAAAAAAAAAAAAAAAAAAAAAAA.{mark}"
    slack.send(press)
    until(lambda: [each for each in slack.whispers if "over" in each["text"]] or None, 10, "nobody was told")
    assert not waiting.done()
    assert message.buttons  # that of an open question is left as it is
    slack.press(message, "assent_deny")
    assert waiting.result(20).json["allowed"] is False


def test_a_message_of_another_server_is_left_as_it_is(program: Gate, slack: StandIn) -> None:
    waiting = program.calling("make another", session="c4")
    message = slack.message(about="make another")
    theirs = slack.pressed(message, "assent_once")
    theirs["container"]["message_ts"] = "1700000000.000001"
    theirs["actions"][0]["value"] = "5a01d93d-8ef5-4cc0-8431-e238e0e2c09a.AAAAAAAAAAAAAAAAAAAAAAAA.0123456789ab"
    slack.send(theirs)
    until(lambda: [each for each in slack.whispers if "another server" in each["text"]] or None, 10, "nobody was told")
    assert not waiting.done()
    slack.press(message, "assent_deny")
    assert waiting.result(20).json["allowed"] is False
    slack.changed(message, "Denied by")


def test_a_press_as_soon_as_the_message_comes_up_is_not_a_yes(program: Gate, slack: StandIn) -> None:
    waiting = program.calling("make haste", session="c3")
    message = slack.message(about="make haste")
    slack.press(message, "assent_once", after=0.1)
    until(lambda: [each for each in slack.whispers if "only just" in each["text"]] or None, 10, "nobody was told")
    assert not waiting.done()
    slack.press(message, "assent_deny", after=0.1)
    assert waiting.result(20).json["allowed"] is False


# ---------------------------------------------------------------- answered elsewhere


def test_what_is_answered_on_the_page_is_closed_in_slack(program: Gate, slack: StandIn, person: Person) -> None:
    waiting = program.calling("make page", session="d1")
    message = slack.message(about="make page")
    assert person.answer(person.held_in("d1")).status == 200
    assert waiting.result(20).json["allowed"] is True
    slack.changed(message, "in web")
    assert message.buttons == {}
    slack.press(message, "assent_deny")  # too late: it changes nothing, and what is there stays
    until(lambda: [each for each in slack.whispers if "over" in each["text"]] or None, 10, "nobody was told")
    assert "in web" in message.words
    assert [each["outcome"] for each in program.records(kind="answer", session="d1")] == ["allow"]


def test_what_the_agent_takes_back_is_closed_in_slack(program: Gate, slack: StandIn) -> None:
    held = program.call("make back", session="d2", wait=0).json
    message = slack.message(about="make back")
    body = {"digest": held["digest"]}
    assert program.ask("POST", f"/v1/calls/{held['id']}/withdraw", body, unix=True).status == 200
    slack.changed(message, "the agent withdrew it")


@pytest.fixture
def brief(slack: StandIn, tmp_path: Path) -> Iterator[Gate]:
    """A server whose questions end soon, that asks one person directly."""
    found = Gate(tmp_path, asking(slack, place=ANN, more=f'team = "{TEAM}"', before="[approval]\ntimeout = 2"))
    found.elsewhere("slack", "up")
    yield found
    found.stop()


def test_what_nobody_answers_is_denied_and_closed_in_slack(brief: Gate, slack: StandIn) -> None:
    waiting = brief.calling("make late", session="e1")
    message = slack.message(about="make late")
    assert message.channel == ANN
    assert waiting.result(20).json["allowed"] is False
    slack.changed(message, "nobody answered in time")


def test_what_waits_when_the_server_ends_is_closed_in_slack(brief: Gate, slack: StandIn) -> None:
    waiting = brief.calling("make end", session="e2")
    message = slack.message(about="make end")
    brief.process.terminate()
    assert waiting.result(20).json["allowed"] is False
    slack.changed(message, "the server was stopped")


# ---------------------------------------------------------------- what is shown


def test_a_long_change_comes_as_a_file_in_the_thread(program: Gate, slack: StandIn) -> None:
    text = "\n".join(f"line {number} of many ‮ <!channel>" for number in range(400))
    where = str(program.project)
    given = {"file_path": f"{where}/src/long.txt", "content": text}
    body: dict[str, object] = {"tool": "write", "input": given, "cwd": where}
    body |= {"project": where, "session": "f1", "runtime": "claude", "wait": 30}
    waiting = program.pool.submit(lambda: program.ask("POST", "/v1/calls", body, unix=True))
    message = slack.message(about="long.txt")
    sent = until(lambda: slack.files[0] if slack.files else None, 15, "no file")
    assert (sent["thread_ts"], sent["channel_id"]) == (message.ts, message.channel)
    content = sent["content"].decode()
    assert "line 399 of many" in content
    assert "\\u{202e}" in content
    assert "‮" not in content
    assert "more of it is in the thread" in message.words
    slack.press(message, "assent_once")
    assert waiting.result(20).json["allowed"] is True


def test_what_is_risky_is_asked_about_once_more(program: Gate, slack: StandIn) -> None:
    waiting = program.calling("sudo make install", session="f2")
    message = slack.message(about="sudo make install")
    assert message.words.startswith("High risk: claude wants to run a command")
    assert "confirm" in message.buttons["assent_once"]
    slack.press(message, "assent_deny")
    assert waiting.result(20).json["allowed"] is False


def test_hostile_text_is_shown_as_text(program: Gate, slack: StandIn) -> None:
    command = "make '<!channel> <https://evil.example|here> *b* `x` ``` \x1b[31m ‮ &lt;'"
    waiting = program.calling(command, session="f3")
    message = slack.message(about="evil.example")
    assert "mrkdwn" not in set(kit.kinds(message.blocks))
    assert "<" not in message.fields["text"].replace("&lt;", "")
    assert "`" not in message.fields["text"]
    assert "\x1b" not in message.words + message.fields["text"]
    assert "‮" not in message.words + message.fields["text"]
    assert "\\u{202e}" in message.words
    slack.press(message, "assent_deny")
    assert waiting.result(20).json["allowed"] is False


def test_the_status_says_how_slack_stands(program: Gate) -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "assent", "status"], env=program.environ, capture_output=True, text=True, check=True
    )
    assert "slack    up\n" in printed.stdout
    looked = subprocess.run(
        [sys.executable, "-m", "assent", "doctor", "--json"], env=program.environ, capture_output=True, text=True
    )
    assert {"grade": "ok", "about": "assent", "text": "slack is up", "fix": ""} in json.loads(looked.stdout)
    assert program.ask("GET", "/v1/status", unix=True).json["elsewhere"] == {"slack": {"state": "up", "why": ""}}
