"""Engines kept ready for the projects that call, and made anew when a file behind them changes. Decides nothing.

A policy that does not load leaves no older one in force: its gate denies everything with the error until it loads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date
from threading import Lock
from time import monotonic, time, time_ns

from assent.contract import AssentError, Call, PayloadError, PolicyError
from assent.effects.declared import Tool
from assent.engine import configure
from assent.engine.engine import Engine, Judged, refusal, unloaded
from assent.facts.links import Links
from assent.policy.document import Document
from assent.policy.modes import Mode
from assent.policy.settings import combine
from assent.state import activated, files, saved, sessions
from assent.state.trust import TRUST_FILE

MOST = 256  # gates kept
MOST_VIEWS = 16384  # sessions of which is known that they share a gate; of others their files tell
LOOK = 1.0  # seconds that a look at a workspace holds
COARSE = 50_000_000  # nanoseconds in which a file may change twice and show it once
PROJECT = 2  # the place of the project's file among the sources

Mark = tuple[int, ...]


class Refusing(Engine):
    """The gate of a policy that does not load."""

    def __init__(self, error: AssentError) -> None:
        super().__init__(combine([]))
        self.error = error

    def judge(
        self,
        call: Call,
        *,
        mode: Mode | None = None,
        headless: bool = False,
        links: Mapping[str, str] | None = None,
        moment: Links | None = None,
    ) -> Judged:
        if isinstance(self.error, PolicyError):
            return Judged(unloaded(self.error))
        return Judged(refusal("policy.load", f"the policy does not load: {self.error}", flip="correct the policy"))


class EngineCache:
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
        self._known: dict[tuple[str, str], tuple[tuple[Mark, ...], date, tuple[str, ...], Engine, configure.Place]] = {}
        self._places: dict[str, tuple[float, tuple[int, ...], configure.Place]] = {}
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

    def find(self, project: str, session: str = "", *, moment: Links | None = None) -> tuple[Engine, configure.Place]:
        """The gate for a session in a project as the files are now, or were in a `moment` after it was asked for; and
        its place. Never raises."""
        if moment is None:
            return self._find(project, session, None)
        return moment.once(("gate", self, project, session), self._find, project, session, moment)

    def _find(self, project: str, session: str, moment: Links | None) -> tuple[Engine, configure.Place]:
        here = self._place(project)
        if moment is None:
            at, marks = self._looked(here)
        else:
            at, marks = moment.once(("sources", self, here.state, here.project), self._looked, here)
        session = self._own_view(here, session, marks[PROJECT], at)
        found = self._ready(project, session, marks, here)
        if found is not None:
            return found
        with self._lock:
            found = self._ready(project, session, marks, here)
            if found is not None:  # another thread was faster
                return found
            self._paths.pop((here.state, here.project), None)  # a changed file may name others
            (at, marks), today = self._looked(here), _today()
            gate, place = self._load(here, session)
            while len(self._known) >= MOST:
                del self._known[next(iter(self._known))]
            if not any(_is_fresh(mark, at) for mark in marks):
                self._known[project, session] = (marks, today, here.roots, gate, place)
            self.loads += 1
            return gate, place

    def _ready(
        self, project: str, session: str, marks: tuple[Mark, ...], here: configure.Place
    ) -> tuple[Engine, configure.Place] | None:
        """The gate that was made before, where all that it rests on is as it was."""
        known = self._known.get((project, session))
        if known is not None and known[0] == marks and known[1] == _today() and known[2] == here.roots:
            return known[3], known[4]
        return None

    def _place(self, project: str) -> configure.Place:
        """Where a project is. Looking for its worktrees takes longer than a decision, so a look holds for a moment, and
        no longer than the name leads to the same folder."""
        now, folder = monotonic(), _folder(project)
        known = self._places.get(project)
        if known is None or known[0] < now or known[1] != folder:
            if len(self._places) >= MOST:
                self._places.clear()
            known = self._places[project] = (now + LOOK, folder, configure.place(project, self._environ))
        return known[2]

    def _own_view(self, here: configure.Place, session: str, mark: Mark, at: int) -> str:
        """The session, where the project's file is not as it saw it first or it began elsewhere; else `""`, and it
        shares a gate. `mark` is that of the project's file, as it was `at` a time."""
        if not session or self._alone or not here.project.startswith("/"):
            return ""
        key = (here.project, session)
        if self._views.get(key) == mark:
            return ""
        try:
            text = files.config_text(files.project_file(here.project))
            first = sessions.pinned(here.state, session, here.project, text)
            _, before = configure.began(here, session)
        except AssentError:
            return session
        if (first and first != text) or before:  # one that says nothing tightens nothing
            return session
        if here.project == "/":  # of no folder, so that the session may yet begin
            return ""
        if not _is_fresh(mark, at):
            with self._lock:
                self._views.pop(key, None)
                while len(self._views) >= MOST_VIEWS:
                    del self._views[next(iter(self._views))]
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

    def _looked(self, here: configure.Place) -> tuple[int, tuple[Mark, ...]]:
        """When the sources were looked at, in nanoseconds, and what changes when one of them changes: its size, its
        times, which file it is."""
        at = time_ns()
        names = (here.state, here.project)
        paths = self._paths.get(names)
        if paths is None:
            if len(self._paths) >= MOST:
                self._paths.clear()
            paths = self._paths[names] = self._sources(here)
        return at, tuple([_mark_of(path) for path in paths])

    def _sources(self, here: configure.Place) -> tuple[str, ...]:
        return (
            files.MANAGED_FILE,
            self._config or files.user_file(here.state),
            files.project_file(here.project),
            os.path.join(here.state, TRUST_FILE),
            saved.path(here.state),
            *activated.files(here.state),
        )


_day = (-1, date.min)


def _today() -> date:
    """The day, as rules expire. It is the same for all of a second."""
    global _day
    second = int(time())
    if _day[0] != second:
        _day = (second, date.today())
    return _day[1]


def add_tool(tools: dict[str, Tool], name: str, tool: Tool) -> None:
    """One tool has one declaration."""
    if tools.setdefault(name.lower(), tool) != tool:
        raise PayloadError(f"the tool `{name}` is declared twice, and differently; give one of them another name")


def _mark_of(path: str) -> Mark:
    try:
        status = os.lstat(path)
    except OSError as error:
        return (error.errno or 0,)
    if status.st_mode & 0o170000 == 0o120000:  # a link; one that leads nowhere is not the same as none
        try:
            status = os.stat(path)
        except OSError as error:
            return (-(error.errno or 0),)
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev, status.st_mode)


def _folder(path: str) -> tuple[int, ...]:
    """Which folder a name leads to; none where it leads to nothing."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ()
    return status.st_ino, status.st_dev


def _is_fresh(mark: Mark, at: int) -> bool:
    """Whether a file had changed just before it was looked at, so that a next change might not show: file times are
    coarse. How long ago that is by now says nothing: the change may have come right after the look."""
    return len(mark) > 1 and 0 <= at - mark[2] < COARSE
