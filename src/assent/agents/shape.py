"""The payload that several programs share, and the JSON forms that go with it. Knows no single runtime."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import payload
from assent.agents.adapter import DECIDING, Event, Kind, Rendered
from assent.contract import Call, Outcome, PayloadError, Reply, dumps
from assent.contract.display import visible

KINDS: dict[str, Kind] = {
    "PreToolUse": Kind.BEFORE_TOOL,
    "PermissionRequest": Kind.PERMISSION,
    "PostToolUse": Kind.AFTER_TOOL,
    "PostToolUseFailure": Kind.AFTER_TOOL,
    "Stop": Kind.STOP,
    "StopFailure": Kind.STOP,
    "UserPromptSubmit": Kind.PROMPT,
    "ConfigChange": Kind.CONFIG_CHANGE,
    "SessionStart": Kind.SESSION_START,
}
AFTERWARDS = ("after", "post", "permissiondenied", "notification")
# How runtimes name the parts of a call. A hook may have been put into another runtime than its own.
CALLS = frozenset(
    "tool_name toolName tool tool_call toolCall tool_input toolInput toolArgs tool_args args command arguments".split()
)
ABOUT = ("file_path", "source", "reason", "notification_type")
WITH_CALL = frozenset({Kind.BEFORE_TOOL, Kind.PERMISSION, Kind.AFTER_TOOL})
BLOCKED = 2  # the exit status that blocks
BROKEN = 1  # the exit status that is noted, and blocks nothing


def parse(
    given: Mapping[str, object],
    *,
    runtime: str,
    home: str,
    roots: tuple[str, ...],
    modes: Mapping[str, str],
    shell: str = "",
    attended: bool | None = None,
    tool: str = "",
    form: str = "",
) -> Event:
    """The event of a payload in this shape. `tool` is the call's tool where the runtime's own name misleads."""
    name = payload.text(given, "hook_event_name")
    kind = kind_of(name, KINDS, given)
    session = payload.text_if_any(given, "session_id")
    call = None
    if kind in WITH_CALL:
        call_input = payload.table(given, "tool_input")
        call = Call(
            tool or payload.text(given, "tool_name"),
            call_input,
            cwd=payload.text(given, "cwd"),
            roots=roots,
            home=home,
            session=session,
            runtime=runtime,
            description=described(call_input),
            shell=shell,
        )
    return Event(
        kind,
        name,
        call,
        session=session,
        mode=modes.get(payload.text_if_any(given, "permission_mode"), ""),
        attended=attended,
        call_id=payload.text_if_any(given, "tool_use_id", "tool_call_id"),
        agent=payload.text_if_any(given, "agent_id"),
        transcript=payload.text_if_any(given, "transcript_path"),
        about="" if call is not None else next((text for key in ABOUT if (text := _plain(given.get(key)))), ""),
        form=form,
    )


def kind_of(name: str, kinds: Mapping[str, Kind], given: Mapping[str, object]) -> Kind:
    """The kind of an event. One that we do not know and that brings a call, in whatever runtime's words, may be one
    that wants a decision, so it is refused, unless it comes after the fact by its name."""
    kind = kinds.get(name)
    if kind is None and not CALLS.isdisjoint(given) and not name.lower().startswith(AFTERWARDS):
        raise PayloadError(f"unknown event `{name}` with a call; update Assent, or remove its hook for this event")
    return kind or Kind.OTHER


def _plain(value: object) -> str:
    return value if isinstance(value, str) else ""


def described(call_input: Mapping[str, object]) -> str:
    """What the agent says of its call, where a tool has a place for that."""
    return _plain(call_input.get("description"))


def printed(answer: Mapping[str, object]) -> Rendered:
    """One JSON object and nothing else."""
    return Rendered(line(answer))


def line(answer: Mapping[str, object]) -> str:
    return dumps(answer) + "\n"


def blocked(reply: Reply) -> Rendered:
    """The block that needs no JSON: text on stderr and exit status 2."""
    return Rendered(stderr=visible(reply.for_agent) + "\n", status=BLOCKED)


def noted(reply: Reply) -> Rendered:
    """A fault where there is nothing to block."""
    return Rendered(stderr=visible(reply.for_person) + "\n", status=BROKEN)


def observed(event: Event, reply: Reply) -> Rendered | None:
    """The answer to an event that only tells us something; None where it wants a decision.

    A block after the fact helps nobody, and of a stop event it would keep the agent going."""
    if event.kind in DECIDING or (event.kind is Kind.PROMPT and reply.outcome is Outcome.DENY and not reply.fault):
        return None
    return noted(reply) if reply.fault else printed(told(event, reply))


HEARS_CONTEXT = frozenset({Kind.PROMPT, Kind.SESSION_START, Kind.AFTER_TOOL})


def told(event: Event, reply: Reply) -> dict[str, object]:
    """The context for the agent, in the events that carry one."""
    if not reply.context or event.kind not in HEARS_CONTEXT:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": visible(reply.context)}}


def pre_tool_use(reply: Reply, word: str, reason: str) -> dict[str, object]:
    """`permissionDecision` in its envelope."""
    inner: dict[str, object] = {
        "hookEventName": "PreToolUse",
        "permissionDecision": word,
        "permissionDecisionReason": visible(reason),
    }
    if reply.context:
        inner["additionalContext"] = visible(reply.context)
    return {"hookSpecificOutput": inner}


def permission_request(reply: Reply, *, interrupts: bool) -> dict[str, object]:
    """The answer in place of a dialog; of an ask there is none, so that the dialog stays."""
    if reply.outcome is Outcome.ASK:
        return {}
    decision: dict[str, object] = {"behavior": "allow"}
    if reply.outcome is Outcome.DENY:
        decision = {"behavior": "deny", "message": visible(reply.for_agent)}
        if reply.stop and interrupts:
            decision["interrupt"] = True
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
