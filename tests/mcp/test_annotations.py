"""What a server says of its tools, through the proxy: rules may believe it, and nothing else does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.pipes import Pipes, call, refused, state
from tests.server.program import Program

RULES = 'allow = ["mcp__srv(read_only)", "mcp__srv__renew"]\n'
Start = Callable[..., Pipes]


def listing(*pages: object) -> str:
    return json.dumps(list(pages))


def tool(name: str, **annotations: object) -> dict[str, Any]:
    return {"name": name, "description": f"does {name}", "inputSchema": {"type": "object"}, "annotations": annotations}


LISTED = [tool("look", readOnlyHint=True), tool("save", readOnlyHint=False), tool("renew")]


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    found = tmp_path / "lists.json"
    found.write_text(listing(LISTED))
    return found


@pytest.fixture
def start(tmp_path: Path, lists: Path) -> Iterator[Start]:
    state(tmp_path, RULES)
    started: list[Pipes] = []

    def make(**more: Any) -> Pipes:
        started.append(Pipes(tmp_path, lists=lists, **more))
        return started[-1]

    yield make
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        each.process.wait(10)


def ask_list(proxy: Pipes, **params: object) -> Any:
    return proxy.ask({"jsonrpc": "2.0", "id": "list", "method": "tools/list", "params": params})


def runs(proxy: Pipes, name: str) -> bool:
    answer = proxy.ask(call(f"call {name}", name))
    if "isError" in answer["result"]:
        assert refused(answer)
        return False
    return bool(answer["result"]["content"] == [{"type": "text", "text": name}])


def calls_of(proxy: Pipes) -> list[str]:
    return [each["params"]["name"] for each in proxy.came() if each["method"] == "tools/call"]


def test_a_rule_believes_the_server_that_it_names(start: Start) -> None:
    proxy = start()
    ask_list(proxy)
    assert [runs(proxy, name) for name in ("look", "save", "unlisted")] == [True, False, False]
    assert calls_of(proxy) == ["look"]


def test_before_the_client_has_listed_the_tools_nothing_is_believed(start: Start) -> None:
    proxy = start()
    assert not runs(proxy, "look")
    ask_list(proxy)
    assert runs(proxy, "look")


def test_after_a_notice_of_changes_nothing_is_believed_until_the_next_list(start: Start, lists: Path) -> None:
    proxy = start()
    ask_list(proxy)
    lists.write_text(listing([tool("look"), tool("renew")]))
    proxy.send(call("renew", "renew"))
    assert proxy.get()["method"] == "notifications/tools/list_changed"
    assert proxy.get()["id"] == "renew"
    assert not runs(proxy, "look")
    ask_list(proxy)
    assert not runs(proxy, "look")
    assert calls_of(proxy) == ["renew"]


@pytest.mark.parametrize(
    "pages", [[[tool("look", readOnlyHint=True)] * 2], [[tool("look", readOnlyHint=True)], [tool("look")]]]
)
def test_a_tool_that_is_listed_twice_is_refused_in_every_mode(
    start: Start, lists: Path, tmp_path: Path, pages: list[Any]
) -> None:
    state(tmp_path, 'mode = "yolo"\n')
    lists.write_text(listing(*pages))
    proxy = start()
    assert runs(proxy, "look")
    following = ask_list(proxy)["result"].get("nextCursor")
    if following is not None:
        ask_list(proxy, cursor=following)
    assert "[mcp.definition-twice]" in refused(proxy.ask(call(1, "look")))
    assert calls_of(proxy) == ["look"]
    last = (tmp_path / "state/audit/permissions.jsonl").read_text().splitlines()[-1]
    assert (json.loads(last)["outcome"], json.loads(last)["tool"]) == ("deny", "mcp__srv__look")


def test_the_gate_server_gets_what_the_proxy_has_seen(lists: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    program = Program(tmp_path_factory.mktemp("gate"), config=f"{RULES}\n[approval]\nunseen = 1\n")
    try:
        proxy = Pipes(lists.parent, lists=lists, options=("--home", str(program.state)))
        try:
            ask_list(proxy)
            assert runs(proxy, "look")
            lists.write_text(listing([tool("look", readOnlyHint=True)] * 2))
            ask_list(proxy)
            assert "[mcp.definition-twice]" in refused(proxy.ask(call(1, "look")))
        finally:
            proxy.process.kill()
            proxy.process.wait(10)
    finally:
        program.stop()
