"""Asking through the client's own form, if no gate server runs and the option is set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.contract.approval import Said
from assent.mcp import judge
from assent.mcp.calls import can_ask
from tests.mcp.pipes import Pipes, call, refused, state

FORMS: dict[str, Any] = {"elicitation": {}}
YES = {"action": "accept", "content": {"answer": "allow once"}}


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Pipes]]:
    state(tmp_path)
    found: list[Pipes] = []
    yield found
    for each in found:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait(10)


def joined(started: list[Pipes], folder: Path, capabilities: object = FORMS, *options: str) -> Pipes:
    proxy = Pipes(folder, options=options)
    started.append(proxy)
    params = {"protocolVersion": "2025-06-18", "capabilities": capabilities}
    proxy.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    return proxy


def answered(proxy: Pipes, result: object) -> dict[str, Any]:
    """Make a call, answer the form; return the form."""
    form: dict[str, Any] = proxy.ask(call(1, "ask", text="\x1b[2Jhello"))
    assert form["method"] == "elicitation/create"
    proxy.send({"jsonrpc": "2.0", "id": form["id"], "result": result})
    return form


def reached(proxy: Pipes) -> list[str]:
    return [each["method"] for each in proxy.came() if each.get("method") != "initialize"]


def test_a_yes_in_the_form_lets_the_call_run(started: list[Pipes], tmp_path: Path) -> None:
    proxy = joined(started, tmp_path, FORMS, "--elicit")
    form = answered(proxy, YES)
    assert "mcp__srv__ask" in form["params"]["message"]
    assert "\x1b" not in form["params"]["message"]
    assert "hello" in form["params"]["message"]
    assert proxy.get()["result"]["echo"]["name"] == "ask"
    lines = map(json.loads, (tmp_path / "state/audit/permissions.jsonl").read_text().splitlines())
    assert [(each["outcome"], each.get("channel", "")) for each in lines] == [("ask", ""), ("allow", "elicitation")]


@pytest.mark.parametrize(
    "result",
    [
        {"action": "accept", "content": {"answer": "deny"}},
        {"action": "accept", "content": {}},
        {"action": "accept"},
        {"action": "accept", "content": {"answer": True}},
        {"action": "decline"},
        {"action": "cancel"},
        {},
        [],
    ],
    ids=str,
)
def test_everything_else_does_not(started: list[Pipes], tmp_path: Path, result: object) -> None:
    proxy = joined(started, tmp_path, FORMS, "--elicit")
    answered(proxy, result)
    refused(proxy.get())
    assert reached(proxy) == []


def test_settled_calls_need_no_form(started: list[Pipes], tmp_path: Path) -> None:
    proxy = joined(started, tmp_path, FORMS, "--elicit")
    assert "result" in proxy.ask(call(1))
    refused(proxy.ask(call(2, "no")))


def test_a_call_that_is_cancelled_takes_its_form_away(started: list[Pipes], tmp_path: Path) -> None:
    proxy = joined(started, tmp_path, FORMS, "--elicit")
    form = proxy.ask(call(1, "ask"))
    gone = proxy.ask({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert (gone["method"], gone["params"]["requestId"]) == ("notifications/cancelled", form["id"])
    proxy.send({"jsonrpc": "2.0", "id": form["id"], "result": YES})
    assert "result" in proxy.ask(call(2))
    assert reached(proxy) == ["tools/call"]


@pytest.mark.parametrize(
    ("capabilities", "options"),
    [(FORMS, ()), ({}, ("--elicit",)), ({"elicitation": {"url": {}}}, ("--elicit",)), (None, ("--elicit",))],
)
def test_without_forms_or_without_the_wish_nobody_is_asked(
    started: list[Pipes], tmp_path: Path, capabilities: object, options: tuple[str, ...]
) -> None:
    proxy = joined(started, tmp_path, capabilities, *options)
    assert "[headless.ask]" in refused(proxy.ask(call(1, "ask")))


def test_a_client_that_hangs_up_ends_the_proxy(started: list[Pipes], tmp_path: Path) -> None:
    proxy = joined(started, tmp_path, FORMS, "--elicit")
    proxy.ask(call(1, "ask"))
    assert proxy.end() == 0
    assert reached(proxy) == []


@pytest.mark.parametrize(
    ("capabilities", "can"),
    [(FORMS, True), ({"elicitation": {"form": {}}}, True), ({"elicitation": True}, False), ({}, False), ([], False)],
)
def test_a_client_says_whether_it_shows_forms(capabilities: object, can: bool) -> None:
    assert can_ask({"capabilities": capabilities}) is can


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["allow once", "accept", "allow", "yes", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["action", "content", "answer", "result"]), inner, max_size=3)
    ),
)


@given(st.dictionaries(st.sampled_from(["result", "error", "action", "content"]), values, max_size=3))
def test_nothing_but_the_explicit_choice_is_a_yes(response: dict[str, Any]) -> None:
    found = judge.answer_of(response, "me")
    chosen = {"action": "accept", "content": {"answer": "allow once"}}
    if found is not None and found.said is Said.ALLOW:
        assert response["result"]["action"] == chosen["action"]
        assert response["result"]["content"]["answer"] == "allow once"
