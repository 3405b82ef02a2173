"""Which files git would change in a working tree: by a checkout, a merge, a picked commit or a stash.

Asks git itself, and only in a repository that `repository` found harmless and `githooks` without hooks. If the answer
is not exact it is None, and the command counts as EXECUTE."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence
from stat import S_ISDIR

from assent.facts import gitrun
from assent.facts.gitconfig import INCLUDES, GitConfigError
from assent.facts.gitdir import Repository
from assent.facts.links import Links
from assent.facts.repository import GUARDED_HOOKS, discovered, gitlinks, settings_in

Changes = tuple[tuple[str, ...], tuple[str, ...]]
MOST = 2000  # paths, each of which is judged
_STASHES = 10
_RAW = (
    *("-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-abbrev"),
    "--ignore-submodules=none",
)
# Settings for how git merges, where refs are, or that objects are fetched on demand.
_STEERING = frozenset(
    {
        *("branch.mergeoptions", "pull.twohead", "pull.octopus", "remote.promisor", "extensions.partialclone"),
        "extensions.refstorage",
    }
)
_NOTHING = "000000"
_NOT_FILES = frozenset({"120000", "160000"})  # links and submodules


def nowhere(folder: str, links: Links) -> bool:
    """Whether there is no repository around a folder: git fails there, and changes nothing."""
    here = links.canonical(folder)
    return bool(here) and (not os.path.lexists(here) or (os.path.isdir(here) and discovered(here, links) is None))


def changes(name: str, links: Links) -> Changes | None:
    """The paths that git would write, and those that it would remove; None if unknown.

    `checkout main:/folder` names the command and the folder."""
    asked, _, folder = name.partition(":")
    found = repository_of(folder, links)
    if found is None:
        return None
    verb, *words = asked.split(" ")
    if verb == "checkout" and os.path.lexists(posixpath.join(found[1], words[0])):
        return None
    return WorkingTree(found[0]).changes(verb, words)


def repository_of(folder: str, links: Links) -> tuple[Repository, str] | None:
    """The repository of a folder, and the resolved folder; None if git cannot be asked what it would change."""
    here = links.canonical(folder)
    found = discovered(here, links) if here and os.path.isdir(here) else None
    if not isinstance(found, Repository) or gitlinks(found.gitdir) != () or _is_steered(found):
        return None
    return (found, here) if gitrun.program() else None


def _is_steered(repository: Repository) -> bool:
    """Whether the repository's settings include files, which may be in the tree, or change how git merges."""
    for path in (
        posixpath.join(repository.common, "config"),
        posixpath.join(repository.gitdir, "config.worktree"),
    ):
        try:
            settings = settings_in(path)
        except FileNotFoundError:
            continue
        except (OSError, GitConfigError):
            return True
        if any(entry.name in INCLUDES or entry.name in _STEERING for entry in settings):
            return True
    return False


