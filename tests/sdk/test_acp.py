"""Editors over the Agent Client Protocol: permissions, files, and the editor's own prompt as a place to ask."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    FileEditToolCallContent,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallLocation,
    ToolCallUpdate,
)

from assent import Gate, Tool
from assent.sdk.acp import AssentClient, Editor

from .kit import ALLOWED, ASKED, DENIED, opened

OPTIONS = [
    PermissionOption(option_id="always", name="Always", kind="allow_always"),
    PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
    PermissionOption(option_id="no", name="No", kind="reject_once"),
]


class Screen:
    """An editor whose person always chooses the same."""

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self.shown: list[ToolCallUpdate] = []
        self.written: list[str] = []

    async def request_permission(self, **given: Any) -> RequestPermissionResponse:
        self.shown.append(given["tool_call"])
        if self.choice not in [each.option_id for each in given["options"]]:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=self.choice))

    async def write_text_file(self, **given: Any) -> None:
        self.written.append(given["path"])

    async def read_text_file(self, **given: Any) -> str:
        return f"read {given['path']}"

    async def session_update(self, **given: Any) -> str:
        return "seen"


@pytest.fixture
def screen() -> Screen:
    return Screen("allow_once")


@pytest.fixture
def gate(tmp_path: Path, screen: Screen) -> Iterator[Gate]:
    found = opened(tmp_path, channels=[Editor(screen, who="ada").ask])  # type: ignore[arg-type]
    yield found
    found.close()


def asked(gate: Gate, screen: Screen, call: ToolCallUpdate, options: list[PermissionOption] | None = None) -> str:
    """What the agent is answered: the id of an option, or `cancelled`."""
    client = AssentClient(gate, screen)  # type: ignore[arg-type]
    given = OPTIONS if options is None else options
    said = asyncio.run(client.request_permission(session_id="s", tool_call=call, options=given))
    return said.outcome.option_id if isinstance(said.outcome, AllowedOutcome) else said.outcome.outcome


def command(text: str) -> ToolCallUpdate:
    return ToolCallUpdate(tool_call_id="1", kind="execute", title="a test", raw_input={"command": text})


@pytest.mark.parametrize(
    ("text", "choice", "answer", "prompts"),
    [
        (ALLOWED, "", "yes", 0),
        (DENIED, "allow_once", "no", 0),
        (ASKED, "allow_once", "yes", 1),
        (ASKED, "reject_once", "no", 1),
        (ASKED, "", "no", 1),
    ],
)
def test_the_editor_is_asked_only_where_the_gate_asks(
    gate: Gate, screen: Screen, text: str, choice: str, answer: str, prompts: int
) -> None:
    screen.choice = choice
    assert (asked(gate, screen, command(text)), len(screen.shown)) == (answer, prompts)


def test_the_prompt_says_what_the_call_does(gate: Gate, screen: Screen) -> None:
    asked(gate, screen, command(ASKED))
    [shown] = screen.shown
    assert shown.raw_input == {"command": ASKED}
    assert "run make" in str(shown.title)


def test_always_is_for_this_call_in_this_session(gate: Gate, screen: Screen) -> None:
    screen.choice = "allow_always"
    assert [asked(gate, screen, command(each)) for each in (ASKED, ASKED, "make that")] == ["yes"] * 3
    assert [str(each.raw_input["command"]) for each in screen.shown if each.raw_input] == [ASKED, "make that"]


def test_an_agent_that_offers_no_way_to_say_it_is_cancelled(gate: Gate, screen: Screen) -> None:
    assert asked(gate, screen, command(DENIED), [OPTIONS[0]]) == "cancelled"
    assert asked(gate, screen, command(ALLOWED), [OPTIONS[0]]) == "cancelled"


@pytest.mark.parametrize(
    "call",
    [
        ToolCallUpdate(tool_call_id="1", kind="edit", raw_input={"path": "/home/u/.ssh/config"}),
        ToolCallUpdate(tool_call_id="1", kind="edit", locations=[ToolCallLocation(path="/home/u/.ssh/config")]),
        ToolCallUpdate(
            tool_call_id="1",
            kind="edit",
            raw_input={"path": "notes.md"},
            content=[FileEditToolCallContent(type="diff", path="/home/u/.ssh/config", new_text="x")],
        ),
        ToolCallUpdate(tool_call_id="1", kind="other", raw_input=["/home/u/.ssh/config"]),
        ToolCallUpdate(tool_call_id="1", kind="think", raw_input={"anything": "/home/u/.ssh/config"}),
    ],
)
def test_every_place_that_a_request_names_counts(gate: Gate, screen: Screen, call: ToolCallUpdate) -> None:
    assert asked(gate, screen, call) == "no"


@pytest.mark.parametrize("kind", [None, "other", "think", "switch_mode"])
def test_a_kind_that_says_nothing_is_asked_about(gate: Gate, screen: Screen, kind: Any) -> None:
    assert asked(gate, screen, ToolCallUpdate(tool_call_id="1", kind=kind, raw_input={})) == "yes"
    assert len(screen.shown) == 1


def test_files_of_the_editor_pass_the_gate(gate: Gate, screen: Screen) -> None:
    client = AssentClient(gate, screen)  # type: ignore[arg-type]
    project = gate.call("x", {}).cwd

    async def work() -> None:
        await client.write_text_file("s", f"{project}/notes.md", "x")
        assert await client.read_text_file("s", f"{project}/notes.md") == f"read {project}/notes.md"
        for refused in (
            client.write_text_file("s", "/home/u/.ssh/config", "x"),
            client.read_text_file("s", "/home/u/.ssh/x"),
        ):
            with pytest.raises(RequestError, match="was not run"):
                await refused

    asyncio.run(work())
    assert screen.written == [f"{project}/notes.md"]


def test_everything_else_goes_to_the_editor(gate: Gate, screen: Screen) -> None:
    client = AssentClient(gate, screen)  # type: ignore[arg-type]
    assert asyncio.run(client.session_update()) == "seen"


def test_what_the_call_names_itself_is_not_hidden_by_its_locations(gate: Gate, screen: Screen) -> None:
    beside = [ToolCallLocation(path="notes.txt")]
    for key in ("paths", "locations", "more_locations"):
        call = ToolCallUpdate(tool_call_id="1", kind="read", raw_input={key: ["/etc/shadow"]}, locations=beside)
        assert asked(gate, screen, call) == "no"


@pytest.mark.parametrize("kind", ["read", "search", "fetch", "think", "edit", None])
def test_a_command_is_read_as_one_whatever_kind_it_is_said_to_be(gate: Gate, screen: Screen, kind: Any) -> None:
    for key, text in (("command", DENIED), ("cmd", DENIED), ("command", ["bash", "-lc", DENIED])):
        call = ToolCallUpdate(tool_call_id="1", kind=kind, raw_input={key: text, "path": "notes.txt"})
        assert asked(gate, screen, call) == "no"


def test_an_agent_cannot_name_the_session_of_another(gate: Gate, screen: Screen, tmp_path: Path) -> None:
    screen.choice = "allow_always"
    other = opened(tmp_path, channels=[Editor(screen, who="ada").ask])  # type: ignore[arg-type]
    session = other.session("s", runtime="acp")
    session.declare("execute", Tool(like="bash"))
    assert asyncio.run(session.guard(session.call("execute", {"command": ASKED}))).allowed
    screen.choice = "reject_once"
    assert asked(gate, screen, command(ASKED)) == "no"
    other.close()


def test_a_whole_command_line_as_a_program_is_read_as_one(gate: Gate, screen: Screen) -> None:
    client = AssentClient(gate, screen)  # type: ignore[arg-type]
    with pytest.raises(RequestError):
        asyncio.run(client.create_terminal(session_id="s", command=DENIED))
    assert screen.shown == []
