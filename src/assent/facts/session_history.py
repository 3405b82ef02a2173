"""The history of a session before a call, for files of code: which are unchanged since its start, and whether a process
that it started may still change them."""

from __future__ import annotations

from assent.contract import Kind, Lowering
from assent.facts import baseline
from assent.facts.code import replaced
from assent.facts.gitdir import Repository, opened
from assent.facts.links import Links
from assent.state import ledger, sessions

JOB = "a process that the session started may change it"


class SessionHistory:
    """The history of a session. `name` is that of its ledger; its entry `record` is the call itself."""

    __slots__ = ("_state", "_session", "_name", "_record", "_ledger")

    def __init__(self, state: str, session: str, name: str, record: str) -> None:
        self._state = state
        self._session = session
        self._name = name
        self._record = record
        self._ledger: ledger.Ledger | None = None

    def written(self) -> ledger.Ledger:
        if self._ledger is None:
            self._ledger = ledger.load(self._state, self._name, self._record)
        return self._ledger

    def job(self) -> str:
        """Why a file of code may change before it runs; `""` if no process of the session may be alive."""
        return JOB if self.written().job else ""

    def untouched(self, lowering: Lowering, links: Links) -> tuple[str, ...]:
        """The files of code that are unchanged since the session's start, of those for which it matters."""
        files = unproved(lowering, links, portable=False)
        top, commit = sessions.baseline(self._state, self._session) if files else ("", "")
        if not commit:
            return ()
        written = self.written()
        if written.job or not written.whole:
            return ()
        mine = [(path, digest) for path, digest in files if not {path, links.canonical(path)} & written.paths.keys()]
        return baseline.untouched(top, commit, mine, links)

    def as_before(self, paths: tuple[str, ...], links: Links) -> frozenset[str]:
        """The files that equal the session's first commit and that the session did not write."""
        top, commit = sessions.baseline(self._state, self._session) if paths else ("", "")
        written = self.written()
        if not commit or not written.whole:
            return frozenset()
        mine = [(path, "") for path in paths if not {path, links.canonical(path)} & written.paths.keys()]
        return frozenset(baseline.untouched(top, commit, mine, links))

    def had(self, paths: tuple[str, ...], links: Links) -> frozenset[str]:
        """The files that are in the session's first commit, whatever their content now."""
        top, commit = sessions.baseline(self._state, self._session)
        return frozenset(baseline.present(top, commit, paths, links)) if commit else frozenset()

    def has_remotes_of(self, repository: Repository, links: Links) -> bool:
        """Whether a repository is the one in which the session began, with unchanged remotes."""
        top, _ = sessions.baseline(self._state, self._session)
        first, known = opened(top, links) if top else None, sessions.remotes(self._state, self._session)
        same = isinstance(first, Repository) and first.common == repository.common
        return same and bool(known) and known == baseline.remotes(repository)

    def moved_to(self, path: str) -> bool:
        """Whether the session may have moved something to or below a path."""
        written = self.written()
        return not written.whole or any(each == path or each.startswith(path + "/") for each in written.moved)


def unproved(lowering: Lowering, links: Links, *, portable: bool) -> list[tuple[str, str]]:
    """The files of code with unknown parts, as read, that nothing in the call changes."""
    files = {gap.file for gap in lowering.gaps}
    for effect in lowering.effects:
        target = effect.target
        unnamed = not target.name or (target.kind is Kind.PATH and not links.canonical(target.name))
        if effect.invocation >= 0 and (unnamed or target.kind is Kind.SETTINGS):
            files.add(lowering.invocations[effect.invocation].file)
    return [
        (path, digest)
        for path, digest in dict.fromkeys((*lowering.read, *lowering.manifests))
        if path in files
        and path not in lowering.changing
        and not replaced(f"0:{path}", lowering, links, portable=portable)
    ]
