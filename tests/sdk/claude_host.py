"""The Claude Agent SDK at its transport: a stand-in for Claude Code that asks before a tool runs, as that does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, Transport

from assent import Session
from assent.sdk.claude import guard
from assent.sdk.tool_guard import Sessions

from .kit import Host, Ran, Use

END = {"type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False}
END |= {"num_turns": 1, "session_id": "one", "result": "done"}


class Program(Transport):
    """Claude Code as far as hooks and permissions go: all PreToolUse hooks at once, the strictest answer counts, a
    failed one blocks if it should, changed arguments are taken, and if none decides `can_use_tool` is asked."""

    def __init__(self, ran: Ran, turns: Sequence[Sequence[Use]], *, cwd: str, nested: bool, hooks: bool = True) -> None:
        self._ran = ran
        self._turns = turns
        self._cwd = cwd
        self._nested = nested
        self._hooks = hooks
        self._out: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._waits: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._matchers: list[dict[str, Any]] = []
        self._work: asyncio.Task[None] | None = None

    async def connect(self) -> None: ...

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None: ...

    async def close(self) -> None:
        if self._work is not None:
            self._work.cancel()

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while True:
            yield await self._out.get()

    async def write(self, data: str) -> None:
        message = json.loads(data)
        if message["type"] == "control_request":
            self._matchers = (message["request"].get("hooks") or {}).get("PreToolUse", [])
            told = {"hook_on_failure_supported": True, "commands": []}
            answer = {"subtype": "success", "request_id": message["request_id"], "response": told}
            await self._out.put({"type": "control_response", "response": answer})
        elif message["type"] == "control_response":
            self._waits[message["response"]["request_id"]].set_result(message["response"])
        elif message["type"] == "user":
            self._work = asyncio.create_task(self._go())

    async def _go(self) -> None:
        for uses in self._turns:
            await asyncio.gather(*(self._use(each) for each in uses))
        await self._out.put(END)

    async def _use(self, use: Use) -> None:
        given: dict[str, Any] = {"command": use.command}
        refused, given = await self._permission(use, given)
        if refused:
            self._ran.told[use.id] = refused
        else:
            self._ran.commands.append(given["command"])
            self._ran.told[use.id] = f"ran {given['command']}"

    async def _permission(self, use: Use, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        event: dict[str, Any] = {
            "session_id": "one",
            "transcript_path": "",
            "cwd": self._cwd,
            "permission_mode": "default",
        }
        event |= {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": given, "tool_use_id": use.id}
        if self._nested:
            event |= {"agent_id": "sub-1", "agent_type": "general-purpose"}
        hooks = [(one, each) for each in self._matchers if self._hooks for one in each["hookCallbackIds"]]
        asked = [
            self._ask({"subtype": "hook_callback", "callback_id": one, "input": event, "tool_use_id": use.id})
            for one, _ in hooks
        ]
        decisions: list[tuple[str, str]] = []
        for answer, (_, matcher) in zip(await asyncio.gather(*asked), hooks, strict=True):
            if answer["subtype"] != "success":
                decisions.append(("deny", "the hook failed") if matcher.get("onFailure") == "block" else ("", ""))
                continue
            special = answer["response"].get("hookSpecificOutput", {})
            decisions.append((special.get("permissionDecision", ""), special.get("permissionDecisionReason", "")))
            given = special.get("updatedInput", given)
        for word, reason in decisions:
            if word == "deny":
                return reason, given
        if any(word == "allow" for word, _ in decisions):
            return "", given
        request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": given, "tool_use_id": use.id}
        answer = await self._ask(request)
        if answer["subtype"] != "success":
            return "the permission callback failed", given
        said = answer["response"]
        return ("", said["updatedInput"]) if said["behavior"] == "allow" else (said["message"], given)

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        id = f"r{len(self._waits)}"
        self._waits[id] = asyncio.get_running_loop().create_future()
        await self._out.put({"type": "control_request", "request_id": id, "request": request})
        return await self._waits[id]


class Claude(Host):
    name = "claude"
    hooks = True

    async def run(
        self,
        session: Sessions,
        turns: Sequence[Sequence[Use]],
        *,
        nested: bool = False,
        rewrite: Callable[[str], str] | None = None,
    ) -> Ran:
        ran = Ran()

        async def change(given: Any, *_: Any) -> Any:
            if rewrite is None:
                return {}
            changed = {"command": rewrite(given["tool_input"]["command"])}
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": changed}}

        cwd = session.project if isinstance(session, Session) else "/"
        options = ClaudeAgentOptions(cwd=cwd, hooks={"PreToolUse": [HookMatcher(hooks=[change])]})
        program = Program(ran, turns, cwd=cwd, nested=nested, hooks=self.hooks)
        async with ClaudeSDKClient(guard(session, options), transport=program) as client:
            await client.query("go")
            async for _ in client.receive_response():
                pass
        return ran


class ClaudePermission(Claude):
    """Without hooks: `can_use_tool` decides."""

    name = "claude-permission"
    hooks = False
    rewrites = False
