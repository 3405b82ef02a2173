"""Copilot CLI: preToolUse and permissionRequest in its own style, PreToolUse in Claude Code's.

The two styles differ in payload and in answer, and an answer in the wrong one lets the call run. In the own style only
permissionRequest names its event; the others are recognized by their fields."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import adapter, payload
from assent.agents.adapter import Adapter, Event, EventKind, Rendered
from assent.agents.claude.payload import WORDS
from assent.contract import Outcome, PayloadError, Reply
from assent.contract.display import visible

KINDS = {
    "preToolUse": EventKind.BEFORE_TOOL,
    "permissionRequest": EventKind.PERMISSION,
    "postToolUse": EventKind.AFTER_TOOL,
    "userPromptSubmitted": EventKind.PROMPT,
    "sessionStart": EventKind.SESSION_START,
    "agentStop": EventKind.STOP,
}
OWN, CLAUDE = "own", "claude"
SERVERS = "ASSENT_HOST_SERVERS"  # the names of MCP servers, one on a line; as in facts/servers.py


class CopilotCli(Adapter):
    once = ("-p", "--prompt")
    names_no_servers = True
    keeps = "shell"
    reports = False

    def replaces(self, event: Event) -> bool:
        """Not in Claude Code's style, where it was not tested."""
        return event.form == OWN and adapter.runs_text(event, "bash")

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        """Nothing in the payload tells the session's folder from the call's."""
        roots, servers = payload.folder(project), environ.get(SERVERS, "").split("\n")
        given = with_patch(given)
        if "toolName" not in given and "hook_event_name" in given:
            tool = tool_of(payload.text_if_any(given, "tool_name"), servers)
            return adapter.parse(
                given, runtime=self.runtime, home=home, roots=roots, shell="bash", tool=tool, form=CLAUDE
            )
        name = payload.text_if_any(given, "hookName") or told_by_fields(given)
        kind = adapter.kind_of(name, KINDS, given)
        session = payload.text_if_any(given, "sessionId")
        call = None
        if kind in adapter.WITH_CALL:
            call_input = payload.enclosed(given, "toolArgs" if "toolArgs" in given else "toolInput")
            tool, cwd = tool_of(payload.text(given, "toolName"), servers), payload.text(given, "cwd")
            call = self.call(tool, call_input, home, session, cwd=cwd, roots=roots, shell="bash")
        return Event(kind, name, call, session=session, attended=adapter.unattended(environ), form=OWN)

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        """A fault in the form of a denial: after a failed hook the agent only sees the exit status."""
        if event is None:
            return adapter.blocked(reply)
        match event.kind:
            case EventKind.BEFORE_TOOL:
                return adapter.printed(before(event, reply))
            case EventKind.PERMISSION if event.form == CLAUDE:
                return adapter.printed(adapter.permission_request(reply, interrupts=False))
            case EventKind.PERMISSION:
                return adapter.printed(adapter.behavior(reply))
            case _:
                return adapter.noted(reply) if reply.fault else adapter.printed({})


PATCHES = "apply_patch"  # whose arguments are the patch itself, as text
ARGUMENTS = ("toolArgs", "toolInput", "tool_input")


def with_patch(given: Mapping[str, object]) -> Mapping[str, object]:
    """The payload with a patch that came as bare text where arguments are."""
    if PATCHES not in (given.get("toolName"), given.get("tool_name")):
        return given
    texts = {key: text for key in ARGUMENTS if isinstance(text := given.get(key), str)}
    return {**given, **{key: {"input": text} for key, text in texts.items() if text.lstrip()[:1] != "{"}}


def tool_of(name: str, servers: list[str]) -> str:
    """The tool by the name that rules use: those of MCP servers arrive as `server-tool`, and no tool of Copilot's own
    has a hyphen. The name of an unknown server is assumed to end at the last one."""
    if "-" not in name:
        return name
    owner = max((each for each in servers if each and name.startswith(f"{each}-")), key=len, default="")
    server, tool = (owner, name[len(owner) + 1 :]) if owner else name.rsplit("-", 1)
    return f"mcp__{server}__{tool}" if server and tool else name


def told_by_fields(given: Mapping[str, object]) -> str:
    if "toolName" in given:
        return "postToolUse" if "toolResult" in given else "preToolUse"
    if "prompt" in given:
        return "userPromptSubmitted"
    if "sessionId" in given:
        return "sessionStart" if "source" in given else "other"
    raise PayloadError("the payload has neither `toolName` nor `hook_event_name`")


def before(event: Event, reply: Reply) -> dict[str, object]:
    # Without a person an ask is a denial whose reason the model reads: never the receipt for a person.
    text = reply.for_person if reply.outcome is Outcome.ALLOW else reply.for_agent
    if event.form == CLAUDE:
        return adapter.pre_tool_use(reply, WORDS[reply.outcome], text)
    out: dict[str, object] = {"permissionDecision": WORDS[reply.outcome], "permissionDecisionReason": visible(text)}
    updated = adapter.replaced(event, reply)
    return out if updated is None else {**out, "modifiedArgs": updated}


ADAPTER = CopilotCli("copilot")
