"""A cache of engines by project, reloaded when one of their files changes.

No older policy stays in force if one does not load: its engine denies everything with the error until it loads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date
from threading import Lock
from time import monotonic, time, time_ns

from assent.contract import AssentError, Call, PayloadError, PolicyError, keep
from assent.effects.declared import Tool
from assent.engine import configure
from assent.engine.engine import Engine, Judged, refusal, shared, unloaded
from assent.facts.links import Links
from assent.policy.document import Document
from assent.policy.modes import Mode
from assent.policy.settings import combine
from assent.state import activated, files, saved, sessions
from assent.state.trust import TRUST_FILE

MOST = 256  # engines
MOST_VIEWS = 16384  # sessions known to share an engine; for others the files are read
LOOK = 1.0  # seconds for which the folders of a workspace are cached
COARSE = 50_000_000  # nanoseconds within which two changes of a file may have the same time
PROJECT = 2  # the index of the project's file in the sources

Mark = tuple[int, ...]


class Refusing(Engine):
    """The engine of a policy that does not load."""

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
        files: Mapping[str, str] | None = None,
        untouched: tuple[str, ...] = (),
        session: str = "",
        record: str = "",
        moment: Links | None = None,
    ) -> Judged:
        if isinstance(self.error, PolicyError):
            return Judged(unloaded(self.error))
        return Judged(refusal("policy.load", f"the policy does not load: {self.error}", flip="correct the policy"))


class EngineCache:
    """The engines of one process. Thread-safe. `mode` and `config` are options of the command line; `more`, `alone` and
    `tools`: as in `configure.open_gate`."""

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
        self._paths: dict[tuple[str, str], tuple[str, ...]] = {}  # (state, project) → source files of an engine
        self._views: dict[tuple[str, str], Mark] = {}  # (project, session) → unchanged since the session began
        self._lock = Lock()
        self.loads = 0

    def declare(self, name: str, tool: Tool) -> None:
        """Declare a tool of the embedding program. Raises PayloadError if it was declared differently before."""
        with self._lock:
            add_tool(self._tools, name, tool)
            self._known.clear()

    def unlock(self) -> None:
        """In a forked process: the thread that held the lock does not exist there."""
        self._lock = Lock()

    def check(self, project: str) -> None:
        """Raises the error of a policy that does not load."""
        engine, _ = self.find(project)
        if isinstance(engine, Refusing):
            raise engine.error

    def find(self, project: str, session: str = "", *, moment: Links | None = None) -> tuple[Engine, configure.Place]:
        """The engine for a session in a project by the current files, or by those of a `moment` after the call; and its
        location. Never raises."""
        return shared(moment, ("engine", self, project, session), self._find, project, session, moment)

    def _find(self, project: str, session: str, moment: Links | None) -> tuple[Engine, configure.Place]:
        here = self._place(project)
        at, marks = shared(moment, ("sources", self, here.state, here.project), self._looked, here)
        session = self._own_view(here, session, marks[PROJECT], at)
        found = self._ready(project, session, marks, here)
        if found is not None:
            return found
        with self._lock:
            found = self._ready(project, session, marks, here)
            if found is not None:  # another thread was first
                return found
            self._paths.pop((here.state, here.project), None)  # a changed file may name others
            (at, marks), today = self._looked(here), _today()
            engine, place = self._load(here, session)
            if not any(_is_fresh(mark, at) for mark in marks):
                keep(self._known, (project, session), (marks, today, here.roots, engine, place), MOST)
            self.loads += 1
            return engine, place

    def _ready(
        self, project: str, session: str, marks: tuple[Mark, ...], here: configure.Place
    ) -> tuple[Engine, configure.Place] | None:
        """The cached engine, if none of its sources has changed."""
        known = self._known.get((project, session))
        if known is not None and known[0] == marks and known[1] == _today() and known[2] == here.roots:
            return known[3], known[4]
        return None

    def _place(self, project: str) -> configure.Place:
        """The location of a project. Finding its worktrees takes longer than a decision, so it is cached for a short
        time while the path names the same folder."""
        now, folder = monotonic(), _folder(project)
        known = self._places.get(project)
        if known is None or known[0] < now or known[1] != folder:
            known = (now + LOOK, folder, configure.place(project, self._environ))
            keep(self._places, project, known, MOST)
        return known[2]

    def _own_view(self, here: configure.Place, session: str, mark: Mark, at: int) -> str:
        """The session, if the project's file has changed since it began or if it began in another folder; else `""`: it
        shares an engine. `mark` is that of the project's file `at` a time."""
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
        if (first and first != text) or before:  # an empty one tightens nothing
            return session
        if here.project != "/" and not _is_fresh(mark, at):  # without a project no session has begun
            with self._lock:
                self._views.pop(key, None)
                keep(self._views, key, mark, MOST_VIEWS)
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
        """When the sources were checked, in nanoseconds, and marks that change with them: size, times, inode."""
        at, names = time_ns(), (here.state, here.project)
        paths = self._paths.get(names)
        if paths is None:
            paths = (
                files.MANAGED_FILE,
                self._config or files.user_file(here.state),
                files.project_file(here.project),
                os.path.join(here.state, TRUST_FILE),
                saved.path(here.state),
                *activated.files(here.state),
            )
            keep(self._paths, names, paths, MOST)
        return at, tuple([_mark_of(path) for path in paths])


_day = (-1, date.min)


def _today() -> date:
    """Today's date, since rules expire. Cached for a second."""
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
    if status.st_mode & 0o170000 == 0o120000:  # a symlink; a dangling one counts as a file
        try:
            status = os.stat(path)
        except OSError as error:
            return (-(error.errno or 0),)
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev, status.st_mode)


def _folder(path: str) -> tuple[int, ...]:
    """The identity of a folder; empty if there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ()
    return status.st_ino, status.st_dev


def _is_fresh(mark: Mark, at: int) -> bool:
    """Whether a file had changed just before it was checked, so that another change might not show: file times are
    coarse. The age of the check does not matter: the other change may have come right after it."""
    return len(mark) > 1 and 0 <= at - mark[2] < COARSE
