"""Messages → calls: names, files, and refusals in the form that fits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.contract import Call, StoreError
from assent.mcp import calls, frames
from assent.mcp.calls import CallOrigin

ORIGIN = CallOrigin(server="srv", session="s", project="/code/app", home="/home/me")


def request(method: str, params: object, **more: object) -> frames.Frame:
    return frames.frame({"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **more})


def test_a_tool_call_is_a_call_of_the_servers_tool() -> None:
    found = ORIGIN.call(request("tools/call", {"name": "get_x", "arguments": {"a": 1}}))
    assert found == Call(
        "mcp__srv__get_x",
        {"a": 1},
        cwd="/code/app",
        roots=("/code/app",),
        home="/home/me",
        session="s",
        runtime="mcp",
    )


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_no_arguments_are_an_empty_input(arguments: dict[str, Any]) -> None:
    found = ORIGIN.call(request("tools/call", {"name": "x", **arguments}))
    assert found is not None
    assert found.input == {}


@pytest.mark.parametrize("method", ["tools/list", "ping", "initialize", "prompts/get", "tools/callback", "x"])
def test_other_methods_are_not_judged(method: str) -> None:
    assert ORIGIN.call(request(method, {"name": "x"})) is None


@pytest.mark.parametrize(
    "method", ["Tools/call", "tools/CALL", "tools/call/", "tools//call", "tools_call", "\uff54ools/call", "toolſ/call"]
)
def test_a_method_that_some_reader_may_take_for_a_call_is_refused(method: str) -> None:
    with pytest.raises(frames.BadMessage):
        ORIGIN.call(request(method, {"name": "x"}))


@given(st.text(st.characters(exclude_categories=()), max_size=12))
def test_a_method_is_a_call_refused_or_not_one(method: str) -> None:
    assert (calls.gated(method) is None) or method in (calls.CALL, calls.READ) or calls.gated(method) != method


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b", "/a/b"),
        ("file:/a/b", "/a/b"),
        ("FILE://localhost/a%20b", "/a b"),
        ("file:///a/../b", "/a/../b"),
        ("notes://all", ""),
        ("https://example.com/file:///etc/passwd", ""),
        ("file://host/a", None),
        ("file:a", None),
        ("file:///a?b", None),
        ("file:///a#b", None),
        ("file:///a\\b", None),
        ("file:///a%00", None),
        ("/etc/passwd", None),
        ("", None),
    ],
)
def test_a_file_address_is_its_path(uri: str, path: str | None) -> None:
    assert calls.file_path(uri) == path


def test_a_refusal_is_a_result_that_the_model_reads() -> None:
    frame = request("tools/call", {"name": "x"})
    text = {"type": "text", "text": "no\\u{1b}[2J"}
    result = {"content": [text], "isError": True}
    assert calls.refusal(frame, "no\x1b[2J") == {"jsonrpc": "2.0", "id": 1, "result": result}


def test_a_refusal_without_a_handshake_says_that_it_is_complete() -> None:
    frame = request("tools/call", {"name": "x", "_meta": {calls.VERSION: "2026-07-28"}})
    assert calls.refusal(frame, "no")["result"]["resultType"] == "complete"


@pytest.mark.parametrize("method", ["tools/call", "resources/read"])
def test_where_no_result_would_fit_a_refusal_is_an_error(method: str) -> None:
    frame = request(method, {"name": "x", "uri": "file:///a", "task": {}})
    assert calls.refusal(frame, "no")["error"] == {"code": calls.REFUSED, "message": "no"}


@pytest.mark.parametrize(
    ("given", "command", "url", "name"),
    [
        ("github", ["npx"], "", "github"),
        ("", ["/opt/bin/notes-server", "x"], "", "notes-server"),
        ("", [], "https://mcp.example.com/x", "mcp_example_com"),
    ],
)
def test_a_server_has_a_name(given: str, command: list[str], url: str, name: str) -> None:
    assert calls.server_name(given, command, url) == name


@pytest.mark.parametrize(
    ("given", "command", "url"),
    [
        ("a__b", [], "https://a.com"),
        ("_a", [], "https://a.com"),
        ("a_", [], "https://a.com"),
        ("a b", [], "https://a.com"),
        ("a*", [], "https://a.com"),
        ("", ["npx"], ""),
        ("", ["/usr/bin/python3.12"], ""),
        ("", ["docker"], ""),
        ("", ["a__b"], ""),
        ("", [], "http://localhost:1"),
        ("", [], "http://127.0.0.1:1"),
        ("", [], "http://[::1]:1"),
    ],
)
def test_a_name_that_says_nothing_is_refused(given: str, command: list[str], url: str) -> None:
    with pytest.raises(StoreError):
        calls.server_name(given, command, url)
