"""Assent before a person: the program's own dialog shows our receipt, and the page is asked at the same time."""

from __future__ import annotations

import pytest

from .claude import Claude
from .client import Client
from .codex import Codex, CodexCode
from .gate import Gate, serving, until
from .gemini import Gemini
from .model import Step, Use
from .observed import DONE
from .opencode import Opencode
from .programs import Programs
from .sandbox import Sandbox

QUESTIONS = {
    "claude": "Do you want to proceed?",
    "gemini": "Allow execution of",
    "opencode": "Permission required",
}
YES, NO = (
    {"claude": "1", "gemini": "1", "opencode": "Enter"},
    {"claude": "Escape", "gemini": "Escape", "opencode": "Escape"},
)
POLICY = 'mode = "default"\nallow = ["bash(touch allowed*)"]\n'


def files(place: Sandbox) -> list[str]:
    return sorted(each.name for each in place.project.iterdir())


def answers(gate: Gate) -> list[tuple[str, str, str]]:
    found = gate.records("answer")
    return sorted((each["outcome"], each["code"], each.get("channel", "")) for each in found)


def script(client: Client, *names: str) -> list[Step]:
    return [*(Use(client.shell(f"touch {name}")) for name in names), DONE]


@pytest.mark.parametrize("kind", [Claude, Gemini, Opencode], ids=lambda kind: str(kind.name))
@pytest.mark.parametrize(("keys", "made"), [(YES, ["allowed", "asked"]), (NO, ["allowed"])], ids=["yes", "no"])
def test_without_a_server_the_programs_dialog_shows_our_receipt(
    kind: type[Client], keys: dict[str, str], made: list[str], place: Sandbox, installed: Programs
) -> None:
    """What we allow runs before that, without a dialog."""
    client, gate = kind(installed), Gate(place, POLICY)
    gate.install(client)
    args = client.loose if client.name == "gemini" else ()  # an allow of ours does not spare its own question
    with client.attended(place, script(client, "allowed", "asked"), args=args) as (screen, _):
        screen.wait_for("touch asked", seconds=180)  # opencode shows its dialog for a moment until we have answered
        question = screen.wait_for(QUESTIONS[client.name], seconds=120)
        assert files(place) == ["allowed"]
        screen.wait_for("a file in the workspace")
        screen.answer(question, keys[client.name])
        if made == ["allowed", "asked"]:
            screen.wait_for(DONE.text, seconds=120)
    assert files(place) == made


@pytest.mark.parametrize(("key", "made"), [("y", ["asked"]), ("Escape", [])], ids=["yes", "no"])
@pytest.mark.parametrize("kind", [Codex, CodexCode], ids=lambda kind: str(kind.name))
def test_without_a_server_codex_asks_by_a_rule_of_its_own(
    kind: type[Codex], key: str, made: list[str], place: Sandbox, installed: Programs
) -> None:
    client, gate = kind(installed), Gate(place, POLICY)
    gate.install(client)
    with client.attended(place, script(client, "asked")) as (screen, _):
        question = screen.wait_for("Would you like to run the following command?", seconds=120)
        assert "Assent asks about this command" in " ".join(screen.screen().split())
        assert files(place) == []
        screen.answer(question, key)
        screen.wait_for(DONE.text, "Conversation interrupted", seconds=120)
    assert files(place) == made
    assert [each["outcome"] for each in gate.records("decision")] == ["ask"]
    assert answers(gate) == ([("allow", "answer.answered", "dialog")] if made else [])


@pytest.fixture
def claude(place: Sandbox, installed: Programs) -> Claude:
    return Claude(installed)


def test_the_page_answers_while_claude_codes_dialog_is_open(claude: Claude, place: Sandbox) -> None:
    gate = Gate(place, POLICY)
    gate.install(claude)
    with serving(gate) as server, claude.attended(place, script(claude, "asked")) as (screen, _):
        screen.wait_for(QUESTIONS["claude"], seconds=120)
        assert "it changes a file in the workspace" in " ".join(screen.screen().split())
        person = server.sign_in()
        question = person.held()[0]
        assert files(place) == []
        assert person.answer(question).json["counted"]
        screen.wait_for(DONE.text, seconds=120)
        assert files(place) == ["asked"]
        assert server.held_now() == 0
    assert answers(gate) == [("allow", "answer.answered", "web")]


def test_a_no_on_the_page_closes_claude_codes_dialog(claude: Claude, place: Sandbox) -> None:
    gate = Gate(place, POLICY)
    gate.install(claude)
    with serving(gate) as server, claude.attended(place, script(claude, "asked")) as (screen, model):
        screen.wait_for(QUESTIONS["claude"], seconds=120)
        person = server.sign_in()
        person.answer(person.held()[0], "deny", message="take a branch")
        screen.wait_for(DONE.text, seconds=120)
    assert files(place) == []
    assert "take a branch" in model.told()[0]
    assert answers(gate) == [("deny", "answer.answered", "web")]


def test_claude_codes_dialog_answers_while_the_page_is_asked(claude: Claude, place: Sandbox) -> None:
    """The question is withdrawn, and the yes recorded when the call has run: one answer to one call."""
    gate = Gate(place, POLICY)
    gate.install(claude)
    with serving(gate) as server, claude.attended(place, script(claude, "asked")) as (screen, _):
        question = screen.wait_for(QUESTIONS["claude"], seconds=120)
        held = server.sign_in().held()
        screen.answer(question, "1")
        screen.wait_for(DONE.text, seconds=120)
        assert files(place) == ["asked"]
        until(lambda: server.held_now() == 0)
        until(lambda: len(gate.records("answer")) == 1)
    assert len(held) == 1
    assert answers(gate) == [("allow", "answer.answered", "dialog")]


def test_a_dialog_that_is_dismissed_is_recorded_as_unanswered(claude: Claude, place: Sandbox) -> None:
    """Claude Code does not tell of it; the next prompt does."""
    gate = Gate(place, POLICY)
    gate.install(claude)
    with serving(gate) as server, claude.attended(place, script(claude, "asked")) as (screen, _):
        question = screen.wait_for(QUESTIONS["claude"], seconds=120)
        server.sign_in().held()
        screen.answer(question, "Escape")
        screen.type("go on")
        screen.press("Enter")
        screen.wait_for(DONE.text, seconds=120)
        until(lambda: server.held_now() == 0)
    assert files(place) == []
    assert ("deny", "answer.unanswered", "") in answers(gate)


def test_a_server_that_dies_leaves_the_question_to_the_dialog(claude: Claude, place: Sandbox) -> None:
    gate = Gate(place, POLICY)
    gate.install(claude)
    with serving(gate) as server, claude.attended(place, script(claude, "asked")) as (screen, _):
        question = screen.wait_for(QUESTIONS["claude"], seconds=120)
        server.sign_in().held()
        server.kill()
        assert files(place) == []
        screen.answer(question, "1")
        screen.wait_for(DONE.text, seconds=120)
    assert files(place) == ["asked"]
    assert answers(gate) == [("allow", "answer.answered", "dialog")]
