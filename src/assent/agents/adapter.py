"""The interface of adapters: a program's payload → Event, Reply → the program's own form; and the form of payload and
answer that several programs share. Reads and prints nothing."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import payload
from assent.contract import Call, Enum, Outcome, PayloadError, Reply, Value, dumps
from assent.contract.display import visible


class EventKind(Enum):
    BEFORE_TOOL = "before_tool"  # decide now
    PERMISSION = "permission"  # the program's own dialog is about to open
    AFTER_TOOL = "after_tool"
    STOP = "stop"
    PROMPT = "prompt"
    CONFIG_CHANGE = "config_change"
    SESSION_START = "session_start"
    OTHER = "other"

    __hash__ = object.__hash__  # members are singletons


ATTENDED = "ASSENT_HOST_ATTENDED"  # the hook's finding on the program's process; never taken from an environment
DECIDING = frozenset({EventKind.BEFORE_TOOL, EventKind.PERMISSION, EventKind.CONFIG_CHANGE})


def deadline_within(limit: int) -> int:
    """The time by which a hook must have blocked, well before the program's limit."""
    return limit - min(30, limit // 6)


class Event(Value):
    """One message of a program.

    `name` is the program's own word for it. `mode` is the program's own mode as a mode of ours (`""`: not given).
    `attended` says whether somebody can answer the program's dialog (None: not known). `call_id` is the program's id of
    the call, `agent` that of a sub-agent, `transcript` a path as given. `about` is the subject of an event without a
    call: the settings file that changed, how a session started. `form` is for the adapter's own use."""

    __slots__ = (
        "kind",
        "name",
        "call",
        "session",
        "mode",
        "attended",
        "call_id",
        "agent",
        "transcript",
        "about",
        "form",
    )

    def __init__(
        self,
        kind: EventKind,
        name: str,
        call: Call | None = None,
        *,
        session: str = "",
        mode: str = "",
        attended: bool | None = None,
        call_id: str = "",
        agent: str = "",
        transcript: str = "",
        about: str = "",
        form: str = "",
    ) -> None:
        self.kind = kind
        self.name = name
        self.call = call
        self.session = session
        self.mode = mode
        self.attended = attended
        self.call_id = call_id
        self.agent = agent
        self.transcript = transcript
        self.about = about
        self.form = form


class Rendered(Value):
    """The result of a hook's process: its outputs and its exit status."""

    __slots__ = ("stdout", "stderr", "status")

    def __init__(self, stdout: str = "", stderr: str = "", status: int = 0) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.status = status


class Response(Value):
    __slots__ = ("status", "body", "type")

    def __init__(self, status: int, body: str, type: str = "application/json") -> None:
        self.status = status
        self.body = body
        self.type = type


class Adapter:
    """One program. `variable` names the environment variable that holds the payload (`""`: it comes on stdin)."""

    variable = ""
    # Words with which the program runs once and asks nobody; for a program in a terminal that does not report whether
    # somebody attends. The hook then checks its process, and sets ATTENDED to `0` if nobody does.
    once: tuple[str, ...] = ()
    limit = 0  # seconds after which it runs a call whose hook has not answered, whatever its settings say; 0: none
    asks_first = False  # it fires its permission request before the hook, and asks the person before the hook could
    plain = False  # its answer before a call runs depends on the reply alone
    races = False  # while its dialog is open, a hook may answer in its place: the first answer counts
    rewriting = False  # our ask may rewrite a command, so that the program's own rule asks about it
    reports = True  # it says of every call when it has ended
    keeps = ""  # state kept by its shell after a command: `folder`, `shell` (all of it), or nothing
    names_no_servers = False  # the names of its tools do not show which are of an MCP server

    def __init__(self, runtime: str) -> None:
        self.runtime = runtime

    def rewrites(self, event: Event) -> bool:
        return False

    def replaces(self, event: Event) -> bool:
        """Whether an allow of ours may replace the command that the event's call runs (`Reply.command`)."""
        return False

    def asks(self, event: Event) -> bool:
        """Whether an ask of ours opens the program's own dialog."""
        return True

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        """The event of a payload; raises PayloadError if it is none.

        `project` is the session's folder, for programs that do not distinguish it from the folder of a call."""
        raise NotImplementedError

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        """The answer in the program's own form. Without an event (the payload was invalid) it is a block for any
        event."""
        raise NotImplementedError

    def respond(self, event: Event | None, reply: Reply) -> Response:
        """The answer to an HTTP hook. Raises NotImplementedError if the program has none."""
        raise NotImplementedError

    def call(
        self,
        tool: str,
        given: Mapping[str, object],
        home: str,
        session: str,
        *,
        cwd: str,
        roots: tuple[str, ...],
        shell: str = "",
    ) -> Call:
        return Call(
            tool,
            given,
            cwd=cwd,
            roots=roots,
            home=home,
            session=session,
            runtime=self.runtime,
            description=described(given),
            shell=shell,
        )

    def parse_text(self, text: str | bytes, *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        return self.parse(payload.read(text), environ=environ, home=home, project=project)


KINDS: dict[str, EventKind] = {
    "PreToolUse": EventKind.BEFORE_TOOL,
    "PermissionRequest": EventKind.PERMISSION,
    "PostToolUse": EventKind.AFTER_TOOL,
    "PostToolUseFailure": EventKind.AFTER_TOOL,
    "Stop": EventKind.STOP,
    "StopFailure": EventKind.STOP,
    "UserPromptSubmit": EventKind.PROMPT,
    "ConfigChange": EventKind.CONFIG_CHANGE,
    "SessionStart": EventKind.SESSION_START,
}
AFTERWARDS = ("after", "post", "permissiondenied", "notification")
# How programs name the parts of a call. A hook may have been installed in another program than its own.
CALLS = frozenset(
    "tool_name toolName tool tool_call toolCall tool_input toolInput toolArgs tool_args args command arguments".split()
)
ABOUT = ("file_path", "source", "reason", "notification_type")
HEARS_CONTEXT = frozenset({EventKind.PROMPT, EventKind.SESSION_START, EventKind.AFTER_TOOL})
WITH_CALL = frozenset({EventKind.BEFORE_TOOL, EventKind.PERMISSION, EventKind.AFTER_TOOL})
BLOCKED = 2  # the exit status that blocks
BROKEN = 1  # the exit status that is noted, and blocks nothing


def parse(
    given: Mapping[str, object],
    *,
    runtime: str,
    home: str,
    roots: tuple[str, ...],
    kinds: Mapping[str, EventKind] = KINDS,
    modes: Mapping[str, str] | None = None,
    shell: str = "",
    attended: bool | None = None,
    tool: str = "",
    form: str = "",
) -> Event:
    """The event of a payload in the shared form. `tool` is the call's tool if the program's own name misleads."""
    name = payload.text(given, "hook_event_name")
    kind = kind_of(name, kinds, given)
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
            agent=payload.text_if_any(given, "agent_type"),
        )
    return Event(
        kind,
        name,
        call,
        session=session,
        mode=(modes or {}).get(payload.text_if_any(given, "permission_mode"), ""),
        attended=attended,
        call_id=payload.text_if_any(given, "tool_use_id", "tool_call_id"),
        agent=payload.text_if_any(given, "agent_id"),
        transcript=payload.text_if_any(given, "transcript_path"),
        about="" if call is not None else next((text for key in ABOUT if (text := _plain(given.get(key)))), ""),
        form=form,
    )


def unattended(environ: Mapping[str, str]) -> bool | None:
    """Whether somebody attends a program, by the hook's check of its process."""
    return False if environ.get(ATTENDED) == "0" else None


def kind_of(name: str, kinds: Mapping[str, EventKind], given: Mapping[str, object]) -> EventKind:
    """The kind of an event. An unknown one with a call, in any program's form, may need a decision, so it is refused,
    unless its name says that it comes after the fact."""
    kind = kinds.get(name)
    if kind is None and not CALLS.isdisjoint(given) and not name.lower().startswith(AFTERWARDS):
        raise PayloadError(f"unknown event `{name}` with a call; update Assent, or remove its hook for this event")
    return kind or EventKind.OTHER


def _plain(value: object) -> str:
    return value if isinstance(value, str) else ""


def described(call_input: Mapping[str, object]) -> str:
    return _plain(call_input.get("description"))


def printed(answer: Mapping[str, object]) -> Rendered:
    return Rendered(dumps(answer) + "\n")


def blocked(reply: Reply) -> Rendered:
    """The block that needs no JSON: text on stderr and exit status 2."""
    return Rendered(stderr=visible(reply.for_agent) + "\n", status=BLOCKED)


def noted(reply: Reply) -> Rendered:
    """A fault with nothing to block."""
    return Rendered(stderr=visible(reply.for_person) + "\n", status=BROKEN)


def observed(event: Event, reply: Reply) -> Rendered | None:
    """The answer to an event that only informs us; None if it wants a decision.

    A block after the fact is useless, and a blocked stop event would keep the agent running."""
    if event.kind in DECIDING or (event.kind is EventKind.PROMPT and reply.outcome is Outcome.DENY and not reply.fault):
        return None
    return noted(reply) if reply.fault else printed(context_fields(event, reply))


def context_fields(event: Event, reply: Reply) -> dict[str, object]:
    """The context for the agent, in the events that carry one."""
    if not reply.context or event.kind not in HEARS_CONTEXT:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": visible(reply.context)}}


def pre_tool_use(
    reply: Reply, word: str, reason: str, updated: Mapping[str, object] | None = None
) -> dict[str, object]:
    """`updated` is the input with which the call runs (None: its own)."""
    inner: dict[str, object] = {
        "hookEventName": "PreToolUse",
        "permissionDecision": word,
        "permissionDecisionReason": visible(reason),
    }
    if updated is not None:
        inner["updatedInput"] = updated
    if reply.context:
        inner["additionalContext"] = visible(reply.context)
    return {"hookSpecificOutput": inner}


def replaced(event: Event, reply: Reply) -> dict[str, object] | None:
    """The whole input of an allowed call with another command, if there is one. Raises PayloadError if the call has no
    replaceable command."""
    if not reply.command or reply.outcome is not Outcome.ALLOW:
        return None
    if event.call is None or not runs_text(event):
        raise PayloadError("the call has no command that could be replaced")
    return {**event.call.input, "command": reply.command}


def runs_text(event: Event, *tools: str) -> bool:
    """Whether an event comes before a command as one text, of one of these tools."""
    call = event.call
    if event.kind is not EventKind.BEFORE_TOOL or call is None or (tools and call.tool not in tools):
        return False
    return isinstance(call.input.get("command"), str)


def permission_request(reply: Reply, *, interrupts: bool) -> dict[str, object]:
    """The answer in place of a dialog; none for an ask, so that the dialog stays."""
    decision = behavior(reply)
    if reply.outcome is Outcome.DENY and reply.stop and interrupts:
        decision["interrupt"] = True
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}} if decision else {}


def behavior(reply: Reply) -> dict[str, object]:
    """The same without its envelope."""
    match reply.outcome:
        case Outcome.ALLOW:
            return {"behavior": "allow"}
        case Outcome.ASK:
            return {}
        case _:
            return {"behavior": "deny", "message": visible(reply.for_agent)}


def blocking(reply: Reply) -> dict[str, object]:
    return {"decision": "block", "reason": visible(reply.for_agent)}
