"""The types of approval: a call that waits, the question, the answer, the grant that remembers it, and the ending."""

from __future__ import annotations

from assent.contract.call import Call
from assent.contract.decision import Decision
from assent.contract.enums import Enum
from assent.contract.value import Value, texts

LONGEST_SESSION = 7 * 24 * 3600.0  # the end of a session may never be reported


class Scope(Enum):
    """How long and where an answer applies."""

    ONCE = "once"
    QUARTER = "15m"
    SESSION = "session"
    PROJECT = "project"
    EVERYWHERE = "everywhere"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is slower

    @property
    def bounds(self) -> Bounds:
        """The bounds of a grant of this scope."""
        return BOUNDS[self]


class Bounds(Value):
    """At most how many `seconds` a grant applies (0: until it is revoked), and whether it is bound to one `session` and
    one `project`. `named`: only for a session that has a name."""

    __slots__ = ("seconds", "session", "named", "project")

    def __init__(
        self, seconds: float = 0.0, *, session: bool = False, named: bool = False, project: bool = False
    ) -> None:
        self.seconds = seconds
        self.session = session
        self.named = named
        self.project = project

    @property
    def lasting(self) -> bool:
        return not self.session


BOUNDS = {
    Scope.ONCE: Bounds(session=True, project=True),  # which has no grant
    Scope.QUARTER: Bounds(15 * 60.0, session=True, project=True),
    Scope.SESSION: Bounds(LONGEST_SESSION, session=True, named=True, project=True),
    Scope.PROJECT: Bounds(project=True),
    Scope.EVERYWHERE: Bounds(),
}


class Said(Enum):
    """A person's answer. STOP is a denial after which the agent should not continue."""

    ALLOW = "allow"
    DENY = "deny"
    STOP = "stop"

    __hash__ = object.__hash__  # as above

    def __bool__(self) -> bool:
        raise TypeError("what was said is neither true nor false; write `said is Said.ALLOW`")


class Ending(Enum):
    """How a question ended. Only ANSWERED and SETTLED can let a call run."""

    ANSWERED = "answered"  # a person answered
    SETTLED = "settled"  # settled by the answer to another question: a grant, or a stop of the agent
    EXPIRED = "expired"  # shown, and not answered in time
    UNSEEN = "unseen"  # nobody could see it
    DISMISSED = "dismissed"  # Esc, Ctrl-C
    UNANSWERED = "unanswered"  # asked in the program's own dialog, which did not report the answer
    LOST = "lost"  # the only place that showed it disconnected, or the process that held it died
    CANCELLED = "cancelled"  # the asking task was cancelled, or the call was withdrawn
    CHANGED = "changed"  # the call has changed since it was shown
    OVERRULED = "overruled"  # the rules deny it now
    FAULT = "fault"  # an internal error
    CLOSED = "closed"  # the gate was shut down

    __hash__ = object.__hash__  # as above

    def __bool__(self) -> bool:
        raise TypeError("an ending is neither true nor false; write `resolution.allowed`")


class Suggestion(Value):
    """Rules that would repeat an answer, to be saved with it. `width` says in words what they match.

    No rules: the answer can be repeated for the identical call only."""

    __slots__ = ("rules", "width")

    def __init__(self, rules: tuple[str, ...], width: str) -> None:
        self.rules = rules
        self.width = width


class Reach(Value):
    """The past calls that rules would have matched: `matched` of `looked_at`; a person denied `denied` of them.

    `refusal` is why they may not be saved (`""`: they may). `covers`: they settle this call."""

    __slots__ = ("matched", "denied", "looked_at", "refusal", "covers")

    def __init__(
        self, matched: int = 0, denied: int = 0, looked_at: int = 0, *, refusal: str = "", covers: bool = True
    ) -> None:
        self.matched = matched
        self.denied = denied
        self.looked_at = looked_at
        self.refusal = refusal
        self.covers = covers


class Preview(Value):
    """The part of a call that a person sees. `kind` is `command`, `diff` or `input`; `text` is raw and hostile: every
    surface shows it through `display`. `path` is the file of a diff. `length` is the true length of a cut `text`."""

    __slots__ = ("kind", "text", "path", "length")

    def __init__(self, kind: str, text: str, *, path: str = "", length: int = 0) -> None:
        self.kind = kind
        self.text = text
        self.path = path
        self.length = length or len(text)

    @property
    def whole(self) -> bool:
        """Whether `text` is not cut."""
        return self.length <= len(self.text)


class Consequence(Value):
    """One consequence of a call, measured when it was asked about.

    `kind` is what was measured: `deletion`, `push`, `history`, `install`, `rows`, `upload`, `arguments`, `undo`,
    `order` (one part may change what another does) or `failed`. `text` describes it, with foreign names escaped and
    shortened. `cut`: measuring stopped early, so it may be more."""

    __slots__ = ("kind", "text", "cut")

    def __init__(self, kind: str, text: str, *, cut: bool = False) -> None:
        self.kind = kind
        self.text = text
        self.cut = cut


