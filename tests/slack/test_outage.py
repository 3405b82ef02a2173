"""Slack down, busy, slow or refusing: everything else goes on, nothing is approved, and what is open comes later."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.slack.conftest import SECRETS, Gate, asking
from tests.slack.standin import APP, BOT, StandIn, until

Make = Callable[..., Gate]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def standin() -> Iterator[StandIn]:
    found = StandIn()
    yield found
    found.close()


@pytest.fixture
def make(tmp_path: Path, standin: StandIn) -> Iterator[Make]:
    """Makes servers that ask in the stand-in."""
    made: list[Gate] = []

    def gate(config: str = "", secrets: str = SECRETS, **environ: str) -> Gate:
        made.append(Gate(tmp_path / str(len(made)), config or asking(standin), secrets=secrets, **environ))
        return made[-1]

    yield gate
    for each in made:
        each.stop()


def test_the_page_answers_while_slack_is_down_and_what_is_open_then_comes_to_slack(
    make: Make, standin: StandIn
) -> None:
    program = make()
    program.elsewhere("slack", "up")
    person = program.sign_in()
    stream = program.watch(person)
    standin.down = True
    first = program.calling("make one", session="s1")
    assert person.answer(person.held_in("s1")).status == 200
    assert first.result(20).json["allowed"] is True

    second = program.calling("make two", session="s2")
    person.held_in("s2")
    program.elsewhere("slack", "down")
    assert standin.messages == []
    standin.down = False
    message = standin.message(about="make two", seconds=40)
    standin.press(message, "assent_once")
    assert second.result(20).json["allowed"] is True
    program.elsewhere("slack", "up")
    stream.close()


def test_a_message_whose_question_ended_in_the_outage_is_closed_after_it(make: Make, standin: StandIn) -> None:
    program = make()
    program.elsewhere("slack", "up")
    person = program.sign_in()
    waiting = program.calling("make open", session="s1")
    message = standin.message(about="make open")
    standin.down = True
    assert person.answer(person.held_in("s1"), "deny").status == 200
    assert waiting.result(20).json["allowed"] is False
    assert message.buttons
    standin.down = False
    standin.changed(message, "Denied by", seconds=40)
    assert message.buttons == {}


def test_a_rate_limit_is_waited_out_while_the_page_answers(make: Make, standin: StandIn) -> None:
    program = make()
    program.elsewhere("slack", "up")
    person = program.sign_in()
    stream = program.watch(person)
    standin.limited["chat.postMessage"] = 5
    first, second = program.calling("make one", session="s1"), program.calling("make two", session="s2")
    assert person.answer(person.held_in("s1")).status == 200
    assert first.result(20).json["allowed"] is True
    until(lambda: True if "chat.postMessage" in standin.calls else None, 10, "Slack was not tried")
    tries = standin.calls.count("chat.postMessage")
    assert tries == 1  # it was told to wait, and waits
    standin.limited.clear()
    standin.press(standin.message(about="make two", seconds=30), "assent_deny")
    assert second.result(20).json["allowed"] is False
    answered = [each for each in standin.messages if "make one" in each.words]
    until(lambda: True if all(each.buttons == {} for each in answered) else None, 10, "it can be answered still")
    stream.close()


def test_with_slack_alone_and_down_a_question_is_denied_and_never_approved(make: Make, standin: StandIn) -> None:
    program = make(asking(standin, before="[approval]\nunseen = 3"))
    program.elsewhere("slack", "up")
    standin.down = True
    told = program.call("make alone", session="s1").json
    assert told["allowed"] is False
    assert told["resolution"]["ending"] == "unseen"


def test_a_lost_socket_is_opened_again_and_no_question_is_posted_twice(make: Make, standin: StandIn) -> None:
    program = make()
    program.elsewhere("slack", "up")
    waiting = program.calling("make through", session="s1")
    message = standin.message(about="make through")
    standin.drop()
    standin.connected()
    standin.refresh()
    until(lambda: True if len(standin.sockets) == 1 else None, 20, "not one socket")
    program.elsewhere("slack", "up")
    standin.press(message, "assent_once")
    assert waiting.result(20).json["allowed"] is True
    assert len(standin.messages) == 1


def test_slack_that_is_down_at_the_start_is_joined_later(make: Make, standin: StandIn) -> None:
    standin.down = True
    program = make()
    person = program.sign_in()
    waiting = program.calling("make early", session="s1")
    person.held_in("s1")
    standin.down = False
    standin.press(standin.message(about="make early", seconds=40), "assent_once")
    assert waiting.result(20).json["allowed"] is True


def test_a_message_of_a_server_that_died_is_struck_when_it_is_pressed(make: Make, standin: StandIn) -> None:
    program = make(asking(standin, before="[approval]\nunseen = 2"))
    program.elsewhere("slack", "up")
    first = program.calling("make dead", session="s1")
    message = standin.message(about="make dead")
    program.process.kill()
    program.process.wait(10)
    with pytest.raises(Exception, match=r"."):
        first.result(20)
    os.close(program.terminal)
    standin.drop()
    program.start()
    program.elsewhere("slack", "up")
    standin.press(message, "assent_once")
    standin.changed(message, "nothing was decided by pressing here")
    assert program.records(kind="answer", outcome="allow") == []


def test_a_question_that_slack_does_not_take_as_it_is_can_be_denied_there(make: Make, standin: StandIn) -> None:
    standin.objects = "make odd"
    program = make()
    program.elsewhere("slack", "up")
    waiting = program.calling("make odd", session="s1")
    message = standin.message(about="Slack does not accept this question")
    assert set(message.buttons) == {"assent_deny"}
    forged = standin.pressed(message, "assent_deny")
    standin.send(forged)
    assert waiting.result(20).json["allowed"] is False


# ---------------------------------------------------------------- what is set up wrongly


@pytest.mark.parametrize(
    ("secrets", "said"),
    [
        ("", r"slack: OFF: `slack-bot-token` is missing"),
        (SECRETS.replace("xapp-1-app", ""), r"slack: OFF: `slack-app-token` is missing"),
        (SECRETS.replace("xoxb-1-bot", "xoxb-wrong"), r"slack: OFF: Slack refuses auth.test: invalid_auth"),
        (SECRETS.replace("xapp-1-app", "xapp-wrong"), r"slack: Slack refuses apps.connections.open: invalid_auth"),
    ],
)
def test_a_token_that_is_missing_or_refused_is_said_and_the_page_works(make: Make, secrets: str, said: str) -> None:
    program = make(secrets=secrets)
    program.expect(re.compile(said))
    person = program.sign_in()
    waiting = program.calling("make anyway", session="s1")
    assert person.answer(person.held_in("s1")).status == 200
    assert waiting.result(20).json["allowed"] is True


def test_without_slack_sdk_it_is_said_what_to_install(make: Make, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without/slack_sdk.py").write_text("raise ImportError('not installed')")
    program = make(PYTHONPATH=str(tmp_path / "without"))
    program.expect(re.compile(r"slack: OFF: it needs slack-sdk; install it with `pip install 'assent\[slack\]'`"))
    told = program.ask("GET", "/v1/status", unix=True).json["elsewhere"]["slack"]
    assert (told["state"], told["why"].startswith("it needs slack-sdk")) == ("off", True)


def test_a_token_of_another_workspace_is_refused(make: Make, standin: StandIn) -> None:
    program = make(asking(standin, more='team = "T0OTHER"'))
    program.expect(re.compile(r"slack: OFF: the token is of workspace `T0HOME`, and `slack.team` names `T0OTHER`"))


def test_tokens_may_come_from_the_environment_and_are_never_shown(make: Make, standin: StandIn) -> None:
    program = make(secrets="", ASSENT_SLACK_BOT_TOKEN=BOT, ASSENT_SLACK_APP_TOKEN=APP)
    program.elsewhere("slack", "up")
    program.expect(re.compile(r"slack: connected as assent in workspace T0HOME; asks in C0ASKED, 1 person may answer"))
    said = program.seen + json.dumps(program.ask("GET", "/v1/status", unix=True).json)
    assert BOT not in said
    assert APP not in said


def test_a_keyring_that_waits_for_somebody_holds_up_neither_the_server_nor_its_end(make: Make) -> None:
    backend = {"PYTHON_KEYRING_BACKEND": "tests.slack.blocking_keyring.Keyring", "PYTHONPATH": str(ROOT)}
    program = make(secrets="", **backend)
    assert program.ask("GET", "/v1/status", unix=True).json["elsewhere"] == {
        "slack": {"state": "connecting", "why": ""}
    }
    person = program.sign_in()
    waiting = program.calling("make anyway", session="s1")
    assert person.answer(person.held_in("s1")).status == 200
    assert waiting.result(20).json["allowed"] is True
    program.process.terminate()
    assert program.process.wait(15) == 0


def test_a_file_of_secrets_that_others_can_read_is_not_believed(make: Make, standin: StandIn, tmp_path: Path) -> None:
    program = make()
    program.elsewhere("slack", "up")
    program.stop()
    (program.state / "secrets.toml").chmod(0o644)
    program.start()
    program.expect(re.compile(r"slack: OFF: `\S*secrets.toml` is open to others; run `chmod 600"))


def test_a_place_where_the_app_is_not_is_said_with_what_to_do(make: Make, standin: StandIn) -> None:
    standin.refuses["chat.postMessage"] = "not_in_channel"
    program = make(asking(standin, before="[approval]\nunseen = 2"))
    program.elsewhere("slack", "up")
    assert program.call("make lonely", session="s1").json["allowed"] is False
    program.expect(re.compile(r"slack: Slack refuses chat.postMessage: not_in_channel; invite the app"))
