"""What every adapter gives: a runtime's payload → Event, Reply → what the runtime is to read. Reads and prints nothing.

An adapter is one file. It knows the runtime's words; what the runtime makes of an answer stands in `honours`."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import payload
from assent.contract import Call, Enum, Reply, Value


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