class Held(Value):
    """A call that waits for a person. `id` is a UUID of ours; ids of runtimes are not trusted to be unique.

    `digest` binds an approval to the shown call. `project` is the folder that "always here" means. `effects` and
    `consequences` describe the call in words. `warnings` are points that a person should check. `made` is the time of
    asking (seconds since the epoch), `timeout` the seconds to answer in once it is shown, `unseen` the seconds to wait
    until somebody sees it, `limit` the seconds after `made` when the caller stops waiting (0: unknown).
    `attended`: the host has its own dialog, and somebody watches it."""

    __slots__ = (
        "id",
        "call",
        "digest",
        "decision",
        "preview",
        "effects",
        "consequences",
        "suggestions",
        "warnings",
        "project",
        "made",
        "timeout",
        "unseen",
        "limit",
        "attended",
    )

    def __init__(
        self,
        id: str,
        call: Call,
        digest: str,
        decision: Decision,
        preview: Preview,
        *,
        effects: tuple[str, ...] = (),
        consequences: tuple[Consequence, ...] = (),
        suggestions: tuple[Suggestion, ...] = (),
        warnings: tuple[str, ...] = (),
        project: str = "",
        made: float = 0.0,
        timeout: float = 300.0,
        unseen: float = 60.0,
        limit: float = 0.0,
        attended: bool = False,
    ) -> None:
        self.id = id
        self.call = call
        self.digest = digest
        self.decision = decision
        self.preview = preview
        self.effects = effects
        self.consequences = consequences
        self.suggestions = suggestions
        self.warnings = warnings
        self.project = project
        self.made = made
        self.timeout = timeout
        self.unseen = unseen
        self.limit = limit
        self.attended = attended


class Answer(Value):
    """A person's answer to a question, with the person and the channel.

    `rules` are the rules to save (with a scope wider than ONCE); none means the identical call only.
    `message` is for the agent."""

    __slots__ = ("said", "scope", "rules", "message", "who", "channel")

    def __init__(
        self,
        said: Said,
        *,
        scope: Scope = Scope.ONCE,
        rules: tuple[str, ...] = (),
        message: str = "",
        who: str = "",
        channel: str = "",
    ) -> None:
        self.said = said
        self.scope = scope
        self.rules = rules if type(rules) is tuple else texts(rules, "rules")
        self.message = message
        self.who = who
        self.channel = channel

    def __bool__(self) -> bool:
        raise TypeError("an answer is neither true nor false; write `answer.said is Said.ALLOW`, or `is not None`")


class Grant(Value):
    """A saved answer. It settles an ASK, never a denial.

    `rules` are read as allow rules; without rules, `identity` names the one call that is meant. `answers` are the texts
    of the ask rules that the person saw and answered: these, and no others, are settled too. `session` binds SESSION
    grants, `project` binds PROJECT ones. `until` is the end in seconds since the epoch; 0 is none. `files` are the
    scripts and recipes that the call ran when it was answered, each with a digest of its bytes: the grant settles no
    call that runs other files or other bytes."""

    __slots__ = (
        "id",
        "scope",
        "rules",
        "identity",
        "answers",
        "session",
        "project",
        "made",
        "until",
        "who",
        "channel",
        "shown",
        "files",
    )

    def __init__(
        self,
        id: str,
        scope: Scope,
        *,
        rules: tuple[str, ...] = (),
        identity: str = "",
        answers: tuple[str, ...] = (),
        session: str = "",
        project: str = "",
        made: float = 0.0,
        until: float = 0.0,
        who: str = "",
        channel: str = "",
        shown: str = "",
        files: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.id = id
        self.scope = scope
        self.rules = rules
        self.identity = identity
        self.answers = answers
        self.session = session
        self.project = project
        self.made = made
        self.until = until
        self.who = who
        self.channel = channel
        self.shown = shown
        self.files = files


class Resolution(Value):
    """How a question ended. `allowed` is true only for an approval that was still valid when the call was released."""

    __slots__ = ("id", "ending", "allowed", "answer", "reason", "waited")

    def __init__(
        self,
        id: str,
        ending: Ending,
        *,
        allowed: bool = False,
        answer: Answer | None = None,
        reason: str = "",
        waited: float = 0.0,
    ) -> None:
        self.id = id
        self.ending = ending
        self.allowed = allowed
        self.answer = answer
        self.reason = reason
        self.waited = waited

    def __bool__(self) -> bool:
        raise TypeError("a resolution is neither true nor false; write `resolution.allowed`, or `is not None`")


class Verdict(Value):
    """The end of a call's path: it may run, or it may not. `id` names its record in the trail.

    `message` is for the agent. `stop`: the person wants the agent to stop. `call` is the judged call, with a private
    copy of the arguments: run that one. None at a hook, or if the call could not be read. `command` runs in place of
    the call's own command if it runs contained; only callers that can replace it get one."""

    __slots__ = ("allowed", "decision", "id", "message", "stop", "resolution", "call", "command")

    def __init__(
        self,
        allowed: bool,
        decision: Decision,
        id: str = "",
        *,
        message: str = "",
        stop: bool = False,
        resolution: Resolution | None = None,
        call: Call | None = None,
        command: str = "",
    ) -> None:
        self.allowed = allowed
        self.decision = decision
        self.id = id
        self.message = message
        self.stop = stop
        self.resolution = resolution
        self.call = call
        self.command = command

    def on(self, call: Call) -> Verdict:
        return Verdict(
            self.allowed,
            self.decision,
            self.id,
            message=self.message,
            stop=self.stop,
            resolution=self.resolution,
            call=call,
            command=self.command,
        )

    def __bool__(self) -> bool:
        raise TypeError("a verdict is neither true nor false; write `verdict.allowed`, or `is not None`")

    @property
    def unseen(self) -> bool:
        """Nobody could see the question; the program's own dialog may still ask."""
        return self.resolution is not None and self.resolution.ending is Ending.UNSEEN
