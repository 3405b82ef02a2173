"""Asks git about a repository within a deadline: refs, commits, the index, and what differs in the working tree.

INVARIANT: git is asked only in a repository whose settings run nothing, by `gitrun`: no hooks, filters, pagers, text
conversions or network. Unknown results say why."""

from __future__ import annotations

import os
import posixpath

from assent.contract import Facts
from assent.facts import gitrun
from assent.facts.consequences.deadline import Deadline
from assent.facts.gitconfig import INCLUDES, GitConfigError, GitSetting
from assent.facts.gitdir import Repository
from assent.facts.links import Links
from assent.facts.repository import discovered, harm, is_quiet, settings_in

# Real commits, without replacements and grafts.
_UNREPLACED = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}
_PARTIAL = frozenset({"remote.promisor", "extensions.partialclone"})
_COMPARING = ("-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")


class NotMeasured(Exception):
    """Why something cannot be measured, in words."""


class MeasuredRepository:
    """A repository that git may be asked about, in the folder `here`."""

    __slots__ = ("repository", "here", "deadline", "_settings")

    def __init__(self, repository: Repository, here: str, deadline: Deadline) -> None:
        self.repository = repository
        self.here = here
        self.deadline = deadline
        self._settings: tuple[GitSetting, ...] | None = None

    @property
    def top(self) -> str:
        return self.repository.top

    def run(self, *args: str, given: bytes = b"", literally: bool = True) -> tuple[int, bytes]:
        """The exit status and output of git. Raises NotMeasured if the time is up."""
        left = self.deadline.left()
        if self.deadline.over():
            raise NotMeasured("there was no time left")
        words = ("-c", "core.commitGraph=false", *((gitrun.LITERALLY,) if literally else ()), *args)
        status, out = gitrun.run(self.repository, words, given=given, more=_UNREPLACED, seconds=left)
        if status != 0 and self.deadline.over():
            raise NotMeasured("git took too long")
        return status, out

    def line(self, *args: str) -> str:
        """The first line that git prints; `""` if it fails."""
        status, out = self.run(*args)
        return out.decode("utf-8", "surrogateescape").partition("\n")[0] if status == 0 else ""

    def commit(self, name: str) -> str:
        """The id of a commit by its name; `""` if there is none."""
        if not name or name.startswith("-"):
            return ""
        return self.line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")

    def branch(self) -> str:
        """The branch that is checked out; `""` if there is none."""
        return self.line("symbolic-ref", "--quiet", "HEAD").removeprefix("refs/heads/")

    def commits(self, *revisions: str) -> int:
        """How many commits a range has. Raises NotMeasured."""
        found = self.line("rev-list", "--count", *revisions, "--")
        if not found.isdigit():
            raise NotMeasured("git does not know these commits")
        return int(found)

    def subjects(self, *revisions: str, most: int = 3) -> list[str]:
        """The newest commits of a range, each by its short id and the first line of its message."""
        form = "--format=tformat:%h %s"
        status, out = self.run("rev-list", f"--max-count={most}", "--abbrev-commit", form, *revisions, "--")
        lines = out.decode("utf-8", "replace").splitlines() if status == 0 else []
        return [line for line in lines if not line.startswith("commit ")]

    def tracked(self, names: list[str]) -> set[str]:
        """The files in the index at or below these names, which are relative to the top. Raises NotMeasured."""
        status, out = self.run("ls-files", "-z", "--cached", "--", *names)
        if status != 0:
            raise NotMeasured("git cannot read its index")
        return {os.fsdecode(name) for name in out.split(b"\0")[:-1]}

    def uncommitted(self, names: list[str], *, index: bool = False) -> list[str]:
        """The existing files that differ from the last commit, or from the `index`. Raises NotMeasured."""
        head = self.commit("HEAD")
        if not head and not index:  # nothing is committed yet
            return sorted(self.tracked(names))
        base = () if index else (head,)
        command = "diff-files" if index else "diff-index"
        status, out = self.run(command, *_COMPARING, "--name-status", *base, "--", *names)
        if status != 0:
            raise NotMeasured("git cannot compare the files")
        fields = [os.fsdecode(field) for field in out.split(b"\0")[:-1]]
        return [name for kind, name in zip(fields[::2], fields[1::2], strict=False) if kind[:1] != "D"]

    def ignored(self, names: list[str]) -> set[str]:
        """The names that git ignores by the repository's own files."""
        given = b"".join(b"./" + os.fsencode(name) + b"\0" for name in names)  # so that a colon has no special meaning
        _, out = self.run("check-ignore", "-z", "--stdin", given=given, literally=False)
        return {os.fsdecode(name).removeprefix("./") for name in out.split(b"\0")[:-1]}

    def relative(self, path: str) -> str:
        """A path as git names it from the top; `""` if it is not inside."""
        if path == self.top:
            return "."
        return path[len(self.top) + 1 :] if path.startswith(self.top + "/") else ""

    def settings(self, name: str, subsection: str = "") -> list[str]:
        """The values of a setting of the repository itself."""
        if self._settings is None:
            self._settings = settings_in(posixpath.join(self.repository.common, "config"))
        return [
            each.value or "" for each in self._settings if each.name == name and subsection in ("", each.subsection)
        ]

    def remotes(self) -> list[str]:
        self.settings("remote.url")
        return [each.subsection for each in self._settings or () if each.name == "remote.url"]


def repository_at(folder: str, facts: Facts, deadline: Deadline) -> MeasuredRepository | None:
    """The repository around a folder; None if there is none. Raises NotMeasured if git may not be asked."""
    if deadline.is_remote(folder):
        raise NotMeasured("it is on a network file system")
    links = Links()
    here = links.canonical(folder)
    if not here or not os.path.isdir(here):
        raise NotMeasured("the folder is not there")
    found = discovered(here, links)
    if found is None:
        return None
    reason = found if isinstance(found, str) else harm(here, facts.roots, links, facts.home)
    if isinstance(found, str) or (reason and not is_quiet(here, facts.roots, links, facts.home)):
        raise NotMeasured("git may run programs in this repository, or it is not the session's")
    if deadline.is_remote(found.gitdir) or deadline.is_remote(found.common):
        raise NotMeasured("it is on a network file system")
    if not gitrun.program():
        raise NotMeasured("git is not installed")
    _refuse_partial(found)
    return MeasuredRepository(found, here, deadline)


def _refuse_partial(repository: Repository) -> None:
    """Refuse a repository that may lack objects: git would fetch them."""
    for path in (f"{repository.common}/config", f"{repository.gitdir}/config.worktree"):
        try:
            settings = settings_in(path)
        except FileNotFoundError:
            continue
        except (OSError, GitConfigError):
            raise NotMeasured("its settings cannot be read") from None
        if any(each.name in _PARTIAL or each.name in INCLUDES for each in settings):
            raise NotMeasured("it is a partial clone, or its settings include other files")
