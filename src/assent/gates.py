"""Gates kept ready for the projects that call, and made anew when a file behind them changes. Decides nothing.

A policy that does not load leaves no older one in force: its gate denies everything with the error until it loads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date
from threading import Lock
from time import monotonic

from assent import configure
from assent.contract.call import Call
from assent.contract.errors import AssentError, PayloadError, PolicyError
from assent.effects.declared import Tool
from assent.engine import Engine, Judged, refusal, unloaded
from assent.facts import activated, files, saved, sessions
from assent.facts.trust import TRUST_FILE
from assent.policy.document import Document
from assent.policy.modes import Mode
from assent.policy.settings import combine

MOST = 256  # gates kept
MOST_VIEWS = 4096
LOOK = 1.0  # seconds that a look at a workspace holds

Mark = tuple[object, ...]


class Refusing(Engine):
    """The gate of a policy that does not load."""

    def __init__(self, error: AssentError) -> None:
        super().__init__(combine([]))
        self.error = error

    def judge(
        self, call: Call, *, mode: Mode | None = None, headless: bool = False, links: Mapping[str, str] | None = None
    ) -> Judged:
        if isinstance(self.error, PolicyError):
            return Judged(unloaded(self.error))
        return Judged(refusal("policy.load", f"the policy does not load: {self.error}", flip="correct the policy"))


class Gates:
    """The gates of one process. Safe for threads. `mode` and `config` are flags of the command line; `more`, `alone`
    and `tools` are those of `configure.open_gate`."""

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        mode: str = "",
        config: str = "",
        more: Sequence[Document] = (),
        alone: bool = False,
        tools: Mapping[str, Tool] | None = None,
    ) -> None:
        self._more = tuple(more)
        self._alone = alone
        self._tools = dict(tools or {})
        self._environ = dict(environ)
        self._mode = mode
        self._config = config
        self._known: dict[tuple[str, str], tuple[Mark, Engine, configure.Place]] = {}
        self._places: dict[str, tuple[float, configure.Place]] = {}
        self._paths: dict[tuple[str, str], tuple[str, ...]] = {}  # (state, project) → files that a gate rests on
        self._views: dict[tuple[str, str], Mark] = {}  # (project, session) → the file that is as it was first
        self._lock = Lock()
        self.loads = 0

    def declare(self, name: str, tool: Tool) -> None:
        """Say what a tool of the embedding program does. Raises PayloadError where something else was said before."""
        with self._lock:
            add_tool(self._tools, name, tool)
            self._known.clear()

    def unlock(self) -> None:
        """For a process that was forked: whoever held the lock is not here."""
        self._lock = Lock()

    def check(self, project: str) -> None:
        """Raises the error of a policy that does not load, for those who would rather know at once."""
        gate, _ = self.find(project)
        if isinstance(gate, Refusing):
            raise gate.error

    def find(self, project: str, session: str = "") -> tuple[Engine, configure.Place]:
        """The gate for a session in a project as the files are now, and its place. Never raises."""
        here = self._place(project)
        session = self._own_view(here, session)
        key = (project, session)
        mark = self._mark(here, session)
        with self._lock:
            known = self._known.get(key)
            if known is not None and known[0] == mark:
                return known[1], known[2]
            self._paths.pop((here.state, here.project), None)  # a changed file may name others
            mark = self._mark(here, session)
            gate, place = self._load(here, session)
            while len(self._known) >= MOST:
                del self._known[next(iter(self._known))]
            self._known[key] = (mark, gate, place)
            self.loads += 1
            return gate, place

    def _place(self, project: str) -> configure.Place:
        """Where a project is. Looking for its worktrees takes longer than a decision, so a look holds for a moment."""
        now = monotonic()
        known = self._places.get(project)
        if known is None or known[0] < now:
            if len(self._places) >= MOST:
                self._places.clear()
            known = self._places[project] = (now + LOOK, configure.place(project, self._environ))
        return known[1]

    def _own_view(self, here: configure.Place, session: str) -> str:
        """The session, where the project's file is not as it saw it first or it began elsewhere; else `""`, and it
        shares a gate."""
        if not session or not here.project.startswith("/"):
            return ""
        path = files.project_file(here.project)
        mark, key = _mark_of(path), (here.project, session)
        if self._views.get(key) == mark:
            return ""
        try:
            text = files.config_text(path)
            first = sessions.pinned(here.state, session, here.project, text)
            _, before = configure.began(here, session)
        except AssentError:
            return session
        if (first is not None and first != text) or before:
            return session
        if here.project == "/":  # of no folder, so that the session may yet begin
            return ""
        if len(self._views) >= MOST_VIEWS:
            self._views.clear()
        self._views[key] = mark
        return ""

    def _load(self, here: configure.Place, session: str) -> tuple[Engine, configure.Place]:
        try:
            return configure.open_gate(
                here,
                self._environ,
                mode=self._mode,
                config=self._config,
                session=session,
                more=self._more,
                alone=self._alone,
                tools=self._tools,
            )
        except AssentError as error:
            return Refusing(error), here

    def _mark(self, here: configure.Place, session: str) -> Mark:
        """What changes when a source changes: its size, its times, which file it is; and the day, as rules expire."""
        names = (here.state, here.project)
        paths = self._paths.get(names)
        if paths is None:
            if len(self._paths) >= MOST:
                self._paths.clear()
            paths = self._paths[names] = self._sources(here)
        return (date.today(), here.roots, session, *map(_mark_of, paths))

    def _sources(self, here: configure.Place) -> tuple[str, ...]:
        return (
            files.MANAGED_FILE,
            self._config or files.user_file(here.state),
            files.project_file(here.project),
            os.path.join(here.state, TRUST_FILE),
            saved.path(here.state),
            *activated.files(here.state),
        )


def add_tool(tools: dict[str, Tool], name: str, tool: Tool) -> None:
    """One tool has one declaration."""
    if tools.setdefault(name.lower(), tool) != tool:
        raise PayloadError(f"the tool `{name}` is declared twice, and differently; give one of them another name")


def _mark_of(path: str) -> Mark:
    try:
        status = os.stat(path)
    except OSError as error:
        return (error.errno,)
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev, status.st_mode)
