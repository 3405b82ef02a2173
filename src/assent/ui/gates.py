"""Gates kept ready for the projects that call, and made anew when a file behind them changes. Decides nothing.

A policy that does not load leaves no older one in force: its gate denies everything with the error until it loads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date
from threading import Lock

from assent import configure
from assent.contract.call import Call
from assent.contract.errors import AssentError, PolicyError
from assent.facts import files, sessions
from assent.facts.trust import TRUST_FILE
from assent.gate import Gate, Judged, refusal, unloaded
from assent.policy.modes import Mode
from assent.policy.settings import combine

MOST = 256  # gates kept

Mark = tuple[object, ...]


class Refusing(Gate):
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
    """The gates of one server. Safe for threads. `mode` and `config` are flags of the command line."""

    def __init__(self, environ: Mapping[str, str], *, mode: str = "", config: str = "") -> None:
        self._environ = dict(environ)
        self._mode = mode
        self._config = config
        self._known: dict[tuple[str, str], tuple[Mark, Gate, configure.Place]] = {}
        self._lock = Lock()
        self.loads = 0

    def find(self, project: str, session: str = "") -> tuple[Gate, configure.Place]:
        """The gate for a session in a project as the files are now, and its place. Never raises."""
        here = configure.place(project, self._environ)
        session = self._own_view(here, session)
        key = (project, session)
        mark = self._mark(here, session)
        with self._lock:
            known = self._known.get(key)
            if known is not None and known[0] == mark:
                return known[1], known[2]
            gate, place = self._load(here, session)
            while len(self._known) >= MOST:
                del self._known[next(iter(self._known))]
            self._known[key] = (mark, gate, place)
            self.loads += 1
            return gate, place

    def _own_view(self, here: configure.Place, session: str) -> str:
        """The session, where the project's file is not as it saw it first; else `""`, and it shares a gate."""
        if not session or not here.project.startswith("/"):
            return ""
        try:
            text = files.config_text(files.project_file(here.project))
            first = sessions.pinned(here.state, session, here.project, text)
        except AssentError:
            return session
        return "" if first is None or first == text else session

    def _load(self, here: configure.Place, session: str) -> tuple[Gate, configure.Place]:
        try:
            return configure.open_gate(here, self._environ, mode=self._mode, config=self._config, session=session)
        except AssentError as error:
            return Refusing(error), here

    def _mark(self, here: configure.Place, session: str) -> Mark:
        """What changes when a source changes: its size, its times, which file it is; and the day, as rules expire."""
        paths = (
            files.MANAGED_FILE,
            self._config or files.user_file(here.state),
            files.project_file(here.project),
            os.path.join(here.state, TRUST_FILE),
        )
        return (date.today(), here.roots, session, *map(_mark_of, paths))


def _mark_of(path: str) -> Mark:
    try:
        status = os.stat(path)
    except OSError as error:
        return (error.errno,)
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev, status.st_mode)
