"""What a git command drops: commits, branches, stashes, and uncommitted changes."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator

from assent.contract import Facts, Invocation
from assent.contract.approval import Consequence
from assent.facts.consequences import deletions
from assent.facts.consequences.deadline import Deadline
from assent.facts.consequences.repositories import MeasuredRepository, NotMeasured, repository_at
from assent.facts.consequences.words import counted, listed, quoted, say, those

KIND = "history"
DROPPING = frozenset("reset clean rebase checkout switch restore stash branch tag commit rm".split())
_OTHERS = ("--branches", "--tags", "--remotes")
_INDEX, _ANY = "-", "?"  # as in the names of TREE targets: the index; or git decides whether the next word is a commit


def measure(command: Invocation, tree: str, folder: str, facts: Facts, deadline: Deadline) -> Iterator[Consequence]:
    """`tree` is the name of the TREE target of the command (`""`: it has none)."""
    try:
        repository = repository_at(folder, facts, deadline)
        if repository is None:
            raise NotMeasured("there is no repository")
        verb, *words = tree.partition(":")[0].split(" ") if tree else ("",)
        yield from _Dropping(repository, command, facts.trees.get(tree), facts).consequences(verb, words)
    except NotMeasured as error:
        yield say(KIND, "git.unknown", why=str(error), cut=deadline.cut)


class _Dropping:
    """What one command drops. `known` are the paths that it writes and removes, if facts have them."""

    def __init__(
        self,
        repository: MeasuredRepository,
        command: Invocation,
        known: tuple[tuple[str, ...], tuple[str, ...]] | None,
        facts: Facts,
    ) -> None:
        self.git = repository
        self.command = command
        self.known = known
        self.facts = facts

    def consequences(self, verb: str, words: list[str]) -> Iterator[Consequence]:
        match verb or self._by_words():
            case "reset":
                yield from self._reset(words[-1] if words else self._operand("HEAD"))
                yield from self._changes(["."])
            case "unstage":
                yield from self._reset(self._operand("HEAD"))
            case "force":
                yield from self._changes(["."])
            case "discard":
                yield from self._discard(words)
            case "clean" | "remove":
                yield from self._removed()
            case "rebase":
                yield from self._rebase(*(words or [self._operand("@{upstream}")]))
            case "checkout":
                yield from self._checkout(words[0])
            case "stash-drop" | "stash-clear":
                yield from self._stash(whole=verb == "stash-clear")
            case "branch-delete":
                yield from self._refs("branch", "refs/heads/", words)
            case "tag-delete":
                yield from self._refs("tag", "refs/tags/", words)
            case "branch-force":
                yield from self._moved(words)
            case "amend":
                yield from self._amend()

    def _by_words(self) -> str:
        """What a command without a TREE target drops."""
        match self.command.subcommand[:1]:
            case ("reset",):
                return "reset" if "--hard" in self.command.flags else "unstage"
            case ("rebase",):
                return "" if self.command.flags & {"--abort", "--continue", "--skip", "--quit"} else "rebase"
            case ("clean",):
                return "clean"
            case ("commit",):
                return "amend" if "--amend" in self.command.flags else ""
        return ""

    def _operand(self, otherwise: str) -> str:
        if not self.command.literal:
            raise NotMeasured("its words are known only when it runs")
        return self.command.operands[0] if self.command.operands else otherwise

    def _shown_branch(self) -> str:
        branch = self.git.branch()
        return f"branch {quoted(branch)}" if branch else "the checked out commit"

    # -- commits

    def _reset(self, name: str) -> Iterator[Consequence]:
        target = self.git.commit(name)
        if not target:
            if self.command.subcommand[:1] == ("reset",) and "--hard" not in self.command.flags:
                return  # a file that is taken out of the index
            raise NotMeasured(f"{quoted(name)} is no commit here")
        count = self.git.commits("HEAD", f"^{target}")
        if not count:
            yield say(KIND, "reset.none")
            return
        names = listed(self.git.subjects("HEAD", f"^{target}"), count)
        yield say(KIND, "reset.commits", commits=counted(count, "commit"), branch=self._shown_branch(), names=names)
        yield from self._elsewhere(count, "HEAD", f"^{target}")

    def _elsewhere(self, count: int, *revisions: str) -> Iterator[Consequence]:
        """How many of the commits are only on the current branch."""
        branch = self.git.branch()
        but = (f"--exclude={branch}",) if branch else ()
        only = self.git.commits(*revisions, "--not", *but, *_OTHERS)
        if only:
            yield say(KIND, "reset.only-here", those=those(only, count))
        else:
            yield say(KIND, "reset.kept", those=those(count, count))

    def _rebase(self, upstream: str, onto: str = "") -> Iterator[Consequence]:
        base, head = self.git.commit(upstream), self.git.commit("HEAD")
        if not base or not head:
            raise NotMeasured(f"{quoted(upstream)} is no commit here")
        count = self.git.commits(head, f"^{base}")
        values = {"branch": self._shown_branch(), "onto": quoted(onto or upstream)}
        if not count:
            yield say(KIND, "rebase.none", values)
            return
        names = listed(self.git.subjects(head, f"^{base}"), count)
        yield say(KIND, "rebase.commits", values, commits=counted(count, "commit"), names=names)
        if self.command.flags & {"-i", "--interactive"}:
            yield say(KIND, "rebase.any")
        pushed = count - self.git.commits(head, f"^{base}", "--not", "--remotes")
        if pushed:
            yield say(KIND, "rebase.pushed", those=those(pushed, count))

    def _amend(self) -> Iterator[Consequence]:
        names = self.git.subjects("HEAD", most=1)
        if not names:
            raise NotMeasured("there is no commit yet")
        yield say(KIND, "amend.commit", branch=self._shown_branch(), names=listed(names))
        if not self.git.commits("HEAD", "--max-count=1", "--not", "--remotes"):
            yield say(KIND, "rebase.pushed", those=those(1, 1))

    # -- refs

    def _refs(self, what: str, start: str, names: list[str]) -> Iterator[Consequence]:
        for name in names:
            there = self.git.commit(start + name)
            if not there:
                yield say(KIND, "branch.absent", what=what, names=quoted(name))
                continue
            kinds = [each for each in _OTHERS if not each.startswith("--" + what)]
            others = (f"--exclude={name}", "--branches" if what == "branch" else "--tags", *kinds)
            count = self.git.commits(there, "--not", "HEAD", *others)
            key = "branch.drops" if count else "branch.kept"
            yield say(KIND, key, what=what, names=quoted(name), commits=counted(count, "commit"))

    def _moved(self, words: list[str]) -> Iterator[Consequence]:
        old, new = self.git.commit(f"refs/heads/{words[0]}"), self.git.commit(words[-1])
        if not old or not new:
            raise NotMeasured("it is not known where the branch goes")
        count = self.git.commits(old, f"^{new}")
        branch = f"branch {quoted(words[0])}"
        if count:
            names = listed(self.git.subjects(old, f"^{new}"), count)
            yield say(KIND, "reset.commits", commits=counted(count, "commit"), branch=branch, names=names)
        else:
            yield say(KIND, "reset.none")

    def _stash(self, *, whole: bool) -> Iterator[Consequence]:
        status, out = self.git.run("reflog", "show", "--format=%gs", "refs/stash", "--")
        found = out.decode("utf-8", "replace").splitlines() if status == 0 else []
        if not found:
            yield say(KIND, "stash.none")
            return
        dropped = found if whole else self._one_stash(found)
        yield say(KIND, "stash.drops", stashes=counted(len(dropped), "stash", "stashes"), names=listed(dropped))

    def _one_stash(self, found: list[str]) -> list[str]:
        word = self.command.operands[-1] if self.command.operands else "0"
        number = word.removeprefix("stash@{").removesuffix("}")
        if not number.isdigit() or int(number) >= len(found):
            raise NotMeasured(f"{quoted(word)} is no stash here")
        return [found[int(number)]]

    # -- files

    def _changes(self, names: list[str], *, index: bool = False) -> Iterator[Consequence]:
        lost = self.git.uncommitted(names, index=index)
        if lost:
            yield say(KIND, "lost.changes", files=counted(len(lost), "file"), names=listed(lost))
        else:
            yield say(KIND, "lost.no-changes")

    def _discard(self, words: list[str]) -> Iterator[Consequence]:
        first, files = words[0], words[1:]
        if first == _ANY and len(files) > 1 and self.git.commit(files[0]):
            first, files = files[0], files[1:]
        names = [self.git.relative(posixpath.normpath(posixpath.join(self.git.here, file))) for file in files]
        if not all(names):
            raise NotMeasured("a file is not in the repository")
        yield from self._changes(names, index=first in (_INDEX, _ANY))

    def _removed(self) -> Iterator[Consequence]:
        if self.known is None:
            raise NotMeasured("git cannot be asked here")
        removed = list(dict.fromkeys(path for paths in self.known for path in paths))
        if not removed:
            yield say(deletions.KIND, "delete.nothing", names="git has everything")
            return
        yield from deletions.of_paths(removed, self.facts, self.git.deadline)

    def _checkout(self, name: str) -> Iterator[Consequence]:
        if os.path.lexists(posixpath.join(self.git.here, name)):  # a file, not a branch
            yield from self._discard([_ANY, name])
            return
        if self.known is None:
            raise NotMeasured("git cannot be asked here")
        paths = list(dict.fromkeys(path for paths in self.known for path in paths))
        if not paths:
            yield say(KIND, "checkout.none")
            return
        names = listed([self.git.relative(path) or path for path in paths])
        yield say(KIND, "checkout.files", files=counted(len(paths), "file"), branch=quoted(name), names=names)
