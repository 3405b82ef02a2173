"""What every adapter gives: a runtime's payload → Event, Reply → what the runtime is to read. Reads and prints nothing.

An adapter is one file. It knows the runtime's words; what the runtime makes of an answer stands in `honours`."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import payload
from assent.contract import Call, Enum, Outcome, PayloadError, Reply, Value, dumps
from assent.contract.display import visible


class Kind(Enum):
    """What a runtime wants of us."""

    BEFORE_TOOL = "before_tool"  # decide now
    PERMISSION = "permission"  # the runtime's own dialog is about to open
    AFTER_TOOL = "after_tool"
    STOP = "stop"
    PROMPT = "prompt"
    CONFIG_CHANGE = "config_change"
    SESSION_START = "session_start"
    OTHER = "other"

    __hash__ = object.__hash__  # members are singletons


ATTENDED = "ASSENT_HOST_ATTENDED"  # what the hook saw of the runtime's process; never taken from an environment
DECIDING = frozenset({Kind.BEFORE_TOOL, Kind.PERMISSION, Kind.CONFIG_CHANGE})


def deadline_within(limit: int) -> int:
    """The time by which a hook must have blocked, for a program with such a limit: well before it."""
    return limit - min(30, limit // 6)


class Event(Value):
    """One message of a runtime.

    `name` is the runtime's own word for it. `mode` is the runtime's own mode as a mode of ours (`""`: it says none).
    `attended` says whether somebody can answer the runtime's dialog (None: not known). `call_id` is the runtime's id
    of the call, `agent` that of a sub-agent, `transcript` a path as given. `about` is what an event without a call
    speaks of: the settings file that changed, how a session started. `form` is for the adapter's own use."""

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
        kind: Kind,
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
    """What a hook's process leaves behind: its outputs and its exit status."""

    __slots__ = ("stdout", "stderr", "status")

    def __init__(self, stdout: str = "", stderr: str = "", status: int = 0) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.status = status


class Response(Value):
    """What an HTTP hook answers."""

    __slots__ = ("status", "body", "type")

    def __init__(self, status: int, body: str, type: str = "application/json") -> None:
        self.status = status
        self.body = body
        self.type = type


class Adapter:
    """One runtime. `variable` names the environment variable that holds the payload (`""`: it comes on stdin)."""

    runtime = ""
    variable = ""
    # Words with which the runtime runs once and asks nobody; for a runtime in a terminal that does not tell whether
    # somebody attends. The hook then looks at its process, and says `0` in ATTENDED where nobody does.
    once: tuple[str, ...] = ()
    limit = 0  # seconds after which it runs a call whose hook has not answered, whatever its settings say; 0: none
    asks_first = False  # it fires its permission request before the hook, and asks the person before the hook could
    plain = False  # what it is told of a call before it runs rests on the reply alone
    races = False  # while its dialog is open, a hook may answer in its place: the first answer counts

    rewriting = False  # an ask of ours may rewrite a command, so that a rule of the runtime's own asks about it
    names_no_servers = False  # nothing in the names of its tools says which are of an MCP server

    def rewrites(self, event: Event) -> bool:
        """Whether an ask may rewrite the command of an event."""
        return False

    def asks(self, event: Event) -> bool:
        """Whether an ask of ours opens the runtime's own dialog."""
        return True

    def parse(self, given: Mapping[str, object], *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        """The event of a payload; raises PayloadError where it is none.

        `project` is the session's folder, for the runtimes that do not tell it from the folder of a call."""
        raise NotImplementedError

    def render(self, event: Event | None, reply: Reply) -> Rendered:
        """The answer in the runtime's own form. Without an event (the payload was none) it is the block that holds
        for any event."""
        raise NotImplementedError

    def respond(self, event: Event | None, reply: Reply) -> Response:
        """The answer to an HTTP hook. Raises NotImplementedError where the runtime has none."""
        raise NotImplementedError

    def parse_text(self, text: str | bytes, *, environ: Mapping[str, str], home: str, project: str = "") -> Event:
        """The event of a payload as it was sent."""
        return self.parse(payload.read(text), environ=environ, home=home, project=project)


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
