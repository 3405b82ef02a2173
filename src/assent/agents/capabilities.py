"""How each program treats a hook's answer, in the tested version.

Read from the programs' `agent.toml`, for `doctor`, `install` and docs/runtimes.md. Not loaded by a hook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assent.agents import known
from assent.contract import Enum, Value


class Does(Enum):
    RUNS = "runs"
    HOST = "the runtime's own rules decide"
    ASKS = "its dialog opens"
    BLOCKS = "blocked"
    ENDS = "the whole run ends"
    UNKNOWN = "not known"


class Evidence(Enum):
    OBSERVED = "observed"
    DOCUMENTED = "from its documentation"


ANSWERS = ("allow", "ask", "ask_headless", "deny", "error")  # `error` is the form that an adapter uses for a fault
FAILURES = ("exit_1", "crash", "timeout", "garbage")  # `crash`: a signal, a missing program; `garbage`: no answer


class Capabilities(Value):
    """One program.

    `does` is the result for a call after each of our ANSWERS, and each of the FAILURES of a hook, with the installer's
    settings. Times are in seconds; `longest` is the limit that no setting lifts, 0 if none was seen (an adapter's
    `limit` is the same if a call then runs). `http`, `permission_hook` and `dialog` are features of the program.
    `exceptions` are the ways past the gate that no answer of ours closes, `since` features that need at least a
    version. `exposed` is the way a repository can affect a hook in the user's settings before the program starts (`""`:
    none), `managed` whether a hook in the machine's settings prevents that."""

    __slots__ = (
        *("runtime", "title", "version", "source", "does", "default_timeout", "longest", "http", "permission_hook"),
        *("dialog", "exceptions", "since", "exposed", "managed"),
    )

    def __init__(
        self,
        runtime: str,
        title: str,
        version: str,
        *,
        source: Evidence,
        does: Mapping[str, Does],
        default_timeout: float = 0,
        longest: float = 0,
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
        self.does = does
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
        """The failures of a hook after which the call runs, whatever an adapter does."""
        closed = (Does.BLOCKS, Does.ENDS, Does.ASKS)
        return tuple(name.replace("_", " ") for name in FAILURES if self.does[name] not in closed)


def _read(runtime: str, row: Mapping[str, Any]) -> Capabilities:
    given = dict(row)
    given["does"] = {key: Does[given.pop(key).upper()] for key in (*ANSWERS, *FAILURES)}
    given["source"] = Evidence[given["source"].upper()]
    given["exceptions"] = tuple(given.get("exceptions", ()))
    given["since"] = tuple(given.get("since", {}).items())
    return Capabilities(runtime, known.section("agent")[runtime]["title"], **given)


CAPABILITIES = {runtime: _read(runtime, row) for runtime, row in known.section("capabilities").items()}
NAMES = {each.runtime: each.title.partition(",")[0] for each in CAPABILITIES.values()}
