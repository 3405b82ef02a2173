"""Which commits a `git push` adds to which branch of which remote, and which it overwrites there: by the refs of the
last fetch, without the network."""

from __future__ import annotations

from collections.abc import Iterator

from assent.contract import Facts, Invocation
from assent.contract.approval import Consequence
from assent.facts.consequences.deadline import Deadline
from assent.facts.consequences.repositories import MeasuredRepository, NotMeasured, repository_at
from assent.facts.consequences.words import counted, listed, quoted, say

KIND = "push"
_MOST = 5  # branches of one push
_ALL = frozenset({"--all", "--branches"})
_HEADS, _TAGS = "refs/heads/", "refs/tags/"


def measure(command: Invocation, folder: str, facts: Facts, deadline: Deadline) -> Iterator[Consequence]:
    if command.flags & {"--dry-run", "-n"}:
        return
    try:
        if not command.literal:
            raise NotMeasured("its words are known only when it runs")
        repository = repository_at(folder, facts, deadline)
        if repository is None:
            raise NotMeasured("there is no repository")
        yield from _Push(repository, command).consequences()
    except NotMeasured as error:
        yield say(KIND, "push.unknown", why=str(error), cut=deadline.cut)


class _Push:
    """One push: its `remote` by name, as shown, and its refspecs."""

    def __init__(self, repository: MeasuredRepository, command: Invocation) -> None:
        self.git = repository
        self.flags = command.flags
        named = list(command.operands)
        self.branch = repository.branch()
        self.remote = named[0] if named else self._default_remote()
        self.specs = named[1:]
        self.known = self.remote in repository.remotes()
        self.forced = bool({"--force", "-f", "--mirror"} & command.flags) or any(
            word.startswith("--force-with-lease") for word in (*command.flags, *command.words)
        )
        self.shown = self._shown_remote()

    def _default_remote(self) -> str:
        settings = self.git.settings
        chosen = (
            *settings("branch.pushremote", self.branch or "\0"),
            *settings("remote.pushdefault"),
            *settings("branch.remote", self.branch or "\0"),
        )
        return next((each for each in chosen if each), "origin")

    def _shown_remote(self) -> str:
        urls = self.git.settings("remote.pushurl", self.remote) or self.git.settings("remote.url", self.remote)
        if not self.known or not urls:
            return quoted(bare(self.remote))
        return f"{quoted(self.remote)} ({', '.join(quoted(bare(each)) for each in urls[:2])})"

    def consequences(self) -> Iterator[Consequence]:
        if "--mirror" in self.flags:
            yield say(KIND, "push.mirror", remote=self.shown)
        if "--tags" in self.flags:
            count = len(self._refs(_TAGS))
            yield say(KIND, "push.tags", tags=counted(count, "tag"), remote=self.shown)
            if not self.specs and not _ALL & self.flags:
                return
        specs = self._specs()
        if len(specs) > _MOST:
            yield say(KIND, "push.all", branches=counted(len(specs), "branch", "branches"), remote=self.shown)
        for spec in specs[:_MOST]:
            yield from self._one(spec)

    def _specs(self) -> list[str]:
        if "--mirror" in self.flags or _ALL & self.flags:
            return [f"{name}:{name}" for name in self._refs(_HEADS)]
        if self.specs:
            return self._with_tags(self.specs)
        if found := self.git.settings("remote.push", self.remote):
            raise NotMeasured(f"a setting of the repository chooses: {quoted(found[0])}")
        if not self.branch:
            raise NotMeasured("no branch is checked out")
        how = next(iter(reversed(self.git.settings("push.default"))), "simple")
        if how in ("nothing", "matching"):
            raise NotMeasured(f"`push.default` is {quoted(how)}")
        merged = self.git.settings("branch.merge", self.branch)
        onto = merged[-1] if how in ("upstream", "tracking") and merged else _HEADS + self.branch
        return [f"{_HEADS}{self.branch}:{onto}"]

    def _with_tags(self, specs: list[str]) -> list[str]:
        """`tag v1` means `refs/tags/v1`."""
        found, words = [], iter(specs)
        for word in words:
            found.append(f"{_TAGS}{next(words, '')}" if word == "tag" else word)
        return found

    def _refs(self, start: str) -> list[str]:
        status, out = self.git.run("for-each-ref", "--format=%(refname)", start)
        return out.decode("utf-8", "surrogateescape").splitlines() if status == 0 else []

    def _one(self, spec: str) -> Iterator[Consequence]:
        forced = self.forced or spec.startswith("+")
        source, colon, onto = spec.removeprefix("+").partition(":")
        deletes = bool({"--delete", "-d"} & self.flags) or (colon and not source)
        name = (onto if colon else source) or source
        if name in ("HEAD", "@"):
            name = _HEADS + self.branch if self.branch else ""
        if not name or "*" in name:
            raise NotMeasured(f"{quoted(spec)} may mean several branches")
        if name.startswith(_TAGS) or (not colon and not name.startswith("refs/") and self._is_tag(name)):
            yield say(KIND, "push.tag", branch=quoted(name.removeprefix(_TAGS)), remote=self.shown)
            return
        branch = name.removeprefix(_HEADS)
        if not self.known:
            yield say(KIND, "push.address", branch=quoted(branch), remote=self.shown)
        elif deletes:
            yield from self._deletes(branch)
        else:
            yield from self._sends(source, branch, forced)

    def _is_tag(self, name: str) -> bool:
        return not self.git.commit(_HEADS + name) and bool(self.git.commit(_TAGS + name))

    def _deletes(self, branch: str) -> Iterator[Consequence]:
        there = f"refs/remotes/{self.remote}/{branch}"
        if not self.git.commit(there):
            raise NotMeasured(f"{quoted(branch)} of {self.shown} was never fetched")
        others = ("--not", f"--exclude={self.remote}/{branch}", "--remotes", "--branches", "--tags")
        count = self.git.commits(there, *others)
        key = "push.deletes" if count else "push.deletes-name"
        yield say(KIND, key, branch=quoted(branch), remote=self.shown, commits=counted(count, "commit"))

    def _sends(self, source: str, branch: str, forced: bool) -> Iterator[Consequence]:
        here = self.git.commit(source)
        if not here:
            raise NotMeasured(f"{quoted(source)} is no commit here")
        there = self.git.commit(f"refs/remotes/{self.remote}/{branch}")
        values = {"branch": quoted(branch), "remote": self.shown}
        new = (here, f"^{there}") if there else (here, "--not", f"--remotes={self.remote}")
        added = self.git.commits(*new)
        gone = self.git.commits(there, f"^{here}") if there else 0
        if gone:
            key, names = (
                ("push.overwrites", self._subjects(gone, there, f"^{here}")) if forced else ("push.refused", "")
            )
            yield say(KIND, key, values, commits=counted(gone, "commit"), names=names)
        if added or not there:
            key = "push.adds" if there else "push.creates"
            names = self._subjects(added, *new) or "it has them all"
            yield say(KIND, key, values, commits=counted(added, "commit"), names=names)
        elif not gone:
            yield say(KIND, "push.nothing", values)

    def _subjects(self, count: int, *revisions: str) -> str:
        return listed(self.git.subjects(*revisions), count) if count else ""


def bare(address: str) -> str:
    """An address without user name and password."""
    scheme, found, rest = address.partition("://")
    if not found:
        return address
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"
