"""OpenHarness: a hook executor that asks the gate before a tool runs.

Give it to the engine in place of its own: `QueryEngine(…, hook_executor=AssentHooks(session, executor))`. It sees all
arguments, and runs before OpenHarness's own checker, which holds as well."""

from __future__ import annotations

from typing import Any

from openharness.hooks.events import HookEvent
from openharness.hooks.executor import HookExecutor
from openharness.hooks.types import AggregatedHookResult, HookResult

from assent.sdk.tool_guard import Sessions, ToolGuard, denial_text

RUNTIME = "openharness"


class AssentHooks:
    """The hooks of `inner`, if any, and then the gate, so that it sees the call that runs. `cwd` is the folder that the
    engine works in (default: the gate's project)."""

    def __init__(self, session: Sessions, inner: HookExecutor | None = None, *, cwd: str = "") -> None:
        self._guard = ToolGuard(session, RUNTIME)
        self._inner = inner
        self._cwd = cwd

    async def execute(self, event: HookEvent, payload: dict[str, Any]) -> AggregatedHookResult:
        found = AggregatedHookResult() if self._inner is None else await self._inner.execute(event, payload)
        if event is not HookEvent.PRE_TOOL_USE or found.blocked:
            return found
        verdict = await self._guard.guard(
            str(payload.get("tool_name", "")), payload.get("tool_input"), cwd=self._cwd, shell="bash"
        )
        if verdict.allowed is True:
            return found
        denied = HookResult(hook_type="assent", success=False, blocked=True, reason=denial_text(verdict))
        return AggregatedHookResult(results=[*found.results, denied])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
