"""OpenAI Agents: the tools beside functions that run on this machine, a shell, patches, free text, behind the gate.

Refuses the others: what runs at the model's provider, or by clicks, no gate of ours can see."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from inspect import isawaitable
from typing import Any

from agents import ApplyPatchTool, CustomTool, LocalShellTool, ShellTool
from agents.editor import ApplyPatchOperation, ApplyPatchResult
from agents.tool import LocalShellCommandRequest, ShellCommandRequest
from agents.tool_context import ToolContext

from assent.api.functions import Denied
from assent.contract import PayloadError
from assent.contract.approval import Verdict
from assent.effects.declared import LIKE
from assent.sdk.tool_guard import ToolGuard, told


def gated(tool: Any, passage: ToolGuard, leave: frozenset[str]) -> Any:
    """The tool behind the gate. Raises PayloadError where that cannot be."""
    name = getattr(tool, "name", type(tool).__name__)
    if name in leave:
        return tool
    match tool:
        case ShellTool() if tool.executor is not None:
            return replace(tool, executor=_Shell(passage, _bare(tool.executor)))
        case LocalShellTool():
            return replace(tool, executor=_LocalShell(passage, _bare(tool.executor)))
        case ApplyPatchTool():
            return replace(tool, editor=_Editor(passage, _bare(tool.editor)))
        case CustomTool():
            return replace(tool, on_invoke_tool=_Custom(passage, name, _bare(tool.on_invoke_tool)))
    raise PayloadError(f"the tool `{name}` runs where the gate cannot see it; `leave=[{name!r}]` lets it run ungated")


class _Behind:
    """Something that runs behind the gate."""

    def __init__(self, passage: ToolGuard, inner: Any) -> None:
        self._passage = passage
        self.inner = inner

    async def _pass(self, tool: str, given: dict[str, object], **more: str) -> Verdict:
        verdict = await self._passage.guard(tool, given, runtime=LIKE, **more)
        if verdict.stop and verdict.allowed is not True:
            raise Denied(verdict)  # ends the run
        return verdict


class _Shell(_Behind):
    async def __call__(self, request: ShellCommandRequest) -> Any:
        commands = tuple(request.data.action.commands)
        # Whether they share a shell is up to the executor: each is judged alone, and several together as well.
        for text in (*commands, "\n".join(commands)) if len(commands) > 1 else commands:
            verdict = await self._pass("bash", {"command": text})
            if verdict.allowed is not True:
                return told(verdict)
        if tuple(request.data.action.commands) != commands:
            return "This call was not run: its commands changed while a person was asked."
        return await _done(self.inner(request))


class _LocalShell(_Behind):
    async def __call__(self, request: LocalShellCommandRequest) -> Any:
        action = request.data.action
        given: dict[str, object] = {"command": shlex.join(action.command)}
        if action.env:
            given["env"] = dict(action.env)
        verdict = await self._pass("bash", given, cwd=action.working_directory or "")
        return await _done(self.inner(request)) if verdict.allowed is True else told(verdict)


class _Editor(_Behind):
    async def create_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._edit("write", operation, self.inner.create_file)

    async def update_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._edit("write", operation, self.inner.update_file)

    async def delete_file(self, operation: ApplyPatchOperation) -> Any:
        return await self._edit("delete", operation, self.inner.delete_file)

    async def _edit(self, tool: str, operation: ApplyPatchOperation, then: Callable[[Any], Any]) -> Any:
        for path in filter(None, (operation.path, operation.move_to)):
            verdict = await self._pass(tool, {"file_path": path, "content": operation.diff or ""})
            if verdict.allowed is not True:
                return ApplyPatchResult("failed", told(verdict))
        return await _done(then(operation))


class _Custom(_Behind):
    def __init__(self, passage: ToolGuard, name: str, inner: Any) -> None:
        super().__init__(passage, inner)
        self._name = name

    async def __call__(self, context: ToolContext[Any], text: str) -> Any:
        verdict = await self._passage.guard(self._name, {"input": text})
        if verdict.stop and verdict.allowed is not True:
            raise Denied(verdict)
        return await _done(self.inner(context, text)) if verdict.allowed is True else told(verdict)


def _bare(of: Any) -> Any:
    """What stands behind a gate already, without it."""
    return of.inner if isinstance(of, _Behind) else of


async def _done(result: Any) -> Any:
    return await result if isawaitable(result) else result