class WorkingTree:
    """A working tree as git reports it. `spare` is a folder for temporary objects."""

    __slots__ = ("repository", "spare", "written", "removed")

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.spare = ""
        self.written: dict[str, None] = {}
        self.removed: dict[str, None] = {}

    def changes(self, verb: str, words: list[str]) -> Changes | None:
        import tempfile  # few calls change a tree

        with tempfile.TemporaryDirectory(prefix="assent-") as spare:
            self.spare = spare
            known = self._collect(verb, words)
        if not known or len({**self.written, **self.removed}) > MOST:
            return None
        return tuple(self.written), tuple(self.removed)

    def _collect(self, verb: str, words: list[str]) -> bool:
        if verb in ("stash", "stash-all"):
            return self._differs("diff-index", "HEAD") and (verb == "stash" or self._untracked())
        if verb == "unstash":
            return self._unstash()
        revision = self._commit(words[0], branch=verb == "checkout") if len(words) == 1 else ""
        if not revision:
            return False
        if verb == "checkout":
            return self._differs("diff-tree", "HEAD", revision)
        if verb == "merge":
            base = self._line("merge-base", "HEAD", revision)
            merged = self._merged("HEAD", revision)
            return (
                bool(base and merged)
                and self._differs("diff-tree", base, revision)
                and self._differs("diff-tree", "HEAD", merged)
            )
        before = self._line("rev-parse", "--verify", "--quiet", f"{revision}^1^{{commit}}")
        start, end = (before, revision) if verb == "pick" else (revision, before)
        merged = self._merged(f"--merge-base={start}", "HEAD", end) if before else ""
        return bool(merged) and self._differs("diff-tree", start, end) and self._differs("diff-tree", "HEAD", merged)

    # -- what git is asked

    def _run(self, *args: str, given: bytes = b"") -> tuple[int, bytes]:
        objects = posixpath.join(self.repository.common, "objects")
        if ":" in objects or objects.startswith('"'):
            return gitrun.FAILED
        spare = {"GIT_OBJECT_DIRECTORY": self.spare, "GIT_ALTERNATE_OBJECT_DIRECTORIES": objects} if self.spare else {}
        return gitrun.run(self.repository, (gitrun.LITERALLY, *args), given=given, more=spare)

    def _line(self, *args: str) -> str:
        """The one line that git prints; `""` if it fails, or prints more."""
        status, out = self._run(*args)
        lines = out.decode("utf-8", "surrogateescape").splitlines()
        return lines[0] if status == 0 and len(lines) == 1 else ""

    def _commit(self, name: str, *, branch: bool) -> str:
        """The commit of a name, if all ways to read the name agree."""
        local = self._line("rev-parse", "--verify", "--quiet", f"refs/heads/{name}^{{commit}}")
        plain = self._line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if plain or local:
            return plain if local in ("", plain) else ""
        return self._line("for-each-ref", "--format=%(objectname)", f"refs/remotes/*/{name}") if branch else ""

    def _merged(self, *args: str) -> str:
        """The tree that a merge results in, with conflicts left in its files."""
        status, out = self._run("merge-tree", "--write-tree", "-z", "--no-messages", *args)
        return out.split(b"\0", 1)[0].decode("ascii", "replace") if status in (0, 1) and out else ""

    def _unstash(self) -> bool:
        """Any of the stashes, as a loop may pop more than one."""
        if self._run("diff-index", "--cached", "--quiet", "HEAD", "--")[0] != 0:
            return False
        status, out = self._run("rev-list", "--walk-reflogs", f"--max-count={_STASHES + 1}", "refs/stash", "--")
        if status != 0:
            return self._run("rev-parse", "--verify", "--quiet", "refs/stash")[0] == 1  # there is none
        stashes = out.decode("ascii", "replace").split()
        return len(stashes) <= _STASHES and all(map(self._one_stash, stashes))

    def _one_stash(self, stash: str) -> bool:
        before, now = (
            self._line("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}") for commit in (f"{stash}^1", "HEAD")
        )
        if before != now or not self._differs("diff-tree", f"{stash}^1", stash):
            return False
        more = self._run("rev-parse", "--verify", "--quiet", f"{stash}^3")[0]
        return more == 1 or (more == 0 and self._differs("diff-tree", "--root", f"{stash}^3"))

    def _untracked(self) -> bool:
        status, out = self._run("ls-files", "-z", "--others", "--exclude-standard")
        return status == 0 and all(self._path(os.fsdecode(name), gone=True) for name in out.split(b"\0")[:-1])

    # -- what it says

    def _differs(self, command: str, *args: str, paths: Sequence[str] = ()) -> bool:
        """Note the paths that differ, only of `paths` if given; false if one is more than a file."""
        status, out = self._run(command, *_RAW, *args, "--", *paths)
        fields = out.split(b"\0")[:-1]
        if "--root" in args and fields and not fields[0].startswith(b":"):
            del fields[0]  # the commit's own name
        if status != 0 or len(fields) % 2 or len(fields) > 2 * MOST:
            return False
        return all(map(self._entry, fields[::2], fields[1::2]))

    def _entry(self, header: bytes, name: bytes) -> bool:
        words = header.decode("ascii", "replace").split(" ")
        if len(words) != 5 or not words[0].startswith(":"):
            return False
        before, after = words[0][1:], words[1]
        if before in _NOT_FILES or after in _NOT_FILES:
            return False
        return self._path(os.fsdecode(name), new=before == _NOTHING, gone=after == _NOTHING)

    def _path(self, name: str, *, new: bool = False, gone: bool = False) -> bool:
        """Note a path. False if git may overwrite an untracked file, or does more than change the file."""
        path = posixpath.join(self.repository.top, name)
        parts = name.split("/")
        guarded = any(name.lower().startswith(hooks + "/") for hooks in GUARDED_HOOKS)
        if guarded or parts[-1].lower() == "head" or any(part.lower() == ".git" for part in parts):
            return False
        if (new and os.path.lexists(path)) or self._is_lost(path) or not self._in_folders(parts):
            return False
        (self.removed if gone else self.written)[path] = None
        return True

    def _is_lost(self, path: str) -> bool:
        """Whether a folder has replaced a tracked file: `git stash` removes it with all its content."""
        return os.path.isdir(path) and not os.path.islink(path)

    def _in_folders(self, parts: list[str]) -> bool:
        place = self.repository.top
        for part in parts[:-1]:
            place = posixpath.join(place, part)
            try:
                if not S_ISDIR(os.lstat(place).st_mode):
                    return False
            except FileNotFoundError:
                return True
            except OSError:
                return False
        return True
