"""Claude Code: PreToolUse, PermissionRequest, ConfigChange and the events that only inform; command and HTTP hooks.

Not `--permission-prompt-tool`, which has a form of its own: `claude_prompt`."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import Adapter, Event, EventKind, Rendered, Response
from assent.contract import Outcome, Reply
from assent.contract.display import visible

# `bypassPermissions` still has our ask and deny rules: it is `full_auto`, never `yolo`. `dontAsk` has no dialog.
MODES = {
    "plan": "plan",
    "default": "default",
    "dontAsk": "default",
    "acceptEdits": "auto",
    "auto": "auto",
    "bypassPermissions": "full_auto",
}
WORDS = {Outcome.ALLOW: "allow", Outcome.ASK: "ask", Outcome.DENY: "deny"}
SHELLS = ("bash", "zsh")


class ClaudeCode(Adapter):
    plain = True
    races = True
    keeps = "folder"

    def replaces(self, event: Event) -> bool:
        return adapter.runs_text(event, "Bash")

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        return adapter.parse(
            given,
            runtime=self.runtime,
            home=home,
            roots=payload.folder(environ.get("CLAUDE_PROJECT_DIR", "") or project),
            modes=MODES,
            shell=shell_of(environ),
            attended=attended(given, environ),
        )

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        if event is None or (reply.fault and event.kind in (EventKind.BEFORE_TOOL, EventKind.CONFIG_CHANGE)):
            return adapter.blocked(reply)
        return adapter.observed(event, reply) or adapter.printed(answer(event, reply))

    def respond(self, event: Event | None, reply: Reply) -> Response:
        """Always 200: the body of any other status is ignored, even if it denies."""
        if event is None:
            return Response(200, adapter.printed({**pre_tool_use(reply), **adapter.blocking(reply)}).stdout)
        return Response(200, adapter.printed(answer(event, reply)).stdout)


def attended(given: Mapping[str, object], environ: Mapping[str, str]) -> bool | None:
    if given.get("permission_mode") == "dontAsk":
        return False
    return {"1": True, "0": False}.get(environ.get("CLAUDE_CODE_SESSION_ATTENDED", ""))


def shell_of(environ: Mapping[str, str]) -> str:
    """The shell that the client uses; unknown if its two variables disagree."""
    own, users = environ.get("CLAUDE_CODE_SHELL", ""), environ.get("SHELL", "")
    name = (own or users).rpartition("/")[2]
    if own and users and users.rpartition("/")[2] != name:
        return ""
    return name if name in SHELLS else ""


def answer(event: Event, reply: Reply) -> dict[str, object]:
    match event.kind:
        case EventKind.BEFORE_TOOL:
            return pre_tool_use(reply, adapter.replaced(event, reply))
        case EventKind.PERMISSION:
            return adapter.permission_request(reply, interrupts=True)
        case EventKind.CONFIG_CHANGE | EventKind.PROMPT if reply.outcome is not Outcome.ALLOW:
            return adapter.blocking(reply)
        case _:
            return adapter.context_fields(event, reply)


def pre_tool_use(reply: Reply, updated: Mapping[str, object] | None = None) -> dict[str, object]:
    denied = reply.outcome is Outcome.DENY
    text = reply.for_agent if denied else reply.for_person
    out = adapter.pre_tool_use(reply, WORDS[reply.outcome], text, updated)
    if denied and reply.stop:  # alone it would let the call run
        out |= {"continue": False, "stopReason": visible(reply.for_person)}
    if denied and reply.reason and reply.for_person != reply.for_agent:
        out["systemMessage"] = visible(reply.for_person)
    return out


ADAPTER = ClaudeCode("claude")
