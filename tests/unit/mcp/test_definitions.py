"""The tools of a server as it listed them: definitions, annotations, and lists that cannot be believed."""

from __future__ import annotations

from typing import Any

import pytest

from assent.mcp import definitions
from assent.mcp.calls import CallOrigin
from assent.mcp.definitions import LIST_CHANGED, TWICE, UNKNOWN, ToolList, canonical
from assent.mcp.frames import Frame, frame

ORIGIN = CallOrigin(server="srv", session="s", project="/code/app", home="/home/me")


def request(id: object = 1, **params: object) -> Frame:
    return frame({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params})


def answer(*tools: object, id: object = 1, **more: object) -> Frame:
    return frame({"jsonrpc": "2.0", "id": id, "result": {"tools": list(tools), **more}})


def tool(name: str = "x", **annotations: object) -> dict[str, Any]:
    return {"name": name, "description": f"does {name}", "annotations": annotations}


def changed() -> Frame:
    return frame({"jsonrpc": "2.0", "method": LIST_CHANGED})


def test_what_a_server_says_of_a_tool_goes_with_its_calls() -> None:
    tools = ToolList()
    tools.learn(answer(tool(readOnlyHint=True, openWorldHint="true", other=True), tool("y")), request())
    call = frame({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "x"}})
    found = ORIGIN.call(call, tools)
    assert found is not None
    assert (found.annotations, found.definition) == ({"readOnlyHint": True}, {})
    assert tools.annotations("y") == {}
    assert tools.annotations("z") == {}


def test_what_a_server_calls_destructive_stays_so() -> None:
    tools = ToolList()
    tools.learn(answer(tool(destructiveHint=True), tool("y"), "z"), request())
    tools.learn(answer(tool(destructiveHint=False, readOnlyHint=True)), request())
    tools.hear(changed())
    assert tools.annotations("x") == {"destructiveHint": True}
    assert tools.annotations("y") == {}


def test_the_last_list_counts() -> None:
    tools = ToolList()
    tools.learn(answer(tool(readOnlyHint=True)), request())
    tools.learn(answer(tool(readOnlyHint=False)), request())
    assert tools.annotations("x") == {"readOnlyHint": False}


@pytest.mark.parametrize(
    "asked",
    [
        None,
        request(2),
        frame({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}),
    ],
)
def test_an_answer_to_another_request_can_only_tighten(asked: Frame | None) -> None:
    tools = ToolList()
    tools.learn(answer(tool(readOnlyHint=True), tool("y", destructiveHint=True)), asked)
    assert tools.text("x") == ("", UNKNOWN)
    assert (tools.annotations("x"), tools.annotations("y")) == ({}, {"destructiveHint": True})


def test_after_a_notice_of_changes_nothing_is_known_until_the_next_list() -> None:
    tools = ToolList()
    tools.learn(answer(tool(readOnlyHint=True)), request())
    tools.hear(changed())
    assert (tools.is_stale, tools.text("x"), tools.annotations("x")) == (True, ("", UNKNOWN), {})
    tools.learn(answer(tool(readOnlyHint=True)), request())
    assert (tools.is_stale, tools.annotations("x")) == (False, {"readOnlyHint": True})


def test_other_messages_change_nothing() -> None:
    tools = ToolList()
    tools.learn(answer(tool(readOnlyHint=True)), request())
    tools.hear(frame({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"}))
    tools.learn(frame({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}), request())
    tools.learn(frame({"jsonrpc": "2.0", "id": 1, "result": {"tools": "x"}}), request())
    assert (tools.is_stale, tools.annotations("x")) == (False, {"readOnlyHint": True})


def test_a_tool_that_is_listed_twice_is_not_known_even_if_both_are_the_same() -> None:
    tools = ToolList()
    tools.learn(answer(tool("x"), tool("y", readOnlyHint=True), tool("y", readOnlyHint=True)), request())
    assert tools.text("x")[1] == ""
    assert (tools.text("y"), tools.annotations("y")) == (("", TWICE), {})
    call = frame({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "y"}})
    found = ORIGIN.call(call, tools)
    assert found is not None
    assert found.definition == {"state": "twice"}


def test_a_tool_on_two_pages_of_a_list_is_listed_twice_and_a_page_that_is_asked_for_again_is_not() -> None:
    tools = ToolList()
    tools.learn(answer(tool("x"), nextCursor="b"), request())
    tools.learn(answer(tool("y"), nextCursor="c", id=2), request(2, cursor="b"))
    tools.learn(answer(tool("y"), nextCursor="c", id=2), request(2, cursor="b"))
    assert [tools.text(name)[1] for name in "xy"] == ["", ""]
    tools.learn(answer(tool("x"), id=3), request(3, cursor="c"))
    assert [tools.text(name)[1] for name in "xy"] == [TWICE, ""]
    tools.learn(answer(tool("x"), nextCursor="b"), request())
    assert tools.text("x")[1] == ""


def test_a_definition_does_not_depend_on_the_order_of_keys_and_no_other_fields_are_compared() -> None:
    one = {"name": "x", "description": "d", "inputSchema": {"a": 1, "b": 2}, "_meta": {"n": 1}}
    other = {"inputSchema": {"b": 2, "a": 1}, "description": "d", "name": "x"}
    assert canonical(one) == canonical(other)
    for key, value in (("description", "e"), ("inputSchema", {}), ("annotations", {}), ("title", "t")):
        assert canonical({**one, key: value}) != canonical(one)


def test_a_very_long_definition_is_not_known() -> None:
    tools = ToolList()
    tools.learn(
        answer({"name": "x", "description": "a" * definitions.LONGEST, "annotations": {"readOnlyHint": True}}),
        request(),
    )
    assert (tools.text("x"), tools.annotations("x")) == (("", UNKNOWN), {})


def test_past_the_limits_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "MOST_TOOLS", 2)
    monkeypatch.setattr(definitions, "MOST_TEXT", 200)
    tools = ToolList()
    tools.learn(answer(tool("x", readOnlyHint=True), tool("y"), tool("z", readOnlyHint=True)), request())
    assert [tools.text(name)[1] for name in "xyz"] == ["", "", UNKNOWN]
    tools.learn(answer({"name": "y", "description": "a" * 190}), request())
    assert [tools.text(name)[1] for name in "xyz"] == ["", UNKNOWN, UNKNOWN]
    assert tools.annotations("x") == {"readOnlyHint": True}
