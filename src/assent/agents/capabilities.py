"""What each runtime makes of a hook's answer: what was seen, and in which version. Renders nothing.

Read from the programs' `agent.toml`, for `doctor`, `install` and docs/runtimes.md. Not loaded by a hook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assent.agents import known
from assent.contract import Enum, Value


class Does(Enum):
    """What becomes of the call."""

    RUNS = "runs"
    HOST = "the runtime's own rules decide"
    ASKS = "its dialog opens"
    BLOCKS = "blocked"
    ENDS = "the whole run ends"
    UNKNOWN = "not known"


class Source(Enum):
    """How we know."""

    OBSERVED = "observed"
    DOCUMENTED = "from its documentation"


class Capabilities(Value):
    """One runtime.

    `allow`, `ask`, `ask_headless`, `deny` and `error` are what our own answers turn into, `error` being the form that
    an adapter uses for a fault. `exit_1`, `crash` (a signal, a missing program), `timeout` and `garbage` (output that
    is no answer) are what a broken hook turns into, after what the installer sets. Times are in seconds; `longest` is
    the limit that no setting lifts, 0 where none was seen (an adapter's `limit` is the same where a call then runs).
    `http`, `permission_hook` and `dialog` say what the runtime has. `exceptions` are the ways past the gate that no
    answer of ours closes, and `since` what needs at least a version. `exposed` is what a repository can do to a hook in
    the user's settings before the program starts (`""`: nothing), `managed` whether a hook in the machine's settings
    withstands that."""

    __slots__ = (
        "runtime",
        "title",
        "version",
        "source",
        "allow",
        "ask",
        "ask_headless",
        "deny",
        "error",
        "exit_1",
        "crash",
        "timeout",
        "garbage",
        "default_timeout",
        "longest",
        "http",
        "permission_hook",
        "dialog",
        "exceptions",
        "since",
        "exposed",
        "managed",
    )

    def __init__(
        self,
        runtime: str,
        title: str,
        version: str,
        *,
        allow: Does,
        ask: Does,
        ask_headless: Does,
        deny: Does,
        error: Does,
        exit_1: Does,
        crash: Does,
        timeout: Does,
        garbage: Does,
        default_timeout: float = 0,
        longest: float = 0,
        source: Source = Source.OBSERVED,
        http: bool = False,
        permission_hook: bool = False,
        dialog: bool = True,
        exceptions: tuple[str, ...] = (),
        since: tuple[tuple[str, str], ...] = (),
        exposed: str = "",
        managed: bool = False,
    ) -> None:
        self.runtime = runtime
        self.title = title
        self.version = version
        self.source = source
        self.allow = allow
        self.ask = ask
        self.ask_headless = ask_headless
        self.deny = deny
        self.error = error
        self.exit_1 = exit_1
        self.crash = crash
        self.timeout = timeout
        self.garbage = garbage
        self.default_timeout = default_timeout
        self.longest = longest
        self.http = http
        self.permission_hook = permission_hook
        self.dialog = dialog
        self.exceptions = exceptions
        self.since = since
        self.exposed = exposed
        self.managed = managed

    @property
    def fails_open(self) -> tuple[str, ...]:
        """The breakdowns of a hook after which the call runs, whatever an adapter does."""
        broken = {"exit 1": self.exit_1, "crash": self.crash, "timeout": self.timeout, "garbage": self.garbage}
        return tuple(name for name, does in broken.items() if does not in (Does.BLOCKS, Does.ENDS, Does.ASKS))


ANSWERS = ("allow", "ask", "ask_headless", "deny", "error", "exit_1", "crash", "timeout", "garbage")


def _read(runtime: str, row: Mapping[str, object]) -> Capabilities:
    given: dict[str, Any] = dict(row)
    given |= {key: Does[given[key].upper()] for key in ANSWERS}
    given["source"] = Source[given["source"].upper()]
    given["exceptions"] = tuple(given.get("exceptions", ()))
    given["since"] = tuple(given.get("since", {}).items())
    return Capabilities(runtime, str(known.section("agent")[runtime]["title"]), **given)


CAPABILITIES: dict[str, Capabilities] = {
    runtime: _read(runtime, row) for runtime, row in known.section("capabilities").items()
}
NAMES = {each.runtime: each.title.partition(",")[0] for each in CAPABILITIES.values()}
