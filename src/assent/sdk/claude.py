"""Claude Agent SDK: a PreToolUse hook and `can_use_tool` that ask the gate.

Tools have Claude Code's own names, which Assent knows. The hook sees every call, of sub-agents too; `can_use_tool` sees
what Claude Code still asks about by itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, PermissionResultAllow, PermissionResultDeny
from claude_agent_sdk.types import CanUseTool, HookCallback, PermissionResult, ToolPermissionContext

from assent.agents.claude.payload import MODES, shell_of
from assent.api.embedded import DAY
from assent.contract import PayloadError
from assent.contract.approval import Verdict
from assent.sdk.tool_guard import Sessions, ToolGuard, denial_text

RUNTIME = "claude"
EVENT: Final = "PreToolUse"
PLAN = "plan"


def guard(session: Sessions, options: ClaudeAgentOptions | None = None) -> ClaudeAgentOptions:
    """The options with every tool call behind the gate. A `can_use_tool` of their own is asked after it, for what
    Claude Code asks about. Raises PayloadError if another program is to be asked."""
    options = options or ClaudeAgentOptions()
    if options.permission_prompt_tool_name is not None:
        raise PayloadError("leave `permission_prompt_tool_name` to the gate")
    shell = shell_of({**os.environ, **options.env})
    callbacks = Callbacks(session, options.can_use_tool, cwd=str(options.cwd or os.getcwd()), shell=shell)
    hooks = dict(options.hooks or {})
    others = [replace(each, hooks=[callbacks.judged(one) for one in each.hooks]) for each in hooks.get(EVENT, ())]
    # INVARIANT: a hook that fails, or does not answer, blocks the call.
    hooks[EVENT] = [HookMatcher(hooks=[callbacks.before_tool], timeout=DAY, on_failure="block"), *others]
    return replace(options, hooks=hooks, can_use_tool=callbacks.may_use)


@dataclass(eq=False)
class Callbacks:
    """The two callbacks by which Claude Code asks the program that runs it."""

    session: Sessions
    theirs: CanUseTool | None
    cwd: str
    shell: str

    async def before_tool(self, given: Any, tool_use_id: str | None, context: Any) -> Any:
        return _reply(await self._guard(given, given["tool_input"]))

    async def may_use(self, tool: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
        verdict = await self._guard({"tool_name": tool}, given)
        said: PermissionResult = PermissionResultAllow(updated_input=given)
        if verdict.allowed is True and self.theirs is not None:
            said = await self.theirs(tool, given, context)
            if isinstance(said, PermissionResultAllow) and said.updated_input not in (None, given):
                verdict = await self._guard({"tool_name": tool}, said.updated_input)
        return (
            said
            if verdict.allowed is True
            else PermissionResultDeny(message=denial_text(verdict), interrupt=verdict.stop)
        )

    def judged(self, hook: HookCallback) -> HookCallback:
        """Another PreToolUse hook of the program. If it changes the arguments, those pass the gate as well."""

        async def then(given: Any, tool_use_id: str | None, context: Any) -> Any:
            said: Any = await hook(given, tool_use_id, context)
            special = said.get("hookSpecificOutput") if isinstance(said, Mapping) else None
            changed = special.get("updatedInput") if isinstance(special, Mapping) else None
            if changed is None:
                return said
            verdict = await self._guard(given, changed)
            return said if verdict.allowed is True else _reply(verdict)

        return then

    async def _guard(self, event: Mapping[str, Any], given: Any) -> Verdict:
        plans = MODES.get(str(event.get("permission_mode"))) == PLAN
        cwd, guard = str(event.get("cwd") or self.cwd), ToolGuard(self.session, RUNTIME, plans=plans)
        return await guard.guard(event["tool_name"], given, cwd=cwd, shell=self.shell)


def _reply(verdict: Verdict) -> dict[str, Any]:
    word = "allow" if verdict.allowed is True else "deny"
    reason = verdict.decision.reason if verdict.allowed is True else denial_text(verdict)
    said: dict[str, Any] = {
        "hookSpecificOutput": {
            "hookEventName": EVENT,
            "permissionDecision": word,
            "permissionDecisionReason": reason,
        }
    }
    if verdict.stop and verdict.allowed is not True:
        said |= {"continue_": False, "stopReason": reason}
    return said
