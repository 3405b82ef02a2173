"""Special cases of single frameworks: agents that would run without plugins, proxies, hooks of the program itself."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import fastmcp
from fastmcp.server import create_proxy
from fastmcp.server.providers.addressing import hashed_backend_name
from google.adk.agents import LlmAgent
from google.adk.code_executors.base_code_executor import BaseCodeExecutor
from google.adk.code_executors.code_execution_utils import CodeExecutionResult
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from openharness.hooks.events import HookEvent
from openharness.hooks.types import AggregatedHookResult, HookResult

from assent.sdk.fastmcp import FastMCPMiddleware
from assent.sdk.google_adk import AssentPlugin
from assent.sdk.openharness import AssentHooks

from .adk_host import Scripted
from .kit import ALLOWED, DENIED, Ran, Use, opened
from .mcp_host import used


def test_an_agent_that_would_run_without_plugins_does_not_run(tmp_path: Path) -> None:
    ran = Ran()

    def run(command: str) -> str:
        """Run a command."""
        ran.commands.append(command)
        return command

    inner = LlmAgent(name="delegate", model=Scripted(model="in", turns=[[Use(ALLOWED)]], ran=ran), tools=[run])
    outer = Scripted(model="out", turns=[[Use("your part", "outer")]], tool="delegate", ran=ran)
    agent = LlmAgent(name="boss", model=outer, tools=[AgentTool(inner, include_plugins=False)])

    async def work() -> None:
        runner = InMemoryRunner(agent, app_name="test", plugins=[AssentPlugin(opened(tmp_path))])
        place = await runner.session_service.create_session(app_name="test", user_id="ada")
        said = types.Content(role="user", parts=[types.Part(text="go")])
        async for _ in runner.run_async(user_id="ada", session_id=place.id, new_message=said):
            pass

    asyncio.run(work())
    assert ran.commands == []
    assert "would pass no gate" in ran.told["outer"]


def test_a_proxy_before_another_server_is_gated(tmp_path: Path) -> None:
    ran = Ran()
    server: Any = fastmcp.FastMCP("far")

    def run(command: str) -> str:
        ran.commands.append(command)
        return f"ran {command}"

    server.tool(run)

    async def work() -> None:
        proxy: Any = create_proxy(server)
        proxy.add_middleware(FastMCPMiddleware(opened(tmp_path)))
        async with fastmcp.Client(proxy) as client:
            await used(client, [[Use(ALLOWED, "a")], [Use(DENIED, "b")]], ran, raise_on_error=False)

    asyncio.run(work())
    assert ran.commands == [ALLOWED]
    assert "was not run" in ran.told["b"]


class Inner:
    """Hooks of the program itself."""

    def __init__(self, *, blocks: bool) -> None:
        self.blocks = blocks
        self.seen: list[HookEvent] = []

    async def execute(self, event: HookEvent, payload: dict[str, Any]) -> AggregatedHookResult:
        self.seen.append(event)
        return AggregatedHookResult(results=[HookResult("own", success=True, blocked=self.blocks, reason="own reason")])

    def update_context(self, **_: Any) -> str:
        return "updated"


def test_hooks_of_the_program_itself_still_run(tmp_path: Path) -> None:
    gate = opened(tmp_path)
    for blocks, command, blocked in ((False, ALLOWED, False), (False, DENIED, True), (True, ALLOWED, True)):
        inner = Inner(blocks=blocks)
        hooks = AssentHooks(gate, inner)
        payload = {"tool_name": "bash", "tool_input": {"command": command}}
        found = asyncio.run(hooks.execute(HookEvent.PRE_TOOL_USE, payload))
        assert (found.blocked, inner.seen) == (blocked, [HookEvent.PRE_TOOL_USE])
        assert not blocks or found.reason == "own reason"
        assert hooks.update_context() == "updated"


def test_other_events_pass(tmp_path: Path) -> None:
    hooks = AssentHooks(opened(tmp_path))
    for event in HookEvent:
        if event is not HookEvent.PRE_TOOL_USE:
            assert not asyncio.run(hooks.execute(event, {"tool_input": {"command": DENIED}})).blocked
    assert asyncio.run(hooks.execute(HookEvent.PRE_TOOL_USE, {})).blocked


class Running(BaseCodeExecutor):
    """Runs what the model writes in a block of code."""

    ran: Any = None

    def execute_code(self, invocation_context: Any, code_execution_input: Any) -> CodeExecutionResult:
        self.ran.commands.append(code_execution_input.code)
        return CodeExecutionResult(stdout="done")


class Writing(BaseLlm):
    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        done = len(llm_request.contents) > 1
        text = "done" if done else "```python\nprint(1)\n```"
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


def talked(agent: LlmAgent, plugin: AssentPlugin) -> str:
    async def work() -> str:
        runner = InMemoryRunner(agent, app_name="test", plugins=[plugin])
        place = await runner.session_service.create_session(app_name="test", user_id="ada")
        said = types.Content(role="user", parts=[types.Part(text="go")])
        texts: list[str] = []
        async for event in runner.run_async(user_id="ada", session_id=place.id, new_message=said):
            texts += [part.text or "" for part in (event.content.parts or [] if event.content else [])]
        return "".join(texts)

    return asyncio.run(work())


def test_code_that_a_model_writes_runs_in_no_executor_that_the_gate_cannot_see(tmp_path: Path) -> None:
    gate = opened(tmp_path)
    for leave, wanted in (([], []), (["code_executor"], ["print(1)"])):
        ran = Ran()
        agent = LlmAgent(name="coder", model=Writing(model="w"), code_executor=Running(ran=ran))
        said = talked(agent, AssentPlugin(gate, leave=leave))
        assert [each.strip() for each in ran.commands] == wanted
        assert ("would pass no gate" in said) is (not leave)


def test_a_callback_of_an_agent_changes_no_call_that_was_judged(tmp_path: Path) -> None:
    ran = Ran()

    def run(command: str) -> str:
        """Run a command."""
        ran.commands.append(command)
        return command

    def rewrite(tool: Any, args: dict[str, Any], tool_context: Any) -> None:
        args["command"] = DENIED

    model = Scripted(model="in", turns=[[Use(ALLOWED, "a")]], ran=ran)
    agent = LlmAgent(name="helper", model=model, tools=[run], before_tool_callback=rewrite)
    talked(agent, AssentPlugin(opened(tmp_path)))
    assert ran.commands == []
    assert "before_tool_callback" in ran.told["a"]


def test_a_name_by_a_hash_is_no_way_around_a_rule(tmp_path: Path) -> None:
    ran = Ran()
    server: Any = fastmcp.FastMCP("apps")
    server.add_middleware(FastMCPMiddleware(opened(tmp_path, mode="full_auto", deny=["delete_all"])))

    def delete_all() -> str:
        ran.commands.append("delete_all")
        return "gone"

    server.tool(delete_all)

    async def work() -> None:
        async with fastmcp.Client(server) as client:
            for name in ("delete_all", hashed_backend_name("apps", "delete_all")):
                ran.told[name] = str(await client.call_tool(name, {}, raise_on_error=False))

    asyncio.run(work())
    assert ran.commands == []
    assert all("denied" in each or "not run" in each for each in ran.told.values())
